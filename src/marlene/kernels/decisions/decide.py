"""The predictions of a row, for an objective, and what is learnt from its labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import kernel, subkernel
from marlene.kernels.decisions.calibration import calibrate_row, learn_lines, write_odds
from marlene.kernels.decisions.cuts import (
    EVERY,
    Aims,
    Cuts,
    certain_of,
    choose_cuts,
    forget,
    is_above,
    lowering,
    observe_scores,
    work_for,
)
from marlene.kernels.decisions.label_sets import (
    LabelSets,
    choose_best_labels,
    choose_likeliest_set,
    judge_powers,
    learn_set,
)

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Labels

HALF, CUTS, COSTS, SUBSET, BEST_LABELS = range(5)
"""How decisions are made: at a score of one half; by a cut for each label; by costs; for a row as a whole, so that the
set is the likeliest, or holds the best labels for F1 and the like (rules from `BEST_LABELS` on)."""
SETTLED = 20
"""How often labels choose anew, one after the other, when the objective is another one."""


class Objective(NamedTuple):
    """What decisions are to be good at: a rule, the aims of cuts, the least probability under costs."""

    rule: int
    aims: Aims
    level: float


class DecisionState(NamedTuple):
    """What decisions rest on; `lines`, see `calibration`; `examples`: how many negatives and positives labels had."""

    cuts: Cuts
    lines: Floats
    sets: LabelSets
    examples: Floats


@subkernel
def decide_row(
    state: DecisionState, objective: Objective, odds: Floats, probabilities: Floats, out: Labels, work: Floats
) -> None:
    """Write the predictions of an example, given the log odds of its scores."""
    rule = objective.rule
    if rule >= BEST_LABELS:
        choose_best_labels(state.sets, rule - BEST_LABELS, certain_of(state.cuts.rows), probabilities, out)
    elif rule == SUBSET:
        choose_likeliest_set(state.sets, state.examples, probabilities, out, work)
    else:
        lower = lowering(odds) if rule == CUTS else 0.0
        for q in range(len(odds)):
            if rule == CUTS:
                above = is_above(state.cuts, odds, q, lower)
            elif rule == COSTS:
                above = probabilities[q] > objective.level
            else:
                above = odds[q] >= 0.0
            out[q] = 1 if above else 0


@subkernel
def learn_scores(
    cuts: Cuts,
    lines: Floats,
    objective: Objective,
    odds: Floats,
    probabilities: Floats,
    truth: Labels,
    weight: float,
    work: Floats,
) -> bool:
    """Learn lines and cuts from the scores of an example; tell whether any of its labels is known.

    Choose the cuts afresh if it is time.
    """
    if not observe_scores(cuts, odds, truth, weight):
        return False
    learn_lines(lines, odds, probabilities, truth, weight)
    cuts.seen[0] += 1
    if cuts.seen[0] % EVERY == 0:
        if objective.rule == CUTS:
            choose_cuts(cuts, objective.aims, 1, work)
        forget(cuts)
    return True


@subkernel
def learn_decisions(
    state: DecisionState,
    objective: Objective,
    odds: Floats,
    probabilities: Floats,
    truth: Labels,
    weight: float,
    work: Floats,
) -> None:
    """Learn from the scores and the labels of an example."""
    if learn_scores(state.cuts, state.lines, objective, odds, probabilities, truth, weight, work):
        if objective.rule == SUBSET:
            judge_powers(state.sets, state.examples, probabilities, truth, work)
        learn_set(state.sets, probabilities, truth, weight)


@subkernel
def settle(cuts: Cuts, objective: Objective, work: Floats) -> None:
    """Choose all cuts for another objective."""
    if objective.rule == CUTS:
        choose_cuts(cuts, objective.aims, SETTLED, work)


@kernel
def settle_alone(state: DecisionState, objective: Objective) -> None:
    """Do the same, for decisions that belong to no tracker."""
    settle(state.cuts, objective, np.empty(work_for(len(state.cuts.cut))))


@kernel
def calibrate(state: DecisionState, scores: Floats, out: Floats) -> None:
    """Write the probabilities of examples (examples × labels)."""
    odds = np.empty(scores.shape[1])
    for row in range(len(scores)):
        write_odds(scores[row], odds)
        calibrate_row(state.lines, state.examples, odds, out[row])


@kernel
def decide(state: DecisionState, objective: Objective, scores: Floats, probabilities: Floats, out: Labels) -> None:
    """Write the predictions of examples (examples × labels); NaN is no score."""
    work = np.empty(work_for(scores.shape[1]))
    odds = np.empty(scores.shape[1])
    for row in range(len(scores)):
        write_odds(scores[row], odds)
        decide_row(state, objective, odds, probabilities[row], out[row], work)


@kernel
def decide_and_learn(
    state: DecisionState, objective: Objective, scores: Floats, truth: Labels, probabilities: Floats, out: Labels
) -> None:
    """Write the probabilities and predictions of examples, and learn from each of them before the next."""
    work = np.empty(work_for(scores.shape[1]))
    odds = np.empty(scores.shape[1])
    for row in range(len(scores)):
        write_odds(scores[row], odds)
        calibrate_row(state.lines, state.examples, odds, probabilities[row])
        decide_row(state, objective, odds, probabilities[row], out[row], work)
        learn_decisions(state, objective, odds, probabilities[row], truth[row], 1.0, work)
        for q in range(len(truth[row])):
            if truth[row, q] >= 0:
                state.examples[q, truth[row, q]] += 1.0
