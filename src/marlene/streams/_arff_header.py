"""The header of an ARFF file: the relation and the attributes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from marlene._common.errors import MarleneError
from marlene.streams._arff_tokens import LONGEST_WORD, MISSING, Malformed, Scanner, shown, text_of
from marlene.streams._labels import label_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMERIC_TYPES = frozenset((b"numeric", b"real", b"integer"))
TEXT_TYPES = frozenset((b"string", b"date"))
REFUSED_TYPES = frozenset((b"relational",))
MOST_VALUES = 1_000_000

_LABEL_COUNT = re.compile(r"(?:^|[\s:])-C(?:\s+(\S*)|$)")
_DATE_PIECE = re.compile(r"'([^']*)'|([a-zA-Z])\2*|(.)")
_DATE_LETTERS = {"y": "%Y", "M": "%m", "d": "%d", "H": "%H", "m": "%M", "s": "%S", "S": "%f", "Z": "%z"}
_SMALL_INTEGER = re.compile(r"[+-]?[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Attribute:
    """One declared column; `values` is None where it is not nominal.

    `kind` is empty, or "text" for strings, or "date" or "date:FORM" for dates.
    """

    name: str
    line: int
    values: tuple[str, ...] | None = None
    kind: str = ""


@dataclass(slots=True)
class Header:
    """The relation and the attributes in their order."""

    relation: str | None = None
    relation_line: int = 0
    attributes: list[Attribute] = field(default_factory=list)
    data_line: int = 0

    def names(self) -> list[str]:
        """Return the names of the attributes."""
        return [attribute.name for attribute in self.attributes]

    def meka_labels(self, source: str) -> list[int] | None:
        """Return the label columns if the relation gives their number with `-C`, as in MEKA; else None."""
        match = _LABEL_COUNT.search(self.relation or "")
        if match is None:
            return None
        where = f"{source}, line {self.relation_line}"
        count = match[1] or ""
        if not _SMALL_INTEGER.fullmatch(count):
            found = shown(count.encode()) if count else "nothing"
            raise MarleneError(f"{where}: expected the number of labels after -C in the relation, found {found}")
        return label_columns(self.names(), int(count), where)


def read_header(lines: Iterator[tuple[int, bytes]], source: str) -> Header:
    """Read up to and including the line `@data`."""
    header = Header()
    declared: set[str] = set()
    number = 0
    for number, line in lines:
        try:
            scanner = Scanner(line)
            if not scanner.done() and _declaration(scanner, header, declared, number):
                return header
        except Malformed as error:
            raise MarleneError(f"{source}, line {number}: {error}") from None
    raise MarleneError(f"{source}, line {number + 1}: expected {_next(header)}, found the end of the file")


def _next(header: Header) -> str:
    if header.relation is None:
        return "@relation"
    return "@attribute or @data" if header.attributes else "@attribute"


def _declaration(scanner: Scanner, header: Header, declared: set[str], number: int) -> bool:
    """Read one declaration and tell whether it was `@data`."""
    expected = _next(header)
    if not scanner.at(b"@"):
        raise scanner.expected(expected)
    written = scanner.word(expected)
    keyword = written.lower()
    if keyword == b"@relation" and header.relation is None:
        header.relation, header.relation_line = _relation(scanner), number
        return False
    if keyword == b"@attribute" and header.relation is not None:
        attribute = _attribute(scanner, number)
        if attribute.name in declared:
            raise Malformed(f"two attributes are named {attribute.name!r}")
        declared.add(attribute.name)
        header.attributes.append(attribute)
        return False
    if keyword == b"@data" and header.attributes:
        scanner.end()
        header.data_line = number
        return True
    raise Malformed(f"expected {expected}, found {shown(written)}")


def _relation(scanner: Scanner) -> str:
    if scanner.at(b"'") or scanner.at(b'"'):
        relation = text_of(scanner.word("the relation's name"))
        scanner.end()
        return relation
    if scanner.done():
        raise scanner.expected("the relation's name")
    # Without quotes WEKA reads one word, but people who write -C by hand forget the quotes: read the whole line.
    name = scanner.text[scanner.position :].partition(b"%")[0]
    if len(name) > LONGEST_WORD:
        raise Malformed(f"expected a relation's name of at most {LONGEST_WORD} bytes")
    return name.strip().decode()


def _attribute(scanner: Scanner, number: int) -> Attribute:
    name = text_of(scanner.word("the attribute's name"))
    if scanner.accept(b"{"):
        values = _values(scanner, name)
        scanner.end()
        return Attribute(name, number, values)
    what = f"the type of attribute {name!r} (numeric, real, integer, string, date or {{value, …}})"
    if scanner.done():
        raise scanner.expected(what)
    start = scanner.position
    declared = scanner.word(what).lower()
    if declared in REFUSED_TYPES:
        raise Malformed(f"attribute {name!r} is of type {declared.decode()}, which cannot be used; expected {what}")
    if declared in TEXT_TYPES:
        form = "" if declared == b"string" or scanner.done() else f":{date_form(text_of(scanner.word('a form')))}"
        scanner.end()
        return Attribute(name, number, kind="text" if declared == b"string" else f"date{form}")
    if declared not in NUMERIC_TYPES:
        scanner.position = start
        raise scanner.expected(what)
    scanner.end()
    return Attribute(name, number)


def date_form(written: str) -> str:
    """Return the form of dates, which is written as in Java, as Python writes it.

    Examples
    --------
    >>> date_form("yyyy-MM-dd'T'HH:mm:ss")
    '%Y-%m-%dT%H:%M:%S'
    """
    form = ""
    for literal, letters, other in _DATE_PIECE.findall(written.replace("''", "\u2019")):
        if letters and letters not in _DATE_LETTERS:
            raise Malformed(f"expected a form of dates of y, M, d, H, m, s and S, found {shown(written.encode())}")
        form += _DATE_LETTERS.get(letters, (literal or other).replace("%", "%%"))
    return form.replace("\u2019", "'")


def _values(scanner: Scanner, name: str) -> tuple[str, ...]:
    keys: dict[bytes, None] = {}
    while True:
        key = scanner.word(f"a value of attribute {name!r}")
        if key == MISSING:
            raise Malformed(f"attribute {name!r}: the value ? must be in quotes, because ? means a missing value")
        if key in keys:
            raise Malformed(f"attribute {name!r}: the value {shown(key.strip())} is declared twice")
        if len(keys) == MOST_VALUES:
            raise Malformed(f"attribute {name!r} has more than {MOST_VALUES} values")
        keys[key] = None
        if scanner.accept(b"}"):
            return tuple(text_of(key) for key in keys)
        if scanner.done():
            raise scanner.expected("}")
        scanner.separator()
