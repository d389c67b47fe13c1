"""Streams from dictionaries: data sets of River, and lists of records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from marlene._common.checks import whole_number
from marlene._common.errors import MarleneError
from marlene.streams._assemble import Choices, table_to_stream
from marlene.streams._columns import RawTable

if TYPE_CHECKING:
    from marlene.streams._stream import FeatureKinds, Stream


def from_river(
    dataset: Iterable[tuple[Mapping[Any, Any], Mapping[Any, Any]]],
    *,
    limit: int | None = None,
    kinds: FeatureKinds = "auto",
    name: str | None = None,
) -> Stream:
    """Make a stream from a multi-label data set of River, or any iterable of such pairs.

    A feature that is absent from an example is missing in it; an absent label is not known.

    Parameters
    ----------
    dataset
        Pairs of a dictionary of features and a dictionary from labels to truth values.
    limit
        Take at most this many examples; needed for an endless generator.
    kinds
        As in `read_csv`.
    name
        What the stream is called in reports. Default: the name of the class.

    Examples
    --------
    >>> pairs = [({"length": 12, "shouts": True}, {"spam": True}), ({"length": 7}, {"spam": False})]
    >>> stream = from_river(pairs, name="mail")
    >>> stream.X
    array([[12.,  1.],
           [ 7., nan]])
    """
    table, labels = pairs_table(dataset, limit, name or pairs_name(dataset))
    return table_to_stream(table, Choices(labels, kinds=kinds), table.source)


def pairs_name(dataset: object) -> str:
    """Return what a data set is called."""
    return type(dataset).__name__.lower()


def pairs_table(dataset: Iterable[Any], limit: int | None, name: str) -> tuple[RawTable, int]:
    """Return the cells of a data set, labels first, and the number of labels."""
    if limit is not None:
        whole_number(limit, f"{name}: limit", 1)
    elif getattr(dataset, "n_samples", 0) is None:
        raise MarleneError(f"{name}: the data set has no end; say with limit= how many examples to take")
    inputs: dict[str, list[Any]] = {}
    truths: dict[str, list[Any]] = {}
    count = 0
    for pair in islice(dataset, limit):
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, Mapping) for part in pair)):
            raise MarleneError(f"{name}, example {count}: expected a dictionary of inputs and one of labels")
        for columns, values in zip((inputs, truths), pair, strict=True):
            for key, value in values.items():
                cells = columns.setdefault(str(key), [])
                cells.extend([None] * (count - len(cells)))
                cells.append(value)
        count += 1
    for cells in (*inputs.values(), *truths.values()):
        cells.extend([None] * (count - len(cells)))
    if not truths:
        raise MarleneError(f"{name}: there is no label")
    both = [*truths.values(), *inputs.values()]
    table = RawTable(name, [*truths, *inputs], count, both.__getitem__, lambda row: f"{name}, example {row}")
    return table, len(truths)
