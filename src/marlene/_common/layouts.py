"""What the arrays of a state must be like, described once: for saving, for loading and for the documentation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.states import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from marlene._common.arrays import Array, Arrays

Tuple = TypeVar("Tuple", bound=Any)
"""A NamedTuple of arrays."""


@dataclass(frozen=True)
class Field:
    """An array of a state.

    Parameters
    ----------
    dtype
        The type of its numbers.
    axes
        Its axes: lengths, or names of lengths. A name stands for the same length in all fields.
    says
        What it holds.
    least, most
        The range of its numbers. With the name of a length, numbers are below that length.
    bounded
        Whether the squares of floats are finite, whatever their range.
    """

    dtype: str
    axes: tuple[str | int, ...]
    says: str
    least: float | None = None
    most: float | str | None = None
    bounded: bool = True


@dataclass(frozen=True)
class Rule:
    """How fields must fit together: in words, and as a function of the arrays, what else is known, and the lengths."""

    says: str
    holds: Callable[[Mapping[str, Array], Mapping[str, int]], object]


@dataclass(frozen=True)
class Layout:
    """The arrays of a state.

    Parameters
    ----------
    whose
        Whose state it is.
    fields
        The arrays by name.
    rules
        How they must fit together. A rule is looked at only if all fields and the rules before it hold.

    Examples
    --------
    >>> layout = Layout("a window", {"sizes": Field("int64", ("examples",), "how many", least=0)}, ())
    >>> layout.checked({"sizes": np.array([2, -1])})
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: not the state of a window, or damaged: sizes is not of at least 0
    """

    whose: str
    fields: Mapping[str, Field]
    rules: tuple[Rule, ...] = ()

    def checked(
        self, given: Mapping[str, Array], known: Mapping[str, Array] | None = None, /, **lengths: int
    ) -> Arrays:
        """Return copies of the arrays; raise an error that names what does not hold.

        Parameters
        ----------
        given
            The arrays that were read.
        known
            Further arrays that rules look at, of other parts of the state.
        lengths
            Lengths that are known.
        """
        found: Arrays = {}
        for name, field in self.fields.items():
            self._require(name in given, f"there is no {name}")
            array, wanted = np.asarray(given[name]), np.dtype(field.dtype)
            self._require(array.dtype.newbyteorder("=") == wanted, f"{name} is not of type {field.dtype}")
            self._require(array.ndim == len(field.axes), f"{name} has another number of axes")
            for axis, length in zip(field.axes, array.shape, strict=True):
                expected = axis if isinstance(axis, int) else lengths.setdefault(axis, length)
                self._require(length == expected, f"{name} has another length")
            found[name] = np.array(array, wanted, order="C")
        for name, field in self.fields.items():
            self._require(_is_within(found[name], field, lengths), f"{name} is not {_range(field)}")
        everything = {**found, **(known or {})}
        for rule in self.rules:
            self._require(bool(rule.holds(everything, lengths)), rule.says)
        return found

    def taken(
        self, given: Mapping[str, Array], like: Tuple, known: Mapping[str, Array] | None = None, /, **lengths: int
    ) -> Tuple:
        """Return the NamedTuple whose arrays these are, with lengths as in `like`; see `checked`."""
        for name, field in self.fields.items():
            lengths |= zip((str(axis) for axis in field.axes), getattr(like, name).shape, strict=True)
        restored: Tuple = type(like)(**self.checked(given, known, **lengths))
        return restored

    def _require(self, holds: bool, what: str) -> None:
        if not holds:
            raise MarleneError(f"not the state of {self.whose}, or damaged: {what}")

    def described(self) -> str:
        """Return the layout as a part of a page."""
        rows = [
            f"| `{name}` | {field.dtype} | {' × '.join(map(str, field.axes)) or 'one number'} | {_range(field)} | "
            f"{field.says} |"
            for name, field in self.fields.items()
        ]
        told = ["| array | type | axes | numbers | what |", "|---|---|---|---|---|", *rows]
        return "\n".join([*told, *([""] if self.rules else []), *(f"- {rule.says}" for rule in self.rules)])


def _is_within(array: Array, field: Field, lengths: Mapping[str, int]) -> bool:
    least, most = field.least, lengths[field.most] - 1 if isinstance(field.most, str) else field.most
    bound = LARGEST if array.dtype.kind == "f" and field.bounded else None
    if array.dtype.kind == "b":
        return bool(array.size == 0 or array.view(np.uint8).max() <= 1)  # other bytes may be in a file
    if array.size == 0 or (least is None and most is None and bound is None):
        return True
    low, high = array.min(), array.max()  # NaN if there is one: then nothing holds
    within = bound is None or (-bound <= low and high <= bound)
    return bool(within and (least is None or low >= least) and (most is None or high <= most))


def _range(field: Field) -> str:
    """Return the range of the numbers of a field in words."""
    least, most = field.least, field.most
    if field.dtype == "bool":
        return "true or false"
    if isinstance(most, str):
        return f"from {least:g}, below the number of {most}"
    if most is not None:
        return f"from {least:g} to {most:g}"
    if least is not None:
        return f"of at least {least:g}"
    return f"up to {LARGEST:g} in size" if np.dtype(field.dtype).kind == "f" and field.bounded else "any"
