"""The methods as estimators of scikit-learn."""

import inspect
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from marlene import BRMarlene, Marlene
from marlene._common.errors import MarleneError
from marlene.learners import METHODS, PrunedSets, create
from marlene.sklearn import MarleneClassifier
from marlene.streams import Stream, load
from marlene.trees import HoeffdingForest

NOT_FOR_US = {
    "check_array_api_input": "needs a setting of SciPy's for the whole process",
    "check_array_api_input_and_values": "needs a setting of SciPy's for the whole process",
    "check_classifiers_multilabel_output_format_decision_function": "there is no decision_function",
    "check_sample_weight_equivalence_on_dense_data": "an example of weight 2 is one step of a stream, not two",
    "check_sample_weight_equivalence_on_sparse_data": "the same; scikit-learn excepts its own SGDClassifier, too",
}
"""Checks of scikit-learn that do not apply, with the reason. All others must hold: no failure is expected."""
HALF_IS_THE_THRESHOLD = {
    "check_classifier_multioutput": "predictions follow thresholds learnt online, not the larger probability",
    "check_classifiers_train": "the same; scikit-learn excepts its own FixedThresholdClassifier from this check too",
}
"""Checks that hold only where a label is predicted if its probability is above 0.5."""
ONLY_0_AND_1 = {
    "check_sample_weights_list": "the method takes no weights but 0 and 1",
    "check_sample_weights_not_overwritten": "the same",
}
"""Checks that give weights to methods that take none."""
CERTAIN = {
    "check_classifiers_multilabel_output_format_predict_proba": "a probability may be 0, and the check wants more",
}
"""Checks of methods whose votes are cut off at 0 and 1."""
ESTIMATORS = [
    (MarleneClassifier(), NOT_FOR_US | HALF_IS_THE_THRESHOLD),
    (MarleneClassifier(objective="hamming"), NOT_FOR_US),
    (
        MarleneClassifier("br-marlene", features="numeric", drift="none", resampling="expected"),
        NOT_FOR_US | ONLY_0_AND_1,
    ),
    (MarleneClassifier("ert"), NOT_FOR_US | ONLY_0_AND_1 | CERTAIN),
    (MarleneClassifier("gocc", chunk=20), NOT_FOR_US | ONLY_0_AND_1 | CERTAIN),
]
CHECKS = [
    pytest.param(*case, id=f"{number}-{case[1].func.__name__}-{position}")
    for number, (estimator, left_out) in enumerate(ESTIMATORS)
    for position, case in enumerate(estimator_checks_generator(estimator))
    if case[1].func.__name__ not in left_out
]

GUESSES = ("majority", "prior", "coin")
X = np.random.default_rng(0).normal(size=(300, 4))
Y = (X[:, :3] + 0.3 * np.roll(X[:, :3], 1, axis=1) > 0.2).astype(int)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("layout", [np.array, sp.csr_array, sp.csc_matrix, pd.DataFrame])
@pytest.mark.parametrize(
    ("method", "learner", "options"),
    [
        ("marlene", Marlene, {"base": "linear", "transfer": "own", "objective": "macro-f1"}),
        ("br-marlene", BRMarlene, {"drift": "ddm", "resampling": "expected", "max_models": 9}),
    ],
)
def test_it_is_the_learner(layout, method, learner, options):
    model = MarleneClassifier(method, seed=4, **options)
    plain = learner(seed=4, **options)
    for rows in (slice(0, 100), slice(100, 101), slice(101, 250)):
        model.partial_fit(layout(X[rows]), Y[rows])
        plain.learn_many(X[rows], Y[rows])
    np.testing.assert_array_equal(model.predict_proba(layout(X[250:])), plain.predict_proba_many(X[250:]))
    np.testing.assert_array_equal(model.predict(layout(X[250:])), plain.predict_many(X[250:]))
    assert model.model_.aswr() == plain.aswr()
    whole = clone(model).fit(layout(X[:250]), Y[:250])
    np.testing.assert_array_equal(whole.predict_proba(layout(X)), model.predict_proba(layout(X)))


@pytest.mark.parametrize("method", [name for name in METHODS if name not in GUESSES])
def test_every_method(method):
    model = clone(MarleneClassifier(method=method, seed=4, features="numeric"))
    plain = create(method, seed=4).clone(new_params={"features": "numeric"})
    for rows in (slice(0, 130), slice(130, 280)):
        model.partial_fit(X[rows], Y[rows])
        plain.learn_many(X[rows], Y[rows])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba_many(X))
    np.testing.assert_array_equal(model.predict(X), plain.predict_many(X))
    assert len(np.unique(model.predict_proba(X))) > 1
    lacking = "objective" if method != "marlene" else "drift"
    with pytest.raises(MarleneError, match=f"method {method} has no parameter '{lacking}'"):
        MarleneClassifier(method, **{lacking: "none"}).fit(X, Y)


def test_parameters_of_an_ensemble():
    model = MarleneClassifier("eps", seed=4, members=3, parts=2).fit(X, Y)
    assert model.model_.members == 3
    assert model.model_.transformation.parts == 2
    other = MarleneClassifier("ecc", transformation=PrunedSets(parts=2), members=3, seed=4).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))
    with pytest.raises(MarleneError, match="method ecc has no parameter 'drift'"):
        MarleneClassifier("ecc", drift="ddm").fit(X, Y)


def test_every_parameter_of_every_method_is_a_parameter():
    told = MarleneClassifier().get_params()
    for method in METHODS:
        if method not in GUESSES:
            learner = {*inspect.signature(type(create(method))).parameters}
            learner -= {"absent", "max_labels"}  # y has no gaps here, and no further labels
            assert learner | {*METHODS[method].options} <= told.keys(), method
    assert {name for name, value in told.items() if value is not None} == {"method", "seed", "features"}


def test_the_default_is_the_default_method():
    assert type(MarleneClassifier().fit(X, Y).model_) is Marlene


def test_methods_that_are_no_estimators():
    for method in GUESSES:
        with pytest.raises(MarleneError, match=f"method {method} cannot be an estimator of scikit-learn's"):
            MarleneClassifier(method=method).fit(X, Y)
    with pytest.raises(MarleneError, match="there is no method 'ebx'"):
        MarleneClassifier(method="ebx").fit(X, Y)


@pytest.mark.parametrize("values", [("no", "yes"), (False, True), (-1, 1), (3.0, 7.0), ("b", "c")])
def test_any_two_values(values):
    named = np.array(values)
    expected = Marlene()
    expected.learn_many(X, Y)
    many = MarleneClassifier().fit(X, named[Y])
    assert [known.tolist() for known in many.classes_] == [list(values)] * 3
    assert many.n_outputs_ == 3
    np.testing.assert_array_equal(many.predict(X), named[expected.predict_many(X)])
    np.testing.assert_array_equal(many.predict_proba(X), expected.predict_proba_many(X))
    one = MarleneClassifier().fit(X, named[Y[:, 0]])
    alone = Marlene()
    alone.learn_many(X, Y[:, :1])
    assert one.classes_.tolist() == list(values)
    assert one.predict(X).dtype == named.dtype
    np.testing.assert_array_equal(one.predict(X), named[alone.predict_many(X)[:, 0]])
    np.testing.assert_array_equal(one.predict_proba(X)[:, 1], alone.predict_proba_many(X)[:, 0])
    np.testing.assert_allclose(one.predict_proba(X).sum(axis=1), 1)
    assert one.score(X, named[Y[:, 0]]) > 0.7


def test_labels_may_have_values_of_their_own():
    y = np.array([["a", "x"], ["b", "y"], ["a", "y"]] * 20)
    model = MarleneClassifier().partial_fit(X[:1], y[:1], classes=[["a", "b"], ["y", "x"]]).partial_fit(X[1:60], y[1:])
    assert [known.tolist() for known in model.classes_] == [["a", "b"], ["x", "y"]]
    assert set(model.predict(X)[:, 0]) <= {"a", "b"}
    assert set(model.predict(X)[:, 1]) <= {"x", "y"}


def test_one_value_to_begin_with():
    model = MarleneClassifier().partial_fit(X[:5], np.zeros((5, 2), int))
    assert [known.tolist() for known in model.classes_] == [[0, 1]] * 2
    model.partial_fit(X, Y[:, :2])
    assert model.predict(X).max() == 1
    assert MarleneClassifier().fit(X, ["only"] * 300).predict(X[:2]).tolist() == ["only"] * 2
    assert MarleneClassifier().fit(X, ["only"] * 300).predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
    named = MarleneClassifier().partial_fit(X[:2], ["a", "a"], classes=["b", "a"]).partial_fit(X[:2], ["b", "a"])
    assert named.classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (["a"] * 300, "only the class .*'a'.* is known; name both in `classes`"),
        (np.arange(300) % 3, "Only binary classification is supported. The type of the target is multiclass"),
        (np.c_[np.arange(300) % 3, Y[:, 0]], "Only binary classification is supported"),
        (X[:, 0], "Unknown label type: continuous"),
        (np.where(Y, np.nan, 1.0), "Input y contains NaN"),
        (Y[:10], "inconsistent numbers of samples"),
        (np.zeros((300, 1, 1)), "dim 3"),
        (None, "requires y to be passed"),
        ([["a"], ["a", "b"], []] * 100, "y lists labels: MultiLabelBinarizer makes a column"),
        ([{"a"}, {"b"}, set()] * 100, "y lists labels: MultiLabelBinarizer makes a column"),
    ],
)
def test_targets_that_are_refused(y, said):
    model = MarleneClassifier()
    with pytest.raises(ValueError, match=said):
        model.partial_fit(X, y)
    assert not hasattr(model, "model_")


@pytest.mark.parametrize(
    ("X_next", "y_next", "said"),
    [
        (X[:2], Y[:2] + 1, r"y, row \d, label \d: .*2.* is not one of the classes \[0 1\]"),
        (X[:2], Y[:2, :2], "y has 2 columns, but 3 labels are known"),
        (X[:2], Y[:2, 0], "y has 1 dimensions, but had 2 before"),
        (X[:2, :3], Y[:2], "X has 3 features, but MarleneClassifier is expecting 4"),
        (np.abs(X[:2]) * np.inf, Y[:2], "infinity"),
    ],
)
def test_what_is_refused_later_changes_nothing(X_next, y_next, said):
    model = MarleneClassifier().fit(X, Y)
    before = pickle.dumps(model.model_)
    with pytest.raises(ValueError, match=said):
        model.partial_fit(X_next, y_next)
    assert pickle.dumps(model.model_) == before


def test_classes_that_do_not_fit():
    with pytest.raises(MarleneError, match="classes are given of 2 labels, but y has 3"):
        MarleneClassifier().partial_fit(X, Y, classes=[[0, 1], [0, 1]])
    with pytest.raises(MarleneError, match=r"Label 0 has 3 classes"):
        MarleneClassifier().partial_fit(X, Y, classes=[0, 1, 2])
    with pytest.raises(MarleneError, match="resampling must be one of"):
        MarleneClassifier("br-marlene", resampling="never").fit(X, Y)


def test_features_have_names_and_kinds():
    frame = pd.DataFrame({"size": X[:, 0], "late": (X[:, 1] > 0).astype(float), "colour": np.arange(300) % 5})
    model = MarleneClassifier("br-marlene", features={"late": "binary", "colour": "nominal"}).fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["size", "late", "colour"]
    by_position = MarleneClassifier("br-marlene", features={1: "binary", 2: "nominal"}).fit(frame.to_numpy(), Y)
    np.testing.assert_array_equal(model.predict_proba(frame), by_position.predict_proba(frame.to_numpy()))
    assert model.model_._ensemble.bank.kinds.tolist() == [0, 2, 5]
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(frame[["late", "size", "colour"]], Y)


def test_missing_values_are_learnt_around():
    holes = X.copy()
    holes[::7, 1] = np.nan
    model = MarleneClassifier().fit(holes, Y)
    plain = Marlene()
    plain.learn_many(holes, Y)
    np.testing.assert_array_equal(model.predict_proba(holes), plain.predict_proba_many(holes))


def test_pipelines_clones_and_searches():
    forest = HoeffdingForest([], grace_period=50)
    pipeline = make_pipeline(StandardScaler(), MarleneClassifier("br-marlene", base=forest))
    assert pipeline.fit(X, Y).predict(X).shape == Y.shape
    copy = clone(pipeline)
    np.testing.assert_array_equal(copy.fit(X, Y).predict_proba(X), pipeline.predict_proba(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(pipeline)).predict_proba(X), pipeline.predict_proba(X))
    grid = {"objective": ["hamming", "macro-f1", {"false_positive": 1, "false_negative": 5}], "transfer": ["own"]}
    search = GridSearchCV(MarleneClassifier(), grid, cv=2).fit(X, Y[:, 0])
    assert set(search.best_params_) == {"objective", "transfer"}
    assert search.best_estimator_.model_.objective == search.best_params_["objective"]
    assert not hasattr(clone(search.best_estimator_), "model_")


def test_without_scikit_learn_the_error_names_the_extra():
    code = "import sys; sys.modules['sklearn'] = None; import marlene.sklearn"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'marlene.sklearn needs the package sklearn: pip install "marlene[sklearn]"' in done.stderr


def test_weights_are_those_of_the_learner():
    weights = np.random.default_rng(1).integers(0, 4, 300).astype(float)
    model = MarleneClassifier().partial_fit(X[:100], Y[:100], sample_weight=weights[:100])
    model.partial_fit(X[100:], Y[100:], sample_weight=pd.Series(weights[100:]))
    plain = Marlene()
    plain.learn_many(X, Y, w=weights)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba_many(X))
    whole = MarleneClassifier().fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(whole.predict_proba(X), plain.predict_proba_many(X))
    kept = MarleneClassifier("ebr").fit(X, Y, sample_weight=weights > 0)
    np.testing.assert_array_equal(
        kept.predict_proba(X), MarleneClassifier("ebr").fit(X[weights > 0], Y[weights > 0]).predict_proba(X)
    )
    with pytest.raises(MarleneError, match="OnlineBagging takes no weights of examples: w must be 1 or 0, not"):
        MarleneClassifier("ebr").fit(X, Y, sample_weight=weights)
    with pytest.raises(ValueError, match=r"sample_weight\.shape == "):
        model.partial_fit(X, Y, sample_weight=weights[:7])


def test_frames_of_texts_dates_and_categories():
    words = np.where(Y[:, 0] == 1, "the printer is on fire", "where can I buy ink")
    frame = pd.DataFrame(
        {"size": X[:, 1], "note": words, "at": pd.date_range("2024", periods=300), "team": pd.Categorical(["a"] * 300)}
    )
    model = MarleneClassifier(features={"note": "text"}).fit(frame, Y[:, 0])
    plain = Marlene(features={"note": "text"})
    plain.learn_many(frame, Y[:, :1])
    np.testing.assert_array_equal(model.predict_proba(frame)[:, 1], plain.predict_proba_many(frame)[0])
    assert model.score(frame, Y[:, 0]) > 0.95
    assert model.feature_names_in_.tolist() == ["size", "note", "at", "team"]
    with pytest.raises(MarleneError, match="X must be a frame, as before, not a ndarray"):
        model.predict(X)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.drop(columns="team"))


def test_names_of_a_binarizer_are_labels():
    binarizer = MultiLabelBinarizer().fit([["b", "a"], ["c"]])
    stream = load((X, Y), labels=binarizer.classes_)
    assert stream.labels == ("a", "b", "c")
    assert Stream.from_arrays(X, Y, labels=binarizer.classes_) == stream
    model, other = Marlene(), Marlene()
    model.declare(stream.features, binarizer.classes_)
    other.declare(stream.features, stream.labels)
    for each in (model, other):
        each.learn_many(X, Y)
    assert model.predict_one({}) == other.predict_one({})
    assert pickle.dumps(model) == pickle.dumps(other)
