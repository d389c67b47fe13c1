"""Who gives to whom: the shares of votes by the stream and label they come from."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Source = tuple[str | None, Hashable]
"""A stream (None: the target) and one of its labels."""


def shares_by_giver(rows: Iterable[Mapping[str, Any]]) -> dict[Source, float]:
    """Return the sum of the shares of each (stream, label), from the rows of `explain`.

    Examples
    --------
    >>> rows = [{"stream": None, "label": "a", "share": 0.5}, {"stream": None, "label": "a", "share": 0.25}]
    >>> shares_by_giver(rows)
    {(None, 'a'): 0.75}
    """
    shares: dict[Source, float] = {}
    for row in rows:
        giver = (row["stream"], row["label"])
        shares[giver] = shares.get(giver, 0.0) + row["share"]
    return shares
