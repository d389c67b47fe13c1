"""Results on real data, and what they show, in words made from the numbers."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marlene.experiments import paper
from marlene.experiments.reproduce._plan import BR, PROPOSED, RESAMPLED, WITH_RIVER, Plan, compared
from marlene.experiments.reproduce._words import (
    SCORES,
    Comparison,
    code,
    compare,
    largest,
    listed,
    say,
    seeds_in_words,
)
from marlene.experiments.statistics import FriedmanResult, friedman, friedman_over_time, nemenyi_critical_difference
from marlene.learners import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from marlene.experiments._grid import Run
    from marlene.experiments.reproduce._results import Results

    Ranks = dict[tuple[str, str], float]
    """Mean ranks by row and data set."""

NAME = "table-real"
NEAR = 0.03
PUBLISHED_ROW = "br-marlene, published settings"
"""The row of BR-MARLENE with the settings that come closest to the paper's scores."""
RANKED = tuple(dict.fromkeys(row.method for row in paper.real_data() if row.rank is not None))
"""The methods that the paper ranks."""


@dataclass(frozen=True)
class OverDataSets:
    """Methods compared by one score over the data sets on which all of them were run."""

    ranks: dict[str, float]
    data_sets: tuple[str, ...]
    outcome: FriedmanResult
    critical_difference: float

    def best(self) -> str:
        """Return the method with the least mean rank."""
        return min(self.ranks, key=self.ranks.__getitem__)

    def differing(self, method: str) -> list[str]:
        """Return the methods that differ significantly from this one by Nemenyi's test."""
        own = self.ranks[method]
        return [name for name, rank in self.ranks.items() if abs(rank - own) > self.critical_difference]


class RealData:
    """Results on real data by row of the table and data set.

    Parameters
    ----------
    plan, results
        What was to be run, and what has been.
    """

    def __init__(self, plan: Plan, results: Results) -> None:
        self.plan = plan
        self.results = results

    def everywhere(self) -> list[str]:
        """Return the compared methods that are run on every data set."""
        return [name for name in compared() if not METHODS[name].pairs]

    def complete(self, ranks: Ranks) -> list[str]:
        """Return the data sets on which all methods that the paper ranks were run."""
        return [name for name in self.plan.data_sets if all((method, name) in ranks for method in RANKED)]

    def run(self, row: str, data_set: str) -> Run:
        """Return the run behind a row of the table."""
        return self.plan.published(data_set) if row == PUBLISHED_ROW else self.plan.real(data_set, row)

    def mean(self, row: str, data_set: str, score: str) -> float | None:
        """Return a score of a row; None if there is none."""
        return self.results.mean(self.run(row, data_set), score)

    def gains(self, row: str, over: str) -> dict[str, float]:
        """Return by how much a row is above another one, for every data set and score that both have."""
        return self._differences(row, lambda data_set, score: self.mean(over, data_set, score))

    def over_paper(self, row: str) -> dict[str, float]:
        """Return by how much a row is above the paper's, for every data set and score that both have."""
        return self._differences(row, lambda data_set, score: paper.score(method_of(row), data_set, score))

    def _differences(self, row: str, other: Callable[[str, str], float | None]) -> dict[str, float]:
        return {
            f"{data_set} {short}": ours - theirs
            for data_set in self.plan.data_sets
            for score, short in SCORES.items()
            if (ours := self.mean(row, data_set, score)) is not None and (theirs := other(data_set, score)) is not None
        }

    def ranks_over_time(self, marlene: str = BR) -> dict[str, Ranks]:
        """Rank the paper's methods at every step, and return the mean ranks by score, method and data set.

        BR-MARLENE is represented by the row `marlene`. What was not run on a data set is not ranked there.
        """
        rows = [marlene if method == BR else method for method in RANKED]
        ranks: dict[str, Ranks] = {score: {} for score in SCORES}
        for data_set in self.plan.data_sets:
            steps = {row: self.results.mean_steps(self.run(row, data_set)) for row in rows}
            there = [row for row in rows if len(steps[row])]
            if len(there) < 2:
                continue
            for place, found in enumerate(ranks.values()):
                means = friedman_over_time(np.column_stack([steps[row][:, place] for row in there])).ranks
                found |= {(row, data_set): float(rank) for row, rank in zip(there, means, strict=True)}
        return ranks

    def over_data_sets(self, score: str) -> OverDataSets | None:
        """Compare the methods that are run everywhere; None with fewer than two complete data sets."""
        methods = self.everywhere()
        scores = {name: [self.mean(method, name, score) for method in methods] for name in self.plan.data_sets}
        whole = {name: row for name, row in scores.items() if None not in row}
        if len(whole) < 2:
            return None
        outcome, cd = friedman(list(whole.values())), nemenyi_critical_difference(len(methods), len(whole))
        return OverDataSets(dict(zip(methods, outcome.ranks.tolist(), strict=True)), tuple(whole), outcome, cd)

    def seeds(self, row: str) -> str:
        """Return the seeds of a row, and where they differ."""
        used = {name: seeds_in_words(self.results.seeds(self.run(row, name))) for name in self.plan.data_sets
                if self.plan.reaches(name, row)}  # fmt: skip
        usual = Counter(used.values()).most_common(1)[0][0] if used else "none"
        return "; ".join([usual, *(f"{name}: {seeds}" for name, seeds in used.items() if seeds != usual)])


def method_of(row: str) -> str:
    """Return the method behind a row of the table."""
    return BR if row == PUBLISHED_ROW else row


def findings(real: RealData, over_time: Mapping[str, Ranks], tested: Mapping[str, OverDataSets | None]) -> list[str]:
    """Return what agrees with the paper, what does not, and why."""
    return [
        *_settings(real),
        *_first_places(real, over_time),
        *_over_data_sets(tested),
        *_baselines(real),
        *_pairs(real),
        *_transfer(real),
        *_spread(real),
    ]


def far_away(differences: Mapping[str, float]) -> dict[str, float]:
    """Return the differences that are not small."""
    return {cell: by for cell, by in differences.items() if abs(by) > NEAR}


def _settings(real: RealData) -> Iterator[str]:
    distance = {}
    for words, row in {"the published settings": PUBLISHED_ROW, "DDM-OCI": BR}.items():
        found = real.over_paper(row)
        if not found:
            yield say(NAME, "unknown", words=words)
            continue
        far, above = far_away(found), sum(by > 0 for by in found.values())
        distance[row] = statistics.fmean(map(abs, found.values()))
        sizes = {"count": len(found), "close": len(found) - len(far), "above": above, "distance": distance[row]}
        told = [say(NAME, "settings", words=words, near=NEAR, **sizes)]
        yield Comparison(" ".join([*told, *([say(NAME, "farther", largest(far))] if far else [])]))
    if len(distance) == 2 and distance[PUBLISHED_ROW] < distance[BR]:
        yield compare(NAME, "why-settings")


def _first_places(real: RealData, over_time: Mapping[str, Ranks]) -> Iterator[str]:
    data_sets = real.complete(over_time["macro_gmean"])
    if not data_sets:
        yield say(NAME, "incomplete")
        return
    parts = []
    for score, ranks in over_time.items():
        means = {method: statistics.fmean(ranks[method, name] for name in data_sets) for method in RANKED}
        order = sorted(means, key=means.__getitem__)
        winner = "" if order[0] == BR else f"; first is `{order[0]}` with {means[order[0]]:.2f}"
        place = order.index(BR) + 1
        parts.append(say(NAME, "place", place=place, short=SCORES[score], rank=means[BR], winner=winner))
    yield compare(NAME, "places", places="; ".join(parts), ranked=len(RANKED), complete=len(data_sets))


def _over_data_sets(tested: Mapping[str, OverDataSets | None]) -> Iterator[str]:
    for score, found in tested.items():
        if found is None:
            yield say(NAME, "too-few", short=SCORES[score])
            continue
        best = found.best()
        own = "" if best == BR else f", BR-MARLENE {found.ranks[BR]:.2f}"
        told = {"short": SCORES[score], "best": best, "rank": found.ranks[best], "own": own}
        differing = code(found.differing(BR)) or "no other method"
        yield say(NAME, "over-data-sets", found=found, methods=len(found.ranks), differing=differing, **told)


def _baselines(real: RealData) -> Iterator[str]:
    off = {
        name: far_away(found) for name in compared() if not METHODS[name].proposed and (found := real.over_paper(name))
    }
    far = {name: cells for name, cells in off.items() if cells}
    if off:
        close = code(name for name in off if name not in far)
        yield compare(NAME, "baselines", near=NEAR, close=close or "none", far=code(far) or "none")
    for why in ("why-votes", "why-shares", "why-sets", "why-trees"):
        methods = [name for name in far if _why(name) == why]
        cells = {f"{name} on {cell}": by for name in methods for cell, by in far[name].items()}
        if cells:
            sizes = {"count": len(cells), "above": sum(by > 0 for by in cells.values())}
            told = {"methods": code(methods), "largest": largest(cells, 4), "reason": say(NAME, why)}
            yield compare(NAME, "differ", **sizes, **told)


def _why(name: str) -> str:
    """Return which reason is known for the differences of a method."""
    method = METHODS[name]
    if method.ensemble == "goowe":
        return "why-shares"
    return {"multi-target": "why-votes", "pruned-sets": "why-sets"}.get(method.transformation or "", "why-trees")


def _pairs(real: RealData) -> Iterator[str]:
    single, pairs = PROPOSED
    gains = real.gains(pairs, single)
    if not gains:
        yield say(NAME, "no-pairs")
        return
    wins: dict[str, list[str]] = {}
    for cell, gain in gains.items():
        data_set, short = cell.split()
        wins.setdefault(data_set, []).extend([short] if gain > 0 else [])
    yield compare(NAME, "pairs", by="; ".join(f"{name}: {listed(better)}" for name, better in wins.items()))
    off = far_away(real.over_paper(pairs))
    if off and WITH_RIVER in wins:
        yield compare(NAME, "pairs-far", near=NEAR, largest=largest(off))


def _transfer(real: RealData) -> Iterator[str]:
    gains = real.gains(BR, RESAMPLED)
    if gains:
        above = sum(gain > 0 for gain in gains.values())
        yield say(NAME, "transfer", above=above, count=len(gains), largest=largest(gains, 4))


def _spread(real: RealData) -> Iterator[str]:
    every = (real.results.values(real.run(PUBLISHED_ROW, name), "macro_gmean") for name in real.plan.data_sets)
    spreads = [statistics.stdev(values) for values in every if len(values) > 1]
    if spreads:
        yield say(NAME, "deviation", least=min(spreads), most=max(spreads))
