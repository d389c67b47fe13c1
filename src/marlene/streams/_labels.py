"""Which columns of a table are labels."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from marlene._common.errors import MarleneError

LabelChoice: TypeAlias = str | int | Sequence[str]


def label_columns(names: Sequence[str], labels: LabelChoice, source: str) -> list[int]:
    """Return the positions of the label columns, in the order of the columns.

    Parameters
    ----------
    names
        The names of all columns.
    labels
        A number n (the first n columns, or the last -n if it is negative, as in MEKA files); a pattern, or several
        separated by commas, with `*` and `?` as in file names; or a list of names, without patterns.
    source
        The file or table, for the error message.

    Examples
    --------
    >>> label_columns(["age", "is_spam", "is_urgent"], "is_*", "table.csv")
    [1, 2]
    >>> label_columns(["a", "b", "c"], -1, "table.csv")
    [2]
    """
    if isinstance(labels, int):
        if not 0 < abs(labels) <= len(names):
            raise MarleneError(f"{source}: cannot take {labels} of {len(names)} columns as labels")
        return list(range(labels) if labels > 0 else range(len(names) + labels, len(names)))
    chosen: set[int] = set()
    if isinstance(labels, str):
        for pattern in (part.strip() for part in labels.split(",")):
            found = [i for i, name in enumerate(names) if name == pattern or fnmatchcase(name, pattern)]
            if not found:
                raise MarleneError(f"{source}: no column matches the label pattern {pattern!r}")
            chosen.update(found)
        return sorted(chosen)
    positions = {name: i for i, name in enumerate(names)}
    for label in labels:
        if label not in positions:
            raise MarleneError(f"{source}: there is no label column named {label!r}")
        chosen.add(positions[label])
    if not chosen:
        raise MarleneError(f"{source}: there is no label")
    return sorted(chosen)
