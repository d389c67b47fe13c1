"""GOOWE-ML: members trained on chunks, weighted by least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.labels import UNKNOWN
from marlene._common.states import require
from marlene.kernels.rows import Rows
from marlene.learners.baselines._committee_learner import BLOCK, CommitteeLearner
from marlene.learners.baselines._pruned_sets import checked_rows
from marlene.learners.baselines._shares import as_probabilities, normalised
from marlene.learners.input._rows import joined, slice_rows

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Labels
    from marlene.learners.baselines._committee import Transformation

USUAL_CHUNK = 250
SHARE = 20


def least_squares_weights(scores: Floats, truth: Labels) -> Floats:
    """Return the weights of members that bring their summed scores closest to the truth, rescaled to [0, 1].

    Parameters
    ----------
    scores
        Normalised scores (examples × members × labels).
    truth
        Labels (examples × labels); what is not known (-1) is left out.

    Examples
    --------
    The first member is always right, the second always wrong:

    >>> scores = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    >>> least_squares_weights(scores, np.array([[1, 0], [0, 1]])).tolist()
    [1.0, 0.0]
    """
    n_members = scores.shape[1]
    if n_members < 2:
        return np.ones(n_members)
    known = np.where((truth >= 0)[:, None, :], scores, 0.0)
    products = np.einsum("nal,nbl->ab", known, known)
    towards = np.einsum("nal,nl->a", known, (truth == 1).astype(np.float64))
    weights: Floats = np.linalg.lstsq(products, towards, rcond=None)[0]
    low, high = weights.min(), weights.max()
    return (weights - low) / (high - low) if high > low else np.ones(n_members)


class GOOWE(CommitteeLearner):
    """GOOWE-ML, the geometrically optimum and online-weighted ensemble (Büyükçakır, Bonab and Can 2018).

    Members learn whole chunks. When a chunk is full, members are weighted by least squares, so that their summed
    scores come closest to the labels of the chunk; a new member is trained on it and takes a free place, or that of
    the member of least weight, with weight 1; and then every member, the new one too, learns the chunk. Scores of a
    member, and those of the ensemble, are shifted by their minimum over the labels and divided by their sum.

    A label is predicted where the score of the ensemble is above 1 / |L|. So that this is P > 0.5, scores are mapped to
    probabilities by two straight lines, 0 to 0, 1 / |L| to 0.5, and 1 to 1. Before the first chunk is full, P is 0.5
    and nothing is predicted. A single label cannot be compared with others: its score is taken as it is.

    Parameters
    ----------
    transformation, members, features, seed
        As of `OnlineBagging`.
    chunk
        Number of examples of a chunk. None: a twentieth of the stream where an evaluation tells its length (see
        `prepare`), and otherwise 250.

    Examples
    --------
    >>> from marlene.learners import BinaryRelevanceTrees
    >>> model = GOOWE(BinaryRelevanceTrees(), chunk=50)
    >>> for i in range(100):
    ...     model.learn_one({"x": i % 10}, {"big": i % 10 > 4, "small": i % 10 < 5})
    >>> model.predict_one({"x": 9})
    {'big': True, 'small': False}
    """

    _method = "goowe"

    def __init__(
        self,
        transformation: Transformation,
        members: int = 10,
        features: str | Mapping[Hashable, str] = "auto",
        seed: int = 1,
        chunk: int | None = None,
    ) -> None:
        self.chunk = chunk
        if chunk is not None and (not isinstance(chunk, int | np.integer) or chunk < 1):
            raise MarleneError(f"chunk must be a whole number of at least 1, or None, not {chunk!r}")
        super().__init__(transformation, members, features, seed)
        self._chunk = USUAL_CHUNK if chunk is None else int(chunk)
        self._active = 0
        self._weights = np.zeros(self._committee.size)
        self._kept: list[tuple[Rows, Labels, Floats]] = []
        self._n_kept = 0

    def prepare(self, examples: int) -> None:
        """Tell how many examples there will be: a chunk, if its size was left open, is a twentieth of them."""
        if self.chunk is None and self._seen == 0:
            self._chunk = max(1, examples // SHARE)

    def counts(self) -> dict[str, int]:
        """Return the number of base models that have been trained; drifts are not detected."""
        share = self._committee.n_models() // self._committee.size
        return {"models": share * self._active, "drifts": 0}

    def _add_labels(self, labels: Sequence[Hashable]) -> None:
        super()._add_labels(labels)
        more = len(labels)
        self._kept = [
            (rows, np.pad(truth, ((0, 0), (0, more)), constant_values=UNKNOWN), np.pad(s, ((0, 0), (0, 0), (0, more))))
            for rows, truth, s in self._kept
        ]

    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:  # noqa: ARG002
        begin = 0
        while begin < len(truth):
            end = min(len(truth), begin + BLOCK, begin + self._chunk - self._n_kept)
            part = slice_rows(rows, begin, end)
            scores = normalised(self._committee.scores(part)[:, : self._active])
            if probabilities.shape[1]:
                probabilities[begin:end] = self._combined(scores)
            self._kept.append((joined([part]), truth[begin:end].copy(), scores))
            self._n_kept += end - begin
            self._seen += end - begin
            begin = end
            if self._n_kept == self._chunk:
                self._learn_chunk()

    def _predict(self, rows: Rows, probabilities: Floats) -> None:
        for begin in range(0, len(probabilities), BLOCK):
            part = slice_rows(rows, begin, min(len(probabilities), begin + BLOCK))
            scores = normalised(self._committee.scores(part)[:, : self._active])
            probabilities[begin : begin + BLOCK] = self._combined(scores)

    def _combined(self, scores: Floats) -> Floats:
        """Return P(label) from the normalised scores of the active members."""
        if not self._active:
            return np.full((len(scores), scores.shape[2]), 0.5)
        total = np.zeros((len(scores), scores.shape[2]))
        for member in range(self._active):
            total += self._weights[member] * scores[:, member]
        if scores.shape[2] == 1:
            total /= max(self._weights[: self._active].sum(), 1e-300)
        return as_probabilities(normalised(total))

    def _chunk_so_far(self) -> tuple[Rows, Labels, Floats]:
        """Return rows, labels and scores of the chunk that is not full yet."""
        n_labels = self._committee.n_labels
        return (
            joined([rows for rows, _, _ in self._kept]),
            np.concatenate([np.zeros((0, n_labels), np.int8), *(truth for _, truth, _ in self._kept)]),
            np.concatenate([np.zeros((0, self._active, n_labels)), *(scores for _, _, scores in self._kept)]),
        )

    def _learn_chunk(self) -> None:
        rows, truth, scores = self._chunk_so_far()
        self._kept, self._n_kept = [], 0
        if self._active:
            self._weights[: self._active] = least_squares_weights(scores, truth)
        full = self._active == self._committee.size
        place = int(np.argmin(self._weights)) if full else self._active
        if full:
            self._renew(place)
        self._weights[place] = 1.0
        self._active += not full
        alone = np.arange(self._committee.size) == place
        everyone = np.arange(self._committee.size) < self._active
        for learning in (alone, everyone):
            weights = np.tile(learning.astype(np.int64), (len(truth), 1))
            for begin in range(0, len(truth), BLOCK):
                block = slice(begin, min(len(truth), begin + BLOCK))
                part = slice_rows(rows, block.start, block.stop)
                unused = np.empty((block.stop - begin, self._committee.size, self._committee.n_labels))
                self._committee.run(part, truth[block], weights[block], unused)

    def _own_state(self) -> Arrays:
        rows, truth, scores = self._chunk_so_far()
        chunk = {f"chunk.{name}": array for name, array in rows._asdict().items()}
        own = {"chunk.truth": truth, "chunk.scores": scores, "weights": self._weights.copy()}
        return chunk | own | {"chunk.size": np.array(self._chunk)}

    def _restore_own(self, arrays: Mapping[str, Array]) -> None:
        truth, scores = np.asarray(arrays["chunk.truth"]), np.asarray(arrays["chunk.scores"])
        self._chunk, self._n_kept = int(arrays["chunk.size"]), len(truth)
        require(self._chunk >= 1 and 0 <= self._n_kept < self._chunk, "the size of the chunk")
        require(self.chunk is None or self._chunk == self.chunk, "the size of the chunk")
        self._active = min(self._committee.size, self._seen // self._chunk)
        n_labels = self._committee.n_labels
        require(truth.shape == (self._n_kept, n_labels) and np.isin(truth, (0, 1, UNKNOWN)).all(), "the labels")
        require(scores.shape == (self._n_kept, self._active, n_labels) and np.isfinite(scores).all(), "the scores")
        kinds = np.array(self._space.forest_kinds(), np.int64)
        rows = checked_rows(Rows(*(arrays[f"chunk.{name}"] for name in Rows._fields)), self._n_kept, kinds)
        weights = np.array(arrays["weights"], np.float64)
        require(weights.shape == self._weights.shape and bool(np.isfinite(weights).all()), "the weights")
        self._weights = weights
        self._kept = [(rows, truth.astype(np.int8), scores.astype(np.float64))] if self._n_kept else []
