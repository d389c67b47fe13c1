"""The paper's synthetic streams: sizes, segments, roles, places, drifts and sources."""

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from marlene.streams import synthetic_experiment
from marlene.streams.synthetic import DRIFT_TYPES, SIZES, synthetic_concepts

SEGMENTS = {"SS": 1, "IS": 5, "II": 5, "IA": 5, "AA": 2, "AS": 2}
# At which segments, from 0, l1 and l2 begin a new concept.
DRIFTS = {
    "SS": ((), ()),
    "IS": ((1, 2, 3, 4), ()),
    "II": ((1, 2, 3, 4), (1, 2, 3, 4)),
    "IA": ((1, 2, 3, 4), (3,)),
    "AA": ((1,), (1,)),
    "AS": ((1,), ()),
}


def means_of_positives(made, segments):
    """Return the mean of every label's positives in every segment (segments × labels × 2)."""
    X, Y = (np.split(part, segments) for part in (made.target.X, made.target.Y))
    return np.array([[x[y[:, q] == 1].mean(axis=0) for q in range(5)] for x, y in zip(X, Y, strict=True)])


@pytest.mark.parametrize("drift", DRIFT_TYPES)
@pytest.mark.parametrize("size", SIZES)
def test_sizes_and_drift_positions(drift, size):
    made = synthetic_experiment(drift, size)
    assert len(made.target) == SEGMENTS[drift] * 5 * size
    assert made.target.X.shape[1] == 2
    assert {feature.kind for feature in made.target.features} == {"numeric"}
    expected = dict.fromkeys(("l3", "l4", "l5"), ())
    for label, segments in zip(("l1", "l2"), DRIFTS[drift], strict=True):
        expected[label] = tuple(segment * 5 * size for segment in segments)
    assert made.target.drifts == expected
    for segment in np.split(made.target.Y, SEGMENTS[drift]):
        assert segment.sum(axis=0).tolist() == [size] * 5


@pytest.mark.parametrize("drift", DRIFT_TYPES)
def test_positives_move_exactly_where_the_stream_says(drift):
    size = 500
    made = synthetic_experiment(drift, size, seed=3)
    means = means_of_positives(made, SEGMENTS[drift])
    moved = np.linalg.norm(np.diff(means, axis=0), axis=2) > 0.5  # a mean of 500 is known to 0.1
    for q, label in enumerate(made.target.labels):
        assert ((np.flatnonzero(moved[:, q]) + 1) * 5 * size).tolist() == list(made.target.drifts[label])


def test_with_two_abrupt_drifts_the_labels_take_each_others_places():
    before, after = means_of_positives(synthetic_experiment("AA", 500), 2)
    np.testing.assert_allclose(after[[0, 1]], before[[1, 0]], atol=0.3)


@pytest.mark.parametrize(("drift", "label"), [("AS", 0), ("IA", 1)])
def test_a_label_that_swaps_alone_takes_the_third_gaussian(drift, label):
    Y = synthetic_experiment(drift, 50).target.Y
    assert np.array_equal(Y[-250:, label], Y[-250:, 2])
    assert not (Y[:250, label] & Y[:250, 2]).any()
    assert (Y[-250:].sum(axis=1) == 0).sum() == 50


def test_an_incremental_label_turns_by_thirty_degrees():
    means = means_of_positives(synthetic_experiment("II", 5000), 5)
    for q in (0, 1):
        angles = np.unwrap(np.arctan2(means[:, q, 1], means[:, q, 0]))
        np.testing.assert_allclose(np.degrees(np.diff(angles)), 30, atol=3)


def test_a_gaussian_has_unit_covariance():
    made = synthetic_experiment("SS", 5000)
    for q in range(5):
        np.testing.assert_allclose(np.cov(made.target.X[made.target.Y[:, q] == 1].T), np.eye(2), atol=0.1)


@pytest.mark.parametrize("drift", DRIFT_TYPES)
def test_there_is_a_similar_source_for_every_concept(drift):
    made = synthetic_experiment(drift, 50, "similar", source_size=500)
    assert [source.name for source in made.sources] == [f"similar-{i + 1}" for i in range(SEGMENTS[drift])]
    for source, concept in zip(made.sources, synthetic_concepts(drift), strict=True):
        assert len(source) == 2500
        for q in range(5):
            place = source.X[source.Y[:, q] == 1].mean(axis=0)
            assert np.linalg.norm(place - concept.means[concept.positive[q]]) < 1.2


def test_the_paper_has_5000_examples_per_gaussian_in_a_source():
    assert [len(source) for source in synthetic_experiment("AS", 50, "non-similar").sources] == [25_000, 25_000]
    assert [source.name for source in synthetic_experiment("AS", 50, "one-non-similar").sources] == [
        "one-non-similar-1"
    ]


def test_non_similar_sources_have_other_places():
    made = synthetic_experiment("II", 50, "non-similar", source_size=500)
    far = []
    for source, concept in zip(made.sources, synthetic_concepts("II"), strict=True):
        places = np.array([source.X[source.Y[:, q] == 1].mean(axis=0) for q in range(5)])
        far += np.linalg.norm(places - concept.means, axis=1).tolist()
    assert len(made.sources) == 5
    assert np.mean(far) > 3


def test_the_target_depends_on_the_seed_and_not_on_the_sources():
    alone = synthetic_experiment("IS", 50, seed=7)
    assert synthetic_experiment("IS", 50, "similar", source_size=5, seed=7).target == alone.target
    assert synthetic_experiment("IS", 50, "non-similar", source_size=9, seed=7).target == alone.target
    assert not np.array_equal(synthetic_experiment("IS", 50, seed=8).target.X, alone.target.X)


def test_a_seed_means_the_same_for_ever():
    made = synthetic_experiment("AA", 50, "similar", source_size=5, seed=1)
    np.testing.assert_allclose(made.target.X[0], [5.257831261574571, 0.08468216485312813], rtol=1e-12)
    np.testing.assert_allclose(made.target.X[-1], [2.825058229, -1.243397689], rtol=1e-8)
    np.testing.assert_allclose(made.sources[1].X[0], [-1.85401776, -0.774080756], rtol=1e-8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"drift": "SA"}, "the drift type must be one of SS, IS, II, IA, AA, AS, not 'SA'"),
        ({"size": 0}, "size must be a whole number of at least 1, not 0"),
        ({"size": 2.5}, "size must be a whole number of at least 1, not 2.5"),
        ({"source_size": True}, "source_size must be a whole number of at least 1, not True"),
        ({"sources": "same"}, "sources must be one of none, similar, non-similar, one-non-similar, not 'same'"),
        ({"seed": -1}, "seed must be a whole number of at least 0, not -1"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(MarleneError, match=f"^{message}$"):
        synthetic_experiment(**arguments)
