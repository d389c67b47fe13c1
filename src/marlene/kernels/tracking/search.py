"""What a label does that searches for the label of a source that it is.

A label begins to search if sources know labels of other names only. Bayes' rule tells how likely it is to be each of
them: the likelihood is what the source's label, calibrated, gave to the label's examples. Calibrated probabilities also
tell by how rare a label is. Or it is none of them, but a label of its own, which is judged by its own probabilities.
As long as the label searches, its probability is the mean of all of these, by how likely each is, and so is its vote:
each decides as it would for itself.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from marlene.kernels.compile import inlined, rare, subkernel
from marlene.kernels.decisions.calibration import calibrated, write_odds
from marlene.kernels.decisions.cuts import bin_of, lowering
from marlene.kernels.ensemble.blend import Blend, blended_vote
from marlene.kernels.tracking.state import (
    ABSENT,
    DECIDED,
    KINDS,
    LOG_NEGATIVE,
    LOG_POSITIVE,
    OFFERED,
    TARGET,
    own_examples,
    source_column,
)

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.tracking.state import Model

HEEDED = 0.35
"""A label that searches is predicted if those that are as likely as this would be."""
LEAST_LIKELY = 1e-3
"""What a probability counts for at least, so that one example does not end the search."""
LASTS = 500.0
"""After how many examples the search ends in any case."""
SLEPT = math.log(0.9)
"""What an example adds to the likelihood of a source that sleeps on it, against that of none: one that sleeps often
comes from elsewhere."""
ASLEEP = -1.0
"""What a source offers that says nothing of an example."""


@subkernel
def source_scores(model: Model, stream: int, scores: Floats) -> None:
    """Write the scores of a source's labels for the present example, as its own learners give them."""
    scratch, streams, first = model.scratch, model.streams, source_column(model.rooms, stream, 0)
    blend = Blend(streams.errors[stream], streams.counted[stream])
    for k in range(KINDS):
        for label in range(streams.labels[stream]):
            scratch.said[k, label] = scratch.chance[k, first + label]
    for label in range(streams.labels[stream]):
        scores[label] = blended_vote(blend, scratch.said, model.kinds.used, label)


@inlined
def is_any_searching(model: Model) -> bool:
    """Tell whether any target label searches."""
    found = False
    for q in range(model.streams.labels[TARGET]):
        found = found or _searches(model, q)
    return found


@inlined
def _searches(model: Model, q: int) -> bool:
    return bool(model.streams.alone[q] > ABSENT)


@inlined
def _size(searched: Ints) -> int:
    """Return how many labels of sources a label may be."""
    size = 0
    while size < len(searched) and searched[size, 0] > TARGET:
        size += 1
    return size


@rare
def begin_search(model: Model, q: int, together: float, total: float) -> None:
    """Let a label search among the labels of sources that are trusted most, as likely as they are trusted."""
    streams, count = model.streams, 0
    searched, search = streams.searched[q], streams.search[q]
    streams.alone[q] = math.log(1.0 - together)
    for s in range(1, len(streams.labels)):
        for label in range(streams.labels[s]):
            if streams.trust[s, label] > 0.0:
                likely, i = math.log(together * streams.trust[s, label] / total), count
                if count < len(searched):
                    count += 1
                else:
                    i = 0
                    for j in range(count):
                        i = j if search[j] <= search[i] else i
                if likely > search[i]:
                    searched[i, 0], searched[i, 1], search[i] = s, label, likely


@subkernel
def write_offers(model: Model, stream: int, awake: bool) -> None:
    """Write what a source says of its labels in the present example: probability, logarithms of it, decision."""
    streams, offers = model.streams, model.scratch.offers[:, stream]
    if not awake:
        offers[OFFERED, 0] = ASLEEP
        return
    n_labels = streams.labels[stream]
    odds = offers[DECIDED, :n_labels]
    source_scores(model, stream, odds)
    write_odds(odds, odds)
    lower = lowering(odds)
    for label in range(n_labels):
        p = calibrated(streams.lines[stream, label], streams.examples[stream, label], odds[label])
        offers[OFFERED, label] = p
        offers[LOG_POSITIVE, label] = math.log(max(p, LEAST_LIKELY))
        offers[LOG_NEGATIVE, label] = math.log(max(1.0 - p, LEAST_LIKELY))
        offers[DECIDED, label] = 1.0 if bin_of(odds[label], lower) >= streams.cut[stream, label] else 0.0


@subkernel
def _mean_offer(model: Model, q: int, which: int, own: float) -> float:
    """Return the mean of what a label may be, by how likely each is; `own`: if it is none of the sources' labels."""
    offers, alone, searched, search = (
        model.scratch.offers,
        model.streams.alone[q],
        model.streams.searched[q],
        model.streams.search[q],
    )
    best, size = alone, _size(searched)
    for i in range(size):
        if offers[OFFERED, searched[i, 0], 0] != ASLEEP:
            best = max(best, search[i])
    total = math.exp(alone - best)
    mean = total * own
    for i in range(size):
        if offers[OFFERED, searched[i, 0], 0] != ASLEEP:
            likely = math.exp(search[i] - best)
            total += likely
            mean += likely * offers[which, searched[i, 0], searched[i, 1]]
    return mean / total


@subkernel
def heed_probabilities(model: Model, probabilities: Floats) -> None:
    """Let the probabilities of labels that search be the mean of what they may be."""
    for q in range(model.streams.labels[TARGET]):
        if _searches(model, q):
            probabilities[q] = _mean_offer(model, q, OFFERED, probabilities[q])


@subkernel
def heed_decisions(model: Model, predictions: Labels) -> None:
    """Predict labels that search if those they may be would be predicted."""
    for q in range(model.streams.labels[TARGET]):
        if _searches(model, q):
            predictions[q] = 1 if _mean_offer(model, q, DECIDED, predictions[q]) >= HEEDED else 0


@subkernel
def learn_search(model: Model, probabilities: Floats, truth: Labels) -> None:
    """Learn how likely each is from an example; `probabilities`: those of labels of their own."""
    streams, offers, weight = model.streams, model.scratch.offers, model.scratch.importance[0]
    for q in range(streams.labels[TARGET]):
        if truth[q] < 0 or not _searches(model, q):
            continue
        p = probabilities[q] if truth[q] == 1 else 1.0 - probabilities[q]
        own, logs = math.log(max(p, LEAST_LIKELY)), LOG_POSITIVE if truth[q] == 1 else LOG_NEGATIVE
        streams.alone[q] += weight * own
        for i in range(_size(streams.searched[q])):
            s, label = streams.searched[q, i]
            asleep = offers[OFFERED, s, 0] == ASLEEP
            streams.search[q, i] += weight * (own + SLEPT if asleep else offers[logs, s, label])
        if own_examples(streams, q, 0) + own_examples(streams, q, 1) >= LASTS:
            streams.alone[q] = ABSENT
