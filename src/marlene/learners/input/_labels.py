"""The true labels of examples, from dictionaries, sets, frames and matrices."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError, quoted, warn_user
from marlene._common.labels import UNKNOWN, as_labels
from marlene.learners.input._examples import as_mapping, is_missing

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from marlene._common.arrays import Ints, Labels

ABSENT = {"unknown": UNKNOWN, "false": 0}
"""What is meant where nothing is said of a known label, by the parameter `absent`."""
LISTS = (AbstractSet, list, tuple)
MANY = 100
"""After so many examples of a label one of them should be negative."""
SETTLED = -1
NONE_YET = np.zeros(0, np.int64)


def labels_of_example(
    known: Sequence[Hashable],
    y: Any,  # noqa: ANN401 (a mapping, or a set or list)
    absent: str = "unknown",
) -> tuple[list[Hashable], Labels]:
    """Return all labels, the known ones first, and one row of truth.

    A set or list holds the labels that are true; all others known are false. In a mapping, a label without a value is
    as `absent` says.
    """
    if isinstance(y, LISTS):
        listed = _listed(y)
        return _in_order(known, listed, np.ones((1, len(listed)), np.int8), ABSENT["false"])
    given = as_mapping(y)
    if given is None:
        raise MarleneError(
            f"y must be a dictionary of labels, or a set or list of those that are true, not a {type(y).__name__}"
        )
    untold = ABSENT[absent]
    truth = np.array([[_as_truth(*item, untold) for item in given.items()]], np.int8)
    return _in_order(known, list(given), truth, untold)


def labels_of_block(
    known: Sequence[Hashable],
    Y: Any,  # noqa: ANN401 (array-like)
    absent: str = "unknown",
) -> tuple[list[Hashable], Labels]:
    """Return all labels, the known ones first, and the truth; columns of a frame are labels by name."""
    untold = ABSENT[absent]
    truth = as_labels(Y, "Y", wording=lambda row, column: f"Y, row {row}, column {column}", untold=untold)
    if hasattr(Y, "columns"):
        if len(set(Y.columns)) != len(Y.columns):
            raise MarleneError("Y has two columns of the same name")
        return _in_order(known, list(Y.columns), truth, untold)
    labels = list(known or range(truth.shape[1]))
    if len(labels) != truth.shape[1]:
        raise MarleneError(f"Y has {truth.shape[1]} columns, but {len(labels)} labels are known")
    return labels, truth


def _in_order(
    known: Sequence[Hashable], labels: Sequence[Hashable], truth: Labels, untold: int
) -> tuple[list[Hashable], Labels]:
    """Put columns in the order of the known labels, then the new ones."""
    places = {label: place for place, label in enumerate(known)}
    columns = [places.setdefault(label, len(places)) for label in labels]
    ordered = np.full((len(truth), len(places)), untold, np.int8)
    ordered[:, columns] = truth
    return [*places], ordered


def _listed(y: Any) -> list[Hashable]:  # noqa: ANN401 (a set or list)
    """Return the labels of a list, each once; those of a set in an order that does not depend on hashes."""
    for label in y:
        try:
            hash(label)
        except TypeError:
            raise MarleneError(f"y lists labels that are true: {label!r} cannot be the name of one") from None
        if isinstance(label, bool | np.bool_) or is_missing(label):
            raise MarleneError(f"y lists labels that are true: {label!r} is no label; truth values need a dictionary")
    if not isinstance(y, AbstractSet):
        return list(dict.fromkeys(y))
    try:
        return sorted(y)
    except TypeError:
        return sorted(y, key=lambda label: (type(label).__name__, repr(label)))


def _as_truth(label: Hashable, value: object, untold: int) -> int:
    if is_missing(value):
        return untold
    try:
        if value in (0, 1):
            return int(bool(value))
    except (TypeError, ValueError, ArithmeticError):  # an array, say
        pass
    raise MarleneError(f"label {label!r}: expected 0 or 1, found {quoted(value)}")


class NeverFalse:
    """Warns, once for each label, if many examples say that it is true and none that it is false.

    Attributes
    ----------
    silent
        Whether it says nothing: a restored learner does not know what it was told before.
    """

    def __init__(self) -> None:
        self.silent = False
        self._times: dict[str | None, Ints] = {}
        self._open: dict[str | None, int] = {}

    def see(self, stream: str | None, labels: Sequence[Hashable], truth: Labels) -> None:
        """Take note of the truth of examples."""
        times = self._times.get(stream, NONE_YET)
        new = len(labels) - len(times)
        if self.silent or (new <= 0 and not self._open.get(stream)):
            return
        if new > 0:
            times = self._times[stream] = np.append(times, np.zeros(new, np.int64))
        times[times >= 0] += (truth == 1).sum(axis=0)[times >= 0]
        times[(truth == 0).any(axis=0)] = SETTLED
        found = [repr(labels[place]) for place in np.flatnonzero(times >= MANY).tolist()]
        times[times >= MANY] = SETTLED
        self._open[stream] = int((times != SETTLED).sum())
        if found:
            names = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
            warn_user(
                f"label{'s' if len(found) > 1 else ''} {names}: {MANY} examples or more say true, none says false, so "
                'nothing can be learnt; if absent labels are false, say absent="false"'
            )
