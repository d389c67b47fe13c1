"""The worker: messages in, answers out, and a state that can be saved in one piece."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene._common.states import arrays_under, require, restored_count, with_prefix
from marlene.learners._saved import FILE_VERSION as LEARNER_VERSION
from marlene.learners._saved import SavedLearner
from marlene.live._desk import ModelDesk
from marlene.live._messages import Output, dumped, read
from marlene.live._settings import WorkerSettings
from marlene.live._slots import Slots

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene._common.arrays import Array, Arrays
    from marlene.live._messages import Record

COUNTS = (
    *("messages", "predictions", "learnt", "duplicates", "contradictions"),
    *("unknown_ids", "late", "evicted", "dead", "new_labels"),
)
SHOWN = 1000
"""How much of a message that cannot be used is repeated, in characters."""


class Unfit(MarleneError):  # noqa: N818 (not an error of its own kind to a user)
    """A state that is whole but not for this worker."""


class Worker:
    """Answers requests and learns labels when they come.

    The outputs depend on the messages and their order, and on nothing else: not on the time, nor on how many messages
    are taken at once, nor on whether the worker was saved and restored in between.

    Parameters
    ----------
    learner
        An untrained learner. Every model begins as a copy of it.
    settings
        Bounds and what else a user may choose.

    Attributes
    ----------
    positions
        For every input, by its name, where it goes on.
    counts
        How often things happened, by name.

    Examples
    --------
    >>> from marlene import Marlene
    >>> from marlene.live import Record, Worker
    >>> worker = Worker(Marlene())
    >>> messages = [b'{"id": 1, "x": {"late": 1}, "y": {"bill": true}}', b'{"id": 2, "x": {"late": 1}}', b"{"]
    >>> for output in worker.take([Record("test", i, message) for i, message in enumerate(messages)]):
    ...     print(output.channel, output.body.decode()[:40])
    answer {"id":1,"labels":[],"proba":{},"model":0
    event {"event":"new label","label":"bill","str
    told {"outcome":"learnt"}
    answer {"id":2,"labels":["bill"],"proba":{"bill
    dead {"error":"not JSON (Expecting property n
    >>> worker.positions
    {'test': 2}
    """

    def __init__(self, learner: Any, settings: WorkerSettings | None = None) -> None:  # noqa: ANN401
        self.settings = settings or WorkerSettings()
        if not isinstance(learner, SavedLearner):
            raise MarleneError(f"{type(learner).__name__} cannot be saved, so it cannot serve")
        self._prototype = learner
        self.counts = dict.fromkeys(COUNTS, 0)
        self.positions: dict[str, Any] = {}
        self.clock = 0.0
        self.desks: dict[str | None, ModelDesk] = {}
        self._slots = Slots()
        if self.settings.key is None:
            self._open(None)

    def take(self, records: Sequence[Record]) -> list[Output]:
        """Take messages in their order; return all outputs in the order of the messages."""
        used: set[str | None] = set()
        for number, record in enumerate(records):
            self.counts["messages"] += 1
            self.positions[record.source] = record.position
            try:
                message = read(record.body, self.settings.key, self.settings.longest)
                time = record.time if message.time is None else message.time
                self.clock = self.clock if time is None else max(self.clock, time)
                desk = self.desks.get(message.key) or self._open(message.key)
                used.add(message.key)
                desk.take(message, record.body, self.clock, number)
            except MarleneError as error:
                self.counts["dead"] += 1
                self._slots.say(Output("dead", _dead(record, error), number))
        for key in used:
            self.desks[key].flush()
        return self._slots.taken()

    def _open(self, key: str | None) -> ModelDesk:
        """Make a model for a key."""
        if len(self.desks) >= self.settings.max_keys:
            raise MarleneError(f"key {key!r}: there are {self.settings.max_keys} models already, no more are made")
        desk = self.desks[key] = ModelDesk(self._prototype.clone(), key, self.settings, self.counts, self._slots)
        teacher = self.desks.get(self.settings.teach) if self.settings.teach is not None else None
        if teacher is not None and self.settings.teach is not None:
            desk.study(teacher.lessons, self.settings.teach)
        return desk

    def identity(self) -> dict[str, Any]:
        """Return what a checkpoint must share with this worker."""
        header, _ = self._prototype.state()
        learner = {"method": header["method"], "parameters": header["parameters"]}
        return {"learner": learner, "settings": self.settings.fixed()}

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return everything as a JSON header and named arrays."""
        header: dict[str, Any] = {"identity": self.identity(), "learner_version": LEARNER_VERSION}
        header |= {"positions": self.positions, "counts": self.counts, "clock": self.clock, "models": []}
        arrays: Arrays = {}
        for number, (key, desk) in enumerate(self.desks.items()):
            model, own = desk.state()
            header["models"].append({"key": key, **model})
            arrays |= with_prefix(own, f"{number}.")
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Take over what `state` gave; refuse the state of a worker with other settings."""
        if header["learner_version"] != LEARNER_VERSION:
            raise Unfit(
                f"learners of version {header['learner_version']}, this program reads version {LEARNER_VERSION}"
            )
        self._refuse_others(header["identity"])
        counts = {name: restored_count(header["counts"].get(name, 0), "the counts") for name in COUNTS}
        positions, clock, slots = dict(header["positions"]), float(header["clock"]), Slots()
        desks: dict[str | None, ModelDesk] = {}
        for number, model in enumerate(header["models"]):
            own, key = arrays_under(arrays, f"{number}."), model["key"]
            require(key not in desks and (key is None or isinstance(key, str)), "the keys", "a worker")
            learner = type(self._prototype).from_state(model["learner"], arrays_under(own, "learner."))
            desks[key] = ModelDesk(learner, key, self.settings, counts, slots)
            desks[key].restore(model, own)
        require((None in desks) == (self.settings.key is None) and math.isfinite(clock), "the models", "a worker")
        # All is well: nothing was changed before.
        self.desks, self._slots, self.counts, self.positions, self.clock = desks, slots, counts, positions, clock

    def _refuse_others(self, found: Mapping[str, Any]) -> None:
        wanted = self.identity()
        told = [
            f"{name} {found[part].get(name)!r} instead of {value!r}"
            for part in ("learner", "settings")
            for name, value in wanted[part].items()
            if _as_json(found[part].get(name)) != _as_json(value)
        ]
        if told:
            raise Unfit(f"the checkpoint of another worker, with {'; '.join(told)}")


def _as_json(value: Any) -> Any:  # noqa: ANN401 (anything JSON holds)
    """Return a value as JSON gives it back: tuples become lists. A parameter that is None may be one of later years."""
    if isinstance(value, dict):
        return {name: _as_json(part) for name, part in value.items() if part is not None}
    return [_as_json(part) for part in value] if isinstance(value, list | tuple) else value


def _dead(record: Record, error: MarleneError) -> bytes:
    """Return what is said of a message that cannot be used."""
    text = record.body[:SHOWN].decode("utf-8", "replace")
    return dumped({"error": str(error), "input": record.source, "position": record.position, "message": text})
