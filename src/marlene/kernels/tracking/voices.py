"""What is blended: both kinds of classifiers, and the target's nearest neighbours as long as they earn their time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.kernels.banks.neighbours import neighbour_votes
from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.ensemble.blend import Blend, blended_vote, count_error, error_of
from marlene.kernels.tracking.state import HEDGED, NEIGHBOURS, QUIET, TARGET, TOGETHER, WITHOUT, scales_of

if TYPE_CHECKING:
    from marlene._common.arrays import Bools, Floats, Labels
    from marlene.kernels.tracking.state import Kinds, Model, Rooms, Streams, WorkSpace

EARNED = 0.01
"""By which part the neighbours are to make the squared error smaller, to be asked every time: against none, and
against neighbours who always say 0.5."""
RARELY = 16
"""Of how many examples they are otherwise asked one, so that it is known whether they would help."""
TRIAL = 256
"""The number of examples on which they are asked in any case."""


@inlined
def are_asked(model: Model) -> bool:
    """Tell whether nearest neighbours vote on the present example."""
    seen = model.streams.seen[TARGET]
    return bool(model.kinds.voices[NEIGHBOURS] and (model.clock[QUIET] == 0 or seen < TRIAL or seen % RARELY == 0))


@subkernel
def learn_voices(model: Model, scores: Floats, truth: Labels) -> None:
    """Learn the errors of all that voted on an example of the target."""
    if are_asked(model):
        _compare_voices(model, scores, truth)
        learn_errors(model.streams, TARGET, model.kinds.voices, model.scratch, truth)
    else:
        learn_errors(model.streams, TARGET, model.kinds.used, model.scratch, truth)


@subkernel
def _compare_voices(model: Model, scores: Floats, truth: Labels) -> None:
    """Count the errors of all voices, and with no or silent neighbours; judge now and then if these help enough."""
    streams, said, weight = model.streams, model.scratch.said, model.scratch.importance[0]
    state = Blend(streams.errors[TARGET], streams.counted[TARGET])
    for q in range(len(truth)):
        if truth[q] >= 0:
            vote = said[NEIGHBOURS, q]
            without = blended_vote(state, said, model.kinds.used, q)
            said[NEIGHBOURS, q] = 0.5
            hedged = blended_vote(state, said, model.kinds.voices, q)
            said[NEIGHBOURS, q] = vote
            count_error(state, TOGETHER, q, scores[q], truth[q], weight)
            count_error(state, WITHOUT, q, without, truth[q], weight)
            count_error(state, HEDGED, q, hedged, truth[q], weight)
    if streams.seen[TARGET] % RARELY == 0:
        least = (1.0 - EARNED) * min(_sum(state, WITHOUT, len(truth)), _sum(state, HEDGED, len(truth)))
        model.clock[QUIET] = 1 if _sum(state, TOGETHER, len(truth)) > least else 0


@inlined
def _sum(state: Blend, record: int, n_labels: int) -> float:
    """Return the sum of errors over labels."""
    total = 0.0
    for q in range(n_labels):
        total += error_of(state, record, q)
    return total


@subkernel
def write_neighbours(kinds: Kinds, rooms: Rooms, scratch: WorkSpace, n_labels: int) -> None:
    """Write what nearest neighbours say of every target label."""
    out = scratch.said[NEIGHBOURS, :n_labels]
    scales, rows = scales_of(rooms, TARGET), scratch.full.rows
    neighbour_votes(kinds.window, kinds.window_settings, scales, rows, 0, scratch.window, out)


@subkernel
def blend(streams: Streams, stream: int, voices: Bools, scratch: WorkSpace, scores: Floats) -> None:
    """Write the score of every label of a stream."""
    state = Blend(streams.errors[stream], streams.counted[stream])
    for q in range(streams.labels[stream]):
        scores[q] = blended_vote(state, scratch.said, voices, q)


@subkernel
def learn_errors(streams: Streams, stream: int, voices: Bools, scratch: WorkSpace, truth: Labels) -> None:
    """Count an example, and the errors of those that voted on it."""
    state = Blend(streams.errors[stream], streams.counted[stream])
    for q in range(streams.labels[stream]):
        if truth[q] >= 0:
            streams.examples[stream, q, truth[q]] += scratch.importance[0]
            for k in range(len(voices)):
                if voices[k]:
                    count_error(state, k, q, scratch.said[k, q], truth[q], scratch.importance[0])
