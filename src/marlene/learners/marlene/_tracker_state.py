"""A tracker as named arrays and a JSON header, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.states import arrays_under, copied_arrays, plain, require, with_prefix
from marlene.kernels.tracking.state import POOL
from marlene.learners.marlene._tracker_fields import NEWER, PARTS
from marlene.learners.marlene._tracker_layout import MOST_EVENTS, OWN, ROLES, Event, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays
    from marlene.learners.marlene._tracker import Tracker


def tracker_state(tracker: Tracker) -> tuple[dict[str, Any], Arrays]:
    """Return a JSON header and named arrays."""
    header = {
        "banks": [[bank.name, bank.settings()] for bank in tracker.banks],
        "neighbours": tracker.neighbours and tracker.neighbours.settings(),
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
    if tracker.neighbours:
        arrays |= with_prefix(tracker.neighbours.state(len(tracker.labels[0])), "neighbours.")
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
    tracker.take(_restored_parts(tracker, arrays))
    if tracker.neighbours:
        inputs, labels = len(tracker.bank.numeric), len(tracker.labels[0])
        tracker.neighbours.restore(arrays_under(arrays, "neighbours."), inputs, labels)
        tracker.make_room_for_zeros()
    require(len(header["events"]) <= MOST_EVENTS, "the changes of labels")
    for time, label, kind, giver in header["events"]:
        role, *place = giver or (OWN, 0, 0)
        require(role in ROLES and {*map(type, (time, label, kind, *place))} == {int}, "the changes of labels")
        tracker.events.append(Event(time, label, kind, giver and Place(role, *place)))
    for event in tracker.events:
        places = [(0, event.label), *([(event.giver.stream, event.giver.label)] if event.giver else [])]
        known = all(0 <= s < len(names) and 0 <= q < len(tracker.labels[s]) for s, q in places)
        require(known, "the changes of labels")


def _restored_parts(tracker: Tracker, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return the parts of a tracker; refuse numbers that would lead kernels outside the arrays."""
    before, found = tracker.parts(), {name: arrays_under(arrays, f"{name}.") for name in PARTS}
    for name, newer in NEWER.items():
        if found[name].keys().isdisjoint(newer):
            found[name] |= {each: getattr(before[name], each) for each in newer}
    known = {
        "streams": {"names": np.array([len(labels) for labels in tracker.labels])},
        "weights": {"residents": tracker.residents(), "used": np.array([bank.which for bank in tracker.banks])},
        "values": {"values": tracker.values.n_values()},
    }
    lengths = {"labels": len(tracker.labels[0])}
    parts: dict[str, Any] = {}
    for name, layout in PARTS.items():
        parts[name] = layout.taken(found[name], before[name], known.get(name), **lengths)
        if name == "clock":
            lengths["pooled"] = int(parts[name].clock[POOL])
    return parts
