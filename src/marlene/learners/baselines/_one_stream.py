"""What all learners without transfer share: they learn one stream, and refuse any other."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene._common.states import plain, require
from marlene.learners._block_learner import BlockLearner

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence


class OneStreamLearner(BlockLearner):
    """A learner of one stream. A subclass takes in the features and labels that it is told of."""

    _names: list[Hashable]

    def _begin(self) -> None:
        super()._begin()
        self._names = []

    @abstractmethod
    def _add_features(self, widened: Mapping[int, int], kinds: Sequence[int]) -> None:
        """Let nominal features have more values, then append features: 0, or the number of values."""

    @abstractmethod
    def _add_labels(self, count: int) -> None:
        """Append labels."""

    def _labels(self, stream: str | None) -> list[Hashable]:
        if stream is not None:
            raise MarleneError(
                f"{type(self).__name__} has no transfer: it learns one stream, and cannot be given source {stream!r}"
            )
        return self._names

    def _add(self, stream: str | None, labels: Sequence[Hashable]) -> None:  # noqa: ARG002 (always the target)
        widened, kinds = self._space.take_changes()
        if widened or kinds:
            self._add_features(widened, kinds)
        new = [label for label in dict.fromkeys(labels) if label not in self._names]
        if new:
            self._names = [*self._names, *new]
            self._add_labels(len(new))

    def _named(self) -> dict[str, Any]:
        """Return the labels, as part of a header."""
        return {"labels": [plain(label) for label in self._names]}

    def _restore_names(self, header: Mapping[str, Any]) -> None:
        """Take over the labels of a header."""
        self._names = list(header["labels"])
        require(len(set(self._names)) == len(self._names), "the labels")
