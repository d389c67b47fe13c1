"""Files of states: nothing in them is believed before it is checked."""

import io
import json
import struct
import zipfile

import numpy as np
import pytest

from marlene._common import archives
from marlene._common.archives import digest, read_arrays
from marlene._common.errors import MarleneError
from marlene._common.states import CHECKSUM, HEADER, load_state, save_state

ARRAYS = {
    "counts": np.arange(6).reshape(2, 3),
    "names": np.array(["a", "bc"]),
    "turned": np.arange(6.0).reshape(2, 3).T,
}


def members(path):
    """Return the members of a zip file by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_members(path, content):
    """Write members, with right checksums of the zip format."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)


def npy(array, **options):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **options)
    return buffer.getvalue()


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "state.npz"
    save_state(found, "example", 3, {"depth": 2}, ARRAYS)
    return found


def test_what_was_written_is_read(path):
    settings, arrays = load_state(path, "example", 3)
    assert settings == {"depth": 2}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype
        assert arrays[name].flags.writeable


@pytest.mark.parametrize("name", [HEADER, CHECKSUM, *ARRAYS])
def test_a_checksum_covers_everything(path, name):
    content = members(path)
    changed = bytearray(content[f"{name}.npy"])
    changed[changed.find(b'"depth": 2') + 9 if name == HEADER else -2] ^= 1
    write_members(path, content | {f"{name}.npy": bytes(changed)})
    with pytest.raises(MarleneError, match=r"state.npz: .*damaged \(the checksum is that of another content\)$"):
        load_state(path, "example", 3)


@pytest.mark.parametrize("change", ["renamed", "dropped", "added", "type"])
def test_arrays_that_are_not_those_that_were_written(path, change):
    content = members(path)
    counts = content.pop("counts.npy")
    if change == "renamed":
        content["other.npy"] = counts
    elif change == "added":
        content |= {"counts.npy": counts, "more.npy": counts}
    elif change == "type":
        content["counts.npy"] = npy(ARRAYS["counts"].view(np.uint64))
    write_members(path, content)
    with pytest.raises(MarleneError, match="checksum"):
        load_state(path, "example", 3)


def test_a_file_without_checksum_is_refused(path):
    content = members(path)
    del content[f"{CHECKSUM}.npy"]
    write_members(path, content)
    with pytest.raises(MarleneError, match="damaged"):
        load_state(path, "example", 3)


@pytest.mark.parametrize("version", [2, 4, "3", None, 10**30])
def test_other_versions_are_refused_in_one_line(path, version):
    header = json.dumps({"type": "example", "version": version, "settings": {}}).encode()
    checksum = np.frombuffer(digest(header, ARRAYS).encode(), np.uint8)
    own = {f"{HEADER}.npy": npy(np.frombuffer(header, np.uint8)), f"{CHECKSUM}.npy": npy(checksum)}
    write_members(path, members(path) | own)
    with pytest.raises(MarleneError, match=r"^[^\n]*version \S+ of the format, this program reads version 3$"):
        load_state(path, "example", 3)


def test_a_newer_format_may_have_another_header_and_checksum(path):
    header = json.dumps({"type": "example", "version": 4, "content": {}}).encode()
    write_members(path, {f"{HEADER}.npy": npy(np.frombuffer(header, np.uint8))})
    with pytest.raises(MarleneError, match=r"version 4 of the format, this program reads version 3$"):
        load_state(path, "example", 3)


def with_shape(array, shape):
    """Return an array in NumPy's format that claims to have another shape."""
    data = npy(array)
    (length,) = struct.unpack("<H", data[8:10])
    header = data[10 : 10 + length].replace(str(array.shape).encode(), shape.encode())
    return data[:8] + struct.pack("<H", len(header)) + header + data[10 + length :]


@pytest.mark.parametrize("shape", ["(1000000000000,)", "(7,)", "(5,)", "(-6,)", "(2, -3)", f"({10**30},)", "(0,)"])
def test_sizes_are_checked_before_memory_is_taken(path, shape):
    write_members(path, {"counts.npy": with_shape(np.arange(6), shape)})
    with pytest.raises(MarleneError, match=r"'counts\.npy' is not an array of the size it claims"):
        read_arrays(path.read_bytes())


def test_a_file_that_would_fill_the_memory(path, monkeypatch):
    monkeypatch.setattr(archives, "free_memory_mb", lambda: 10.0)
    write_members(path, {"counts.npy": npy(np.zeros(2_000_000))})
    assert path.stat().st_size < 20_000
    with pytest.raises(MarleneError, match="16 MB, and 10 MB of memory are free"):
        read_arrays(path.read_bytes())


def test_objects_are_not_read(path):
    write_members(path, {"counts.npy": npy(np.array([{}, None]), allow_pickle=True)})
    with pytest.raises(MarleneError, match="not an array of the size it claims"):
        read_arrays(path.read_bytes())


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_arrays_of_one_name(path):
    with zipfile.ZipFile(path, "w") as archive:
        for _ in range(2):
            archive.writestr("counts.npy", npy(np.arange(3)))
    with pytest.raises(MarleneError, match="two of one name"):
        read_arrays(path.read_bytes())
