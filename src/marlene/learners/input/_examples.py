"""One example as users give it: what may stand for its features, and what a missing value is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene.streams._cells import SPANS, read_cell

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

TIMES = (*SPANS, time)
PANDAS_MISSING = ("NAType", "NaTType")
"""Missing values of pandas are known by the names of their types, because pandas may not be installed."""


def as_example(x: Any) -> Mapping[Hashable, Any]:  # noqa: ANN401 (whatever a user has)
    """Return the features of an example by name: those of a mapping, or of a Series of pandas by its index.

    Examples
    --------
    >>> as_example([1.0, 2.0])
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: x must be a dictionary of features, not a list
    """
    found = as_mapping(x)
    if found is None:
        hint = "; learn_many and predict_many take arrays and frames" if hasattr(x, "shape") else ""
        raise MarleneError(f"x must be a dictionary of features, not a {type(x).__name__}{hint}")
    return found


def flat(example: Mapping[Hashable, Any]) -> Mapping[Hashable, Any]:
    """Return an example in which the fields of mappings are features of their own, named `a.b`.

    Examples
    --------
    >>> flat({"size": 3, "sender": {"age": 7}})
    {'size': 3, 'sender.age': 7}
    """
    if not any(isinstance(value, Mapping) for value in example.values()):
        return example
    found: dict[Hashable, Any] = {}
    try:
        for name, value in _fields(example, ""):
            if name in found:
                raise MarleneError(f"x: two features are named {name!r}")
            found[name] = value
    except RecursionError:
        raise MarleneError("x: too many dictionaries in one another") from None
    return found


def _fields(example: Mapping[Hashable, Any], above: str) -> Iterator[tuple[Hashable, Any]]:
    for name, value in example.items():
        if isinstance(value, Mapping):
            yield from _fields(value, f"{above}{name}.")
        else:
            yield f"{above}{name}" if above else name, value


def as_mapping(given: Any) -> Mapping[Hashable, Any] | None:  # noqa: ANN401
    """Return a mapping, or a Series of pandas by its index; None for anything else."""
    if isinstance(given, Mapping):
        return given
    named = all(hasattr(given, name) for name in ("index", "items", "to_dict"))
    if not named or hasattr(given, "columns"):
        return None
    if not given.index.is_unique:
        raise MarleneError("the index of a Series names a feature or label twice")
    return dict(given.items())


def is_missing(value: object) -> bool:
    """Tell whether a value is None, NaN or the like."""
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return value is None or type(value).__name__ in PANDAS_MISSING


def seconds_of_span(value: Any) -> Any:  # noqa: ANN401
    """Return the seconds of a span of time or of a time of day; anything else as it is."""
    return read_cell(value) if isinstance(value, TIMES) else value
