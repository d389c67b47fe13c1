"""`Scores` against brute force, against scikit-learn, and against itself in other ways of calling it."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import metrics as sk

from marlene._common.errors import MarleneError
from marlene.metrics import SCORES, TRACE, Scores
from tests.naive import metrics as naive

POLICIES = st.one_of(
    st.just({}),
    st.builds(lambda window: {"window": window}, st.integers(1, 12)),
    st.builds(lambda fading: {"fading": fading}, st.floats(0.05, 0.999)),
)
EACH_POLICY = pytest.mark.parametrize("policy", [{}, {"window": 7}, {"fading": 0.9}], ids=str)


@st.composite
def streams(draw, *, unknown=True, least=0):
    shape = draw(st.integers(least, 30)), draw(st.integers(1, 6))
    truth = draw(hnp.arrays(np.int8, shape, elements=st.sampled_from([-1, 0, 1] if unknown else [0, 1])))
    prediction = draw(hnp.arrays(np.int8, shape, elements=st.sampled_from([0, 1])))
    return truth, prediction


def random_stream(n_examples, n_labels, seed=0, unknown=0.1):
    rng = np.random.default_rng(seed)
    truth = (rng.random((n_examples, n_labels)) < 0.3).astype(np.int8)
    prediction = np.where(rng.random(truth.shape) < 0.8, truth, 1 - truth).astype(np.int8)
    truth[rng.random(truth.shape) < unknown] = -1
    return truth, prediction


def filled(truth, prediction, **policy):
    scores = Scores(truth.shape[1], **policy)
    scores.update_many(truth, prediction)
    return scores


@given(streams(), POLICIES)
def test_every_score_equals_brute_force_at_each_step(stream, policy):
    truth, prediction = stream
    scores = Scores(truth.shape[1], **policy)
    for step in range(len(truth)):
        scores.update(truth[step], prediction[step])
        past = truth[: step + 1].tolist(), prediction[: step + 1].tolist(), naive.weights(step + 1, **policy)
        assert scores.as_dict() == pytest.approx(naive.scores(*past), rel=1e-12, abs=1e-12)
        counts = naive.label_confusions(*past)
        np.testing.assert_allclose(scores.confusion, counts, rtol=1e-12, atol=0)
        np.testing.assert_allclose(scores.label_gmeans, [naive.gmean(row) for row in counts], rtol=1e-12, atol=1e-12)
        known = (truth[: step + 1] >= 0).any(axis=1)
        assert scores.weight == pytest.approx(np.dot(past[2], known), rel=1e-12)


@given(streams(), POLICIES, st.lists(st.integers(0, 30), max_size=4))
def test_blocks_equal_single_examples_to_the_bit(stream, policy, cuts):
    truth, prediction = stream
    one_by_one = Scores(truth.shape[1], **policy)
    steps = np.empty((len(truth), len(TRACE)))
    for row in range(len(truth)):
        one_by_one.update(truth[row], prediction[row])
        steps[row] = [getattr(one_by_one, name) for name in TRACE]
    blocks = Scores(truth.shape[1], **policy)
    parts = np.split(np.arange(len(truth)), sorted(min(cut, len(truth)) for cut in cuts))
    traces = [blocks.update_many(truth[part], prediction[part], trace=True) for part in parts]
    np.testing.assert_array_equal(np.concatenate(traces), steps)
    assert blocks == one_by_one
    assert all(np.array_equal(a, b) for a, b in zip(blocks._state, one_by_one._state, strict=True))


@given(streams(least=1), POLICIES)
def test_revert_undoes_the_last_example_to_the_bit(stream, policy):
    truth, prediction = stream
    scores = filled(truth[:-1], prediction[:-1], **policy)
    before = scores.copy()
    scores.update(truth[-1], prediction[-1])
    after = scores.copy()
    scores.revert(truth[-1], prediction[-1])
    assert scores == before
    assert scores.as_dict() == before.as_dict()
    assert scores.weight == before.weight
    scores.update(truth[-1], prediction[-1])
    assert scores == after
    scores.update_many(truth, prediction)
    after.update_many(truth, prediction)
    assert scores == after


@given(streams(least=1), st.randoms())
def test_cumulative_revert_takes_away_any_examples_to_the_bit(stream, random):
    truth, prediction = stream
    order = list(range(len(truth)))
    random.shuffle(order)
    scores = filled(truth, prediction)
    gone = len(order) // 2
    for row in order[:gone]:
        scores.revert(truth[row], prediction[row])
    assert scores == filled(truth[order[gone:]], prediction[order[gone:]])


@given(streams(), POLICIES, st.integers(0, 30))
def test_a_restored_state_goes_on_to_the_bit(stream, policy, cut):
    truth, prediction = stream
    scores = filled(truth[:cut], prediction[:cut], **policy)
    restored = Scores.from_state(scores.state())
    assert restored == scores
    assert (restored.n_labels, restored.window, restored.fading) == (scores.n_labels, scores.window, scores.fading)
    steps = scores.update_many(truth[cut:], prediction[cut:], trace=True)
    np.testing.assert_array_equal(restored.update_many(truth[cut:], prediction[cut:], trace=True), steps)
    assert restored == scores


@given(streams(), POLICIES, st.integers(1, 3), st.integers(0, 30))
def test_labels_added_later_are_unknown_before(stream, policy, more, cut):
    truth, prediction = stream
    truth, prediction = np.hstack([truth, truth]), np.hstack([prediction, 1 - prediction])
    old = truth.shape[1] // 2
    new = min(old, more)
    grown = filled(truth[:cut, :old], prediction[:cut, :old], **policy)
    grown.add_labels(new)
    grown.update_many(truth[cut:, : old + new], prediction[cut:, : old + new])
    truth[:cut, old:] = -1
    whole = filled(truth[:, : old + new], prediction[:, : old + new], **policy)
    assert grown == whole
    assert grown.as_dict() == whole.as_dict()


@given(streams(unknown=False, least=1))
def test_scikit_learn_agrees(stream):
    truth, prediction = stream
    got = filled(truth, prediction).as_dict()
    if truth.shape[1] == 1:
        # One column is a binary problem to scikit-learn, which averages nothing then.
        truth, prediction = np.hstack([truth, truth]), np.hstack([prediction, prediction])
    averages = {"macro": "macro", "micro": "micro", "example": "samples"}
    measures = {"f1": sk.f1_score, "precision": sk.precision_score, "recall": sk.recall_score}
    want = {
        f"{ours}_{name}": measure(truth, prediction, average=theirs, zero_division=0)
        for ours, theirs in averages.items()
        for name, measure in measures.items()
    }
    want["example_jaccard"] = sk.jaccard_score(truth, prediction, average="samples", zero_division=0)
    want["subset_accuracy"] = sk.accuracy_score(truth, prediction)
    want["hamming_score"] = 1 - sk.hamming_loss(truth, prediction)
    # Multilabel confusion: [[tn, fp], [fn, tp]]; its rows normalised are both recalls.
    of_labels = sk.multilabel_confusion_matrix(truth, prediction)
    of_examples = sk.multilabel_confusion_matrix(truth, prediction, samplewise=True)
    want["macro_gmean"] = gmeans(of_labels).mean()
    want["label_set_gmean"] = gmeans(of_examples).mean()
    want["micro_gmean"] = gmeans(of_labels.sum(axis=0))
    assert got == pytest.approx(want, rel=1e-12, abs=1e-12)


def gmeans(matrices):
    recalls = np.diagonal(matrices, axis1=-2, axis2=-1) / np.maximum(matrices.sum(axis=-1), 1)
    return np.sqrt(recalls.prod(axis=-1))


def test_a_million_steps_do_not_drift():
    truth, prediction = random_stream(1_000_000, 5)
    window = 1000
    scores = filled(truth, prediction, window=window)
    fresh = filled(truth[-window:], prediction[-window:], window=window)
    assert scores == fresh
    want = naive.scores(truth[-window:].tolist(), prediction[-window:].tolist(), [1.0] * window)
    assert scores.as_dict() == pytest.approx(want, rel=1e-14)


def test_a_window_that_forgets_everything_leaves_nothing_behind():
    truth, prediction = random_stream(100, 4)
    scores = filled(truth, prediction, window=10)
    scores.update_many(np.full((10, 4), -1), np.zeros((10, 4)))
    assert scores.weight == 0
    assert not scores.confusion.any()
    assert set(scores.as_dict().values()) == {0.0}


def test_a_class_not_seen_for_long_keeps_its_recall_while_fading():
    scores = Scores(1, fading=0.5)
    scores.update_many([[1], [1]], [[0], [1]])
    recall = scores.macro_recall
    assert recall == pytest.approx(2 / 3)
    scores.update_many(np.zeros((5000, 1)), np.zeros((5000, 1)))
    assert scores.macro_recall == pytest.approx(recall, rel=1e-12)
    assert scores.macro_gmean == pytest.approx(recall**0.5, rel=1e-12)
    scores.update([1], [1])
    assert scores.macro_recall == 1.0


@pytest.mark.parametrize("settings", [{}, {"window": 3}, {"fading": 0.5}])
def test_without_examples_every_score_is_zero(settings):
    scores = Scores(3, **settings)
    assert set(scores.as_dict().values()) == {0.0}
    assert tuple(scores.as_dict()) == SCORES
    assert scores.update_many(np.empty((0, 3)), np.empty((0, 3)), trace=True).shape == (0, 4)
    assert scores == Scores(3, **settings)


@EACH_POLICY
def test_copies_are_independent(policy):
    truth, prediction = random_stream(20, 3)
    scores = filled(truth, prediction, **policy)
    for twin in (scores.copy(), copy.copy(scores), copy.deepcopy(scores), pickle.loads(pickle.dumps(scores))):
        assert twin == scores
        twin.update([1, 0, 1], [1, 0, 0])
        assert twin != scores


@EACH_POLICY
def test_reset_forgets(policy):
    truth, prediction = random_stream(20, 3)
    scores = filled(truth, prediction, **policy)
    scores.reset()
    assert scores == Scores(3, **policy)
    scores.update_many(truth, prediction)
    assert scores == filled(truth, prediction, **policy)


def test_equality_looks_at_settings_counts_and_window():
    truth, prediction = random_stream(20, 3)
    scores = filled(truth, prediction, window=5)
    assert scores != filled(truth, prediction, window=6)
    assert scores != filled(truth, prediction)
    assert scores != "scores"
    assert Scores(2) != Scores(3)
    swapped = [-1, -2]
    other = filled(truth[-5:-2], prediction[-5:-2], window=5)
    other.update_many(truth[-3:-2], prediction[-3:-2])
    assert other != scores
    same_counts = filled(truth[-5:-2], prediction[-5:-2], window=5)
    same_counts.update_many(truth[swapped], prediction[swapped])
    assert np.array_equal(same_counts.confusion, scores.confusion)
    assert same_counts != scores
    with pytest.raises(TypeError):
        hash(scores)


def test_the_properties_hand_out_copies():
    scores = filled(*random_stream(20, 3))
    scores.confusion[:] = 99
    scores.state()["counts"][:] = 99
    assert scores == filled(*random_stream(20, 3))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint8, np.float32, object])
def test_any_number_type_and_layout_is_the_same(dtype):
    truth, prediction = random_stream(20, 3, unknown=0)
    scores = Scores(3)
    read_only = np.asfortranarray(truth).astype(dtype)
    read_only.flags.writeable = False
    scores.update_many(read_only, prediction.astype(dtype).tolist())
    assert scores == filled(truth, prediction)


def test_nan_is_unknown_too():
    assert filled(np.array([[1, np.nan]]), np.array([[1, 0]])) == filled(np.array([[1, -1]]), np.array([[1, 0]]))


def test_repr_shows_the_main_scores():
    scores = Scores(2)
    scores.update([1, 0], [1, 0])
    assert repr(scores) == (
        "<Scores of 2 labels, weight 1: macro_gmean=0.0000, micro_gmean=1.0000, label_set_gmean=1.0000, "
        "hamming_score=1.0000>"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_labels": 0}, "n_labels must be a whole number of at least 1, not 0"),
        ({"n_labels": 1.5}, "n_labels must be a whole number of at least 1, not 1.5"),
        ({"n_labels": True}, "n_labels must be a whole number of at least 1, not True"),
        ({"n_labels": 1, "window": 0}, "window must be a whole number of at least 1, not 0"),
        ({"n_labels": 1, "fading": 1}, "fading must be a number above 0 and below 1, not 1"),
        ({"n_labels": 1, "fading": float("nan")}, "fading must be a number above 0 and below 1, not nan"),
        ({"n_labels": 1, "fading": "0.5"}, "fading must be a number above 0 and below 1, not '0.5'"),
        ({"n_labels": 1, "window": 2, "fading": 0.5}, "window and fading exclude each other"),
    ],
)
def test_wrong_settings_are_refused(arguments, message):
    with pytest.raises(MarleneError, match=message):
        Scores(**arguments)


@pytest.mark.parametrize(
    ("truth", "prediction", "message"),
    [
        ([[1, 0]], [[1, 0, 1]], r"truth has shape \(1, 2\) and prediction \(1, 3\), .* 3 labels"),
        ([[1, 0, 1]] * 2, [[1, 0, 1]], r"truth has shape \(2, 3\) and prediction \(1, 3\)"),
        ([1, 0, 1], [[1, 0, 1]], "truth has 1 dimensions, expected 2"),
        ([[1, 0, 2]], [[1, 0, 1]], r"truth\[0, 2\] is 2, expected 0, 1, or -1 where the label is not known"),
        ([[1, 0, 1]], [[1, -1, 1]], r"prediction\[0, 1\] is -1, expected 0 or 1"),
        ([[1, 0, 1]], [[1, np.nan, 1]], r"prediction\[0, 1\] is nan, expected 0 or 1"),
        ([[1, 0, 257]], [[1, 0, 1]], r"truth\[0, 2\] is 257"),
        ([["a", "b", "c"]], [[1, 0, 1]], "truth holds something that is not a number"),
        ([[1, 0, 1], [1]], [[1, 0, 1]], "truth holds something that is not a number"),
    ],
)
def test_wrong_examples_are_refused_and_change_nothing(truth, prediction, message):
    scores = filled(*random_stream(5, 3))
    with pytest.raises(MarleneError, match=message):
        scores.update_many(truth, prediction)
    assert scores == filled(*random_stream(5, 3))


def test_a_wrong_row_is_refused():
    scores = Scores(3)
    with pytest.raises(MarleneError, match=r"prediction \(2,\), expected a value for each of 3 labels"):
        scores.update([1, 0, 1], [1, 0])
    with pytest.raises(MarleneError, match="truth has 2 dimensions, expected 1"):
        scores.revert([[1, 0, 1]], [1, 0, 1])


@pytest.mark.parametrize("policy", [{"window": 3}, {"fading": 0.9}])
def test_only_the_last_example_can_be_reverted_and_only_once(policy):
    truth, prediction = random_stream(10, 3, unknown=0)
    scores = Scores(3, **policy)
    with pytest.raises(MarleneError, match="only once"):
        scores.revert(truth[0], prediction[0])
    scores.update_many(truth, prediction)
    with pytest.raises(MarleneError, match="this is another"):
        scores.revert(truth[-1], 1 - prediction[-1])
    scores.revert(truth[-1], prediction[-1])
    with pytest.raises(MarleneError, match="only once"):
        scores.revert(truth[-2], prediction[-2])
    assert scores == filled(truth[:-1], prediction[:-1], **policy)


def test_what_was_not_added_cannot_be_reverted():
    scores = Scores(2)
    scores.update([1, 0], [1, 0])
    with pytest.raises(MarleneError, match="this example was not added"):
        scores.revert([1, 0], [1, 1])
    scores.revert([1, 0], [1, 0])
    assert scores == Scores(2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": np.zeros((3, 3))}, "counts has another length"),
        ({"counts": np.full((3, 4), -1.0)}, "counts is not of at least 0"),
        ({"sums": np.zeros((8, 2), dtype=np.float32)}, "sums is not of type float64"),
        ({"sums": np.full((8, 2), np.inf)}, "sums is not up to"),
        ({"cursor": np.array([9, 0, 0])}, "`cursor` is in the ring"),
        ({"cursor": np.array([0, -3, 0])}, "`cursor` is in the ring"),
        ({"ring": np.full((5, 3), 4, dtype=np.int8)}, "ring is not from -1 to 3"),
        ({"window": np.array(7)}, "a row more than the window"),
        ({"fading": np.array(0.5)}, "exclude each other"),
        ({"extra": np.zeros(1)}, "expected"),
    ],
)
def test_a_damaged_state_is_refused(change, message):
    state = filled(*random_stream(10, 3), window=4).state()
    with pytest.raises(MarleneError, match=message):
        Scores.from_state(state | change)
