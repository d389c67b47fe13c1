"""Drifts that are made: which label shows what when, and what a changed stream tells of it."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from marlene._common.errors import MarleneError
from marlene.streams import Stream, synthetic_experiment
from marlene.streams.changes import CHANGES, changed

PERMUTING = sorted(CHANGES.keys() - {"replaced"})
ABRUPT = sorted(CHANGES.keys() - {"gradual"})
SEEDS = st.integers(0, 2**32)


def marked(examples, labels):
    """Return a stream in which every label has a value of its own, so that a changed stream shows who went where."""
    names = tuple(f"y{i}" for i in range(labels))
    return Stream(
        np.zeros((examples, 0)), np.tile(np.arange(labels, dtype=np.int8), (examples, 1)), (), names, "marked"
    )


def begins(places):
    """Return for every column of an array the rows in which it is not what it was in the row before."""
    return [tuple((np.flatnonzero(column[1:] != column[:-1]) + 1).tolist()) for column in places.T]


@st.composite
def any_stream(draw):
    examples, labels, seed = draw(st.integers(10, 60)), draw(st.integers(3, 8)), draw(SEEDS)
    Y = draw(arrays(np.int8, (examples, labels), elements=st.integers(-1, 1)))
    return Stream.from_arrays(sp.csr_array(np.eye(examples)), Y), seed


@pytest.mark.parametrize("change", CHANGES)
@given(any_stream())
def test_only_labels_are_changed_and_only_from_the_first_drift_on(change, drawn):
    stream, seed = drawn
    before = stream.Y.copy()
    made = changed(stream, change, seed)
    first = min(min(times) for times in made.drifts.values() if times)
    shown = [stream.labels.index(label) for label in made.labels]
    assert np.array_equal(made.Y[:first], before[:first, shown])
    assert np.array_equal(stream.Y, before)
    assert made.X is stream.X
    assert made.features == stream.features
    assert tuple(made.drifts) == made.labels
    assert made == changed(stream, change, seed)


@pytest.mark.parametrize("change", PERMUTING)
@given(any_stream())
def test_every_example_keeps_its_label_values(change, drawn):
    stream, seed = drawn
    made = changed(stream, change, seed)
    assert made.labels == stream.labels
    assert np.array_equal(np.sort(made.Y, axis=1), np.sort(stream.Y, axis=1))


@pytest.mark.parametrize("change", ABRUPT)
@given(st.integers(3, 40), st.integers(3, 9), SEEDS)
def test_drifts_are_told_exactly_where_labels_change_places(change, examples, labels, seed):
    made = changed(marked(examples, labels), change, seed)
    assert list(made.drifts.values()) == begins(made.Y)


@given(st.integers(10, 400), st.integers(2, 9), SEEDS)
def test_a_gradual_change(examples, labels, seed):
    made = marked(examples, labels).gradual(seed)
    tenth = examples // 10
    first = examples // 2 - tenth // 2
    turned = (np.roll(np.arange(labels), 1) == made.Y).all(axis=1)
    assert (turned | (np.arange(labels) == made.Y).all(axis=1)).all()
    assert not turned[: first + 1].any()
    assert turned[first + tenth :].all()
    assert made.drifts == dict.fromkeys(made.labels, (first,))


def test_the_chance_of_a_gradual_change_rises_linearly():
    made = marked(100_000, 2).gradual(seed=4)
    turned = (made.Y[45_000:55_000, 0] == 1).reshape(5, 2000).mean(axis=1)
    np.testing.assert_allclose(turned, [0.1, 0.3, 0.5, 0.7, 0.9], atol=0.04)


def test_rotated_labels():
    stream = Stream.from_arrays(sp.csr_array(np.eye(5)), [[1, 0], [1, 0], [1, 0], [0, -1], [1, 1]])
    made = stream.rotated()
    assert made.Y.tolist() == [[1, 0], [1, 0], [0, 1], [-1, 0], [1, 1]]
    assert (made.name, made.drifts) == ("arrays, rotated", {"y0": (2,), "y1": (2,)})


@given(st.integers(3, 40), st.integers(2, 9), SEEDS)
def test_swapped_labels(examples, labels, seed):
    stream = marked(examples, labels)
    made = stream.swapped(seed)
    one, two = examples // 3, 2 * examples // 3
    expected = stream.Y.copy()
    expected[one:two] = stream.Y[one:two][:, np.roll(np.arange(labels), 1)]
    expected[two:] = stream.Y[two:][:, np.random.default_rng(seed).permutation(labels)]
    assert np.array_equal(made.Y, expected)
    assert made.name == f"marked, swapped (seed {seed})"


def test_recurring_labels_come_back():
    made = marked(11, 4).recurring()
    assert made.Y[:, 0].tolist() == [0] * 3 + [3] * 4 + [0] * 4
    assert made.drifts == dict.fromkeys(made.labels, (3, 7))
    assert made.name == "marked, recurring"


@given(st.integers(2, 40), st.integers(3, 9), SEEDS)
def test_few_labels_are_three(examples, labels, seed):
    made = marked(examples, labels).few(seed)
    moved = np.flatnonzero(made.Y[-1] != np.arange(labels))
    assert made.Y[-1, moved].tolist() == np.roll(moved, 1).tolist()
    assert [label for label, times in made.drifts.items() if times == (examples // 2,)] == [f"y{i}" for i in moved]
    assert len(moved) == 3


@given(st.integers(2, 40), st.integers(2, 9), SEEDS)
def test_replaced_labels_are_ones_that_nobody_has_seen(examples, labels, seed):
    made = marked(examples, labels).replaced(seed)
    seen, unseen = made.Y[0].tolist(), made.Y[-1].tolist()
    assert seen == sorted(seen)
    assert not set(seen) & set(unseen)
    assert len(seen) == len(set(unseen)) == labels // 2
    assert made.labels == tuple(f"y{i}" for i in seen)
    assert made.drifts == dict.fromkeys(made.labels, (examples // 2,))


@pytest.mark.parametrize("change", [name for name, change in CHANGES.items() if change.random])
def test_the_seed_matters(change):
    stream = marked(100, 20)
    assert not np.array_equal(changed(stream, change, 1).Y, changed(stream, change, 2).Y)
    assert changed(stream, change) == changed(stream, change, 1)


@pytest.mark.parametrize("change", CHANGES)
def test_a_method_for_every_change(change):
    stream = marked(30, 6)
    seed = {"seed": 7} if CHANGES[change].random else {}
    assert getattr(stream, change)(**seed) == changed(stream, change, **seed)


def test_a_label_that_stays_in_its_place_does_not_drift():
    # With one seed the permutation of two labels is the rotation, with the other it brings back the old places.
    for seed, last, times in ((3, [1, 0], (3,)), (1, [0, 1], (3, 6))):
        made = marked(9, 2).swapped(seed)
        assert made.Y[-1].tolist() == last
        assert made.drifts == {"y0": times, "y1": times}


@given(st.integers(10, 40), st.integers(3, 9), SEEDS, st.permutations(ABRUPT))
def test_changes_after_changes(examples, labels, seed, order):
    made = marked(examples, labels)
    for change in order[:3]:
        if len(made.labels) >= 3:
            made = changed(made, change, seed)
    # Two changes at the same time may cancel each other out.
    for label, seen in zip(made.labels, begins(made.Y), strict=True):
        assert set(seen) <= set(made.drifts[label])
    times = {time for told in made.drifts.values() for time in told}
    assert times <= {examples // 2, examples // 3, 2 * examples // 3}


def test_drifts_that_were_known_go_with_their_labels():
    target = synthetic_experiment("AS", 20).target
    assert target.drifts["l1"] == (100,)
    shifted = dataclasses.replace(target, drifts={"l1": (30, 170), "l2": (170,)})
    assert shifted.rotated().drifts == {"l1": (30, 100), "l2": (100, 170), "l3": (100, 170), "l4": (100,), "l5": (100,)}
    assert shifted.head(170).drifts == {"l1": (30,), "l2": ()}
    assert shifted.with_kinds("binary").drifts == shifted.drifts


@pytest.mark.parametrize(
    ("change", "examples", "labels", "message"),
    [
        *((change, 20, 1, "labels, not 1") for change in CHANGES),
        ("few", 20, 2, "'few' needs at least 3 labels, not 2"),
        ("rotated", 1, 3, "'rotated' needs at least 2 examples, not 1"),
        ("swapped", 2, 3, "'swapped' needs at least 3 examples, not 2"),
        ("recurring", 2, 3, "'recurring' needs at least 3 examples, not 2"),
        ("gradual", 9, 3, "'gradual' needs at least 10 examples, not 9"),
        ("few", 1, 3, "'few' needs at least 2 examples, not 1"),
        ("replaced", 1, 3, "'replaced' needs at least 2 examples, not 1"),
    ],
)
def test_too_small_a_stream_is_refused(change, examples, labels, message):
    with pytest.raises(MarleneError, match=f"^marked: the change .*{message}$"):
        changed(marked(examples, labels), change)


def test_what_else_is_refused():
    with pytest.raises(MarleneError, match=r"change must be one of rotated, swapped, .*, not 'turned'"):
        changed(marked(9, 3), "turned")
    with pytest.raises(MarleneError, match="seed must be a whole number of at least 0, not -1"):
        marked(9, 3).swapped(-1)
