"""Which columns of a table are labels."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from marlene._common.errors import MarleneError

LabelChoice: TypeAlias = str | int | Sequence[str]
LABEL = ("no column matches the label pattern {!r}", "there is no label column named {!r}")
DROPPED = ("no column matches the pattern {!r}, which is to be dropped", "there is no column named {!r} to drop")
"""What is said if a pattern or a name is not found."""


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
    chosen = matching_columns(names, labels, source, LABEL)
    if not chosen:
        raise MarleneError(f"{source}: there is no label")
    return chosen


def matching_columns(
    names: Sequence[str], choice: str | Sequence[str], source: str, messages: tuple[str, str]
) -> list[int]:
    """Return the positions of columns by patterns or by names, in the order of the columns.

    Examples
    --------
    >>> matching_columns(["id", "note_1", "note_2"], "id,note_*", "table.csv", DROPPED)
    [0, 1, 2]
    """
    chosen: set[int] = set()
    if isinstance(choice, str):
        for pattern in (part.strip() for part in choice.split(",")):
            found = [i for i, name in enumerate(names) if name == pattern or fnmatchcase(name, pattern)]
            if not found:
                raise MarleneError(f"{source}: {messages[0].format(pattern)}")
            chosen.update(found)
        return sorted(chosen)
    positions = {name: i for i, name in enumerate(names)}
    for name in choice:
        if name not in positions:
            raise MarleneError(f"{source}: {messages[1].format(name)}")
        chosen.add(positions[name])
    return sorted(chosen)
