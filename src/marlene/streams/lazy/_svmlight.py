"""SVMLight files, part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.errors import MarleneError
from marlene.streams._cells import as_text
from marlene.streams._lines import text_parts
from marlene.streams._stream import Feature, Stream
from marlene.streams.svmlight import (
    HEADER,
    MOST_FEATURES,
    MOST_LABELS,
    entries_matrix,
    line_at,
    read_entries,
    two_classes,
    where_entry,
)

if TYPE_CHECKING:
    from pathlib import Path

    from marlene._common.arrays import Labels
    from marlene.kernels.reading.svmlight import Entries
    from marlene.streams._assemble import Choices
    from marlene.streams._lines import Meter
    from marlene.streams._stream import Kind
    from marlene.streams.lazy._stream import Opened


def svmlight_streams(path: Path, size: int, meter: Meter, name: str, choices: Choices, first: int | None) -> Opened:
    """Yield the parts of a sparse file."""
    if first not in {None, 0, 1}:
        raise MarleneError(f"{path}: the number of the first feature must be 0 or 1, not {first!r}")
    reading = _SvmlightReading(path, name, choices, first)
    for text in text_parts(path, size, meter):
        part = reading.stream(text)
        if part is not None:
            yield part
    reading.end()


class _SvmlightReading:
    """What is known of a file so far. All features are numeric if any of the first part is not 0 or 1, else binary."""

    def __init__(self, path: Path, name: str, choices: Choices, first: int | None) -> None:
        self._path, self._name, self._choices = path, name, choices
        self._first = first
        self._begun = False
        self._sizes: list[int] | None = None
        self._lines = self._rows = self._width = 0
        self._kind: Kind = "numeric"
        self._two = False
        self._labels: dict[str, int] = {}
        self._features: tuple[Feature, ...] = ()

    def stream(self, text: bytes) -> Stream | None:
        """Return the next part; None if it has no example."""
        header = HEADER.match(text) if not self._lines else None
        found = read_entries(text, header.end() if header else 0, str(self._path), self._lines)
        if header:
            self._sizes = [int(number) for number in header.groups()]
            if self._sizes[2] > MOST_LABELS:
                raise MarleneError(f"{self._path}, line 1: the header says {self._sizes[2]} labels, which are too many")
        before, self._lines = self._lines, self._lines + line_at(text, len(text)) - 1
        if not len(found.rows):
            return None
        if not self._begun:
            self._begin(found)
        X = entries_matrix(found, *self._columns(found, text, before), text, self._path, before)
        if self._kind == "binary" and (X.data != 1).any():
            row = int(np.searchsorted(X.indptr, int(np.argmax(X.data != 1)), side="right")) - 1
            where = f"{self._path}, line {before + line_at(text, int(found.rows[row]))}"
            raise MarleneError(
                f"{where}: expected the value 1, as in the first examples, found {X.data[X.data != 1][0]:g}; "
                "features='numeric' (--features numeric) says otherwise"
            )
        Y = self._truth(found, text, before)
        self._rows += len(Y)
        known = len(self._features)
        self._features += tuple(Feature(f"x{self._offset + i}", self._kind) for i in range(known, self._width))
        return self._chosen(Stream(X, Y, self._features, tuple(self._labels), self._name))

    def end(self) -> None:
        """Refuse a file without examples, or with others than its header says."""
        if not self._rows:
            raise MarleneError(f"{self._path}: expected examples, found none")
        if self._sizes and self._sizes[0] != self._rows:
            raise MarleneError(f"{self._path}, line 1: the header says {self._sizes[0]} examples, found {self._rows}")

    def _begin(self, found: Entries) -> None:
        self._begun = True
        smallest = int(found.indices.min(initial=1))
        self._offset = self._first if self._first is not None else int(self._sizes is None and smallest > 0)
        stored = found.values[found.values != 0]
        self._kind = "binary" if self._choices.rest == "auto" and (stored == 1).all() else "numeric"
        if self._sizes:
            self._width = self._sizes[1]
            self._labels = {str(number): number for number in range(self._sizes[2])}
            return
        self._two = {-1.0, 1.0}.issuperset(found.labels.tolist()) and bool((np.diff(found.label_starts) <= 1).all())
        self._two &= -1.0 in found.labels
        if self._two:
            self._labels = {"1": 0}

    def _columns(self, found: Entries, text: bytes, before: int) -> tuple[int, int]:
        smallest, largest = int(found.indices.min(initial=self._offset)), int(found.indices.max(initial=0))
        if smallest < self._offset:
            where = where_entry(found, int(np.argmin(found.indices)), text, self._path, before)
            raise MarleneError(
                f"{where}: feature 0, but the first feature is 1; first_feature=0 (--first-feature 0) says otherwise"
            )
        if not self._sizes:
            self._width = max(self._width, largest + 1 - self._offset)
        elif self._width > MOST_FEATURES:
            raise MarleneError(f"{self._path}, line 1: the header says {self._width} features, which are too many")
        elif len(found.indices) and largest - self._offset >= self._width:
            where = where_entry(found, int(np.argmax(found.indices)), text, self._path, before)
            raise MarleneError(f"{where}: feature {largest}, but the header says {self._width}")
        return self._offset, self._width

    def _truth(self, found: Entries, text: bytes, before: int) -> Labels:
        rows = np.repeat(np.arange(len(found.rows)), np.diff(found.label_starts))
        values, places = np.unique(found.labels, return_inverse=True)
        names = [as_text(value) for value in values.tolist()]
        fixed = {"-1", "1"} if self._two else self._labels if self._sizes else None
        strange = [place for place, name in enumerate(names) if fixed is not None and name not in fixed]
        several = self._two and bool((np.diff(found.label_starts) > 1).any())
        if strange or several:
            row = (
                int(rows[np.argmax(np.isin(places, strange))])
                if strange
                else int(np.argmax(np.diff(found.label_starts) > 1))
            )
            where = f"{self._path}, line {before + line_at(text, int(found.rows[row]))}"
            known = "the labels were -1 and 1 before" if self._two else f"the header says {len(self._labels)} labels"
            raise MarleneError(f"{where}: label {names[strange[0]] if strange else '-1 and 1'}, but {known}")
        if self._two:
            return two_classes(found, rows)
        for name in names:  # in the order of their numbers
            self._labels.setdefault(name, len(self._labels))
        if not self._labels:
            raise MarleneError(f"{self._path}: there is no label in the first {len(found.rows)} examples")
        Y = np.zeros((len(found.rows), len(self._labels)), np.int8)
        Y[rows, np.array([self._labels[name] for name in names], np.int64)[places]] = 1
        return Y

    def _chosen(self, stream: Stream) -> Stream:
        """Return a part as the user wants it; a feature that is named may come later."""
        there = {feature.name for feature in stream.features}
        drop = self._choices.drop
        if drop:
            chosen = [name.strip() for name in drop.split(",")] if isinstance(drop, str) else list(drop)
            stream = stream.without([name for name in chosen if name in there or name in stream.labels])
            there -= set(chosen)
        named = {name: kind for name, kind in self._choices.named.items() if name in there}
        rest = dict.fromkeys(there - named.keys(), self._choices.rest) if self._choices.rest != "auto" else {}
        return stream.with_kinds({**rest, **named} or "auto")
