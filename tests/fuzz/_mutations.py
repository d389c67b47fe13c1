"""Random changes: of bytes, of what JSON holds, and of arrays."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import random

TOKENS = (
    *(b"\n", b"\r\n", b"\r", b",", b";", b"\t", b" ", b":", b"=", b"|", b"#", b"%", b"@", b"?", b"_", b".", b"-"),
    *(b'"', b"'", b"\\", b"{", b"}", b"[", b"]", b"(", b")", b"\0", b"\xff", b"\xed\xb2\x80", b"\xef\xbb\xbf"),
    *("\u2028".encode(), "é".encode(), "😀".encode(), b"\x1b[31m", b"\x85", b"\x1a", b"*", b"a*", b"[!a]"),
    *(b"0", b"1", b"-1", b"2", b"1e5", b"1e999", b"-1e-999", b"nan", b"inf", b"-inf", b"null", b"true", b"false"),
    *(b"0x10", b"1_000", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809"),
    *(b"2024-02-30", b"2024-05-01T09:30:00Z", b"0001-01-01", b"9999-12-31T23:59:59.999999+14:00", b"yes", b"NA"),
)
LONG = (b"9" * 5000, b"a" * 3000, b"[" * 3000, b'{"a":' * 1500, b"a b " * 800, b"1," * 1500, b"0." + b"3" * 2000)
"""Rarely used: they take time."""
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 10**6, 2**31, 2**63, -(2**63) - 1, 10**30, 10**400, 0.5, -0.5, 1e300),
    *(float("nan"), float("inf"), "", "a", "two\nlines", "nan", "1", "text", "date", "nominal", "x" * 3000),
    *([], {}, [0], [None], {"a": 1}, ["a", "a"], [[0, 1]]),
)
WORD = re.compile(rb"[\w.+-]+")
NUMBERS = (0, 1, -1, 2, 7, 127, -128, 2**31 - 1, -(2**31), 2**62, 2**63 - 1, -(2**63))
FLOATS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-320,
    1e18,
    1e60,
    1e150,
    1e300,
    -1e300,
    float("nan"),
    float("inf"),
    float("-inf"),
)


def changed_bytes(rng: random.Random, seeds: list[bytes], tokens: tuple[bytes, ...]) -> bytes:
    """Return the first of the seeds with one to four random changes; parts of the others may be put into it."""
    text = bytearray(seeds[0])
    for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 3, 4))):
        begin = rng.randrange(len(text) + 1)
        end = min(len(text), begin + rng.choice((0, 0, 1, 1, 2, 4, 9, 30)))
        what = rng.randrange(12)
        words = [*WORD.finditer(text, begin)] if what > 8 else []
        if words:
            text[words[0].start() : words[0].end()] = rng.choice(tokens)
        elif what < 4:
            text[begin:end] = rng.choice(tokens)
        elif what == 4:
            del text[begin:end]
        elif what == 5:
            text[begin:begin] = text[begin:end] * rng.choice((1, 2, 9))
        elif what == 6 and begin < len(text):
            text[begin] ^= 1 << rng.randrange(8)
        elif what == 7:
            other = rng.choice(seeds)
            text[begin:end] = other[rng.randrange(len(other)) :][: rng.choice((5, 20, 60, 10**9))]
        elif rng.randrange(8) == 0:
            text[begin:end] = rng.choice(LONG)
        else:
            del text[begin:]
    return bytes(text)


def changes(rng: random.Random, header: Any, arrays: dict[str, np.ndarray]) -> list[list[Any]]:
    """Return one to three changes of a state, as JSON can hold them; `changed_state` makes them."""
    return [_change(rng, header, arrays) for _ in range(rng.choice((1, 1, 1, 2, 3)))]


def _change(rng: random.Random, header: Any, arrays: dict[str, np.ndarray]) -> list[Any]:
    if not arrays or rng.random() < 0.5:
        path = _random_path(rng, header)
        what = rng.choice(("delete", "double", "header", "header", "header", "header")) if path else "header"
        return [what, path, *([rng.choice(VALUES)] if what == "header" else [])]
    name = rng.choice([*arrays])
    array = arrays[name]
    what = rng.choice(("drop", "replace", "type", "shape", "longer", "value", "value", "value"))
    shapes = ([0], [], [1], [2, 2], [*array.shape, 1], [max(0, s - 1) for s in array.shape])
    place = rng.randrange(array.size) if array.size else 0
    how = {
        "drop": [],
        "replace": [rng.choice([*arrays])],
        "type": [rng.choice(("<i8", "<f8", "<i4", "|i1", "|b1", "<U3", "<c16", "<M8[s]", ">f8"))],
        "shape": [[*rng.choice(shapes)]],
        "longer": [rng.choice((1, 3))],
        "value": [place, rng.choice(FLOATS if array.dtype.kind == "f" else NUMBERS)],
    }
    return [what, name, *how[what]]


def _random_path(rng: random.Random, value: Any) -> list[Any]:
    path: list[Any] = []
    while isinstance(value, dict | list) and len(value) and (not path or rng.random() < 0.85):
        key = rng.choice([*value]) if isinstance(value, dict) else rng.randrange(len(value))
        path.append(key)
        value = value[key]
    return path


def changed_state(
    header: Any,
    arrays: dict[str, np.ndarray],
    made: list[list[Any]],
) -> tuple[Any, dict[str, np.ndarray]]:
    """Return a copy of a state with changes; those that do not fit it any more are left out."""
    header, arrays = copy.deepcopy(header), {name: array.copy() for name, array in arrays.items()}
    for what, where, *how in made:
        if what in ("delete", "double", "header"):
            header = _changed_header(header, what, where, *how)
        elif where in arrays:
            _change_array(arrays, what, where, *how)
    return header, arrays


def _changed_header(header: Any, what: str, path: list[Any], value: Any = None) -> Any:
    if not path:
        return value
    inner = header
    try:
        for key in path[:-1]:
            inner = inner[key]
        if what == "delete":
            del inner[path[-1]]
        elif what == "double" and isinstance(inner, list):
            inner.append(copy.deepcopy(inner[path[-1]]))
        elif what == "double":
            inner[f"{path[-1]}2"] = copy.deepcopy(inner[path[-1]])
        else:
            inner[path[-1]] = value
    except (KeyError, IndexError, TypeError):
        pass
    return header


def _change_array(arrays: dict[str, np.ndarray], what: str, name: str, *how: Any) -> None:
    array = arrays[name]
    if what == "drop":
        del arrays[name]
    elif what == "replace" and how[0] in arrays:
        arrays[name] = arrays[how[0]].copy()
    elif what == "type":
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(how[0]) if array.dtype.kind not in "USM" else array[:0].astype("U1")
    elif what == "shape":
        arrays[name] = np.resize(array, tuple(how[0])) if array.size else np.zeros(tuple(how[0]), array.dtype)
    elif what == "longer":
        arrays[name] = np.concatenate([array, *[array[-1:]] * how[0]]) if array.ndim else array
    elif what == "value" and array.size and array.dtype.kind in "biuf":
        place, value = how
        low, high = (0, 1) if array.dtype.kind == "b" else (-np.inf, np.inf)
        if array.dtype.kind in "iu":
            low, high = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
        flat = array.reshape(-1)
        whole = 0 if isinstance(value, float) else int(min(max(value, low), high))
        flat[place % array.size] = value if array.dtype.kind == "f" else whole
        arrays[name] = flat.reshape(array.shape)
