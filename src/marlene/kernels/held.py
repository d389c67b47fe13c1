"""Bundles of arrays that kernels find by their addresses.

Handing a kernel a NamedTuple of many arrays costs 20 µs: each array is unpacked at each call. Instead, a *table* of
whole numbers says where the arrays are and how long their axes are. It is made once and handed over at each call; the
arrays must live as long as it does. A number of the bundle is in the table itself. What a kernel holds, and hands to
others, is a pointer into the table: an array is read from it where it is used, which also takes less time
to compile.
"""

from __future__ import annotations

import ctypes
import struct
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils as untyped_utilities
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, lower_getattr_generic, models, register_model

from marlene._common.lazy import Later
from marlene.kernels.lowering import PartsOfValue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Ints

    Bundle = TypeVar("Bundle")

    class Held(Protocol):
        """What a kernel sees."""

        def __call__(self, table: Ints, bundle: type[Bundle]) -> Bundle:
            """Return the bundle of a table."""
            ...


arrayobj: Any = Later("numba.np.arrayobj")
cgutils: Any = untyped_utilities


NUMBERS = {"int": types.int64, "float": types.float64, "bool": types.boolean}
DTYPES: dict[Any, np.dtype[Any]] = {
    types.float64: np.dtype(np.float64),
    types.float32: np.dtype(np.float32),
    types.int64: np.dtype(np.int64),
    types.int32: np.dtype(np.int32),
    types.boolean: np.dtype(np.bool_),
    types.int8: np.dtype(np.int8),
    types.uint8: np.dtype(np.uint8),
    types.uint64: np.dtype(np.uint64),
}
NAMES = ("Floats", "Floats32", "Ints", "Int32s", "Bools", "Labels", "Codes", "Words")
ARRAYS = dict(zip(NAMES, DTYPES, strict=True))
FIELDS: dict[type, list[Any]] = {}
"""The compiler's types of the fields of bundles."""
LEAVES: dict[type, list[tuple[Any, int]]] = {}
"""The arrays and numbers in them, one after the other; see `_expected`."""
_as_bytes, _as_word = struct.Struct("d").pack, struct.Struct("q").unpack


def describe(axes: Mapping[type, tuple[int, ...]]) -> None:
    """Let kernels hold NamedTuples, given how many axes each field has; 0 for numbers and bundles.

    The types of the fields are those of their annotations. A bundle comes after those it holds.
    """
    for bundle, counts in axes.items():
        named = {known.__name__: HeldBundle(known) for known in FIELDS}
        fields: list[Any] = []
        for annotation, count in zip(bundle.__annotations__.values(), counts, strict=True):
            name = getattr(annotation, "__forward_arg__", annotation)
            fields.append(types.Array(ARRAYS[name], count, "C") if count else (NUMBERS | named)[name])
        FIELDS[bundle] = fields
        LEAVES[bundle] = [leaf for field in fields for leaf in _expected(field)]


def table_of(bundle: Any) -> Ints:  # noqa: ANN401 (a NamedTuple)
    """Return where the parts of a bundle are."""
    words: list[int] = []
    for part, (dtype, axes) in zip(_leaves(bundle), LEAVES[type(bundle)], strict=True):
        if dtype is None:
            words.append(part if axes == 0 else _as_word(_as_bytes(part))[0])
        elif part.ndim != axes or part.dtype != dtype or not part.flags.c_contiguous:
            raise TypeError(f"expected an array of {dtype} with {axes} axes, found {part.dtype} with {part.ndim}")
        else:
            words.append(_address_of(part))
            words.extend(part.shape)
    return np.array(words, np.int64)


def _address_of(array: Any) -> int:  # noqa: ANN401 (an array)
    """Return where an array is. What NumPy offers for that takes twenty times as long."""
    if array.size and array.flags.writeable:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    return int(array.__array_interface__["data"][0])


def _leaves(part: Any) -> list[Any]:  # noqa: ANN401 (anything in a bundle)
    found: list[Any] = []
    for each in part:
        if isinstance(each, tuple):
            found += _leaves(each)
        else:
            found.append(each)
    return found


def _expected(kind: Any) -> list[tuple[Any, int]]:  # noqa: ANN401 (a type of the compiler)
    """Return the dtype and the axes of all arrays of a type; for numbers None, and whether it is a float."""
    if isinstance(kind, HeldBundle):
        return LEAVES[kind.bundle]
    return [(DTYPES[kind.dtype], kind.ndim) if isinstance(kind, types.Array) else (None, int(kind == types.float64))]


def _words(kind: Any) -> int:  # noqa: ANN401 (a type of the compiler)
    """Return how many words a type takes in a table."""
    return sum(1 if dtype is None else 1 + axes for dtype, axes in _expected(kind))


class HeldBundle(types.Type):
    """The compiler's type of a pointer to where the words of a bundle begin."""

    def __init__(self, bundle: type) -> None:
        super().__init__(name=f"held {bundle.__module__}.{bundle.__qualname__}")
        self.bundle = bundle

    def field(self, name: str) -> tuple[int, Any] | None:
        """Return where the words of a field begin, and its type."""
        position = 0
        for known, kind in zip(self.bundle.__annotations__, FIELDS[self.bundle], strict=True):
            if known == name:
                return position, kind
            position += _words(kind)
        return None


@register_model(HeldBundle)
class _HeldModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:  # noqa: ANN401 (the compiler's own objects)
        super().__init__(manager, kind, ir.IntType(64).as_pointer())  # type: ignore[no-untyped-call]


@infer_getattr
class _HeldFields(AttributeTemplate):
    key = HeldBundle

    def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]  # noqa: ANN401
        found = kind.field(name)
        return None if found is None else found[1]


@lower_getattr_generic(HeldBundle)  # type: ignore[untyped-decorator, no-untyped-call]
def _read_field(context: Any, builder: Any, kind: Any, pointer: Any, name: str) -> Any:  # noqa: ANN401
    start, found = kind.field(name)

    def word(position: int) -> Any:  # noqa: ANN401
        place = builder.gep(pointer, [ir.Constant(ir.IntType(64), start + position)])
        if isinstance(found, HeldBundle):
            return place
        loaded = builder.load(place)
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))  # no kernel writes into a table
        return loaded

    if isinstance(found, types.Array):
        array = PartsOfValue(context, builder, found)
        shape = [word(1 + axis) for axis in range(found.ndim)]
        size = DTYPES[found.dtype].itemsize
        strides = [ir.Constant(ir.IntType(64), size)]
        for length in shape[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length))
        data = builder.inttoptr(word(0), array.data.type)
        arrayobj.populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
        return array._getvalue()  # noqa: SLF001
    if found == types.float64:
        return builder.bitcast(word(0), ir.DoubleType())
    return cgutils.is_not_null(builder, word(0)) if found == types.boolean else word(0)


@intrinsic
def _held(_typing: Any, table: Any, bundle: Any) -> Any:  # noqa: ANN401 (the compiler's own objects)
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        return arrayobj.make_array(signature.args[0])(context, builder, values[0]).data

    return HeldBundle(bundle.instance_class)(table, bundle), generate


held = cast("Held", _held)
"""Return the bundle of a table; only in kernels."""
