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

from numba.core import base as untyped_base
from numba.core import ir as untyped_ir
from numba.core import targetconfig as untyped_configuration
from numba.core.types import functions as untyped_functions
from numba.core.typing import context as untyped_context

if TYPE_CHECKING:
    from collections.abc import Iterator

base: Any = untyped_base
configuration: Any = untyped_configuration
context: Any = untyped_context
functions: Any = untyped_functions
ir: Any = untyped_ir

CALLS: dict[Any, Any] = {}
FIELDS: dict[Any, Any] = {}
SIZES: dict[str, int] = {}
INSTALLED: dict[int, int] = {}
_resolve_call = functions.BaseFunction.get_call_type
_resolve_field = context.BaseContext.resolve_getattr
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


SHORTCUTS: list[tuple[Any, str, Any]] = [
    (functions.BaseFunction, "get_call_type", _call_type),
    (context.BaseContext, "resolve_getattr", _field_type),
    (context.BaseContext, "refresh", _refreshed_types),
    (base.BaseContext, "refresh", _refreshed),
    (base.BaseContext, "get_abi_sizeof", _size),
    (ir.Inst, "_rec_list_vars", _variables),
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
