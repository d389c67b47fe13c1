"""The words of an ARFF line: bare, or quoted with escapes; commas, braces and comments between them.

A word is passed on as its *key*: the word itself if it needs no quotes, otherwise a line feed and the text between the
quotes. No line holds a line feed, so a key with one never equals a word without quotes.
"""

from __future__ import annotations

import re

LONGEST_WORD = 1 << 16

_BARE = rb"(?:[^\s,'\"%{}\\]++|\\['\"]?)++"
_SINGLE = rb"'([^'\\]*+(?:\\.[^'\\]*+)*+)'"
_DOUBLE = rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
_WORD = re.compile(rb"\s*+(?:(%b)|%b|%b)" % (_BARE, _SINGLE, _DOUBLE))
_BARE_WORD = re.compile(_BARE)
_SPACE = re.compile(rb"\s*+")

_ESCAPED_QUOTE = re.compile(rb"\\(['\"])")
_ESCAPE = re.compile(rb"\\(u(?:[0-9a-cA-Ce-fE-F][0-9a-fA-F]|[dD][0-7])[0-9a-fA-F]{2}|[0-3][0-7]{0,2}|[4-7][0-7]?|.)")
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}

MISSING = b"?"
_QUOTED = b"\n"


class Malformed(Exception):  # noqa: N818 (it becomes a MarleneError when the line is known)
    """A message that says what was expected and what was found."""


def key_of(text: bytes) -> bytes:
    r"""Return the key of a quoted word.

    Examples
    --------
    >>> key_of(b"red"), key_of(b"light red"), key_of(b"?")
    (b'red', b'\nlight red', b'\n?')
    """
    return text if text != MISSING and _BARE_WORD.fullmatch(text) else _QUOTED + text


def text_of(key: bytes) -> str:
    """Return the text of a key."""
    return key.removeprefix(_QUOTED).decode()


def without_escapes(name: str) -> str:
    r"""Return a name with quotes instead of escaped quotes.

    Examples
    --------
    >>> print(without_escapes(r"TAG_m\'usica"))
    TAG_m'usica
    """
    return _ESCAPED_QUOTE.sub(rb"\1", name.encode()).decode()


def shown(text: bytes) -> str:
    """Return a word, or the rest of a line, as an error message quotes it."""
    if not text:
        return "the end of the line"
    head = text[:40].decode(errors="ignore")
    return repr(head) + ("…" if len(text) > 40 else "")


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if len(code) == 5:
        return chr(int(code[1:], 16)).encode()
    if code.isdigit() and code < b"8":
        return chr(int(code, 8)).encode()
    return _ESCAPES.get(code, code)


def _key(match: re.Match[bytes]) -> bytes:
    start, end = match.span(match.lastindex or 0)
    if end - start > LONGEST_WORD:
        found = shown(match.string[start : start + 41])
        raise Malformed(f"expected a word of at most {LONGEST_WORD} bytes, found {found}")
    bare, single, double = match.groups()
    if bare is not None:
        # WEKA writes no such word, but Mulan's files have names like TAG_m\'usica.
        return key_of(_ESCAPED_QUOTE.sub(rb"\1", bare)) if b"\\" in bare else bytes(bare)
    text = double if single is None else single
    return key_of(_ESCAPE.sub(_unescaped, text) if b"\\" in text else text)


def key_of_word(written: bytes) -> bytes:
    r"""Return the key of a text that must be one word; white space around it is ignored.

    Examples
    --------
    >>> key_of_word(b" 1"), key_of_word(rb"'it\'s'")
    (b'1', b"\nit's")
    """
    match = _WORD.fullmatch(written.rstrip()) if len(written) <= LONGEST_WORD else None
    if match is None:
        raise Malformed(f"expected a value, found {shown(written.strip())}")
    return _key(match)


class Scanner:
    r"""Reads a line from left to right.

    Examples
    --------
    >>> scanner = Scanner(b"@attribute 'light red' {0, 1} % a comment")
    >>> scanner.word("a keyword"), scanner.word("a name"), scanner.accept(b"{")
    (b'@attribute', b'\nlight red', True)
    """

    __slots__ = ("position", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.position = 0

    def _skip_space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position

    def done(self) -> bool:
        """Tell whether only white space and a comment are left."""
        self._skip_space()
        return self.position == len(self.text) or self.at(b"%")

    def at(self, sign: bytes) -> bool:
        """Tell whether `sign` comes next."""
        self._skip_space()
        return self.text.startswith(sign, self.position)

    def accept(self, sign: bytes) -> bool:
        """Step over `sign` if it comes next."""
        found = self.at(sign)
        self.position += len(sign) * found
        return found

    def word(self, expected: str) -> bytes:
        """Step over a word and return its key."""
        match = _WORD.match(self.text, self.position)
        if match is None:
            raise self.expected(expected)
        key = _key(match)
        self.position = match.end()
        return key

    def separator(self) -> None:
        """Step over what stands between two words: a comma or, as in WEKA, only white space."""
        if not self.accept(b",") and not self.after_space():
            raise self.expected("a comma")

    def after_space(self) -> bool:
        """Tell whether white space stands before what comes next."""
        self._skip_space()
        return self.text[self.position - 1 : self.position].isspace()

    def end(self) -> None:
        """Check that nothing is left."""
        if not self.done():
            raise self.expected("the end of the line")

    def expected(self, what: str) -> Malformed:
        """Return an error: `what` was expected here."""
        self._skip_space()
        if self.text.startswith((b"'", b'"'), self.position) and not _WORD.match(self.text, self.position):
            what = "a closing quote"
        return Malformed(f"expected {what}, found {shown(self.text[self.position : self.position + 41])}")
