"""Numbers and names in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

QUICK = (
    "**Quick reproduction:** beginnings of few streams, one seed. It shows that every part works; its numbers are not "
    "to be compared with the paper's."
)


def code(names: Iterable[str]) -> str:
    """Return names as they are typed, with commas between.

    Examples
    --------
    >>> code(["ebr", "ecc"])
    '`ebr`, `ecc`'
    """
    return ", ".join(f"`{name}`" for name in names)


def listed(items: Iterable[str], most: int = 8) -> str:
    """Return items with commas between, and how many more there are.

    Examples
    --------
    >>> listed("abc"), listed("abc", most=2), listed("")
    ('a, b, c', 'a, b and 1 more', 'none')
    """
    every = list(items)
    if len(every) <= most:
        return ", ".join(every) or "none"
    return f"{', '.join(every[:most])} and {len(every) - most} more"


def largest(differences: Mapping[str, float], most: int = 6) -> str:
    """Return the greatest differences, each with its sign.

    Examples
    --------
    >>> largest({"yeast": -0.25, "imdb": 0.5})
    'imdb +0.500, yeast -0.250'
    """
    order = sorted(differences, key=lambda name: -abs(differences[name]))
    return listed((f"{name} {differences[name]:+.3f}" for name in order), most)
