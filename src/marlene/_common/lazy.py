"""Import what is needed when it is needed."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def lazily(package: str, names: Mapping[str, Sequence[str]]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package, given the public names of each of its modules.

    A module is imported when one of its names is first asked for.
    """
    homes = {name: module for module, found in names.items() for name in found}

    def get(name: str) -> Any:  # noqa: ANN401 (any public name)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    def names_of_package() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get, names_of_package


class Later:
    """A module that is imported when something of it is first asked for.

    Examples
    --------
    >>> numbers = Later("math")
    >>> numbers.floor(1.5)
    1
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (anything in a module)
        found = getattr(importlib.import_module(self._name), name)
        setattr(self, name, found)
        return found
