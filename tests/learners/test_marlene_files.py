"""Damaged files of `Marlene` are refused."""

import numpy as np
import pytest

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.kernels.decisions.cuts import BINS
from marlene.kernels.tracking.state import EVENTS, LEADERS, POOL, SEARCHING
from marlene.learners.marlene._tracker_layout import OWN, SNAPSHOT
from tests.learners.test_marlene import eventful


def test_damaged_files_are_refused():
    model, X, Y = eventful()
    header, arrays = model.state()
    for name, array in arrays.items():
        wrong = [{other: a for other, a in arrays.items() if other != name}, arrays | {name: array[None]}]
        wrong += (
            [arrays | {name: array[..., :-1]}] if array.size else []
        )  # without nominal features, no counts of values
        if array.dtype == np.float64 and ".scales." not in name:  # banks have scales of their own, which go unused
            broken = array.copy()
            broken.flat[-1] = np.nan
            wrong.append(arrays | {name: broken})
        for damaged in wrong:
            with pytest.raises(MarleneError, match=r"not the state of|state of a"):
                Marlene.from_state(header, damaged)
    with pytest.raises(MarleneError, match="the state of method 'x'"):
        Marlene.from_state(header | {"method": "x"}, arrays)
    for part in ("parameters", "space", "streams", "banks", "neighbours", "room", "events"):
        with pytest.raises(MarleneError, match="not the state of"):
            Marlene.from_state({name: value for name, value in header.items() if name != part}, arrays)
    Marlene.from_state(header, arrays).learn_many(X, Y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("neighbours.where", -1),
        ("neighbours.where", 10_000),
        ("neighbours.truth", -2),
        ("neighbours.truth", 2),
        ("neighbours.sizes", -1),
        ("neighbours.sizes", 10_000),
        ("neighbours.ring", -1),
        ("neighbours.ring", 10_000),
        ("weights.began", -1),
        ("weights.began", SEARCHING + 1),
        ("weights.size", -1),
        ("weights.size", 10_000),
        ("weights.candidate", 10_000),
        ("weights.candidate", -1),
        ("weights.pool", -1),
        ("weights.pool", 10_000),
        ("weights.leaders", LEADERS + 1),
        ("weights.leaders", -1),
        ("weights.leader", 10_000),
        ("weights.leader", -1),
        ("streams.cut", BINS + 1),
        ("streams.cut", -1),
        ("streams.labels", 4),
        ("streams.same", 3),
        ("streams.same", -2),
        ("streams.examples", -1.0),
        ("streams.errors", -1.0),
        ("streams.counted", 0.0),
        ("streams.counts", -1.0),
        ("streams.shares", -1.0),
        ("streams.seen", -1),
        ("streams.judged", -1),
        ("streams.trust", 1.5),
        ("growth.young", -1),
        ("growth.since", -1),
        ("growth.taken", -1),
        ("scales.seen", -1),
        ("scales.times", -1.0),
        ("scales.squares", -1.0),
        ("scales.missing", -1.0),
        ("scales.missing", 1e9),
    ],
)
def test_numbers_that_cannot_be_are_refused(name, value):
    header, arrays = eventful()[0].state()
    for place in (0, -1):
        changed = arrays[name].copy()
        changed.flat[place] = value
        with pytest.raises(MarleneError, match="not the state of"):
            Marlene.from_state(header, arrays | {name: changed})


@pytest.mark.parametrize(("place", "value"), [(EVENTS, 1), (POOL, -1), (POOL, 1), (POOL, 10_000)])
def test_clocks_that_cannot_be_are_refused(place, value):
    header, arrays = eventful()[0].state()
    clock = arrays["clock.clock"].copy()
    clock[place] = value
    with pytest.raises(MarleneError, match="not the state of"):
        Marlene.from_state(header, arrays | {"clock.clock": clock})


@pytest.mark.parametrize(
    "event", [[1, 99, 0, [OWN, 0, 0]], [1, 0, 0, [SNAPSHOT, 9, 0]], [1, 0, 0, [SNAPSHOT, 0, 99]], [1, 0, 0, [OWN, 0]]]
)
def test_changes_of_labels_that_cannot_be_are_refused(event):
    header, arrays = eventful()[0].state()
    with pytest.raises(MarleneError, match="not the state of"):
        Marlene.from_state(header | {"events": [event]}, arrays)
