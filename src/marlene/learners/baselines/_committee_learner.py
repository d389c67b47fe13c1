"""What all ensembles over a transformation share: features, labels, members and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.states import arrays_under, plain, require, with_prefix
from marlene.kernels.ensemble.resampling import mix_many
from marlene.learners._saved import SavedLearner
from marlene.learners.baselines._chain import ClassifierChain
from marlene.learners.baselines._multi_target import MultiTargetTree
from marlene.learners.baselines._pruned_sets import PrunedSets
from marlene.learners.baselines._relevance import BinaryRelevanceTrees
from marlene.learners.input._features import FeatureSpace

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats
    from marlene.learners.baselines._committee import Transformation
    from marlene.streams import Feature

BLOCK = 256
MOST_MEMBERS = 10_000
TRANSFORMATIONS: dict[str, type[Transformation]] = {
    kind.name: kind for kind in (BinaryRelevanceTrees, ClassifierChain, PrunedSets, MultiTargetTree)
}


def mean_over_members(scores: Floats) -> Floats:
    """Return the mean over the second axis, added up in one order whatever the number of rows."""
    total: Floats = np.zeros((scores.shape[0], scores.shape[2]))
    for member in range(scores.shape[1]):
        total += scores[:, member]
    total /= scores.shape[1]
    return total


class CommitteeLearner(SavedLearner):
    """An ensemble of multi-label classifiers of one sort.

    A subclass says when which member learns what, and how members are combined.
    """

    _objects = ("transformation",)

    def __init__(
        self, transformation: Transformation, members: int, features: str | Mapping[Hashable, str], seed: int
    ) -> None:
        self.transformation = transformation
        self.members = members
        self.features = features
        self.seed = seed
        if not hasattr(transformation, "committee"):
            known = ", ".join(kind.__name__ for kind in TRANSFORMATIONS.values())
            raise MarleneError(f"transformation must be one of {known}, not {transformation!r}")
        if not isinstance(members, int | np.integer) or not 1 <= members <= MOST_MEMBERS:
            raise MarleneError(f"members must be a whole number from 1 to {MOST_MEMBERS}, not {members!r}")
        if not isinstance(seed, int | np.integer):
            raise MarleneError(f"seed must be a whole number, not {seed!r}")
        self._space = FeatureSpace(features)
        self._names: list[Hashable] = []
        self._committee = transformation.committee(int(members))
        self._keys = np.zeros(members, np.uint64)
        self._made = 0
        self._seen = 0
        self._drifts = 0
        for member in range(members):
            self._renew(member)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        for kind in TRANSFORMATIONS.values():
            yield {"transformation": kind(), "members": 3}

    def _renew(self, member: int) -> None:
        """Let a member begin anew, with random numbers that none had before it."""
        parts = (int(self.seed) & (2**64 - 1), self._made)
        self._keys[member] = mix_many(np.array(parts, np.uint64))
        self._committee.renew(member, self._keys[member])
        self._made += 1

    def _labels(self, stream: str | None) -> list[Hashable]:
        self._refuse_sources(stream)
        return self._names

    def _refuse_sources(self, stream: str | None) -> None:
        if stream is not None:
            raise MarleneError(
                f"{type(self).__name__} has no transfer: it learns one stream, and cannot be given source {stream!r}"
            )

    def declare(self, features: Sequence[Feature], labels: Sequence[Hashable] = (), stream: str | None = None) -> None:
        """Tell the learner names and kinds of the features, and the labels, before the first example.

        Columns of arrays are then these features and labels, by position.
        """
        self._refuse_sources(stream)
        super().declare(features, labels, stream)

    def _add(self, stream: str | None, labels: Sequence[Hashable]) -> None:  # noqa: ARG002 (there is one only)
        widened, kinds = self._space.take_changes()
        for column, n_values in widened.items():
            self._committee.widen(column, n_values)
        if kinds:
            self._committee.add_features(kinds)
        new = [label for label in dict.fromkeys(labels) if label not in self._names]
        if new:
            self._add_labels(new)

    def _add_labels(self, labels: Sequence[Hashable]) -> None:
        self._names = [*self._names, *labels]
        self._committee.add_labels(len(labels))

    def counts(self) -> dict[str, int]:
        """Return the number of base models, and how many members were replaced because of a drift."""
        return {"models": self._committee.n_models(), "drifts": self._drifts}

    def _own_state(self) -> Arrays:
        """Return what a subclass knows beside its members, as named arrays."""
        return {}

    def _restore_own(self, arrays: Mapping[str, Array]) -> None:
        """Take over what `_own_state` gave."""

    def _learnt(self) -> tuple[dict[str, Any], Arrays]:
        header = {
            "transformation": [self.transformation.name, self.transformation.settings()],
            "labels": [plain(label) for label in self._names],
            "seen": self._seen,
            "made": self._made,
            "drifts": self._drifts,
        }
        arrays = with_prefix(self._committee.state(), "members.")
        return header, arrays | {"keys": self._keys.copy()} | self._own_state()

    @classmethod
    def _restored_objects(cls, header: Mapping[str, Any]) -> dict[str, Any]:
        name, settings = header["transformation"]
        require(name in TRANSFORMATIONS, f"there is no transformation {name!r}")
        return {"transformation": TRANSFORMATIONS[name].from_settings(settings)}

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        self._names = list(header["labels"])
        require(len(set(self._names)) == len(self._names), "the labels")
        self._committee.restore(arrays_under(arrays, "members."), len(self._names), self._space.forest_kinds())
        require(np.asarray(arrays["keys"]).shape == self._keys.shape, "the keys")
        self._keys = np.array(arrays["keys"], np.uint64)
        self._seen, self._made, self._drifts = (int(header[name]) for name in ("seen", "made", "drifts"))
        require(min(self._seen, self._made, self._drifts) >= 0, "the numbers of examples and members")
        self._restore_own(arrays)

    def load_kernels(self) -> None:
        """Compile the kernels, or load them from the cache, before they are needed."""
        trial = self.clone()
        trial.test_then_train(np.zeros((2, 1)), np.array([[0, 1], [1, 0]]))
        trial.predict_proba_many(np.zeros((1, 1)))
        trial._renew(0)  # noqa: SLF001 (of the same class)
        trial._committee.load_kernels()  # noqa: SLF001
