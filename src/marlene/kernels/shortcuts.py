"""Shorter ways to what Numba does while it compiles a kernel; what comes out is the same.

Most of the time of compiling goes into Python code of Numba and llvmlite that finds the same things over and over:
which implementation an operator has for given types, how large a type is, which variables a statement uses. While one
of our functions is compiled, which Numba does for one function at a time, the functions of `SHORTCUTS` stand in for
theirs.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import base as untyped_base
from numba.core import event as untyped_event
from numba.core import ir as untyped_ir
from numba.core import targetconfig as untyped_configuration
from numba.core import typeinfer as untyped_inference
from numba.core import types
from numba.core.types import functions as untyped_functions
from numba.core.typing import context as untyped_context
from numba.cpython import slicing as untyped_slicing
from numba.np import arrayobj as untyped_arrays

from marlene.kernels.lowering import PartsOfValue, extract_value, simpler

if TYPE_CHECKING:
    from collections.abc import Iterator

arrays: Any = untyped_arrays
base: Any = untyped_base
configuration: Any = untyped_configuration
context: Any = untyped_context
event: Any = untyped_event
functions: Any = untyped_functions
inference: Any = untyped_inference
ir: Any = untyped_ir
slicing: Any = untyped_slicing

LOCKS = "numba:llvm_lock"
CALLS: dict[Any, Any] = {}
FIELDS: dict[Any, Any] = {}
SIZES: dict[str, int] = {}
INSTALLED: dict[int, int] = {}
_fix_slice, _slice_length, _fix_stride = slicing.fix_slice, slicing.get_slice_length, slicing.fix_stride
_make_helper = base.BaseContext.make_helper
_fix_index = arrays.fix_integer_index
_make_array = arrays.make_array
_resolve_call = functions.BaseFunction.get_call_type
_resolve_field = context.BaseContext.resolve_getattr
_start_event, _end_event = event.start_event, event.end_event
_refresh = base.BaseContext.refresh
_refresh_types = context.BaseContext.refresh


def _number(kind: Any) -> int:  # noqa: ANN401 (here as below: the compiler's own objects)
    """Return the number of a type. Numba has one object for each type, but compares them part by part."""
    return int(kind._code)  # noqa: SLF001


def _call_type(self: Any, typing: Any, args: Any, keywords: Any) -> Any:  # noqa: ANN401
    """Resolve an operator, or a function of Numba's, once for all calls with the same types and options."""
    options = getattr(configuration.ConfigStack.top_or_none(), "key", None)
    if keywords or options is None:
        return _resolve_call(self, typing, args, keywords)
    self = simpler(typing, self, args)
    key = (options, _number(self), *map(_number, args))
    if key not in CALLS:
        CALLS[key] = _resolve_call(self, typing, args, keywords)
    return CALLS[key]


def _field_type(self: Any, kind: Any, name: str) -> Any:  # noqa: ANN401
    """Resolve an attribute of a type once."""
    key = (_number(kind), name)
    found = FIELDS.get(key)
    if found is None:
        found = FIELDS[key] = _resolve_field(self, kind, name)
    return found


def _size(self: Any, kind: Any) -> int:  # noqa: ANN401
    """Ask LLVM once for the size of a type: the question is a program of its own."""
    key = str(kind)
    if key not in SIZES:
        SIZES[key] = kind.get_abi_size(self.target_data)
    return SIZES[key]


def _variables(self: Any, value: Any) -> list[Any]:  # noqa: ANN401
    """List the variables in a part of a statement."""
    kind = type(value)
    if kind is ir.Var:
        return [value]
    if kind is dict:
        value = value.values()
    elif kind is not list and kind is not tuple:
        return value.list_vars() if isinstance(value, ir.Inst) else []
    found: list[Any] = []
    for part in value:
        kind = type(part)
        if kind is ir.Var:
            found.append(part)
        elif kind is not ir.Loc and kind is not str and kind is not int:
            found += _variables(self, part)
    return found


def _entries(known: Any) -> int:  # noqa: ANN401
    """Count what the registries of a context hold, and the modules that may bring others."""
    count = len(sys.modules)
    for registry, loader in known._registries.items():  # noqa: SLF001
        count += sum(len(getattr(registry, name)) for name in loader.registry_items)
    return count


def _refresh_if(refresh: Any, known: Any) -> None:  # noqa: ANN401
    """Install what others have registered, if there is anything new."""
    if INSTALLED.get(id(known._registries)) != _entries(known):  # noqa: SLF001
        refresh(known)
        INSTALLED[id(known._registries)] = _entries(known)  # noqa: SLF001


def _refreshed(self: Any) -> None:  # noqa: ANN401
    _refresh_if(_refresh, self)


def _refreshed_types(self: Any) -> None:  # noqa: ANN401
    _refresh_if(_refresh_types, self)


def _array(kind: Any) -> Any:  # noqa: ANN401
    """Return what makes descriptors of arrays of a type from their values."""

    def made(context: Any, builder: Any, value: Any = None, ref: Any = None) -> Any:  # noqa: ANN401
        if value is None or type(kind) is not types.Array:
            return _make_array(kind)(context, builder, value, ref)
        return PartsOfValue(context, builder, kind, value)

    return made


def _view(context: Any, builder: Any, _kind: Any, array: Any, kind: Any, data: Any, shape: Any, strides: Any) -> Any:  # noqa: ANN401
    """Return the descriptor of a part of an array."""
    view = PartsOfValue(context, builder, kind)
    arrays.populate_array(view, data, shape, strides, array.itemsize, array.meminfo, array.parent)
    return view


def _index(context: Any, builder: Any, kind: Any, index: Any, length: Any) -> Any:  # noqa: ANN401
    """Return the place of an index. In our functions only constants count from the end."""
    if context.fndesc.modname.startswith("numba."):
        return _fix_index(context, builder, kind, index, length)
    place = context.cast(builder, index, kind, types.intp)
    return builder.add(place, length) if isinstance(place, llvm.Constant) and place.constant < 0 else place


def _helper(self: Any, builder: Any, kind: Any, value: Any = None, ref: Any = None) -> Any:  # noqa: ANN401
    """Return what reads and changes the parts of a value; of a slice without a step not in memory."""
    if type(kind) is types.SliceType and not kind.has_step and ref is None:
        return PartsOfValue(self, builder, kind, value)
    return _make_helper(self, builder, kind, value, ref)


def _fit_slice(builder: Any, found: Any, length: Any) -> None:  # noqa: ANN401
    """Move the ends of a slice into an axis."""
    if not isinstance(found, PartsOfValue):
        _fix_slice(builder, found, length)
        return
    for name in ("start", "stop"):
        end = getattr(found, name)
        if isinstance(end, llvm.Constant) and end.constant in (0, sys.maxsize):
            setattr(found, name, length if end.constant else end)
        else:
            end = slicing.fix_index(builder, end, length)
            end = builder.select(builder.icmp_signed("<", end, end.type(0)), end.type(0), end)
            setattr(found, name, builder.select(builder.icmp_signed("<", end, length), end, length))


def _length_of_slice(builder: Any, found: Any) -> Any:  # noqa: ANN401
    """Return how many places a slice has."""
    if not isinstance(found, PartsOfValue):
        return _slice_length(builder, found)
    length = builder.sub(found.stop, found.start)
    return builder.select(builder.icmp_signed(">", length, length.type(0)), length, length.type(0))


def _stride_of_slice(builder: Any, found: Any, stride: Any) -> Any:  # noqa: ANN401
    """Return the stride of a slice of an axis with a stride."""
    return stride if isinstance(found, PartsOfValue) else _fix_stride(builder, found, stride)


class _NoContext:
    """What Numba says around an error that no user sees."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_error: object) -> None: ...


NO_CONTEXT = _NoContext()


def _context(_text: str, *_args: object, **_keywords: object) -> _NoContext:
    return NO_CONTEXT


def _start(kind: str, data: object = None) -> None:
    """Start an event, but for calls of LLVM, which nobody measures here."""
    if kind != LOCKS:
        _start_event(kind, data)


def _end(kind: str, data: object = None, exc_details: object = None) -> None:
    """End an event."""
    if kind != LOCKS:
        _end_event(kind, data, exc_details)


def _no_text(_statement: object) -> str:
    """Describe a statement; only for debugging."""
    return ""


SHORTCUTS: list[tuple[Any, str, Any]] = [
    (functions.BaseFunction, "get_call_type", _call_type),
    (context.BaseContext, "resolve_getattr", _field_type),
    (context.BaseContext, "refresh", _refreshed_types),
    (base.BaseContext, "refresh", _refreshed),
    (base.BaseContext, "get_abi_sizeof", _size),
    (ir.Inst, "_rec_list_vars", _variables),
    (arrays, "make_array", _array),
    (arrays, "make_view", _view),
    (arrays, "fix_integer_index", _index),
    (base.BaseContext, "make_helper", _helper),
    (slicing, "fix_slice", _fit_slice),
    (slicing, "get_slice_length", _length_of_slice),
    (slicing, "fix_stride", _stride_of_slice),
    (llvm.IRBuilder, "extract_value", extract_value),
    (inference, "new_error_context", _context),
    (event, "start_event", _start),
    (event, "end_event", _end),
    *((statement, "__str__", _no_text) for statement in (ir.Assign, ir.Del)),
]


@contextmanager
def shortcuts() -> Iterator[None]:
    """Take the shorter ways within."""
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in SHORTCUTS]
    for owner, name, shorter in SHORTCUTS:
        setattr(owner, name, shorter)
    try:
        yield
    finally:
        for owner, name, usual in before:
            setattr(owner, name, usual)
