"""What the table of real data shows, in words made from its numbers, and what is known of the reasons."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from marlene.experiments import paper
from marlene.experiments.reproduce._plan import BR, PROPOSED, RESAMPLED, WITH_RIVER, compared
from marlene.experiments.reproduce._words import SCORES, code, largest, listed, say
from marlene.learners import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from marlene.experiments.reproduce.targets.table_real import OverDataSets, RealData

    Ranks = Mapping[str, Mapping[tuple[str, str], float]]

NAME = "table-real"
NEAR = 0.03
PUBLISHED_ROW = "br-marlene, published settings"
"""The row of BR-MARLENE with the settings that come closest to the paper's scores."""


def findings(real: RealData, over_time: Ranks, tested: Mapping[str, OverDataSets | None]) -> list[str]:
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
    for words, row in {"the published settings": PUBLISHED_ROW, "our defaults": BR}.items():
        found = real.over_paper(row)
        if not found:
            yield say(NAME, "unknown", words=words)
            continue
        far, above = far_away(found), sum(by > 0 for by in found.values())
        distance[row] = statistics.fmean(map(abs, found.values()))
        sizes = {"count": len(found), "close": len(found) - len(far), "above": above, "distance": distance[row]}
        told = [say(NAME, "settings", words=words, near=NEAR, **sizes)]
        yield " ".join([*told, *([say(NAME, "farther", largest(far))] if far else [])])
    if len(distance) == 2 and distance[PUBLISHED_ROW] < distance[BR]:
        yield say(NAME, "why-settings")


def _first_places(real: RealData, over_time: Ranks) -> Iterator[str]:
    ranked = dict.fromkeys(row.method for row in paper.real_data() if row.rank is not None)
    complete = [name for name in real.plan.data_sets if all((m, name) in over_time["macro_gmean"] for m in ranked)]
    if not complete:
        yield say(NAME, "incomplete")
        return
    parts = []
    for score, ranks in over_time.items():
        means = {method: statistics.fmean(ranks[method, name] for name in complete) for method in ranked}
        order = sorted(means, key=means.__getitem__)
        winner = "" if order[0] == BR else f" (first: `{order[0]}`, {means[order[0]]:.2f})"
        place = order.index(BR) + 1
        parts.append(say(NAME, "place", place=place, short=SCORES[score], rank=means[BR], winner=winner))
    sizes = {"ranked": len(ranked), "complete": len(complete)}
    yield say(NAME, "places", places="; ".join(parts), **sizes)


def _over_data_sets(tested: Mapping[str, OverDataSets | None]) -> Iterator[str]:
    for score, found in tested.items():
        if found is None:
            yield say(NAME, "too-few", short=SCORES[score])
            continue
        best = found.best()
        own = "" if best == BR else f", BR-MARLENE {found.rank(BR):.2f}"
        told = {"short": SCORES[score], "best": best, "rank": found.rank(best), "own": own}
        differing = code(found.differing(BR)) or "no other method"
        yield say(NAME, "over-data-sets", found=found, methods=len(found.methods), differing=differing, **told)


def _baselines(real: RealData) -> Iterator[str]:
    off = {
        name: far_away(found) for name in compared() if not METHODS[name].proposed and (found := real.over_paper(name))
    }
    far = {name: cells for name, cells in off.items() if cells}
    if off:
        close = code(name for name in off if name not in far)
        yield say(NAME, "baselines", near=NEAR, close=close or "none", far=code(far) or "none")
    for why in ("why-votes", "why-shares", "why-sets", "why-trees"):
        methods = [name for name in far if _why(name) == why]
        cells = {f"{name} on {cell}": by for name in methods for cell, by in far[name].items()}
        if cells:
            sizes = {"count": len(cells), "above": sum(by > 0 for by in cells.values())}
            told = {"methods": code(methods), "largest": largest(cells, 4), "reason": say(NAME, why)}
            yield say(NAME, "differ", **sizes, **told)


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
    yield say(NAME, "pairs", by="; ".join(f"{name}: {listed(better)}" for name, better in wins.items()))
    off = far_away(real.over_paper(pairs))
    if off and WITH_RIVER in wins:
        yield say(NAME, "pairs-far", near=NEAR, largest=largest(off))


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
