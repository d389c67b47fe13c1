"""GOOWE-ML: members trained on chunks, weighted by least squares."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.checks import whole_number
from marlene._common.labels import UNKNOWN
from marlene._common.layouts import Field, Layout
from marlene._common.states import MOST_COUNTED, arrays_under, require, with_prefix
from marlene.learners.baselines._committee_learner import BLOCK, CommitteeLearner, as_probabilities, blocks, normalised
from marlene.learners.input._rows import joined, restored_rows, slice_rows

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from marlene._common.arrays import Array, Arrays, Floats, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.baselines._committee import Transformation

USUAL_CHUNK = 250
SHARE = 20
CHUNK_SIZE = Layout(
    "the size of a chunk", {"size": Field("int64", (), "how many examples a chunk has", least=1, most=MOST_COUNTED)}
)
CHUNK = Layout(
    "a chunk that is not full",
    {
        "truth": Field("int8", ("examples", "labels"), "the labels of its examples; -1 is unknown", least=-1, most=1),
        "scores": Field("float64", ("examples", "active", "labels"), "what every active member said of them"),
        "weights": Field("float64", ("members",), "the weights of all members"),
    },
)


def least_squares_weights(scores: Floats, truth: Labels) -> Floats:
    """Return the weights, rescaled to [0, 1], that bring the weighted sum of the members' scores closest to the truth.

    Parameters
    ----------
    scores
        Normalised scores (examples × members × labels).
    truth
        Labels (examples × labels); unknown ones (-1) are left out.

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


@dataclass(eq=False, repr=False)
class GOOWE(CommitteeLearner):
    """GOOWE-ML, the geometrically optimum and online-weighted ensemble (Büyükçakır, Bonab and Can 2018).

    Members learn whole chunks. When a chunk is full:

    1. members are weighted by least squares, so that their summed scores come closest to the labels of the chunk;
    2. a new member learns the chunk. It takes a free place, or the place of the member with the least weight, and has
       weight 1;
    3. every member, the new one too, learns the chunk.

    The scores of a member, and those of the ensemble, are shifted by their minimum over the labels and divided by their
    sum.

    A label is predicted if the score of the ensemble is above `1 / |L|`. Two linear maps make P(label) of it: 0 stays
    0, `1 / |L|` becomes 0.5, and 1 stays 1. Before the first chunk is full, P(label) is 0.5 and nothing is predicted. A
    single label keeps its score, because there is no other to compare it with.

    Parameters
    ----------
    transformation, members, features, seed, absent
        As of `OnlineBagging`.
    chunk
        Number of examples of a chunk. None: a twentieth of the stream if its length is known (see `prepare`), else 250.

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

    transformation: Transformation
    members: int = 10
    features: str | Mapping[Hashable, str] = "auto"
    seed: int = 1
    chunk: int | None = None
    absent: str = "unknown"
    max_labels: int | None = field(default=None, kw_only=True)
    max_features: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self._chunk = USUAL_CHUNK if self.chunk is None else whole_number(self.chunk, "chunk", low=1)
        super().__post_init__()
        self._weights = np.zeros(self._committee.size)
        self._kept: list[tuple[Rows, Labels, Floats]] = []

    @property
    def _active(self) -> int:
        """Number of members that have learnt a chunk."""
        return min(self._committee.size, self._seen // self._chunk)

    def prepare(self, examples: int) -> None:
        """Tell the length of the stream; it decides the size of a chunk if `chunk` is None."""
        if self.chunk is None and self._seen == 0:
            self._chunk = max(1, examples // SHARE)

    def counts(self) -> dict[str, int]:
        """Return the number of trained base models; drifts are not detected."""
        return {"models": self._committee.n_classifiers() // self._committee.size * self._active, "drifts": 0}

    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:  # noqa: ARG002
        begin = 0
        while begin < len(truth):
            missing = self._chunk - self._seen % self._chunk
            end = min(len(truth), begin + BLOCK, begin + missing)
            part = slice_rows(rows, begin, end)
            scores = self._active_scores(self._committee.scores(part))
            if probabilities.shape[1]:
                probabilities[begin:end] = self._weighted(scores)
            self._kept.append((joined([part]), truth[begin:end].copy(), scores))
            if end - begin == missing:
                self._learn_chunk()
            self._seen += end - begin
            begin = end

    def _combined(self, scores: Floats) -> Floats:
        return self._weighted(self._active_scores(scores))

    def _active_scores(self, scores: Floats) -> Floats:
        return normalised(scores[:, : self._active])

    def _weighted(self, scores: Floats) -> Floats:
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
        """Return rows, labels and scores of the current chunk; a label was unknown before it appeared."""
        rows = joined([rows for rows, _, _ in self._kept])
        n, n_labels = len(rows.starts) - 1, self._committee.n_labels
        truth = np.full((n, n_labels), UNKNOWN, np.int8)
        scores = np.zeros((n, self._active, n_labels))
        begin = 0
        for _, own, said in self._kept:
            end, known = begin + len(own), own.shape[1]
            truth[begin:end, :known], scores[begin:end, :, :known] = own, said
            begin = end
        return rows, truth, scores

    def _learn_chunk(self) -> None:
        rows, truth, scores = self._chunk_so_far()
        self._kept = []
        active, size = self._active, self._committee.size
        if active:
            self._weights[:active] = least_squares_weights(scores, truth)
        place = active
        if active == size:
            place = int(np.argmin(self._weights))
            self._renew(place)
        self._weights[place] = 1.0
        alone, everyone = np.arange(size) == place, np.arange(size) <= active
        for learning in (alone, everyone):
            for here, part in blocks(rows):
                weights = np.tile(learning.astype(np.int64), (here.stop - here.start, 1))
                unused = np.empty((len(weights), size, self._committee.n_labels))
                self._committee.run(part, truth[here], weights, unused)

    def _learnt(self) -> tuple[dict[str, Any], Arrays]:
        header, arrays = super()._learnt()
        rows, truth, scores = self._chunk_so_far()
        chunk = rows._asdict() | {"truth": truth, "scores": scores, "size": np.array(self._chunk)}
        return header, arrays | with_prefix(chunk, "chunk.") | {"weights": self._weights.copy()}

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        super()._restore(header, arrays)
        chunk = arrays_under(arrays, "chunk.")
        (size,) = CHUNK_SIZE.checked(chunk).values()
        self._chunk = int(size)
        require(self.chunk in (None, self._chunk), "the size of the chunk")
        n_kept = self._seen % self._chunk
        lengths = {"examples": n_kept, "active": self._active, "labels": self._committee.n_labels}
        given = CHUNK.checked(chunk | {"weights": arrays["weights"]}, members=self._committee.size, **lengths)
        rows = restored_rows(chunk, n_kept, self._space.forest_kinds())
        self._weights = given["weights"]
        self._kept = [(rows, given["truth"], given["scores"])] if n_kept else []
