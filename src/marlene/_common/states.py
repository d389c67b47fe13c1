"""Saved states: named arrays and a JSON header, never a pickle."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from marlene._common.archives import digest, read_arrays, write_arrays
from marlene._common.errors import MarleneError, quoted
from marlene._common.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from marlene._common.arrays import Array, Arrays
    from marlene._common.files import AnyPath

HEADER, CHECKSUM = "header", "checksum"
MOST_COUNTED = 10**18
"""The largest count that is loaded. What is learnt afterwards leads far beyond it before numbers overflow."""
LARGEST = np.float64(1e150)
"""Of larger numbers the squares would be infinite."""
EVERY = "*"
Restored = TypeVar("Restored")
Tuple = TypeVar("Tuple", bound=Any)
"""A NamedTuple of arrays."""


def _with_header(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Arrays:
    return {HEADER: np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays}


def _with_checksum(arrays: Arrays) -> Arrays:
    """Return arrays, one of which is the header, with a checksum of all of them."""
    others = {name: array for name, array in arrays.items() if name != HEADER}
    return arrays | {CHECKSUM: np.frombuffer(digest(arrays[HEADER].tobytes(), others).encode(), np.uint8)}


def _read(content: bytes) -> tuple[dict[str, Any], Arrays, bool]:
    """Return header and arrays, and whether the checksum is theirs."""
    arrays = read_arrays(content)
    header, checksum = arrays.pop(HEADER).tobytes(), arrays.pop(CHECKSUM, None)
    whole = checksum is not None and checksum.tobytes() == digest(header, arrays).encode()
    return dict(json.loads(header)), arrays, whole


def save_state(
    path: AnyPath, file_type: str, version: int, settings: Mapping[str, Any], arrays: Mapping[str, Array]
) -> None:
    """Write arrays and settings to one npz file, whole or not at all.

    Parameters
    ----------
    path
        The file; an existing one is replaced.
    file_type, version
        What the file holds and the version of its format; `load_state` checks both.
    settings
        What JSON can hold.
    arrays
        Arrays by name.
    """
    header = {"type": file_type, "version": version, "settings": dict(settings)}
    with atomic_write(path) as file:
        write_arrays(file, _with_checksum(_with_header(header, arrays)))


def load_state(path: AnyPath, file_type: str, version: int, oldest: int | None = None) -> tuple[dict[str, Any], Arrays]:
    """Return settings and arrays of a file that `save_state` wrote; refuse a foreign or damaged file.

    Files of versions from `oldest` to `version` are read; by default only those of `version`.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "state.npz"
    >>> save_state(file, "example", 1, {"depth": 3}, {"counts": np.arange(3)})
    >>> load_state(file, "example", 1)
    ({'depth': 3}, {'counts': array([0, 1, 2])})
    """
    source = Path(path)
    try:
        header, arrays, whole = _read(source.read_bytes())
        found, written = header["type"], header["version"]
    except OSError as error:
        raise MarleneError(f"{source}: {error.strerror or 'cannot be read'}") from error
    except Exception as error:  # a damaged file may raise anything
        raise MarleneError(f"{source}: not a file of marlene's, or damaged ({error})") from error
    if found != file_type:
        raise MarleneError(f"{source}: holds {found!r}, expected {file_type!r}")
    newer = type(written) is int and written > version  # whose settings and checksum may be other ones
    if not newer and not (whole and isinstance(header.get("settings"), dict)):
        raise MarleneError(f"{source}: not a file of marlene's, or damaged (the checksum is that of another content)")
    if newer or type(written) is not int or written < (version if oldest is None else oldest):
        raise MarleneError(f"{source}: version {written} of the format, this program reads version {version}")
    return header["settings"], arrays


def restore_file(
    path: AnyPath, file_type: str, version: int, restore: Callable[[dict[str, Any], Arrays], Restored]
) -> Restored:
    """Load a state and return what `restore` makes of its settings and arrays; errors name the file.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "state.npz"
    >>> save_state(file, "example", 1, {"depth": 3}, {})
    >>> restore_file(file, "example", 1, lambda settings, arrays: settings["depth"])
    3
    """
    settings, arrays = load_state(path, file_type, version)
    try:
        return restore(settings, arrays)
    except MarleneError as error:
        raise MarleneError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise MarleneError(f"{path}: damaged ({error!r})") from error


def state_bytes(header: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Return a state as bytes; equal states give equal bytes, unlike pickles of Python objects."""
    buffer = io.BytesIO()
    write_arrays(buffer, _with_header(header, arrays), compressed=False)
    return buffer.getvalue()


def bytes_state(content: bytes) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a state that `state_bytes` packed."""
    header, arrays, _ = _read(content)
    return header, arrays


def arrays_under(arrays: Mapping[str, Array], prefix: str) -> Arrays:
    """Return the arrays whose names begin with `prefix`, without the prefix."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def with_prefix(arrays: Mapping[str, Array], prefix: str) -> Arrays:
    """Return the arrays with `prefix` before every name."""
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def plain(name: Hashable) -> Hashable:
    """Return the name of a feature or label as a plain Python object; refuse one that JSON cannot hold."""
    if isinstance(name, np.generic):
        name = name.item()
    if not isinstance(name, str | int | float | bool | None):
        raise MarleneError(f"a learner can be saved if its features and labels are texts or numbers, not {name!r}")
    return name


def require(holds: bool | np.bool_, what: str, whose: str = "a learner") -> None:
    """Refuse a damaged state: raise an error that names `what` unless the condition holds."""
    if not holds:
        raise MarleneError(f"not the state of {whose}, or damaged: {what}")


def restored_count(value: object, what: str, least: int = 0) -> int:
    """Return a saved number of things; refuse one that nothing could have been counted to."""
    require(type(value) is int and least <= value <= MOST_COUNTED, what)
    return int(value)  # type: ignore[call-overload, no-any-return]


def refuse_other(value: object, pattern: Any, what: str) -> None:  # noqa: ANN401 (see below)
    """Refuse a value of a header that does not fit a pattern; the error names where.

    A pattern is a type (`int` and `float` are of bounded size, `float` also takes whole numbers and NaN), None, a tuple
    of patterns one of which fits, a list with the pattern of all its items, a dictionary of patterns by key, or with
    the one key `EVERY` the pattern of all values.

    Examples
    --------
    >>> refuse_other({"a": [1, "x"]}, {"a": [int]}, "settings")
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: not a whole file, or damaged: settings, a, 1 is 'x'
    """
    if isinstance(pattern, tuple):
        if not any(_is_plainly(value, each) for each in pattern):
            refuse_other(value, pattern[0], what)
    elif isinstance(pattern, list) and isinstance(value, list):
        for place, each in enumerate(value):
            refuse_other(each, pattern[0], f"{what}, {place}")
    elif isinstance(pattern, dict) and isinstance(value, dict) and EVERY in pattern:
        for key, each in value.items():
            refuse_other(each, pattern[EVERY], f"{what}, {key}")
    elif isinstance(pattern, dict) and isinstance(value, dict) and pattern.keys() <= value.keys():
        for key, each in pattern.items():
            refuse_other(value[key], each, f"{what}, {key}")
    elif not _is_plainly(value, pattern):
        raise MarleneError(f"not a whole file, or damaged: {what} is {quoted(value)}")


def _is_plainly(value: object, pattern: object) -> bool:
    if pattern is float and isinstance(value, int | float) and not isinstance(value, bool):
        return not abs(value) > MOST_COUNTED
    if pattern is int:
        return type(value) is int and abs(value) <= MOST_COUNTED
    return value is None if pattern is None else isinstance(pattern, type) and type(value) is pattern


def restored_array(arrays: Mapping[str, Array], name: str, like: Array) -> Array:
    """Return a copy of a saved array; refuse one of another shape or type than `like`, or with infinite numbers."""
    given = np.array(arrays[name])
    right = given.shape == like.shape and given.dtype == like.dtype
    right = right and (given.dtype.kind != "f" or bool((np.abs(given) <= LARGEST).all()))
    require(bool(right), f"the array {name}")
    return given


def fill(array: Array, given: Array, what: str) -> None:
    """Copy a saved array into `array`; refuse one of another shape or type, with an error that names `what`."""
    if given.shape != array.shape or given.dtype != array.dtype:
        expected = f"{array.dtype} of shape {array.shape}"
        raise MarleneError(f"{what} is {given.dtype} of shape {given.shape}, expected {expected}")
    array[...] = given


def copied_arrays(state: Any) -> Arrays:  # noqa: ANN401 (a NamedTuple)
    """Return copies of the arrays of a NamedTuple, by name."""
    return {name: array.copy() for name, array in state._asdict().items()}


def restored_tuple(arrays: Mapping[str, Array], like: Tuple) -> Tuple:
    """Return the NamedTuple whose `copied_arrays` these are, with shapes and types as in `like`."""
    restored: Tuple = type(like)(**{n: restored_array(arrays, n, array) for n, array in like._asdict().items()})
    return restored
