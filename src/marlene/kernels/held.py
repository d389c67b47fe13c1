"""Bundles of arrays that kernels find by their addresses.

Handing a kernel a NamedTuple of many arrays costs 20 µs: each array is unpacked at each call. Instead, a *table* of
whole numbers says where the arrays are and how long their axes are. It is made once and handed over at each call; the
arrays must live as long as it does. A number of the bundle is in the table itself.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils as untyped_utilities
from numba.extending import intrinsic
from numba.np import arrayobj as untyped_arrays

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from marlene._common.arrays import Ints

    Bundle = TypeVar("Bundle")

    class Held(Protocol):
        """What a kernel sees."""

        def __call__(self, table: Ints, bundle: type[Bundle]) -> Bundle:
            """Return the bundle of a table."""
            ...


arrayobj: Any = untyped_arrays
cgutils: Any = untyped_utilities


NUMBERS = {"int": types.int64, "float": types.float64, "bool": types.boolean}
DTYPES: dict[Any, np.dtype[Any]] = {
    types.float64: np.dtype(np.float64),
    types.float32: np.dtype(np.float32),
    types.int64: np.dtype(np.int64),
    types.int32: np.dtype(np.int32),
    types.boolean: np.dtype(np.bool_),
    types.int8: np.dtype(np.int8),
}
ARRAYS = dict(zip(("Floats", "Floats32", "Ints", "Int32s", "Bools", "Labels"), DTYPES, strict=True))
BUNDLES: dict[type, Any] = {}
"""The compiler's types of bundles."""
LEAVES: dict[type, list[tuple[Any, int]]] = {}
"""The arrays and numbers in them, one after the other; see `_expected`."""
_as_bytes, _as_word = struct.Struct("d").pack, struct.Struct("q").unpack


def describe(axes: Mapping[type, tuple[int, ...]]) -> None:
    """Let kernels hold NamedTuples, given how many axes each field has; 0 for numbers and bundles.

    The types of the fields are those of their annotations. A bundle comes after those it holds.
    """
    for bundle, counts in axes.items():
        named = {known.__name__: found for known, found in BUNDLES.items()}
        fields: list[Any] = []
        for annotation, count in zip(bundle.__annotations__.values(), counts, strict=True):
            name = getattr(annotation, "__forward_arg__", annotation)
            fields.append(types.Array(ARRAYS[name], count, "C") if count else (NUMBERS | named)[name])
        BUNDLES[bundle] = types.NamedTuple(fields, bundle)  # type: ignore[no-untyped-call]
        LEAVES[bundle] = [*_expected(BUNDLES[bundle])]


def table_of(bundle: Any) -> Ints:  # noqa: ANN401 (a NamedTuple)
    """Return where the parts of a bundle are."""
    words: list[int] = []
    for part, (dtype, axes) in zip(_leaves(bundle), LEAVES[type(bundle)], strict=True):
        if dtype is None:
            words.append(part if axes == 0 else _as_word(_as_bytes(part))[0])
        elif part.ndim != axes or part.dtype != dtype or not part.flags.c_contiguous:
            raise TypeError(f"expected an array of {dtype} with {axes} axes, found {part.dtype} with {part.ndim}")
        else:
            words.append(part.__array_interface__["data"][0])
            words.extend(part.shape)
    return np.array(words, np.int64)


def _leaves(part: Any) -> Iterator[Any]:  # noqa: ANN401 (anything in a bundle)
    for each in part:
        if isinstance(each, tuple):
            yield from _leaves(each)
        else:
            yield each


def _expected(kind: Any) -> Iterator[tuple[Any, int]]:  # noqa: ANN401 (a type of the compiler)
    """Return the dtype and the axes of all arrays of a type; for numbers None, and whether it is a float."""
    if isinstance(kind, types.NamedTuple):
        for each in kind.types:
            yield from _expected(each)
    elif isinstance(kind, types.Array):
        yield DTYPES[kind.dtype], kind.ndim
    else:
        yield None, int(kind == types.float64)


@intrinsic
def _held(_typing: Any, table: Any, bundle: Any) -> Any:  # noqa: ANN401 (the compiler's own objects)
    made = BUNDLES[bundle.instance_class]

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        array = arrayobj.make_array(signature.args[0])(context, builder, values[0])
        position = 0

        def word() -> Any:  # noqa: ANN401
            nonlocal position
            position += 1
            return builder.load(builder.gep(array.data, [ir.Constant(ir.IntType(64), position - 1)]))

        def read(kind: Any) -> Any:  # noqa: ANN401
            if isinstance(kind, types.NamedTuple):
                return context.make_tuple(builder, kind, [read(each) for each in kind.types])
            if isinstance(kind, types.Array):
                found = arrayobj.make_array(kind)(context, builder)
                data = builder.inttoptr(word(), found.data.type)
                shape = [word() for _ in range(kind.ndim)]
                size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
                strides = [ir.Constant(ir.IntType(64), size)]
                for length in shape[:0:-1]:
                    strides.insert(0, builder.mul(strides[0], length))
                whole = {"data": data, "shape": shape, "strides": strides, "itemsize": size, "meminfo": None}
                arrayobj.populate_array(found, **whole)
                return found._getvalue()  # noqa: SLF001
            number = word()
            if kind == types.float64:
                return builder.bitcast(number, ir.DoubleType())
            return cgutils.is_not_null(builder, number) if kind == types.boolean else number

        return read(made)

    return made(table, bundle), generate


held = cast("Held", _held)
"""Return the bundle of a table; only in kernels."""
