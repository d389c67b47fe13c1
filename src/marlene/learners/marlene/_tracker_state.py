"""A tracker as named arrays and a JSON header, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marlene._common.states import arrays_under, copied_arrays, plain, require, restored_tuple, with_prefix
from marlene.kernels.ensemble.thresholds import BINS
from marlene.kernels.tracking.state import LEADERS
from marlene.learners.marlene._tracker import Event, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays
    from marlene.learners.marlene._tracker import Tracker


def tracker_state(tracker: Tracker) -> tuple[dict[str, Any], Arrays]:
    """Return a JSON header and named arrays."""
    header = {
        "banks": [[bank.name, bank.settings()] for bank in tracker.banks],
        "streams": [
            [name, [plain(label) for label in labels]]
            for name, labels in zip(tracker.names, tracker.labels, strict=True)
        ],
        "room": tracker.room(),
        "events": [
            [event.time, event.label, event.kind, event.giver and list(event.giver)] for event in tracker.events
        ],
    }
    arrays: Arrays = {}
    for number, bank in enumerate(tracker.banks):
        arrays |= with_prefix(bank.state(), f"bank{number}.")
    for name, part in tracker.parts().items():
        arrays |= with_prefix(copied_arrays(part), f"{name}.")
    return header, arrays


def restore_tracker(tracker: Tracker, header: Mapping[str, Any], arrays: Mapping[str, Array], kinds: list[int]) -> None:
    """Fill an empty tracker of the same settings, over features of these kinds; refuse any other state."""
    names = [name for name, _ in header["streams"]]
    require(len(set(names)) == len(names) and names[0] is None, "the streams")
    banks = []
    for number, bank in enumerate(tracker.banks):
        banks.append(type(bank).from_state(arrays_under(arrays, f"bank{number}."), bank.settings()))
        require(banks[-1].kinds.tolist() == list(kinds), "the kinds of the features")
    tracker.restore(header["streams"], header["room"], banks)
    parts = {name: restored_tuple(arrays_under(arrays, f"{name}."), like) for name, like in tracker.parts().items()}
    _refuse_impossible(parts, tracker)
    tracker.take(parts)
    tracker.events = [Event(int(t), int(q), int(k), giver and Place(*giver)) for t, q, k, giver in header["events"]]
    for event in tracker.events:
        places = [(0, event.label), *([(event.giver.stream, event.giver.label)] if event.giver else [])]
        known = all(0 <= s < len(names) and 0 <= q < len(tracker.labels[s]) for s, q in places)
        require(known, "the changes of labels")


def _refuse_impossible(parts: Mapping[str, Any], tracker: Tracker) -> None:
    """Refuse numbers that would lead kernels outside the arrays."""
    scales, weights, streams, growth = (parts[name] for name in ("scales", "weights", "streams", "growth"))
    require((scales.met.sum(axis=1) == scales.seen[:, 1]).all(), "the features")
    require(all((array >= 0).all() for array in (scales.seen, scales.times, scales.squares)), "the features")
    columns = weights.log.shape[2]
    require(((weights.leaders >= 0) & (weights.leaders <= LEADERS)).all(), "the leaders")
    require(((weights.leader >= 0) & (weights.leader < max(1, columns))).all(), "the leaders")
    require(((streams.cut >= 0) & (streams.cut <= BINS)).all(), "the thresholds")
    require(streams.labels.tolist() == [len(labels) for labels in tracker.labels], "the labels")
    for number in range(len(streams.labels)):
        require((streams.same[number] >= -1).all(), "the labels")
        require((streams.same[number] < max(1, int(streams.labels[number]))).all(), "the labels")
    positive = ("examples", "errors", "counts", "shares", "seen", "judged")
    require(all((getattr(streams, name) >= 0).all() for name in positive), "what is known of the labels")
    require((streams.counted > 0).all(), "what is known of the labels")
    require(all((array >= 0).all() for array in growth), "the snapshots")
    require(int(parts["clock"].clock[1]) == 0, "the clock")
