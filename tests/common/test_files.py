"""Files that are wholly there or not at all, the cache folder, and the memory of the process."""

import errno
import os
import stat
import sys
from pathlib import Path

import pytest

from marlene._common.files import atomic_write, user_cache
from marlene._common.resources import memory_mb


def write(path, content=b"new"):
    with atomic_write(path) as file:
        file.write(content)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


def test_a_file_appears_under_its_name_and_nothing_beside_it(tmp_path):
    for path in (tmp_path / "a.json", str(tmp_path / "b.json")):
        write(path)
        write(path, b"newer")
        assert Path(path).read_bytes() == b"newer"
    assert names(tmp_path) == ["a.json", "b.json"]


def test_the_old_file_stays_until_the_end(tmp_path):
    target = tmp_path / "a.json"
    target.write_bytes(b"old")
    with atomic_write(target) as file:
        file.write(b"new")
        file.flush()
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")])
@pytest.mark.parametrize("before", [None, b"old"])
def test_an_error_inside_leaves_what_was_there(tmp_path, error, before):
    target = tmp_path / "a.json"
    if before is not None:
        target.write_bytes(before)

    def fail():
        with atomic_write(target) as file:
            file.write(b"half of it")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert names(tmp_path) == ([] if before is None else ["a.json"])
    assert before is None or target.read_bytes() == before


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_full_disk_at_the_last_moment(tmp_path, monkeypatch, where):
    target = tmp_path / "a.json"
    target.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full) if where == "fsync" else monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write(target)
    assert names(tmp_path) == ["a.json"]
    assert target.read_bytes() == b"old"


def test_permissions_are_those_of_an_ordinary_file(tmp_path, umask):
    target = tmp_path / "a.json"
    write(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask
    target.chmod(0o604)
    write(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o604


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.json").write_bytes(b"old")
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "real.json")
    write(link)
    assert link.is_symlink()
    assert (tmp_path / "real.json").read_bytes() == b"new"


def test_devices_and_folders_are_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for target in (pipe, tmp_path):
        with pytest.raises(OSError, match="Not an ordinary file"):
            write(target)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


def test_the_longest_name_there_is(tmp_path):
    target = tmp_path / ("é" * 125 + ".json")
    write(target)
    assert target.read_bytes() == b"new"


def test_no_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "absent" / "a.json")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"MARLENE_CACHE": "/m", "XDG_CACHE_HOME": "/x"}, "/m/data"),
        ({"MARLENE_CACHE": "", "XDG_CACHE_HOME": "/x"}, "/x/marlene/data"),
        ({"LOCALAPPDATA": "/l"}, "/l/marlene/data"),
        ({"HOME": "/h"}, "/h/.cache/marlene/data"),
    ],
)
def test_the_cache_folder(monkeypatch, variables, expected):
    for name in ("MARLENE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert user_cache("data") == Path(expected)


def test_memory_is_in_millions_of_bytes_on_every_path(monkeypatch):
    assert 10 < memory_mb() <= memory_mb(peak=True) < 100_000
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "Name:\tpython\n")
    assert 10 < memory_mb(peak=True) < 100_000


def test_memory_is_not_known_where_nothing_tells(monkeypatch):
    def absent(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", absent)
    monkeypatch.setitem(sys.modules, "resource", None)
    unknown = memory_mb()
    assert unknown != unknown  # noqa: PLR0124 (true for NaN only)
