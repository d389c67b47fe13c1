"""Errors that a user can cause."""

from __future__ import annotations

import re
import sys
import warnings

LONGEST_WORD, LONGEST = 300, 2000
"""How many characters of a word, and of a whole message, are shown."""
_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


def one_line(text: str) -> str:
    r"""Return a message as one line that can be printed: line breaks are escaped, and what is too long is cut.

    Examples
    --------
    >>> one_line("column 'two\nlines'")
    "column 'two\\nlines'"
    >>> len(one_line("a" * 100_000 + " is not a number"))
    316
    """
    if len(text) > LONGEST_WORD:
        text = _cut(_LONG_WORD.sub(lambda found: _cut(found[0], LONGEST_WORD), text), LONGEST)
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _cut(text: str, most: int) -> str:
    """Return a text without its middle if it is too long."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - half]}…{text[-half:]}"


def quoted(value: object) -> str:
    """Return a value as a message quotes it; Python refuses to write out some, such as very long numbers.

    Examples
    --------
    >>> quoted("a"), quoted(10**5000)
    ("'a'", 'a value of type int')
    """
    try:
        return _cut(repr(value), LONGEST_WORD)
    except (ValueError, RecursionError):
        return f"a value of type {type(value).__name__}"


class MarleneError(ValueError):
    """An input or a setting cannot be used; the message, one line, says what is wrong, and where.

    Examples
    --------
    >>> raise MarleneError("table.csv, line 3: expected 4 values, found 2")
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: table.csv, line 3: expected 4 values, found 2
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(one_line(message))


class MissingExtraError(MarleneError, ImportError):
    """An optional package is needed and not installed."""


def warn_user(said: str) -> None:
    """Warn of something that happened to a caller of this package: the warning names the caller's line."""
    level, frame = 2, sys._getframe(1)  # noqa: SLF001 (what `warnings` does)
    while frame.f_back is not None and str(frame.f_back.f_globals.get("__name__")).partition(".")[0] == "marlene":
        level, frame = level + 1, frame.f_back
    warnings.warn(said, UserWarning, stacklevel=level + 1)
