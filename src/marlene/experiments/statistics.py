"""Comparing methods over data sets, as Demšar (2006) recommends, and over time steps, as the paper does.

Scores are tables of data sets × methods. Ranks count from 1, the best; methods that tie share their mean rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats

from marlene._common.errors import MarleneError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from marlene._common.arrays import Floats


__all__ = [
    "Comparison",
    "FriedmanResult",
    "friedman",
    "friedman_over_time",
    "groups_without_difference",
    "holm",
    "nemenyi",
    "nemenyi_critical_difference",
    "wilcoxon_holm",
]


@dataclass(frozen=True)
class FriedmanResult:
    """The outcome of Friedman's test.

    Parameters
    ----------
    ranks
        Mean rank of every method.
    count
        Number of data sets (or whatever the rows were).
    statistic, p_value
        Friedman's χ², corrected for ties, and its p-value.
    iman_davenport, iman_davenport_p_value
        Iman and Davenport's F, which is less conservative, and its p-value.
    """

    ranks: Floats
    count: int
    statistic: float
    p_value: float
    iman_davenport: float
    iman_davenport_p_value: float


class Comparison(NamedTuple):
    """Two methods (columns) compared: their numbers, the plain p-value and the corrected one."""

    first: int
    second: int
    p_value: float
    corrected: float


def friedman(scores: Any, *, higher_is_better: bool = True) -> FriedmanResult:  # noqa: ANN401 (an array-like)
    """Test whether some methods rank better than others over data sets.

    Parameters
    ----------
    scores
        Data sets × methods, without gaps: at least two of each.
    higher_is_better
        False for times and losses.

    Examples
    --------
    >>> result = friedman([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.7, 0.8, 0.6], [0.9, 0.6, 0.5]])
    >>> result.ranks
    array([1.25, 1.75, 3.  ])
    >>> round(result.statistic, 3), round(result.p_value, 3), round(result.iman_davenport_p_value, 3)
    (6.5, 0.039, 0.007)
    """
    ranks = _ranks(scores, higher_is_better)
    n, k = ranks.shape
    tied = sum(float(np.sum(counts**3 - counts)) for counts in (np.unique(r, return_counts=True)[1] for r in ranks))
    correction = 1 - tied / (n * k * (k**2 - 1))
    mean = ranks.mean(axis=0)
    chi2 = 12 * n / (k * (k + 1)) * float(np.sum((mean - (k + 1) / 2) ** 2))
    chi2 = chi2 / correction if correction > 0 else 0.0
    rest = n * (k - 1) - chi2
    f = (n - 1) * chi2 / rest if rest > 1e-9 * n else np.inf
    return FriedmanResult(
        ranks=mean,
        count=n,
        statistic=chi2,
        p_value=float(stats.chi2.sf(chi2, k - 1)),
        iman_davenport=float(f),
        iman_davenport_p_value=float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
    )


def friedman_over_time(traces: Any, *, higher_is_better: bool = True) -> FriedmanResult:  # noqa: ANN401
    """Rank methods at every time step of one stream, as the paper's tables do.

    The mean ranks describe how often which method was ahead. The p-value is another matter: Friedman's test takes its
    rows as independent, and the steps of a stream are not. Two windows of a tenth of the stream that are one
    example apart share nearly all of their examples, so that thousands of steps hold hardly more evidence than the ten
    or so windows that do not overlap; and all of them come from one stream. Any difference, chance included, becomes
    "significant" once there are enough steps, which is why the paper's p-values are all below 2.2 × 10⁻¹⁶. To claim
    that a method is better, compare over data sets: `friedman`.

    Parameters
    ----------
    traces
        The score at every step: steps × methods, or runs × steps × methods, of which the mean over runs is taken.
    higher_is_better
        False for losses.

    Examples
    --------
    Two coins that are alike, watched through a window of 500 throws:

    >>> throws = np.random.default_rng(1).random((5000, 2)) < 0.5
    >>> windows = np.lib.stride_tricks.sliding_window_view(throws, 500, axis=0).mean(axis=2)
    >>> bool(friedman_over_time(windows).p_value < 1e-10)
    True
    """
    values = np.asarray(traces, dtype=np.float64)
    if values.ndim == 3:
        values = values.mean(axis=0)
    return friedman(values, higher_is_better=higher_is_better)


def nemenyi_critical_difference(methods: int, data_sets: int, alpha: float = 0.05) -> float:
    """Return by how much two mean ranks must differ for the methods to differ significantly (Nemenyi).

    Examples
    --------
    Demšar's example of 4 methods on 14 data sets:

    >>> round(nemenyi_critical_difference(4, 14), 2)
    1.25
    """
    if methods < 2 or data_sets < 2:
        raise MarleneError(f"Nemenyi's test needs two methods and two data sets, not {methods} and {data_sets}")
    if not 0 < alpha < 1:
        raise MarleneError(f"alpha must be between 0 and 1, not {alpha!r}")
    q = stats.studentized_range.ppf(1 - alpha, methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * data_sets)))


def nemenyi(scores: Any, *, higher_is_better: bool = True) -> Floats:  # noqa: ANN401
    """Return the p-value of every pair of methods by Nemenyi's test (methods × methods).

    Parameters
    ----------
    scores, higher_is_better
        As in `friedman`.

    Examples
    --------
    >>> nemenyi([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.7, 0.8, 0.6], [0.9, 0.6, 0.5]]).round(3)
    array([[1.   , 0.759, 0.036],
           [0.759, 1.   , 0.181],
           [0.036, 0.181, 1.   ]])
    """
    ranks = _ranks(scores, higher_is_better)
    n, k = ranks.shape
    mean = ranks.mean(axis=0)
    q = np.abs(mean[:, None] - mean) / np.sqrt(k * (k + 1) / (12 * n))
    p = np.asarray(stats.studentized_range.sf(q, k, np.inf), dtype=np.float64)
    np.fill_diagonal(p, 1.0)
    return p


def wilcoxon_holm(scores: Any, *, control: int | None = None) -> list[Comparison]:  # noqa: ANN401
    """Compare methods in pairs by Wilcoxon's signed-rank test, corrected by Holm for their number.

    Parameters
    ----------
    scores
        Data sets × methods.
    control
        Compare only with this method (a column's number). Default: all pairs.

    Examples
    --------
    >>> scores = [[0.9, 0.85], [0.6, 0.5], [0.7, 0.71], [0.9, 0.6], [0.8, 0.6], [0.5, 0.44], [0.6, 0.52]]
    >>> wilcoxon_holm(scores)
    [Comparison(first=0, second=1, p_value=0.03125, corrected=0.03125)]
    """
    table = _table(scores)
    k = table.shape[1]
    if control is not None and not 0 <= control < k:
        raise MarleneError(f"the control must be a column from 0 to {k - 1}, not {control}")
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k) if control is None or control in (i, j)]
    plain = [_wilcoxon(table[:, i], table[:, j]) for i, j in pairs]
    return [
        Comparison(i, j, p, corrected) for (i, j), p, corrected in zip(pairs, plain, holm(plain).tolist(), strict=True)
    ]


def _wilcoxon(one: Floats, other: Floats) -> float:
    """Return the p-value; methods that are the same on every data set do not differ."""
    return float(stats.wilcoxon(one, other).pvalue) if np.any(one != other) else 1.0


def holm(p_values: Sequence[float]) -> Floats:
    """Correct p-values for their number by Holm's step-down procedure.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return corrected


def groups_without_difference(ranks: Sequence[float], critical_difference: float) -> list[tuple[int, ...]]:
    """Return the largest groups of methods whose mean ranks lie within the critical difference, best first.

    Examples
    --------
    >>> groups_without_difference([3.0, 1.0, 2.0, 4.5], critical_difference=1.2)
    [(1, 2), (2, 0)]
    """
    order = sorted(range(len(ranks)), key=lambda i: ranks[i])
    groups: list[tuple[int, ...]] = []
    for start, first in enumerate(order):
        group = tuple(i for i in order[start:] if ranks[i] - ranks[first] <= critical_difference)
        if len(group) > 1 and not (groups and set(group) <= set(groups[-1])):
            groups.append(group)
    return groups


def _table(scores: Any) -> Floats:  # noqa: ANN401
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) < 2:
        raise MarleneError(f"scores must be a table of at least two rows and two methods, not of shape {table.shape}")
    gaps = np.isnan(table)
    if gaps.any():
        row, column = (int(i) for i in np.argwhere(gaps)[0])
        raise MarleneError(f"scores have a gap in row {row}, method {column}: methods are compared where all have run")
    return table


def _ranks(scores: Any, higher_is_better: bool) -> Floats:  # noqa: ANN401
    table = _table(scores)
    return np.asarray(stats.rankdata(-table if higher_is_better else table, axis=1), dtype=np.float64)
