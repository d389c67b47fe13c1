"""What pages say: sentences from words.toml, and numbers and names in them."""

from __future__ import annotations

import functools
import re
import tomllib
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SCORES = {"macro_gmean": "Macro", "micro_gmean": "Micro", "label_set_gmean": "Label-set"}
"""The paper's three G-Means, and their short names."""


@functools.cache
def _texts() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))


def say(page: str, key: str, *values: Any, **named: Any) -> str:  # noqa: ANN401 (whatever a sentence has places for)
    """Return a sentence of a page with its numbers filled in.

    Examples
    --------
    >>> say("table-time", "slowest", slowest="`ebr` on yeast")
    'The slowest of them: `ebr` on yeast.'
    """
    return str(_texts()[page][key]).format(*values, **named)


BESIDE = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
"""What a text says of numbers that the paper or others printed."""


def with_comparisons(text: str) -> str:
    """Return a text as it is read beside printed numbers.

    Examples
    --------
    >>> with_comparisons("Scores[[, beside the paper's]].")
    "Scores, beside the paper's."
    """
    return BESIDE.sub(r"\1", text)


def without_comparisons(text: str) -> str:
    """Return a text without what it says of printed numbers.

    Examples
    --------
    >>> without_comparisons("Scores[[, beside the paper's]].")
    'Scores.'
    """
    return BESIDE.sub("", text)


class Comparison(str):
    """A sentence that compares with what the paper or others printed."""

    __slots__ = ()


def compare(page: str, key: str, *values: Any, **named: Any) -> Comparison:  # noqa: ANN401
    """Return such a sentence of a page with its numbers filled in."""
    return Comparison(say(page, key, *values, **named))


def notes(page: str, **named: Any) -> list[str]:  # noqa: ANN401
    """Return the notes of a page with their numbers filled in, and the note of several pages on the detector."""
    named["detector"] = _texts()["index"]["detector"]
    return [note.format(**named) for note in _texts()[page]["notes"]]


def code(names: Iterable[str]) -> str:
    """Return names as code, with commas between.

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


def seeds_in_words(seeds: tuple[int, ...]) -> str:
    """Return seeds in short.

    Examples
    --------
    >>> seeds_in_words((1, 2, 3)), seeds_in_words((1, 3)), seeds_in_words(()), seeds_in_words((2,))
    ('1–3', '1, 3', 'none', '2')
    """
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]}–{seeds[-1]}"
    return ", ".join(map(str, seeds)) or "none"
