"""An ensemble as named arrays and a JSON header, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.resources import zeros_on_demand
from marlene._common.states import arrays_under, plain, require
from marlene.drift import BANKS
from marlene.learners.classifiers._bases import NOT_SAVED, saved_bank
from marlene.learners.marlene._ensemble import FIRST_CAPACITY
from marlene.learners.marlene._members import TRAINED, Origin, empty_members, saved_fields, whole_lanes
from marlene.learners.marlene._tasks import NONE, StreamTasks

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from marlene._common.arrays import Array, Arrays
    from marlene.learners.marlene._ensemble import Ensemble


TASK_ARRAYS = ("latest", "background", "detector", "concepts", "made")


def ensemble_state(ensemble: Ensemble) -> tuple[dict[str, Any], Arrays]:
    """Return a JSON header and named arrays; an ensemble that holds River objects cannot be had so."""
    name, bank = saved_bank(ensemble.bank)
    if ensemble.detectors.settings()["name"] not in BANKS:
        raise MarleneError(NOT_SAVED)
    count = len(ensemble.origins)
    arrays: Arrays = {f"forest.{name}": array for name, array in bank.state().items()}
    arrays |= {f"detectors.{name}": array for name, array in ensemble.detectors.state().items()}
    arrays |= {f"members.{name}": array for name, array in saved_fields(ensemble.members, count).items()}
    arrays["records"] = ensemble.records[:, :, :count].copy()
    streams = []
    for number, tasks in enumerate(ensemble.streams.values()):
        arrays |= {f"stream{number}.{name}": getattr(tasks, name).copy() for name in TASK_ARRAYS}
        arrays[f"stream{number}.drifts"] = np.array(tasks.drifts, np.int64).reshape(-1, 2)
        streams.append({"name": tasks.name, "labels": [_listed(label) for label in tasks.labels], "seen": tasks.seen})
    header = {
        "bank": name,
        "forest": bank.settings(),
        "detectors": ensemble.detectors.settings(),
        "streams": streams,
        "origins": [o and [o.stream, _listed(o.label), o.number] for o in ensemble.origins],
        "clock": ensemble.clock,
    }
    return header, arrays


def restore_ensemble(ensemble: Ensemble, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Fill an empty ensemble of the same settings; what cannot come from `ensemble_state` is an error."""
    try:
        _restore(ensemble, header, arrays)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, MarleneError):
            raise
        raise MarleneError(f"not the state of a learner, or damaged: {error}") from error


def _restore(ensemble: Ensemble, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    kind: Any = type(ensemble.bank)
    forest = kind.from_state(arrays_under(arrays, "forest."), header["forest"])
    detectors = BANKS[header["detectors"]["name"]].from_state(arrays_under(arrays, "detectors."))
    origins = [o and Origin(o[0], _unlisted(o[1]), int(o[2])) for o in header["origins"]]
    count = len(origins)
    capacity = max(FIRST_CAPACITY, whole_lanes(count))
    members = empty_members(capacity, ensemble.values)
    for name in TRAINED:
        getattr(members, name)[:count] = arrays[f"members.{name}"]
    taken = [h for h, origin in enumerate(origins) if origin]
    require(set(members.classifier[taken].tolist()) <= set(forest.ids.tolist()), "the trees of the sub-classifiers")
    require(len(set(members.classifier[taken].tolist())) == len(taken), "the trees of the sub-classifiers")
    free = [h for h in range(count) if not origins[h]]
    require(not members.active[free].any(), "the active sub-classifiers")
    require(bool((members.offered >= 0).all()), "the numbers of examples")
    streams: dict[str | None, StreamTasks] = {}
    for number, stream in enumerate(header["streams"]):
        tasks = StreamTasks(stream["name"])
        tasks.labels = [_unlisted(label) for label in stream["labels"]]
        tasks.column = {label: i for i, label in enumerate(tasks.labels)}
        tasks.label, tasks.given = ensemble.columns_of(tasks)
        tasks.seen = int(stream["seen"])
        for name in TASK_ARRAYS:
            array = np.array(arrays[f"stream{number}.{name}"], np.int64)
            require(array.shape == (len(tasks.column),), f"the tasks of stream {stream['name']!r}")
            setattr(tasks, name, array)
        tasks.drifts = [(int(time), int(task)) for time, task in arrays[f"stream{number}.drifts"]]
        require(set(tasks.latest.tolist()) <= set(taken), "the latest sub-classifiers")
        require(set(tasks.background.tolist()) - {NONE} <= set(taken), "the background classifiers")
        require(set(tasks.detector.tolist()) <= set(detectors.ids.tolist()), "the detectors")
        require(all(0 <= task < len(tasks) for _, task in tasks.drifts), "the drifts")
        streams[tasks.name] = tasks
    require(None in streams, "there is no target")
    require(all(ensemble.could_have(streams[o.stream], o.label) for o in origins if o), "the sub-classifiers")
    for name in ("latest", "background", "detector"):
        used = np.concatenate([getattr(tasks, name) for tasks in streams.values()])
        used = used[used != NONE]
        require(len(set(used.tolist())) == len(used), f"the same {name} in two tasks")
    learning = np.concatenate([np.append(tasks.latest, tasks.background) for tasks in streams.values()])
    require(len(set(learning.tolist()) - {NONE}) == int((learning != NONE).sum()), "the background classifiers")
    records = zeros_on_demand(*ensemble.record_layout(len(streams[None]), capacity))
    records[:, :, :count] = arrays["records"]
    ensemble.adopt(forest, detectors)
    ensemble.streams, ensemble.origins = streams, origins
    ensemble.free = free
    ensemble.members, ensemble.records = members, records
    ensemble.clock = int(header["clock"])
    for h in taken:
        if not members.learns[h]:
            ensemble.driver.freeze(int(members.classifier[h]))


def _listed(label: Hashable) -> Any:  # noqa: ANN401 (what JSON has)
    """Return a label, or a pair of labels, as JSON can hold it."""
    return [plain(part) for part in label] if isinstance(label, tuple) else plain(label)


def _unlisted(label: Any) -> Hashable:  # noqa: ANN401
    return tuple(label) if isinstance(label, list) else label
