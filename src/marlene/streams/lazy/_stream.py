"""A stream that is read part by part."""

from __future__ import annotations

import copy
from contextlib import closing
from typing import TYPE_CHECKING, Any

from marlene._common.checks import whole_number
from marlene._common.errors import MarleneError
from marlene._common.html import MOST_ROWS, card, table
from marlene.streams._lines import Meter
from marlene.streams._stream import as_example

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from marlene._common.arrays import Labels
    from marlene.streams._matrix import Matrix
    from marlene.streams._stream import Drifts, Feature, Stream

    Opened = Generator[Stream, None, None]


class LazyStream:
    """Examples of a source that need not fit in memory; `load(…, lazy=True)` returns one.

    Its *parts* are ordinary streams of a few megabytes, one after the other. The first part decides the kinds of
    columns. Features, values and labels that appear later are new from that part on. Nothing but the part at hand is
    kept, so memory does not grow with the source. Its length is not known.

    Parameters
    ----------
    name
        What the stream is called in reports.
    begin
        Opens the source anew and yields its parts; it tells the meter how much it has read.
    limit
        Read only this many examples, from the first.

    Attributes
    ----------
    features, labels
        Those known so far: of the part that was read last.
    """

    def __init__(self, name: str, begin: Callable[[Meter], Opened], limit: int | None = None) -> None:
        self.name = name
        self._begin = begin
        self._limit = None if limit is None else whole_number(limit, f"{name}: limit", 1)
        self._meter = Meter()
        self._rows = 0
        self.features: tuple[Feature, ...] = ()
        self.labels: tuple[str, ...] = ()
        # Decide on the columns now; whoever goes through the stream first takes this part with the rest.
        first, opened = self._opened()
        self._see(first)
        self._waiting: tuple[Stream, Opened] | None = (first, opened)

    def _opened(self) -> tuple[Stream, Opened]:
        opened = self._begin(self._meter)
        first = next(opened, None)
        if first is None:
            raise MarleneError(f"{self.name}: the stream is empty")
        return first, opened

    @property
    def drifts(self) -> Drifts:
        """Where the true drifts are: not known."""
        return {}

    @property
    def total(self) -> int | None:
        """How many examples there will be: an estimate from the share of the source that is read; None: no idea."""
        size = self._meter.size
        whole = None if not size or not self._meter.at else max(self._rows, round(self._rows * size / self._meter.at))
        return whole if self._limit is None else min(self._limit, whole or self._limit)

    def __repr__(self) -> str:
        return f"<LazyStream {self.name}: {len(self.features)} features and {len(self.labels)} labels so far>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the labels known so far; nothing is read."""
        facts = f"read part by part; {len(self.features):,} features and {len(self.labels):,} labels so far"
        shown, more = self.labels[:MOST_ROWS], max(0, len(self.labels) - MOST_ROWS)
        return card(self.name, facts, table(("label",), [(label,) for label in shown], more))

    def parts(self) -> Iterator[Stream]:
        """Yield the examples, from the first, as streams of a few megabytes.

        Each has the features and labels known by then. Labels keep their places; features are to be found by name.
        """
        if self._waiting is not None:
            (first, opened), self._waiting = self._waiting, None
        else:
            first, opened = self._opened()
        self._rows = 0
        with closing(opened):
            part: Stream | None = first
            while part is not None:
                part = part if self._limit is None else part.head(self._limit - self._rows)
                self._see(part)
                yield part
                part = None if self._rows == self._limit else next(opened, None)

    def _see(self, part: Stream) -> None:
        self.features, self.labels = part.features, part.labels
        self._rows += len(part)

    def blocks(self, size: int) -> Iterator[tuple[Matrix, Labels]]:
        """Yield X and Y in blocks of `size` examples; the last block of every part may be shorter."""
        for part in self.parts():
            yield from part.blocks(size)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], dict[str, bool]]]:
        for part in self.parts():
            yield from part

    def as_example(self, row: Matrix) -> dict[str, Any]:
        """Turn a matrix of one row into a dictionary, as `Stream.as_example` does."""
        return as_example(self.features, row)

    def head(self, count: int) -> LazyStream:
        """Return a stream of the first `count` examples."""
        whole_number(count, f"{self.name}: the number of examples", 1)
        fewer = copy.copy(self)
        limit = count if self._limit is None else min(count, self._limit)
        vars(fewer).update(_limit=limit)
        # Who has the open source has the meter that it tells.
        self._waiting, self._meter = None, copy.copy(self._meter)
        return fewer
