"""Named arrays in one npz file, of which nothing is believed before it is checked."""

from __future__ import annotations

import hashlib
import io
import zipfile
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.lib import format as npy

from marlene._common.errors import MarleneError, quoted
from marlene._common.resources import free_memory_mb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays

SUFFIX = ".npy"
MOST_MEMBERS = 1 << 20
KINDS = "biufU"
"""Types of arrays in files: truth values, numbers and texts."""
READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def write_arrays(file: IO[bytes], arrays: Mapping[str, Array], compressed: bool = True) -> None:
    """Write named arrays as an npz file."""
    write = np.savez_compressed if compressed else np.savez
    write(file, allow_pickle=False, **arrays)


def read_arrays(content: bytes) -> Arrays:
    """Return the arrays of an npz file.

    Sizes are checked before memory is taken: a small file may claim to hold more than there is memory.

    Examples
    --------
    >>> buffer = io.BytesIO()
    >>> write_arrays(buffer, {"counts": np.arange(3)})
    >>> read_arrays(buffer.getvalue())
    {'counts': array([0, 1, 2])}
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        names = [member.filename.removesuffix(SUFFIX) for member in members]
        if len(members) > MOST_MEMBERS or len(set(names)) < len(names):
            raise MarleneError("too many arrays, or two of one name")
        size = sum(member.file_size for member in members)
        if size > 1e6 * free_memory_mb():
            raise MarleneError(f"{size / 1e6:,.0f} MB, and {free_memory_mb():,.0f} MB of memory are free")
        return {name: _read(archive, member) for name, member in zip(names, members, strict=True)}


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Array:
    with archive.open(member) as file:
        version = npy.read_magic(file)
        if version not in READERS:
            raise MarleneError(f"{quoted(member.filename)} is of another version of NumPy's format")
        shape, by_column, dtype = READERS[version](file)
        count = 1
        for length in shape:  # whole numbers of any size
            count *= length
        if (
            dtype.kind not in KINDS
            or min(shape, default=0) < 0
            or count * dtype.itemsize != member.file_size - file.tell()
        ):
            raise MarleneError(f"{quoted(member.filename)} is not an array of the size it claims")
        array = np.frombuffer(bytearray(file.read()), dtype)
    return array.reshape(shape[::-1]).transpose() if by_column else array.reshape(shape)


def digest(header: bytes, arrays: Mapping[str, Array]) -> str:
    """Return a checksum of a header and named arrays; it does not depend on their order.

    Examples
    --------
    >>> digest(b"{}", {"counts": np.arange(3)})[:8]
    'ea2875a6'
    """
    found = hashlib.sha256(header)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"\n{name} {array.dtype.str} {arrays[name].shape}\n".encode())
        found.update(array.data if array.size else b"")
    return found.hexdigest()
