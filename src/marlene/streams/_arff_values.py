"""Convert the words of a column to numbers."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from marlene.streams._arff_tokens import MISSING, Malformed, key_of, key_of_word, shown, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Remember words as they are written: few different words make up most of a file. The bounds limit the memory for a
# file of long or ever new words.
MOST_REMEMBERED = 1 << 16
LONGEST_REMEMBERED = 32

# Most words are keys already; these surely are.
_OWN_KEY = re.compile(rb"[0-9A-Za-z_.+-]++|\n.*", re.DOTALL)
# Of these bytes, Python's float reads only what is a number in ARFF too: no nan, no 1_000, no other digits.
_NUMBER_BYTES = b"0123456789.+-eE \t"
_NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)

_ANSWERS = ({"0": 0.0, "1": 1.0}, {"false": 0.0, "true": 1.0}, {"no": 0.0, "yes": 1.0})


class Decoder(dict[bytes, float]):
    """Maps the words of a column to values: by key, and by every written form met so far."""

    def __missing__(self, written: bytes) -> float:
        key = written if _OWN_KEY.fullmatch(written) else key_of_word(written)
        value = self.decode(key) if key == written else self[key]
        if len(self) < MOST_REMEMBERED and len(written) <= LONGEST_REMEMBERED:
            self[written] = value
        return value

    def decode(self, key: bytes) -> float:
        """Return the value of a word that is not in the dictionary yet."""
        raise NotImplementedError


class Names(Decoder):
    """The declared values of a nominal column."""

    def __init__(self, values: Mapping[str, float]) -> None:
        super().__init__({key_of(name.encode()): value for name, value in values.items()})
        self[MISSING] = math.nan
        some = [*values][:5]
        self.expected = ", ".join(map(repr, some)) + (", …" if len(values) > len(some) else "")

    def decode(self, key: bytes) -> float:
        """Refuse every word that was not declared."""
        raise Malformed(f"expected one of {self.expected}, found {shown(key.strip())}")


class Numbers(Decoder):
    """The numbers met so far; all numeric columns share one decoder."""

    def __init__(self) -> None:
        super().__init__({MISSING: math.nan})

    def decode(self, key: bytes) -> float:
        """Read a finite number."""
        try:
            value = math.nan if key.translate(None, _NUMBER_BYTES) else float(key)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            finite = "finite number" if math.isinf(value) or _NOT_FINITE.fullmatch(key) else "number"
            raise Malformed(f"expected a {finite}, or ? for a missing value, found {shown(key.strip())}")
        return value


class Texts(Decoder):
    """The different texts of a column, numbered from 1 in the order of their appearance; 0 is a missing one."""

    def __init__(self) -> None:
        super().__init__({MISSING: 0.0})
        self.texts: dict[str, int] = {}

    def decode(self, key: bytes) -> float:
        """Give a text its number."""
        return float(self.texts.setdefault(text_of(key), len(self.texts) + 1))


class LabelNumbers(Numbers):
    """The numbers 0 and 1."""

    def decode(self, key: bytes) -> float:
        """Read 0 or 1."""
        value = super().decode(key)
        if value not in (0.0, 1.0):
            raise Malformed(f"expected 0 or 1, found {shown(key)}")
        return value


def label_values(values: Sequence[str]) -> dict[str, float]:
    """Return 0 or 1 for each of the two values of a nominal label.

    Examples
    --------
    >>> label_values(["Yes", "No"])
    {'Yes': 1.0, 'No': 0.0}
    """
    for answers in _ANSWERS:
        if len(values) == 2 and {value.lower() for value in values} == answers.keys():
            return {value: answers[value.lower()] for value in values}
    found = ", ".join(map(repr, values[:5])) + (", …" if len(values) > 5 else "")
    raise Malformed(f"expected the values 0 and 1, false and true, or no and yes, found {found}")


def plain_numbers(words: list[bytes]) -> list[float] | None:
    """Read all words at once if they are plain finite numbers; otherwise return None, and `Numbers` reads them."""
    if b"".join(words).translate(None, _NUMBER_BYTES):
        return None
    try:
        values = list(map(float, words))
    except ValueError:
        return None
    return values if math.isfinite(sum(values)) else None
