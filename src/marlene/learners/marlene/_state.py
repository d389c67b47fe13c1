"""An ensemble as named arrays and a JSON header, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.layouts import Field, Layout, Rule
from marlene._common.resources import zeros_on_demand
from marlene._common.states import MOST_COUNTED, arrays_under, plain, require, restored_count, with_prefix
from marlene.drift import DETECTOR_BANKS
from marlene.kernels.ensemble.performance import COLUMNS, CORRECT, FN, FP, TN, TP, WRONG
from marlene.learners.classifiers._bases import NOT_SAVED, saved_bank
from marlene.learners.marlene._members import TRAINED, Origin, empty_members, saved_fields, whole_lanes
from marlene.learners.marlene._roster import FIRST_CAPACITY
from marlene.learners.marlene._tasks import NONE, StreamTasks

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from marlene._common.arrays import Array, Arrays
    from marlene.kernels.ensemble.state import Members
    from marlene.learners.marlene._ensemble import Ensemble


COUNTED, SHARES = [TP, FP, TN, FN], [CORRECT, WRONG]
MEMBERS = Layout(
    "the sub-classifiers of an ensemble",
    {
        "members.classifier": Field("int64", ("members",), "the base classifier of each"),
        "members.offered": Field(
            "int64", ("members", 2), "how many negative and positive examples it was offered", 0, 2 * MOST_COUNTED
        ),
        "members.key": Field("uint64", ("members",), "the key of its random numbers"),
        "members.active": Field("float64", ("members",), "1 for those that vote, else 0", 0, 1),
        "members.learns": Field("bool", ("members",), "whether it still learns"),
    },
    (Rule("a sub-classifier votes or not", lambda a, _: np.isin(a["members.active"], (0.0, 1.0)).all()),),
)
RECORDS = {
    number: Layout(
        "the records of an ensemble",
        {"records": Field(number, ("tasks", COLUMNS, "members"), "how each did on each task", bounded=False)},
        (
            Rule(
                "predictions are counted",
                lambda a, _: ((a["records"][:, COUNTED] >= 0) & (a["records"][:, COUNTED] <= MOST_COUNTED)).all(),
            ),
            # They may be as large as infinity: of votes that are almost zero, every share counts.
            Rule("shares of hardness are not negative", lambda a, _: not (a["records"][:, SHARES] < 0).any()),
        ),
    )
    for number in ("float64", "float32")
}
"""By the type of the numbers."""
TASKS = Layout(
    "the tasks of a stream",
    {
        "latest": Field("int64", ("tasks",), "the latest sub-classifier of each", least=0),
        "background": Field("int64", ("tasks",), "its background classifier, or -1", least=NONE),
        "detector": Field("int64", ("tasks",), "its drift detector", least=0),
        "concepts": Field("int64", ("tasks",), "how many concepts it had before", least=0, most=MOST_COUNTED),
        "made": Field("int64", ("tasks",), "how many sub-classifiers it ever had", least=0, most=MOST_COUNTED),
        "drifts": Field("int64", ("drifts", 2), "when drifts were found, and whose", least=0, most=MOST_COUNTED),
    },
    (
        Rule("`latest` are sub-classifiers", lambda a, _: np.isin(a["latest"], a["members"]).all()),
        Rule("`background` are others", lambda a, _: np.isin(a["background"], [NONE, *a["members"]]).all()),
        Rule("`detector` are detectors that there are", lambda a, _: np.isin(a["detector"], a["detectors"]).all()),
        Rule("`drifts` are of these tasks", lambda a, n: (a["drifts"][:, 1] < n["tasks"]).all()),
    ),
)
TASK_ARRAYS = tuple(name for name in TASKS.fields if name != "drifts")


def ensemble_state(ensemble: Ensemble) -> tuple[dict[str, Any], Arrays]:
    """Return a JSON header and named arrays; an ensemble that holds River objects cannot be had so."""
    name, bank = saved_bank(ensemble.bank)
    if ensemble.detectors.settings()["name"] not in DETECTOR_BANKS:
        raise MarleneError(NOT_SAVED)
    count = len(ensemble.origins)
    arrays = ensemble.classifiers.state() | with_prefix(ensemble.detectors.state(), "detectors.")
    arrays |= with_prefix(saved_fields(ensemble.members, count), "members.")
    arrays["records"] = ensemble.records[:, :, :count].copy()
    streams = []
    for number, tasks in enumerate(ensemble.streams.values()):
        arrays |= with_prefix({name: getattr(tasks, name).copy() for name in TASK_ARRAYS}, f"stream{number}.")
        arrays[f"stream{number}.drifts"] = np.array(tasks.drifts, np.int64).reshape(-1, 2)
        streams.append({"name": tasks.name, "labels": [_listed(label) for label in tasks.labels], "seen": tasks.seen})
    header = {
        "base": [name, bank.settings()],
        "given": ensemble.given,
        "detectors": ensemble.detectors.settings(),
        "streams": streams,
        "origins": [o and [o.stream, _listed(o.label), o.number] for o in ensemble.origins],
        "clock": ensemble.clock,
    }
    return header, arrays


def restore_ensemble(
    ensemble: Ensemble, header: Mapping[str, Any], arrays: Mapping[str, Array], kinds: list[int]
) -> None:
    """Fill an empty ensemble of the same settings, over features of these kinds; refuse any other state."""
    given = ensemble.given = header["given"]
    require(given is None or (type(given) is int and 0 <= given <= len(kinds)), "the column of the given label")
    ensemble.classifiers.restore(arrays, ensemble.feature_kinds(kinds))
    ensemble.adopt(DETECTOR_BANKS[header["detectors"]["name"]].from_state(arrays_under(arrays, "detectors.")))
    origins = [o and Origin(o[0], _unlisted(o[1]), int(o[2])) for o in header["origins"]]
    taken = [h for h, origin in enumerate(origins) if origin]
    members = _restored_members(ensemble, arrays, len(origins), taken)
    streams = _restored_streams(ensemble, header["streams"], arrays, taken)
    require(all(ensemble.could_have(streams[o.stream], o.label) for o in origins if o), "the sub-classifiers")
    shape, number = ensemble.record_layout(len(streams[None]), len(members.classifier))
    records = zeros_on_demand(shape, number)
    given = RECORDS[np.dtype(number).name].checked(arrays, tasks=shape[0], members=len(origins))
    records[:, :, : len(origins)] = given["records"]
    ensemble.streams, ensemble.origins = streams, origins
    ensemble.free = [h for h in range(len(origins)) if not origins[h]]
    ensemble.members, ensemble.records = members, records
    ensemble.clock = restored_count(header["clock"], "the clock")
    # The weight of an example follows from these numbers. In an ensemble of pairs every row appears twice.
    require((members.offered <= 2 * ensemble.clock).all(), "the numbers of examples")
    for h in taken:
        if not members.learns[h]:
            ensemble.classifiers.freeze(int(members.classifier[h]))


def _restored_members(ensemble: Ensemble, arrays: Mapping[str, Array], count: int, taken: list[int]) -> Members:
    members = empty_members(max(FIRST_CAPACITY, whole_lanes(count)), ensemble.values)
    given = MEMBERS.checked(arrays, members=count)
    for name in TRAINED:
        getattr(members, name)[:count] = given[f"members.{name}"]
    used = members.classifier[taken].tolist()
    require(set(used) <= set(ensemble.classifiers.ids()), "the classifiers of the sub-classifiers")
    require(len(set(used)) == len(taken), "the classifiers of the sub-classifiers")
    require(not np.delete(members.active, taken).any(), "the active sub-classifiers")
    members.proving[taken] = ensemble.settings.proving & ~members.learns[taken]
    return members


def _restored_streams(
    ensemble: Ensemble, headers: Iterable[Mapping[str, Any]], arrays: Mapping[str, Array], taken: list[int]
) -> dict[str | None, StreamTasks]:
    streams: dict[str | None, StreamTasks] = {}
    known = {"members": np.array(taken, np.int64), "detectors": ensemble.detectors.ids}
    for number, stream in enumerate(headers):
        own = arrays_under(arrays, f"stream{number}.")
        tasks = streams[stream["name"]] = StreamTasks(stream["name"])
        tasks.labels = [_unlisted(label) for label in stream["labels"]]
        saved = TASKS.checked(own, known, tasks=len(set(tasks.labels)))
        label, given = ensemble.columns_of(tasks)
        tasks.set(tasks.labels, saved | {"label": label, "given": given})
        tasks.seen = restored_count(stream["seen"], "the number of examples of a stream")
        tasks.drifts = [(time, task) for time, task in saved["drifts"].tolist()]
    require(None in streams, "there is no target")
    for names in (("latest", "background"), ("detector",)):
        used = np.concatenate([getattr(tasks, name) for tasks in streams.values() for name in names])
        used = used[used != NONE]
        require(len(set(used.tolist())) == len(used), f"the same {' or '.join(names)} in two tasks")
    return streams


def _listed(label: Hashable) -> Any:  # noqa: ANN401 (what JSON has)
    """Return a label, or a pair of labels, as JSON can hold it."""
    return [plain(part) for part in label] if isinstance(label, tuple) else plain(label)


def _unlisted(label: Any) -> Hashable:  # noqa: ANN401
    return tuple(label) if isinstance(label, list) else label
