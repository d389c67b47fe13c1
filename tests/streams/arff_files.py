"""Writing ARFF files for the tests, and reading them."""

import pytest

from marlene._common.errors import MarleneError
from marlene.streams.arff import read_arff


def writer(tmp_path):
    """Return a function that writes a file and returns its path."""

    def write(text, name="file.arff"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def reader(arff):
    """Return a function that writes a file and reads it."""
    return lambda text, **options: read_arff(arff(text), **options)


def refuser(arff):
    """Return a function that writes a file and returns what is said about it, after the name of the file."""

    def message(text, **options):
        path = arff(text)
        with pytest.raises(MarleneError) as caught:
            read_arff(path, **options)
        said = str(caught.value)
        assert said.startswith(str(path))
        assert "\n" not in said
        return said.removeprefix(str(path)).lstrip(",: ")

    return message


def header(*attributes, labels=1, relation="r"):
    lines = [f"@relation '{relation}: -C {labels}'", *(f"@attribute {a}" for a in attributes), "@data"]
    return "\n".join(lines) + "\n"


YAB = header("y {0,1}", "a numeric", "b {p,'q r',s}")

MULAN = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@attribute 'y & z' {0,1}\n@data\n2,1,0\n"
