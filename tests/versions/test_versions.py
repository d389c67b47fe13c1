"""Files that versions of the program wrote are read by this one, and those of newer ones are refused in one line."""

import json

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from marlene._common.states import load_state, save_state
from marlene.experiments import ResultStore
from tests.versions._files import CURRENT, EXPECTED, FOLDER, formats, of_name, read_copy

VERSIONS = sorted(path.name for path in FOLDER.iterdir() if (path / EXPECTED).exists())
FILES = [path for version in VERSIONS for path in sorted((FOLDER / version).iterdir()) if path.name != EXPECTED]
every_file = pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name} {path.name}" for path in FILES])


def same(found, expected):
    """Compare what JSON holds; numbers may differ in the last digits from one processor to another."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            same(found[key], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    elif isinstance(expected, float):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    else:
        assert found == expected


def test_there_are_files_of_all_methods_and_formats():
    names = {form.name for form in formats()}
    there = {path.name for path in FILES if path.parent.name == CURRENT}
    assert names - there == set(), "python -m tests.versions writes what is missing"


@every_file
def test_files_of_every_version_are_read(path, tmp_path):
    expected = json.loads((path.parent / EXPECTED).read_text(encoding="utf-8"))
    same(read_copy(of_name(path.name), path, tmp_path), expected[path.name])


@every_file
def test_what_a_newer_version_wrote_is_refused(path, tmp_path):
    form = of_name(path.name)
    if form.format is None:
        store = ResultStore(path)
        newer = {**store.rows()[0], "format": 2}
        (tmp_path / "runs").mkdir()
        (tmp_path / "runs" / f"{newer['key']}.json").write_text(json.dumps(newer), encoding="utf-8")
        read = ResultStore(tmp_path).rows
    else:
        kind, version = form.format
        written = next(path.iterdir()) if path.is_dir() else path
        copy = tmp_path / written.name
        save_state(copy, kind, version + 1, *load_state(written, kind, version))
        read = lambda: form.read(tmp_path if path.is_dir() else copy)  # noqa: E731
    with pytest.raises(MarleneError, match=r"^[^\n]*version \d+ of the format, this program reads version \d+$"):
        read()
