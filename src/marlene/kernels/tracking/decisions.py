"""How a tracker decides: `marlene.kernels.decisions`, for the labels of its streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.decisions.calibration import calibrate_row
from marlene.kernels.decisions.cuts import BINS, Cuts
from marlene.kernels.decisions.decide import DecisionState, decide_row, learn_decisions, settle
from marlene.kernels.tracking.state import TARGET

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Labels
    from marlene.kernels.decisions.decide import Objective
    from marlene.kernels.decisions.label_sets import LabelSets
    from marlene.kernels.tracking.state import Model, Streams


@inlined
def cuts_of(streams: Streams, stream: int) -> Cuts:
    """Return the cuts of a stream."""
    n = streams.labels[stream]
    return Cuts(
        streams.counts[stream, :n],
        streams.shares[stream, :n],
        streams.cut[stream, :n],
        streams.rows[stream],
        streams.judged[stream],
    )


@inlined
def _decisions(streams: Streams, sets: LabelSets) -> DecisionState:
    n = streams.labels[TARGET]
    return DecisionState(cuts_of(streams, TARGET), streams.lines[TARGET, :n], sets, streams.examples[TARGET, :n])


@subkernel
def calibrate_labels(streams: Streams, stream: int, scores: Floats, probabilities: Floats) -> None:
    """Write P(label) of the labels of a stream."""
    calibrate_row(streams.lines[stream], streams.examples[stream], scores, probabilities)


@subkernel
def decide_labels(
    streams: Streams, sets: LabelSets, objective: Objective, scores: Floats, probabilities: Floats, out: Labels,
    work: Floats,
) -> None:  # fmt: skip
    """Write the predictions of all target labels."""
    decide_row(_decisions(streams, sets), objective, scores, probabilities, out, work)


@subkernel
def learn_labels(
    streams: Streams, sets: LabelSets, objective: Objective, scores: Floats, probabilities: Floats, truth: Labels,
    weight: float, work: Floats,
) -> None:  # fmt: skip
    """Learn how to decide from an example of the target."""
    learn_decisions(_decisions(streams, sets), objective, scores, probabilities, truth, weight, work)


@kernel
def calibrate_rows(model: Model, scores: Floats, probabilities: Floats) -> None:
    """Write P(label) for the scores of target labels."""
    for row in range(len(scores)):
        calibrate_labels(model.streams, TARGET, scores[row], probabilities[row])


@kernel
def decide_rows(model: Model, objective: Objective, scores: Floats, out: Labels) -> None:
    """Write the predictions for the scores of target labels."""
    probabilities, work = np.empty(scores.shape[1]), np.empty((3, max(BINS, scores.shape[1])))
    for row in range(len(scores)):
        calibrate_labels(model.streams, TARGET, scores[row], probabilities)
        decide_labels(model.streams, model.sets, objective, scores[row], probabilities, out[row], work)


@subkernel
def _settle(streams: Streams, objective: Objective, work: Floats) -> None:
    settle(cuts_of(streams, TARGET), objective, work)


@kernel
def settle_cuts(model: Model, objective: Objective) -> None:
    """Choose all cuts of target labels for another objective."""
    _settle(model.streams, objective, model.scratch.choice)
