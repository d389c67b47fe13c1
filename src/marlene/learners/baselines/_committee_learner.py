"""What all ensembles over a transformation share: features, labels, members, files, and shares of scores."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.checks import whole_number
from marlene._common.errors import MarleneError
from marlene._common.layouts import Field, Layout
from marlene._common.states import arrays_under, require, restored_count, with_prefix
from marlene.kernels.ensemble.resampling import mix_many
from marlene.learners._saved import SavedLearner
from marlene.learners.baselines._chain import ClassifierChain
from marlene.learners.baselines._multi_target import MultiTargetTree
from marlene.learners.baselines._one_stream import OneStreamLearner
from marlene.learners.baselines._pruned_sets import PrunedSets
from marlene.learners.baselines._relevance import BinaryRelevanceTrees
from marlene.learners.input._rows import slice_rows

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats
    from marlene.kernels.rows import Rows
    from marlene.learners.baselines._committee import Transformation

BLOCK = 256
MOST_MEMBERS = 10_000
KEYS = Layout("a committee", {"keys": Field("uint64", ("members",), "the keys of the members' random numbers")})
TRANSFORMATIONS: dict[str, type[Transformation]] = {
    each.name: each for each in (BinaryRelevanceTrees, ClassifierChain, PrunedSets, MultiTargetTree)
}


def blocks(rows: Rows, most: int = BLOCK) -> Iterator[tuple[slice, Rows]]:
    """Give the rows in blocks of at most `most`, each with its place among all rows."""
    n = len(rows.starts) - 1
    for begin in range(0, n, most):
        end = min(n, begin + most)
        yield slice(begin, end), slice_rows(rows, begin, end)


def normalised(scores: Floats) -> Floats:
    """Return scores over labels (the last axis) shifted by their minimum and divided by their sum.

    Equal scores become 1 / |L| each. A single label keeps its score.

    Examples
    --------
    >>> normalised(np.array([[0.2, 0.4, 0.8], [0.5, 0.5, 0.5]])).round(2)
    array([[0.  , 0.25, 0.75],
           [0.33, 0.33, 0.33]])
    """
    n_labels = scores.shape[-1]
    if n_labels <= 1:
        return scores.copy()
    shifted = scores - scores.min(axis=-1, keepdims=True)
    total = np.zeros(scores.shape[:-1])
    for label in range(n_labels):  # the same order of summation for any number of rows
        total += shifted[..., label]
    shares: Floats = shifted / np.where(total > 0, total, 1.0)[..., None]
    shares[total == 0] = 1.0 / n_labels
    return shares


def as_probabilities(scores: Floats) -> Floats:
    """Map normalised scores so that the threshold 1 / |L| becomes 0.5; 0 and 1 stay.

    The map is linear below and above the threshold. A single label has the threshold 0.5 already.

    Examples
    --------
    >>> as_probabilities(np.array([[0.0, 0.125, 0.25, 0.625]])).tolist()
    [[0.0, 0.25, 0.5, 0.75]]
    """
    n_labels = scores.shape[-1]
    if n_labels <= 1:
        return scores.copy()
    threshold = 1.0 / n_labels
    above: Floats = 0.5 + 0.5 * (scores - threshold) / (1.0 - threshold)
    below: Floats = 0.5 * scores / threshold
    return np.where(scores > threshold, np.maximum(above, np.nextafter(0.5, 1)), np.minimum(below, 0.5))


class CommitteeLearner(OneStreamLearner, SavedLearner):
    """An ensemble of multi-label classifiers of one type.

    A subclass is a dataclass whose fields are the parameters. It says when which member learns what, and how members
    are combined.
    """

    _objects = ("transformation",)

    transformation: Transformation
    members: int
    features: str | Mapping[Hashable, str]
    seed: int
    absent: str
    max_labels: int | None
    max_features: int | None

    def __post_init__(self) -> None:
        if not hasattr(self.transformation, "committee"):
            known = ", ".join(each.__name__ for each in TRANSFORMATIONS.values())
            raise MarleneError(f"transformation must be one of {known}, not {self.transformation!r}")
        members = whole_number(self.members, "members", low=1, high=MOST_MEMBERS)
        whole_number(self.seed, "seed")
        self._begin()
        self._committee = self.transformation.committee(members)
        self._keys = np.zeros(members, np.uint64)
        self._made = 0
        self._seen = 0
        for member in range(members):
            self._renew(member)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        for each in TRANSFORMATIONS.values():
            yield {"transformation": each(), "members": 3}

    @abstractmethod
    def _combined(self, scores: Floats) -> Floats:
        """Return P(label) from the scores of all members; above 0.5: the label is predicted."""

    def _predict(self, rows: Rows, probabilities: Floats) -> None:
        for here, part in blocks(rows):
            probabilities[here] = self._combined(self._committee.scores(part))

    def _renew(self, member: int) -> None:
        """Replace a member by an untrained one with a key of its own."""
        parts = (int(self.seed) & (2**64 - 1), self._made)
        self._keys[member] = mix_many(np.array(parts, np.uint64))
        self._committee.renew(member, self._keys[member])
        self._made += 1

    def _add_features(self, widened: Mapping[int, int], kinds: Sequence[int]) -> None:
        for column, n_values in widened.items():
            self._committee.widen(column, n_values)
        if kinds:
            self._committee.add_features(kinds)

    def _add_labels(self, count: int) -> None:
        self._committee.add_labels(count, self._keys)

    def counts(self) -> dict[str, int]:
        """Return the number of base models, and of members that were replaced because of a drift."""
        return {"models": self._committee.n_classifiers(), "drifts": self._made - self._committee.size}

    def _learnt(self) -> tuple[dict[str, Any], Arrays]:
        header = {
            "transformation": [self.transformation.name, self.transformation.settings()],
            "seen": self._seen,
            "made": self._made,
        }
        arrays = with_prefix(self._committee.state(), "members.")
        return header | self._named(), arrays | {"keys": self._keys.copy()}

    @classmethod
    def _restored_objects(cls, header: Mapping[str, Any]) -> dict[str, Any]:
        name, settings = header["transformation"]
        require(name in TRANSFORMATIONS, f"there is no transformation {name!r}")
        return {"transformation": TRANSFORMATIONS[name].from_settings(settings)}

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        self._restore_names(header)
        self._committee.restore(arrays_under(arrays, "members."), len(self._names), self._space.forest_kinds())
        (self._keys,) = KEYS.checked(arrays, members=self._committee.size).values()
        self._seen = restored_count(header["seen"], "the number of examples")
        self._made = restored_count(header["made"], "the number of members", self._committee.size)

    def _load_rare_kernels(self) -> None:
        self._renew(0)
        self._committee.load_kernels()
