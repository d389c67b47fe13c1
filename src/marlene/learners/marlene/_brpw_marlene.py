"""BRPW-MARLENE: labels are also predicted from each other."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.checks import checked, one_of, whole_number
from marlene._common.errors import MarleneError
from marlene._common.resources import free_memory_mb
from marlene._common.states import arrays_under, with_prefix
from marlene.drift import make_bank
from marlene.kernels.ensemble.combining import combine
from marlene.learners.classifiers._bases import make_base
from marlene.learners.input._rows import repeated
from marlene.learners.marlene._br_marlene import BRMarlene
from marlene.learners.marlene._dependence import EVERY, Dependence
from marlene.learners.marlene._pair_ensemble import PairEnsemble
from marlene.learners.marlene._pairs import contributions
from marlene.learners.marlene._tasks import StreamTasks

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Labels
    from marlene.drift import DetectorBank
    from marlene.kernels.rows import Rows
    from marlene.learners.marlene._ensemble_learner import RiverDetector

    Pair = tuple[Hashable, Hashable]

COMBINE = ("predicted", "marginal")
WEIGHTING = ("true", "predicted")
POOLING = ("sum", "mean")
VOTERS = ("all", "own")
SHARE_OF_FREE_MEMORY = 0.7
BYTES_PER_ENTRY = 100
"""Memory of a feature in a leaf that has seen it, about."""


@dataclass(eq=False, repr=False, kw_only=True)
class BRPWMarlene(BRMarlene):
    """BRPW-MARLENE: BR-MARLENE, and a sub-classifier for every ordered pair of labels (paper, section IV-B).

    The sub-classifier of a pair (a, b) learns label b from the features and the value of label a. To predict b,
    BR-MARLENE predicts all labels first. Then every pair (a, b) votes on b given the predicted value of a, weighted by
    the probability of that value, and these votes are added to BR-MARLENE's. Pairs form an ensemble of their own, with
    detectors, resampling, records and weights as in BR-MARLENE: sub-classifiers of all pairs vote on every target pair.

    Parameters
    ----------
    base, drift, features, resampling, seed, max_models, retired, absent, max_labels, max_features
        As for `BRMarlene`; `max_models` holds for labels and for pairs, `retired` for labels. The default detector is
        that of the paper, "ddm-oci".
    pairs
        Which pairs are modelled: "all" (the paper); a list of (given label, label); or a number m: each label with the
        m labels it depends on most, by mutual information. These partners are chosen afresh every 100 examples.
    combine
        "predicted" (the paper): pairs vote given the predicted value; "marginal": given both, each weighted by its
        probability.
    weighting
        Pairs are judged given the "true" (the paper) or the "predicted" value.
    pooling
        The votes of all pairs on a label are added up ("sum", the paper) or averaged ("mean").
    voters
        Who votes on a pair: "all" sub-classifiers (the paper), or its "own", those trained on it in the target. None:
        "own" where `pairs` is a number, so that the cost grows as labels × m; otherwise "all".
    partner_fading
        If `pairs` is a number: the factor of what is known about dependence, every 100 examples.
    partner_margin
        If `pairs` is a number: a partner is replaced by a label with more than four times its mutual information, and
        more by this much beyond that, in 2 n times the information of n examples. Chance alone makes about 1.
    max_memory
        The most megabytes that records and trees may take; labels that need more are refused. None: 70 % of the free
        memory.

    Examples
    --------
    >>> from marlene.streams import load
    >>> stream = load("yeast", limit=200)
    >>> model = BRPWMarlene(seed=1)
    >>> model.learn_many(stream.X, stream.Y)
    >>> model.predict_many(stream.X[:3]).shape
    (3, 14)
    >>> print(f"{model.memory_estimate(labels=103, features=500):,.0f} MB for all pairs of 103 labels")
    3,179 MB for all pairs of 103 labels
    """

    _method = "brpw-marlene"

    drift: str | DetectorBank | RiverDetector | None = field(default="ddm-oci", kw_only=False)
    pairs: str | int | Sequence[Pair] = "all"
    combine: str = "predicted"
    weighting: str = "true"
    pooling: str = "sum"
    voters: str | None = None
    partner_fading: float = 0.999
    partner_margin: float = 20.0
    max_memory: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        voters = self.voters
        if voters is None:
            voters = "own" if isinstance(self.pairs, int) else "all"
        one_of(self.combine, "combine", COMBINE)
        one_of(self.weighting, "weighting", WEIGHTING)
        one_of(self.pooling, "pooling", POOLING)
        one_of(voters, "voters", VOTERS)
        _check_pairs(self.pairs)
        fading = (float, lambda share: 0.0 < share <= 1.0, "a number above 0 and up to 1")
        checked(self.partner_fading, "partner_fading", fading)
        checked(self.partner_margin, "partner_margin", (float, lambda x: 0.0 <= x < math.inf, "a number from 0 on"))
        if self.max_memory is not None:
            checked(self.max_memory, "max_memory", (float, lambda size: size >= 0, "a number of megabytes"))
        self._ensembles.append(
            PairEnsemble(
                make_base(self.base),
                make_bank(self.drift),
                replace(self._settings, proving=False),
                self._ensemble,
                both=self.combine == "marginal",
                own=voters == "own",
                by_prediction=self.weighting == "predicted",
            )
        )
        self._dependence: dict[str | None, Dependence] = {}

    @property
    def _pair_ensemble(self) -> PairEnsemble:
        pairs: PairEnsemble = self._ensembles[1]
        return pairs

    def memory_estimate(self, labels: int, features: int) -> float:
        """Estimate the megabytes that a target of so many labels and features takes, before any drift.

        Every tree is assumed to be one leaf that has seen all features.
        """
        n_pairs = labels * (labels - 1)
        if isinstance(self.pairs, int):
            n_pairs = labels * min(self.pairs, labels - 1)
        elif not isinstance(self.pairs, str):
            n_pairs = len(self.pairs)
        shape, precision = self._pair_ensemble.record_layout(n_pairs, n_pairs)
        tables = math.prod(shape) * np.dtype(precision).itemsize
        if isinstance(self.pairs, int):
            tables += Dependence.bytes_for(labels)
        return (tables + (labels + n_pairs) * features * BYTES_PER_ENTRY) / 1e6

    def _add(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        before = list(self._labels(stream))
        if stream is None and set(labels) - set(before):
            super()._add(stream, [])  # features stay known, even if the labels are refused
            self._refuse_too_much(len({*before, *labels}))
        super()._add(stream, labels)
        known = self._labels(stream)
        new = set(known[len(before) :])
        if not new:
            return
        self._pair_ensemble.add_given_label()
        if not self._learns_pairs(stream) or isinstance(self.pairs, int):
            return
        if self.pairs == "all":
            chosen = [(a, b) for a in known for b in known if a != b and (a in new or b in new)]
        else:
            chosen = [(a, b) for a, b in map(tuple, self.pairs) if a in known and b in known]
        self._pair_ensemble.add_pairs(stream, chosen)

    def _refuse_too_much(self, labels: int) -> None:
        needed = self.memory_estimate(labels, len(self._space))
        allowed = SHARE_OF_FREE_MEMORY * free_memory_mb() if self.max_memory is None else self.max_memory
        if needed > allowed:
            raise MarleneError(
                f"pairs of {labels} labels take about {needed:,.0f} MB, and {allowed:,.0f} MB are allowed: model fewer "
                f"(pairs=5: for each label the five it depends on most) or raise max_memory"
            )

    def _learns_pairs(self, stream: str | None) -> bool:
        """Tell whether pairs of a stream are learnt; pairs of sources are only if they can vote."""
        return stream is None or not self._pair_ensemble.own

    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:
        if not isinstance(self.pairs, int) or not self._learns_pairs(stream):
            self._run_part(stream, rows, truth, probabilities)
            return
        dependence = self._dependence.setdefault(stream, self._unknown_dependence())
        first = 0
        while first < len(truth):
            last = min(first + dependence.room(), len(truth))
            part = repeated(rows, np.arange(first, last))
            self._run_part(stream, part, truth[first:last], probabilities[first:last])
            dependence.count(truth[first:last])
            if dependence.room() == EVERY:
                self._choose_partners(stream, dependence)
            first = last

    def _unknown_dependence(self) -> Dependence:
        return Dependence(self.partner_fading, self.partner_margin)

    def _run_part(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:
        asked = stream is None and probabilities.shape[1] > 0
        said = probabilities
        if stream is None and not asked and self.weighting == "predicted":
            said = np.empty(truth.shape)
        super()._run(stream, rows, truth, said)
        ensemble = self._pair_ensemble
        tasks = ensemble.streams.get(stream)
        if tasks is None or not len(tasks):
            return
        assumed = (said > 0.5).astype(np.int8) if said.shape[1] else truth[:0]
        votes = np.zeros((len(truth) if asked else 0, len(tasks), 2, 2))
        ensemble.learn_pairs(tasks, rows, truth, assumed, votes)
        if asked:
            self._combine(probabilities, assumed, votes)

    def _predict(self, rows: Rows, probabilities: Floats) -> None:
        super()._predict(rows, probabilities)
        tasks = self._pair_ensemble.target
        if len(tasks):
            assumed = (probabilities > 0.5).astype(np.int8)
            votes = np.zeros((len(probabilities), len(tasks), 2, 2))
            self._pair_ensemble.vote(rows, assumed, votes)
            self._combine(probabilities, assumed, votes)

    def _combine(self, probabilities: Floats, assumed: Labels, votes: Floats) -> None:
        """Replace P(label) of BR-MARLENE by that of labels and pairs together."""
        tasks, both = self._pair_ensemble.target, self.combine == "marginal"
        combine(probabilities, assumed, votes, tasks.label, tasks.given, both, self.pooling == "mean")

    def _choose_partners(self, stream: str | None, dependence: Dependence) -> None:
        """Model the most dependent pairs, and no others, from now on."""
        ensemble, labels = self._pair_ensemble, self._labels(stream)
        tasks = ensemble.streams.setdefault(stream, StreamTasks(stream))
        chosen = dependence.partners(labels, int(self.pairs), tasks.labels)  # type: ignore[arg-type]
        wanted = set(chosen)
        ensemble.drop_tasks(tasks, np.flatnonzero([pair not in wanted for pair in tasks.labels]))
        ensemble.add_pairs(stream, chosen)
        ensemble.keep_at_most(2 * sum(map(len, ensemble.streams.values())))

    def aswr(self) -> float:
        """Return the average source weight ratio of pairs: the weight of other pairs and streams (paper, VII-C)."""
        ensemble = self._pair_ensemble
        if not len(ensemble.target) or ensemble.own:
            return 0.0
        weights = ensemble.judged()[:, 0]
        total = weights.sum(axis=1)
        owners = ensemble.owners()
        own = np.array([weights[task, owners == task].sum() for task in range(len(total))])
        return float(np.divide(total - own, total, where=total > 0, out=np.zeros(len(total))).mean())

    def explain_pair(self, given: Hashable, label: Hashable) -> list[dict[str, Any]]:
        """Return which sub-classifiers carry the vote on a pair of target labels, the heaviest first, as `explain`."""
        column = self._pair_ensemble.target.column
        if (given, label) not in column:
            raise MarleneError(f"the pair ({given!r}, {label!r}) is not modelled")
        rows = self._pair_ensemble.explain(column[given, label])
        return [{name: value for name, value in row.items() if name != "member"} for row in rows]

    def explain_one(self, x: dict[Hashable, Any]) -> dict[Hashable, dict[Hashable, tuple[float, float]]]:
        """Return for every target label the votes on an example: of BR-MARLENE (key None), and given each other label.

        Each is a pair of numbers, against and for the label; their sums decide.
        """
        rows = self._space.rows_of_dicts([x], learning=False)[0]
        tasks, said = self._pair_ensemble.target, np.full((1, len(self._labels(None))), np.nan)
        super()._predict(rows, said)
        assumed, votes = (said > 0.5).astype(np.int8), np.zeros((1, len(tasks), 2, 2))
        self._pair_ensemble.vote(rows, assumed, votes)
        own, added = contributions(said[0], assumed[0], votes[0], tasks.given, self.combine == "marginal")
        found: dict[Hashable, dict[Hashable, tuple[float, float]]] = {
            label: {None: (float(no), float(yes))} for label, (no, yes) in zip(self._labels(None), own, strict=True)
        }
        names = self._labels(None)
        for label, given, (no, yes) in zip(tasks.label.tolist(), tasks.given.tolist(), added, strict=True):
            found[names[label]][names[given]] = (float(no), float(yes))
        return found

    def _learnt(self) -> tuple[dict[str, Any], Arrays]:
        header, arrays = super()._learnt()
        header["dependence"] = list(self._dependence)
        for number, dependence in enumerate(self._dependence.values()):
            arrays |= with_prefix(dependence.state(), f"dependence{number}.")
        return header, arrays

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        super()._restore(header, arrays)
        for number, stream in enumerate(header["dependence"]):
            dependence = self._dependence[stream] = self._unknown_dependence()
            dependence.restore(arrays_under(arrays, f"dependence{number}."), len(self._labels(stream)))


def _check_pairs(pairs: object) -> None:
    if isinstance(pairs, str):
        one_of(pairs, "pairs", ("all",))
    elif isinstance(pairs, int):
        whole_number(pairs, "pairs", low=1)
    elif not isinstance(pairs, Iterable) or not all(
        isinstance(pair, tuple | list) and len(pair) == 2 and pair[0] != pair[1] for pair in pairs
    ):
        raise MarleneError(f"pairs must be 'all', a number, or pairs of different labels, not {pairs!r}")
