"""The base classes of all banks of drift detectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from marlene._common.checks import whole_number
from marlene._common.errors import MarleneError
from marlene._common.layouts import Field, Layout
from marlene._common.states import MOST_COUNTED, fill
from marlene.drift._checks import as_bits, as_ids, kernel_parameters
from marlene.kernels.drift import detectors as kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    import numpy.typing as npt

    from marlene._common.arrays import Array, Arrays, Bools, Codes, Ints
    from marlene._common.layouts import Rule


IN_CONTROL = kernels.IN_CONTROL
"""The answer of a detector that sees no change: 0."""
WARNING = kernels.WARNING
"""The answer of a detector that sees signs of a change: 1."""
DRIFT = kernels.DRIFT
"""The answer of a detector that is sure of a change: 2."""

_FIRST_CAPACITY = 8


class DetectorBank(ABC):
    """Any number of drift detectors with the same settings, known by their ids.

    The input of a detector is, for each example, whether its classifier was right and what the true class was. The
    answer is `IN_CONTROL`, `WARNING` or `DRIFT`. After `DRIFT`, a detector starts afresh at its next input, unless its
    documentation says otherwise. Detectors are independent: in a bank of a hundred, each gives the same answers as
    alone.

    Examples
    --------
    >>> from marlene.drift import make_bank
    >>> bank = make_bank("ddm")
    >>> bank.add(3)
    array([0, 1, 2])
    >>> bank.update([2, 0], correct=[True, False], truth=[0, 1])
    array([0, 0], dtype=uint8)
    >>> bank.remove([0])
    >>> len(bank), bank.ids
    (2, array([1, 2]))
    >>> bank.add()
    array([0])
    >>> bank.update([7], [True], [0])
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: ids[0] is 7, and there is no such detector in this bank
    """

    name: ClassVar[str]
    """The name of the detector in settings and on the command line."""

    def __init__(self) -> None:
        self._alive = np.zeros(0, np.bool_)

    @abstractmethod
    def _grow(self, capacity: int) -> None:
        """Make room for `capacity` detectors in all."""

    @abstractmethod
    def _start(self, ids: Ints) -> None:
        """Let detectors start afresh."""

    @abstractmethod
    def _clear(self, ids: Ints) -> None:
        """Clear what removed detectors remember."""

    @abstractmethod
    def _update(self, ids: Ints, correct: Bools, truth: Bools) -> Codes:
        """Give each detector one input."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return the name and the parameters, as JSON can hold them."""

    @abstractmethod
    def clone(self) -> Self:
        """Return an empty bank with the same settings."""

    @abstractmethod
    def state(self) -> Arrays:
        """Return everything, settings included, as named arrays (copies)."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: Mapping[str, Array]) -> Self:
        """Return the bank that a state came from; it continues where that bank stopped."""

    @property
    def ids(self) -> Ints:
        """Ids of all detectors, ascending."""
        return np.flatnonzero(self._alive).astype(np.int64)

    def __len__(self) -> int:
        """Return the number of detectors."""
        return int(np.count_nonzero(self._alive))

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings().items() if name != "name")
        return f"<{type(self).__name__}({settings}) of {len(self)} detectors>"

    def add(self, count: int = 1) -> Ints:
        """Start `count` detectors and return their ids, the lowest free ones."""
        wanted = whole_number(count, "count", low=0)
        lacking = wanted - np.count_nonzero(~self._alive)
        if lacking > 0:
            used = len(self._alive)
            capacity = max(used + int(lacking), 2 * used, _FIRST_CAPACITY)
            self._grow(capacity)
            self._alive = np.pad(self._alive, (0, capacity - used))
        ids = np.flatnonzero(~self._alive)[:wanted].astype(np.int64)
        self._alive[ids] = True
        self._start(ids)
        return ids

    def remove(self, ids: npt.ArrayLike) -> None:
        """Remove detectors; their ids may be given to others."""
        gone = self._known(ids)
        self._alive[gone] = False
        self._clear(gone)

    def reset(self, ids: npt.ArrayLike) -> None:
        """Let detectors start afresh."""
        self._start(self._known(ids))

    def update(self, ids: npt.ArrayLike, correct: npt.ArrayLike, truth: npt.ArrayLike) -> Codes:
        """Give detectors one input each, in the order of `ids`.

        Parameters
        ----------
        ids
            Which detectors; one that is named twice takes two inputs.
        correct
            For each of `ids`, whether its classifier predicted the example right (0 or 1).
        truth
            For each of `ids`, the true class of the example (0 or 1).

        Returns
        -------
        numpy.ndarray
            For each of `ids`, 0 (`IN_CONTROL`), 1 (`WARNING`) or 2 (`DRIFT`).
        """
        known = self._known(ids)
        return self._update(known, as_bits(correct, "correct", len(known)), as_bits(truth, "truth", len(known)))

    def _known(self, ids: npt.ArrayLike) -> Ints:
        array = as_ids(ids)
        where = kernels.first_absent(self._alive, array)
        if where >= 0:
            raise MarleneError(f"ids[{where}] is {array[where]}, and there is no such detector in this bank")
        return array


def counted_field(says: str) -> Field:
    """Return a field with a count for every detector."""
    return Field("int64", ("detectors",), says, least=0, most=MOST_COUNTED)


def share_field(says: str, *axes: int, bounded: bool = True) -> Field:
    """Return a field with numbers from 0 to 1 for every detector; without bounds, infinite ones too."""
    return Field("float64", ("detectors", *axes), says, least=0, most=1 if bounded else None, bounded=bounded)


def sum_field(says: str, *axes: int) -> Field:
    """Return a field with sums of numbers that are not negative."""
    return Field("float64", ("detectors", *axes), says, least=0)


SIGNAL = Field("uint8", ("detectors",), "the last answer: 0, 1 for a warning, 2 for a drift", least=0, most=DRIFT)


def detector_layout(name: str, fields: Mapping[str, Field], *rules: Rule) -> Layout:
    """Return what the arrays of a bank must be like. The first axis of each is that of the detectors."""
    alive = Field("bool", ("detectors",), "which detectors there are")
    return Layout(f"a bank of {name} detectors", {"alive": alive, **fields}, rules)


BankArrays = TypeVar("BankArrays", bound=NamedTuple)
Parameters = TypeVar("Parameters", bound=NamedTuple)


class ArrayBank(DetectorBank, Generic[BankArrays, Parameters]):
    """A bank whose detectors are rows of arrays; its settings are the parameters of its kernels.

    A subclass names the types of both, describes the arrays and names the kernels. It also inherits from a dataclass
    with its settings as fields.
    """

    _arrays_type: type[BankArrays]
    _parameters_type: type[Parameters]
    saved: ClassVar[Layout]
    """What the arrays are like, here and in a state; see `detector_layout`."""
    _reset_kernel: ClassVar[Callable[..., None] | None] = None
    """Starts a detector that does not begin with zeros."""
    _update_kernel: ClassVar[Callable[..., None]]

    def __init__(self) -> None:
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check the settings and begin without detectors."""
        super().__init__()
        # Both are for kernels of other packages too; `add` may replace the arrays by larger ones.
        self.parameters = kernel_parameters(self._parameters_type, self)
        self.arrays = self._new_arrays(0)

    @classmethod
    def _new_arrays(cls, capacity: int) -> BankArrays:
        fields = [cls.saved.fields[name] for name in cls._arrays_type._fields]
        return cls._arrays_type._make(np.zeros((capacity, *map(int, f.axes[1:])), f.dtype) for f in fields)

    def _start(self, ids: Ints) -> None:
        if self._reset_kernel is None:
            self._clear(ids)
            return
        for i in ids:
            self._reset_kernel(self.arrays, i)

    def _update(self, ids: Ints, correct: Bools, truth: Bools) -> Codes:
        signals = np.empty(len(ids), np.uint8)
        self._update_kernel(self.arrays, self.parameters, ids, correct, truth, signals)
        return signals

    def _grow(self, capacity: int) -> None:
        larger = self._new_arrays(capacity)
        for name, array in larger._asdict().items():
            old = getattr(self.arrays, name)
            array[: len(old)] = old
        self.arrays = larger

    def _clear(self, ids: Ints) -> None:
        for array in self.arrays._asdict().values():
            array[ids] = 0

    def settings(self) -> dict[str, Any]:
        """Return the name and the parameters, as JSON can hold them; `make_bank` takes them."""
        return {"name": self.name, **self.parameters._asdict()}

    def clone(self) -> Self:
        """Return an empty bank with the same settings."""
        return type(self)(**self.parameters._asdict())

    def state(self) -> Arrays:
        """Return everything, settings included, as named arrays (copies).

        Row i of an array belongs to detector i; `alive` tells which detectors exist.

        Examples
        --------
        >>> from marlene.drift import DDMOCIBank
        >>> bank = DDMOCIBank(strict=False)
        >>> answers = bank.update(bank.add(2), [True, False], [1, 1])
        >>> bank.state()["recall_num"]
        array([[0., 1.],
               [0., 0.]])
        >>> DDMOCIBank.from_state(bank.state()) == bank
        True
        """
        extent = int(self.ids[-1]) + 1 if len(self) else 0
        settings = {name: np.array(value) for name, value in self.parameters._asdict().items()}
        arrays = {"alive": self._alive, **self.arrays._asdict()}
        return settings | {name: array[:extent].copy() for name, array in arrays.items()}

    @classmethod
    def from_state(cls, state: Mapping[str, Array]) -> Self:
        """Return the bank that a state came from; it continues where that bank stopped."""
        wanted = cls().state()
        if set(state) != set(wanted):
            raise MarleneError(f"state of a {cls.name} bank holds {sorted(state)}, expected {sorted(wanted)}")
        settings = {name: wanted[name] for name in cls._parameters_type._fields}
        for name, array in settings.items():
            fill(array, state[name], f"state of a bank: {name}")
        bank = cls(**{name: array.item() for name, array in settings.items()})  # settings are fields of subclasses
        given = cls.saved.checked(state)
        bank._alive = given.pop("alive").astype(np.bool_)
        bank.arrays = cls._arrays_type._make(given[name] for name in cls._arrays_type._fields)
        bank._clear(np.flatnonzero(~bank._alive))
        return bank

    def __eq__(self, other: object) -> bool:
        """Tell whether settings, ids and the state of every detector are the same."""
        if not isinstance(other, ArrayBank) or type(self) is not type(other):
            return NotImplemented
        its = other.state()
        return all(np.array_equal(array, its[name], equal_nan=True) for name, array in self.state().items())

    __hash__ = None  # type: ignore[assignment]
