"""Endless streams: a mixture of Gaussians whose labels drift as chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from marlene._common.checks import checked, one_of, whole_number
from marlene._common.errors import MarleneError
from marlene.streams._stream import Feature, Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from marlene._common.arrays import Bools, Floats, Ints, Labels

    Block = tuple[Floats, Labels]

TYPES = ("abrupt", "incremental", "gradual", "recurring")
# Draw random numbers for this many examples at a time, whatever the size of a block.
CHUNK = 1024


@dataclass(frozen=True, slots=True)
class Drift:
    """A drift of one label.

    Parameters
    ----------
    label
        The label that drifts.
    type
        "abrupt": from example `at` on, the label's next Gaussians are positive instead of its present ones.
        "gradual": the same, but with a probability that grows from 0 to 1 over `length` examples.
        "recurring": the next Gaussians for `length` examples, then the old ones for as many, and so on without end.
        "incremental": the label's Gaussians move in a straight line to new places, within `length` examples.
    at
        Number (from 0) of the first example of the drift.
    length
        See `type`; an abrupt drift has none.

    Examples
    --------
    >>> Drift("l1", "gradual", at=1000, length=200)
    Drift(label='l1', type='gradual', at=1000, length=200)
    >>> Drift.parse("l1:gradual:1000:200") == _
    True
    >>> Drift("l1", "gradual", at=1000)
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: a gradual drift of l1 needs a length of at least 1, not 0
    """

    label: str
    type: Literal["abrupt", "incremental", "gradual", "recurring"]
    at: int
    length: int = 0

    def __post_init__(self) -> None:
        one_of(self.type, "the type of a drift", TYPES)
        whole_number(self.at, "at", 0)
        whole_number(self.length, "length", 0)
        if self.type == "abrupt" and self.length:
            raise MarleneError(f"an abrupt drift of {self.label} has no length, but {self.length} is given")
        if self.type != "abrupt" and not self.length:
            raise MarleneError(f"a {self.type} drift of {self.label} needs a length of at least 1, not {self.length}")

    @classmethod
    def parse(cls, text: str) -> Drift:
        """Read label:type:at or label:type:at:length."""
        label, *rest = text.rsplit(":", 3) if text.count(":") > 2 else text.split(":")
        try:
            drift_type: Any
            drift_type, *numbers = rest
            at, length = (int(number) for number in [*numbers, "0"][:2])
        except ValueError:
            raise MarleneError(f"a drift is written label:type:at or label:type:at:length, not {text!r}") from None
        return cls(label, drift_type, at, length)

    def share(self, times: Ints) -> Floats:
        """Return how much of an incremental or gradual drift has happened, from 0 to 1."""
        return np.clip((times - self.at) / self.length, 0, 1)


class GaussianStream:
    """Examples of a mixture of Gaussians, without end and in constant memory.

    An example is drawn from one of the Gaussians (unit covariance, means uniform in a cube); a label is positive on
    some of the Gaussians and negative on the others. docs/synthetic.md has the formulas.

    Parameters
    ----------
    labels, features, gaussians
        How many there are. Labels are called l1, l2, …, features x1, x2, …
    positives
        Number of Gaussians on which a label is positive.
    drifts
        All drifts; those of one label follow one another.
    imbalance
        Frequency of the first Gaussian divided by that of the last, with geometric steps in between; 1 makes all
        equally frequent.
    correlation
        Probability that a label takes the value of the label before it instead of its own.
    spread
        Half the edge of the cube that the means are drawn from; a small one makes them overlap.
    seed
        Seed of means and examples.

    Examples
    --------
    >>> stream = GaussianStream(labels=3, gaussians=6, drifts=[Drift("l2", "abrupt", at=500)], seed=4)
    >>> x, y = next(iter(stream))
    >>> y
    {'l1': False, 'l2': False, 'l3': False}
    >>> stream.take(1000)
    <Stream gaussians: 1000 examples, 2 features (dense), 3 labels>
    >>> stream.drift_positions(1000)
    {'l1': (), 'l2': (500,), 'l3': ()}
    >>> X, Y = next(stream.blocks(500))
    >>> X.shape, Y.shape
    ((500, 2), (500, 3))
    """

    def __init__(
        self,
        labels: int = 5,
        features: int = 2,
        gaussians: int = 5,
        *,
        positives: int = 1,
        drifts: Sequence[Drift] = (),
        imbalance: float = 1.0,
        correlation: float = 0.0,
        spread: float = 4.0,
        seed: int = 1,
    ) -> None:
        whole_number(labels, "labels", 1)
        whole_number(features, "features", 1)
        whole_number(gaussians, "gaussians", 2)
        whole_number(positives, "positives", 1)
        whole_number(seed, "seed", 0)
        if positives >= gaussians:
            raise MarleneError(f"positives must be less than gaussians ({gaussians}), not {positives}")
        checked(imbalance, "imbalance", (float, lambda x: 1 <= x < np.inf, "a number of at least 1"))
        checked(correlation, "correlation", (float, lambda x: 0 <= x <= 1, "a number from 0 to 1"))
        checked(spread, "spread", (float, lambda x: 0 <= x < np.inf, "a number of at least 0"))
        self.labels = tuple(f"l{i + 1}" for i in range(labels))
        self.features = tuple(Feature(f"x{i + 1}") for i in range(features))
        self.drifts = tuple(sorted(drifts, key=lambda drift: drift.at))
        for drift in self.drifts:
            if drift.label not in self.labels:
                raise MarleneError(f"a drift names the label {drift.label!r}; there are l1 to l{labels}")
        self.positives = positives
        self.correlation = correlation
        self.seed = seed
        powers = float(imbalance) ** (-np.arange(gaussians) / (gaussians - 1))
        self.frequencies: Floats = powers / powers.sum()
        rng = np.random.default_rng([seed, 0])
        self.means: Floats = rng.uniform(-spread, spread, (gaussians, features))
        self._moves = self._plan_moves(rng, spread)

    def _plan_moves(self, rng: np.random.Generator, spread: float) -> list[tuple[Drift, npt.NDArray[np.intp], Floats]]:
        """Return for every incremental drift which Gaussians it moves, and by how much."""
        places = self.means.copy()
        moves = []
        for drift in self.drifts:
            if drift.type == "incremental":
                label = self.labels.index(drift.label)
                concept = self._concept(label, np.array([drift.at]), np.ones(1))
                moved = np.flatnonzero(self._is_positive(label, concept, np.arange(len(places))))
                target = rng.uniform(-spread, spread, (len(moved), places.shape[1]))
                moves.append((drift, moved, target - places[moved]))
                places[moved] = target
        return moves

    def _concept(self, label: int, times: Ints, luck: Floats) -> npt.NDArray[np.intp]:
        """Return the number of the concept that the label has in every example."""
        number = np.zeros(len(times), np.intp)
        for drift in self.drifts:
            if drift.label != self.labels[label]:
                continue
            if drift.type == "abrupt":
                number += times >= drift.at
            elif drift.type == "gradual":
                number += luck < drift.share(times)
            elif drift.type == "recurring":
                number += (times >= drift.at) & ((times - drift.at) // drift.length % 2 == 0)
        return number

    def _is_positive(self, label: int, concept: npt.NDArray[np.intp], gaussian: npt.NDArray[np.intp]) -> Bools:
        first = (label + concept) * self.positives
        return np.asarray((gaussian - first) % len(self.frequencies) < self.positives)

    def _chunk(self, number: int) -> Block:
        """Draw one chunk; its random numbers depend on its number, not on the chunks before."""
        rng = np.random.default_rng([self.seed, 1, number])
        times = np.arange(number * CHUNK, (number + 1) * CHUNK)
        gaussian = np.searchsorted(np.cumsum(self.frequencies)[:-1], rng.random(CHUNK), side="right")
        X = self.means[gaussian] + rng.standard_normal((CHUNK, len(self.features)))
        for drift, moved, by in self._moves:
            for one, way in zip(moved, by, strict=True):
                X[gaussian == one] += np.outer(drift.share(times[gaussian == one]), way)
        luck, copies = rng.random((2, CHUNK, len(self.labels)))
        Y = np.empty((CHUNK, len(self.labels)), np.int8)
        for label in range(len(self.labels)):
            Y[:, label] = self._is_positive(label, self._concept(label, times, luck[:, label]), gaussian)
            if label:
                same = copies[:, label] < self.correlation
                Y[same, label] = Y[same, label - 1]
        return X, Y

    def blocks(self, size: int = CHUNK) -> Iterator[Block]:
        """Yield blocks (X, Y) of `size` examples without end; the examples do not depend on the size."""
        whole_number(size, "size", 1)
        done = 0
        while True:
            first, last = done // CHUNK, (done + size - 1) // CHUNK
            chunks = [self._chunk(number) for number in range(first, last + 1)]
            begin = done - first * CHUNK
            X, Y = (np.concatenate(parts)[begin : begin + size] for parts in zip(*chunks, strict=True))
            yield X, Y
            done += size

    def __iter__(self) -> Iterator[tuple[dict[str, float], dict[str, bool]]]:
        names = [feature.name for feature in self.features]
        for X, Y in self.blocks():
            for x, y in zip(X.tolist(), Y.astype(bool).tolist(), strict=True):
                yield dict(zip(names, x, strict=True)), dict(zip(self.labels, y, strict=True))

    def take(self, count: int, name: str = "gaussians") -> Stream:
        """Return the first `count` examples as a stream, which knows its drifts."""
        whole_number(count, "count", 1)
        X, Y = next(self.blocks(count))
        return Stream(X, Y, self.features, self.labels, name, self.drift_positions(count))

    def drift_positions(self, count: int) -> dict[str, tuple[int, ...]]:
        """Return for every label the positions among the first `count` examples where a drift begins."""
        positions: dict[str, list[int]] = {label: [] for label in self.labels}
        for drift in self.drifts:
            every = drift.length if drift.type == "recurring" else max(1, count)
            positions[drift.label].extend(range(drift.at, count, every))
        return {label: tuple(sorted(set(times))) for label, times in positions.items()}
