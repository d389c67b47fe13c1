"""A tracker as named arrays and a JSON header, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.states import (
    MOST_COUNTED,
    arrays_under,
    copied_arrays,
    plain,
    require,
    restored_tuple,
    with_prefix,
)
from marlene.kernels.decisions.cuts import BINS
from marlene.kernels.tracking.state import EVENTS, KINDS, LEADERS, NOT_YET, POOL, QUIET, SEARCHING
from marlene.learners.marlene._decisions import refuse_impossible_sets
from marlene.learners.marlene._tracker_layout import MOST_EVENTS, Event, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays, Ints
    from marlene.kernels.tracking.state import Weights
    from marlene.learners.marlene._tracker import Tracker


NEWER = {"streams": ("lent", "searched", "search", "alone")}
"""Arrays that older files lack: no label searched then."""


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
    parts = {name: _restored_part(name, arrays, like) for name, like in tracker.parts().items()}
    _refuse_impossible(parts, tracker)
    tracker.take(parts)
    tracker.values.refuse_impossible()
    if tracker.neighbours:
        inputs, labels = len(tracker.bank.numeric), len(tracker.labels[0])
        tracker.neighbours.restore(arrays_under(arrays, "neighbours."), inputs, labels)
        tracker.make_room_for_zeros()
    require(len(header["events"]) <= MOST_EVENTS, "the changes of labels")
    tracker.events.extend(Event(int(t), int(q), int(k), giver and Place(*giver)) for t, q, k, giver in header["events"])
    for event in tracker.events:
        places = [(0, event.label), *([(event.giver.stream, event.giver.label)] if event.giver else [])]
        known = all(0 <= s < len(names) and 0 <= q < len(tracker.labels[s]) for s, q in places)
        require(known, "the changes of labels")


def _restored_part(name: str, arrays: Mapping[str, Array], like: Any) -> Any:  # noqa: ANN401 (NamedTuples of arrays)
    found = dict(arrays_under(arrays, f"{name}."))
    if found.keys().isdisjoint(NEWER.get(name, ())):
        found |= {newer: getattr(like, newer) for newer in NEWER.get(name, ())}
    return restored_tuple(found, like)


def _refuse_impossible(parts: Mapping[str, Any], tracker: Tracker) -> None:
    """Refuse numbers that would lead kernels outside the arrays."""
    scales, weights, streams, growth = (parts[name] for name in ("scales", "weights", "streams", "growth"))
    require((scales.met.sum(axis=1) == scales.seen[:, 1]).all(), "the features")
    require(all((array >= 0).all() for array in (scales.seen, scales.times, scales.squares)), "the features")
    require((scales.missing >= 0).all() and (scales.times + scales.missing <= scales.seen[:, :1]).all(), "the features")
    require((scales.known <= scales.met).all(), "the features")
    require(((weights.began >= NOT_YET) & (weights.began <= SEARCHING)).all(), "the candidates")
    used = [bank.which for bank in tracker.banks]
    _refuse_lists(weights, tracker.residents(), int(parts["clock"].clock[POOL]), used)
    require(((streams.cut >= 0) & (streams.cut <= BINS)).all(), "the thresholds")
    refuse_impossible_sets(parts["sets"], len(tracker.labels[0]))
    require(streams.labels.tolist() == [len(labels) for labels in tracker.labels], "the labels")
    for number in range(len(streams.labels)):
        require((streams.same[number] >= -1).all(), "the labels")
        require((streams.same[number] < max(1, int(streams.labels[number]))).all(), "the labels")
    searched, known = streams.searched, streams.labels[np.clip(streams.searched[..., 0], 0, len(streams.labels) - 1)]
    require(((searched >= 0) & (searched[..., :1] < len(streams.labels))).all(), "the search of labels")
    require((searched[..., 1] < np.maximum(1, known)).all(), "the search of labels")
    positive = ("examples", "lent", "errors", "counts", "shares", "rows", "seen", "judged")
    for array in (getattr(streams, name) for name in positive):
        require(((array >= 0) & (array <= MOST_COUNTED)).all(), "what is known of the labels")
    require((streams.counted > 0).all() and (streams.lent <= streams.examples).all(), "what is known of the labels")
    require(((streams.trust >= 0) & (streams.trust <= 1)).all(), "what is known of the labels")
    require(all((array >= 0).all() for array in growth), "the snapshots")
    clock = parts["clock"].clock
    require(int(clock[EVENTS]) == 0 and int(clock[QUIET]) in (0, 1), "the clock")


def _refuse_lists(weights: Weights, residents: Ints, n_pool: int, used: list[int]) -> None:
    """Refuse lists that lack a label's learners, or whose guests are not of the pool and in ascending order."""
    columns, places, n_labels = len(weights.pool), weights.log.shape[2], len(residents)
    for array in (weights.candidate, weights.leader, weights.pool):
        require(((array >= 0) & (array < max(1, columns))).all(), "the candidates")
    require(0 <= n_pool <= columns, "the candidates")
    pool = weights.pool[:n_pool]
    require(_ascends(pool) and not np.isin(residents, pool).any(), "the candidates")
    require((weights.size[:, n_labels:] == 0).all(), "the candidates")
    for k, q in np.ndindex(KINDS, n_labels):
        n_residents, size, count = residents.shape[1], int(weights.size[k, q]), int(weights.leaders[k, q])
        require(n_residents <= size <= places and 1 <= count <= LEADERS, "the candidates")
        listed = weights.candidate[k, q, :size]
        guests = listed[n_residents:]
        require(np.array_equal(listed[:n_residents], residents[q]), "the candidates")
        require(_ascends(guests) and bool(np.isin(guests, pool).all()), "the candidates")
        whole = size == places or len(guests) == n_pool
        require(whole or weights.began[q] == NOT_YET or k not in used, "the candidates")
        require(bool(np.isin(weights.leader[k, q, :count], listed).all()), "the candidates")


def _ascends(columns: Ints) -> bool:
    return bool((np.diff(columns) > 0).all())
