"""Mulan's XML files, which name the labels of a data set."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.parsers import expat

from marlene._common.errors import MarleneError
from marlene.streams._lines import unreadable

if TYPE_CHECKING:
    from pathlib import Path


def label_names(path: Path) -> list[str]:
    """Return the names of the labels in the order of the file; a hierarchy is flattened.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "labels.xml"
    >>> _ = file.write_text('<labels><label name="sport"><label name="golf"/></label></labels>')
    >>> label_names(file)
    ['sport', 'golf']
    """
    reader = _Reader(path)
    try:
        with path.open("rb") as file:
            reader.parser.ParseFile(file)
    except MarleneError:
        raise
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise MarleneError(f"{path}, line {error.lineno}: expected a label file of Mulan in XML ({reason})") from error
    except (OSError, ValueError, LookupError) as error:  # the last two: impossible file name or encoding
        raise unreadable(path, error) from error
    if not reader.names:
        raise MarleneError(f"{path}: there is no label")
    return list(reader.names)


class _Reader:
    """Collects names element by element: any depth of nesting is fine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: dict[str, None] = {}
        self.inside = False
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._element
        # Entities are declared in a document type: if it is refused, none can be expanded or fetched.
        self.parser.StartDoctypeDeclHandler = self._document_type

    def _error(self, message: str) -> MarleneError:
        return MarleneError(f"{self.path}, line {self.parser.CurrentLineNumber}: {message}")

    def _document_type(self, *_: object) -> None:
        raise self._error("expected <labels>, found a document type (<!DOCTYPE …>), which is not accepted")

    def _element(self, element: str, attributes: dict[str, str]) -> None:
        tag = element.rpartition(" ")[2]
        expected = "label" if self.inside else "labels"
        if tag != expected:
            raise self._error(f"expected <{expected}>, found <{tag:.40}>")
        if self.inside:
            name = attributes.get("name")
            if name is None:
                raise self._error('expected <label name="…">, found a label without a name')
            if name in self.names:
                raise self._error(f"the label {name!r} is named twice")
            self.names[name] = None
        self.inside = True
