"""How a tracker decides: `marlene.kernels.decisions`, for the labels of its streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.decisions.calibration import calibrate_row, write_odds
from marlene.kernels.decisions.cuts import Cuts
from marlene.kernels.decisions.decide import DecisionState, decide_row, learn_decisions, settle
from marlene.kernels.tracking.state import TARGET

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Labels
    from marlene.kernels.decisions.decide import Objective
    from marlene.kernels.decisions.label_sets import LabelSets
    from marlene.kernels.tracking.state import Streams


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
def calibrate_labels(streams: Streams, stream: int, scores: Floats, odds: Floats, probabilities: Floats) -> None:
    """Write the log odds of the scores of a stream's labels, and P(label)."""
    write_odds(scores, odds)
    calibrate_row(streams.lines[stream], streams.examples[stream], odds, probabilities)


@subkernel
def decide_labels(
    streams: Streams, sets: LabelSets, objective: Objective, odds: Floats, probabilities: Floats, out: Labels,
    work: Floats,
) -> None:  # fmt: skip
    """Write the predictions of all target labels."""
    decide_row(_decisions(streams, sets), objective, odds, probabilities, out, work)


@subkernel
def learn_labels(
    streams: Streams, sets: LabelSets, objective: Objective, odds: Floats, probabilities: Floats, truth: Labels,
    weight: float, work: Floats,
) -> None:  # fmt: skip
    """Learn how to decide from an example of the target."""
    learn_decisions(_decisions(streams, sets), objective, odds, probabilities, truth, weight, work)


@subkernel
def settle_labels(streams: Streams, objective: Objective, work: Floats) -> None:
    """Choose all cuts of target labels for another objective."""
    settle(cuts_of(streams, TARGET), objective, work)
