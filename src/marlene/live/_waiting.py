"""Examples that wait for their labels, bounded by number and age, and what became of earlier ones."""

from __future__ import annotations

import json
import math
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from marlene._common.layouts import Field, Layout, Rule
from marlene._common.states import require
from marlene.live._messages import check_kept

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from marlene._common.arrays import Array, Arrays
    from marlene.live._messages import Id

Kept = TypeVar("Kept")
SORTED = json.JSONEncoder(sort_keys=True).encode
EVICTED = -1
"""Among the checksums of labels: the example went before all of its labels came."""
TEXTS = Layout(
    "texts that a worker keeps",
    {
        "text": Field("uint8", ("bytes",), "all of them, one after the other"),
        "ends": Field("int64", ("texts",), "where each ends", least=0),
    },
    (
        Rule("ends ascend", lambda a, _: (a["ends"][1:] >= a["ends"][:-1]).all()),
        Rule("the last text ends with the bytes", lambda a, n: (a["ends"][-1] if n["texts"] else 0) == n["bytes"]),
    ),
)
ANSWERS = 1000
"""How many answers are remembered of examples that no longer wait: a request that was under way when its worker was
killed may come again."""


@dataclass(slots=True)
class WaitingExample:
    """An example that was asked for and waits for labels.

    Attributes
    ----------
    body
        The message that brought it.
    clock
        The time when it came.
    answer
        What was answered; empty for an example of a source.
    predicted
        The positions of the labels that were predicted.
    told
        The labels that were told so far, if not all were.
    pieces
        Checksums of the labels of every message that told some.
    """

    body: bytes
    clock: float
    answer: bytes = b""
    predicted: tuple[int, ...] = ()
    told: dict[str, Any] | None = None
    pieces: tuple[int, ...] = ()


def checksum(y: Any) -> int:  # noqa: ANN401 (what JSON gives)
    """Return a number that tells whether labels came before with the same values."""
    return zlib.crc32(SORTED(y).encode())


class WaitingStore:
    """A bounded store of examples, the oldest first.

    Parameters
    ----------
    number
        The largest number of examples that wait. As many ids are remembered of those that wait no longer, and the
        answers of the latest `ANSWERS` of these.
    age
        The longest time they wait, in seconds of the messages' own clock; None: any.

    Examples
    --------
    >>> store = WaitingStore(number=1, age=None)
    >>> store.put("a", WaitingExample(b"", 0.0))
    >>> store.put("b", WaitingExample(b"", 0.0))
    >>> [name for name, example, reason in store.overdue(0.0)]
    ['a']
    """

    def __init__(self, number: int, age: float | None) -> None:
        self._number, self._age = number, age
        self.examples: dict[Id, WaitingExample] = {}
        self.gone: dict[Id, tuple[int, ...]] = {}
        self._closed: dict[Id, WaitingExample] = {}

    def put(self, name: Id, example: WaitingExample) -> None:
        """Add an example."""
        self.examples[name] = example

    def overdue(self, clock: float) -> Iterator[tuple[Id, WaitingExample, str]]:
        """Remove the examples that are too many or too old; yield them and why they went."""
        while self.examples:
            name, example = next(iter(self.examples.items()))
            if len(self.examples) > self._number:
                reason = "number"
            elif self._age is not None and clock - example.clock > self._age:
                reason = "age"
            else:
                return
            self.close(name, example, (*example.pieces, EVICTED))
            yield name, example, reason

    def close(self, name: Id, example: WaitingExample, pieces: tuple[int, ...]) -> None:
        """Remove an example; remember its id, the checksums of its labels and its answer while there is room."""
        self.examples.pop(name, None)
        _put_last(self.gone, name, pieces, self._number)
        _put_last(self._closed, name, example, ANSWERS)

    def answer(self, name: Id) -> bytes:
        """Return what was answered for an example that no longer waits; nothing if that is not known any more."""
        return self._closed[name].answer if name in self._closed else b""

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return everything as a JSON header and named arrays."""
        found = self.examples.values()
        header = {
            "ids": list(self.examples),
            "clocks": [example.clock for example in found],
            "predicted": [example.predicted for example in found],
            "told": [example.told for example in found],
            "pieces": [example.pieces for example in found],
            "gone": list(self.gone.items()),
            "closed": list(self._closed),
        }
        arrays = _packed("bodies", [e.body for e in found]) | _packed("answers", [e.answer for e in found])
        return header, arrays | _packed("closed", [e.answer for e in self._closed.values()])

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array], labels: int) -> None:
        """Fill an empty store with what `state` gave; `labels` is how many are known."""
        columns = (header["clocks"], _unpacked("bodies", arrays), _unpacked("answers", arrays))
        more = (header["predicted"], header["told"], header["pieces"])
        for name, clock, body, answer, predicted, told, pieces in zip(header["ids"], *columns, *more, strict=True):
            check_kept(body)
            right = type(name) in {str, int} and math.isfinite(clock) and isinstance(told, dict | None)
            right &= all(type(place) is int and 0 <= place < labels for place in predicted)
            right &= all(type(piece) is int for piece in pieces)
            require(right and (not answer or isinstance(json.loads(answer), dict)), "the waiting examples", "a worker")
            self.examples[name] = WaitingExample(body, float(clock), answer, tuple(predicted), told, tuple(pieces))
        self.gone = {name: tuple(pieces) for name, pieces in header["gone"]}
        gone = all(type(name) in {str, int} for name in self.gone)
        require(gone and all(type(n) is int for pieces in self.gone.values() for n in pieces), "the ids", "a worker")
        closed = zip(header["closed"], _unpacked("closed", arrays), strict=True) if "closed" in header else ()
        self._closed = {name: WaitingExample(b"", 0.0, answer) for name, answer in closed}
        named = all(type(name) in {str, int} for name in self._closed)
        readable = all(isinstance(json.loads(example.answer), dict) for example in self._closed.values())
        require(named and readable, "the answers", "a worker")


def _put_last(kept: dict[Id, Kept], name: Id, value: Kept, room: int) -> None:
    """Put a value at the end; if there is too little room, the first one goes."""
    kept.pop(name, None)
    kept[name] = value
    if len(kept) > room:
        del kept[next(iter(kept))]


def _packed(name: str, texts: list[bytes]) -> Arrays:
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return {name: np.frombuffer(b"".join(texts), np.uint8), f"{name}.ends": ends}


def _unpacked(name: str, arrays: Mapping[str, Array]) -> list[bytes]:
    found = TEXTS.checked({"text": arrays[name], "ends": arrays[f"{name}.ends"]})
    joined, ends = found["text"].tobytes(), found["ends"].tolist()
    return [joined[start:end] for start, end in zip([0, *ends], ends, strict=False)]
