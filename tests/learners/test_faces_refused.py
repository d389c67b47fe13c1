"""What BR-MARLENE refuses: it says what and where, and is the same afterwards."""

import json

import numpy as np
import pandas as pd
import pytest
import river.drift
import scipy.sparse as sp
from river import naive_bayes

from marlene._common.errors import MarleneError
from marlene._common.states import save_state
from marlene.learners import BRMarlene
from marlene.learners._saved import FILE_KIND, FILE_VERSION
from marlene.streams import Feature
from marlene.trees import HoeffdingForest
from tests.learners.streams import LEARNERS, changed_headers, contents, drifting, sensitive

every_learner = pytest.mark.parametrize("learner", LEARNERS)
GOOD = {"size": 1.0, "late": True, "colour": "red"}


def named(learner=BRMarlene):
    """Return a learner of named features of every kind."""
    model = learner(drift=sensitive())
    rng = np.random.default_rng(0)
    for i in range(60):
        x = {"size": rng.normal(), "late": bool(i % 3), "colour": ["red", "green"][i % 2]}
        model.learn_one(x, {"spam": i % 2 == 0, "urgent": i % 5 == 0})
    model.learn_one(GOOD, {"old": True}, stream="archive")
    return model


SINGLE = [
    ({"size": np.inf}, {"spam": 1}, "feature 'size' is numeric: expected a finite number, found inf"),
    ({"size": -1e61}, {"spam": 1}, "feature 'size' is numeric: expected a finite number up to 1e[+]60, found -1e[+]61"),
    ({"size": -np.float32(np.inf)}, {"spam": 1}, "feature 'size' is numeric: expected a finite number, found -inf"),
    ({"size": "big"}, {"spam": 1}, "feature 'size' is numeric: expected a number, found 'big'"),
    ({"size": [1, 2]}, {"spam": 1}, r"feature 'size' is numeric: expected a number, found \[1, 2\]"),
    ({"size": 10**400}, {"spam": 1}, "feature 'size' is numeric: expected a number, found 1000"),
    ({"late": 0.5}, {"spam": 1}, "feature 'late' is binary: expected 0 or 1, found 0.5"),
    ({"late": "yes"}, {"spam": 1}, "feature 'late' is binary: expected a number, found 'yes'"),
    (
        {"fresh": 2.0, "size": np.inf},
        {"spam": 1, "fresh": 0},
        "feature 'size' is numeric: expected a finite number, found inf",
    ),
    ([1.0, True, "red"], {"spam": 1}, "x must be a dictionary of features, not a list"),
    ((1.0, True, "red"), {"spam": 1}, "x must be a dictionary of features, not a tuple"),
    ("red", {"spam": 1}, "x must be a dictionary of features, not a str"),
    (None, {"spam": 1}, "x must be a dictionary of features, not a NoneType"),
    (
        pd.DataFrame([GOOD]),
        {"spam": 1},
        "x must be a dictionary of features, not a DataFrame; learn_many and predict_many take arrays and frames",
    ),
    (pd.Series([1.0, 2.0], ["size", "size"]), {"spam": 1}, "the index of a Series names a feature or label twice"),
    (GOOD, "spam", "y must be a dictionary of labels, or a set or list of those that are true, not a str"),
    (GOOD, None, "y must be a dictionary of labels, or a set or list of those that are true, not a NoneType"),
    (GOOD, True, "y must be a dictionary of labels, or a set or list of those that are true, not a bool"),
    (GOOD, np.array([1, 0]), "y must be a dictionary of labels, .* not a ndarray"),
    (GOOD, [True, False], "y lists labels that are true: True is no label; truth values need a dictionary"),
    (GOOD, {"spam", None}, "y lists labels that are true: None is no label"),
    (GOOD, [["spam"]], r"y lists labels that are true: \['spam'\] cannot be the name of one"),
    (GOOD, {"spam": np.array([1, 0])}, r"label 'spam': expected 0 or 1, found array"),
    (GOOD, {"spam": 2}, "label 'spam': expected 0 or 1, found 2"),
    (GOOD, {"fresh": 1, "spam": "yes"}, "label 'spam': expected 0 or 1, found 'yes'"),
    (GOOD, {"spam": 0.5}, "label 'spam': expected 0 or 1, found 0.5"),
    (GOOD, {"spam": [1, 0]}, r"label 'spam': expected 0 or 1, found \[1, 0\]"),
    ({**GOOD, "colour": "new", "late": 3}, {"spam": 1}, "feature 'late' is binary: expected 0 or 1, found 3"),
]


@every_learner
@pytest.mark.parametrize(("x", "y", "said"), SINGLE)
def test_examples_that_are_refused(learner, x, y, said):
    model = named(learner)
    before = contents(model)
    with pytest.raises(MarleneError, match=f"^{said}"):
        model.learn_one(x, y)
    with pytest.raises(MarleneError, match=said):
        model.learn_one(x, y, stream="archive")
    if isinstance(x, dict) and isinstance(y, dict) and list(y) == ["spam"] and np.ndim(y["spam"]) == 0:
        frame = pd.DataFrame([GOOD, x], dtype=object)
        with pytest.raises(MarleneError, match="row 1" if said.startswith("feature") else "Y"):
            model.learn_many(frame, pd.DataFrame([{"spam": 0}, y], dtype=object))
    assert contents(model) == before


X, Y = drifting(60)
BLOCKS = [
    (X[:3], Y[:2], "X has 3 rows, but Y has 2"),
    (X[:3, :4], Y[:3], "X has 4 columns, but 5 features are known"),
    (X[0], Y[:1], "X has 1 dimensions, expected 2"),
    (X[:3], Y[:3, 0], "Y has 1 dimensions, expected 2"),
    (X[:3], Y[:3, :2], "Y has 2 columns, but 3 labels are known"),
    (X[:3], np.c_[Y[:3], Y[:3]], "Y has 6 columns, but 3 labels are known"),
    (X[:3], np.array([[0, 0, 0], [0, 1, 0], [0, 2, 0]]), "Y, row 2, column 1: expected 0 or 1, found 2"),
    (X[:3], Y[:3] + 0.5, r"Y, row 0, column 0: expected 0 or 1, found \d.5"),
    (X[:3], np.full((3, 3), "a"), "Y holds something that is not a number"),
    (np.full((3, 5), "a"), Y[:3], "X holds something that is not a number"),
    (X[:3] * 1j, Y[:3], "X holds complex numbers"),
    (np.where(np.eye(3, 5) > 0, np.inf, 0), Y[:3], "row 0: feature 0 is numeric: expected a finite number, found inf"),
    (sp.csr_array(([1, -np.inf], ([0, 2], [1, 3])), (3, 5)), Y[:3], "row 2: feature 3 is numeric: .*found -inf"),
    (np.where(np.eye(3, 6) > 0, np.nan, np.inf), Y[:3], "row 0: feature 1 is numeric: expected a finite number"),
    (X[:3], pd.DataFrame(np.zeros((3, 2)), columns=["a", "a"]), "Y has two columns of the same name"),
]


@every_learner
@pytest.mark.parametrize(("block", "truth", "said"), BLOCKS)
def test_blocks_that_are_refused(learner, block, truth, said):
    model = learner(drift=sensitive())
    model.learn_many(X, Y)
    model.learn_many(X, Y, stream="old")
    before = contents(model)
    for learn in (model.learn_many, model.test_then_train, lambda a, b: model.learn_many(a, b, stream="old")):
        with pytest.raises(MarleneError, match=said):
            learn(block, truth)
    assert contents(model) == before


@every_learner
def test_matrices_that_do_not_agree_with_what_was_declared(learner):
    model = learner()
    colours = Feature("colour", "nominal", ("red", "green", "blue"))
    model.declare([Feature("size"), colours, Feature("late", "binary")], ["spam"])
    before = contents(model)
    for x, said in [
        ([1, 3, 0], "^feature 'colour' is nominal: expected the index of a value, found 3"),
        ([1, 0.5, 0], "^feature 'colour' is nominal: expected the index of a value, found 0.5"),
        ([1, -1, 0], "^feature 'colour' is nominal: expected the index of a value, found -1"),
        ([1, 0, 2], "^feature 'late' is binary: expected 0 or 1, found 2"),
        ([1, 0, 0, 0], "X has 4 columns, but 3 features are known"),
    ]:
        with pytest.raises(MarleneError, match=said):
            model.learn_many([x], [[1]])
    for features, said in [
        ([Feature("size"), Feature("new"), Feature("late")], "feature 'late' is numeric, but was binary before"),
        ([Feature("size"), Feature("size")], "two features have the same name"),
    ]:
        with pytest.raises(MarleneError, match=said):
            model.declare(features, ["other"], stream="old")
    assert contents(model) == before
    model.declare([Feature("colour", "nominal", ("red", "green", "blue", "black"))], ["spam"], stream="old")
    model.learn_many([[3]], [[1]], stream="old")
    with pytest.raises(MarleneError, match="expected the index of a value, found 3"):
        model.learn_many([[0.0, 3, 1]], [[1]])


@every_learner
def test_questions_about_what_is_not_there(learner):
    model = named(learner)
    before = contents(model)
    with pytest.raises(MarleneError, match="there is no label 'spma' in the target"):
        model.signal_drift(["spam", "spma"])
    with pytest.raises(MarleneError, match="there is no label 'spam' in 'archive'"):
        model.signal_drift(["old", "spam"], stream="archive")
    with pytest.raises(MarleneError, match="there is no stream 'far'"):
        model.signal_drift([], stream="far")
    with pytest.raises(MarleneError, match="there is no stream 'far'"):
        model.concepts("far")
    with pytest.raises(MarleneError, match="there is no target label 'old'"):
        model.explain("old")
    with pytest.raises(MarleneError, match="there is no target label 'old'"):
        model.records("old")
    assert contents(model) == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"base": "tree"},
            "base must be one of hoeffding-forest, inheriting-forest, naive-bayes, linear, mixed or a bank, not 'tree'",
        ),
        (
            {"base": 3},
            "naive-bayes, linear, mixed, a bank or a classifier of River, not 3",
        ),
        ({"base": HoeffdingForest(["numeric"])}, "base must be a forest without features"),
        ({"base": HoeffdingForest([], n_classes=3)}, "base must be a forest without features and with two classes"),
        ({"drift": "dmm"}, "no drift detector is called 'dmm'"),
        ({"features": "text"}, "features must be one of auto, numeric, binary or a mapping, not 'text'"),
        ({"features": {"a": "words"}}, r"features\['a'\] is 'words', expected one of numeric, binary, nominal, text"),
        ({"resampling": "never"}, "resampling must be one of poisson, expected, not 'never'"),
        ({"max_models": 0}, "max_models must be a whole number of at least 1, not 0"),
        ({"seed": None}, "seed must be a whole number, not None"),
    ],
)
def test_parameters_that_are_refused(options, said):
    with pytest.raises(MarleneError, match=said):
        BRMarlene(**options)


@every_learner
def test_damaged_and_foreign_files(tmp_path, learner):
    file = tmp_path / "model.npz"
    named(learner).save(file)
    whole = file.read_bytes()
    for length in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        with pytest.raises(MarleneError, match=r"model\.npz"):
            learner.load(file)
    for position in range(40, len(whole), len(whole) // 25):
        damaged = bytearray(whole)
        damaged[position] ^= 255
        file.write_bytes(damaged)
        try:
            assert contents(learner.load(file)) == contents(named(learner))  # a byte that says nothing
        except MarleneError as error:
            assert "model.npz" in str(error)  # noqa: PT017 (some bytes do not matter)
    HoeffdingForest([]).save(file)
    with pytest.raises(MarleneError, match="holds 'hoeffding-forest', expected 'marlene-learner'"):
        learner.load(file)
    with pytest.raises(MarleneError, match="No such file"):
        learner.load(tmp_path / "absent.npz")


@pytest.mark.parametrize("replacement", [None, -1, 10**6, "x", [], [[]], {}])
def test_headers_that_say_something_else_do_no_harm(tmp_path, replacement):
    header, arrays = named().state()
    refused = 0
    for changed in changed_headers(json.loads(json.dumps(header)), replacement):
        save_state(tmp_path / "model.npz", FILE_KIND, FILE_VERSION, changed, arrays)
        try:
            model = BRMarlene.load(tmp_path / "model.npz")
            model.predict_one(GOOD)
            model.concepts()
            model.transfer_matrix()
        except MarleneError as error:
            assert "of the format" not in str(error)  # noqa: PT017 (some changes are harmless)
            refused += 1
    assert refused > 0


def test_arrays_that_hold_something_else_do_no_harm():
    header, arrays = named().state()
    refused = 0
    for name, array in arrays.items():
        flat = np.atleast_1d(array)
        with np.errstate(invalid="ignore"):
            less, more = (flat.astype(np.int64) + change for change in (-5, 1))
        for replacement in (flat[:0], less.astype(array.dtype).reshape(array.shape), more.astype(array.dtype)):
            try:
                model = BRMarlene.from_state(header, arrays | {name: replacement})
                model.learn_one(GOOD, {"spam": True})
            except MarleneError:
                refused += 1
        with pytest.raises(MarleneError, match=r"not the state of|state of a"):
            BRMarlene.from_state(header, {other: value for other, value in arrays.items() if other != name})
    assert refused > len(arrays)


@every_learner
@pytest.mark.parametrize("options", [{"drift": river.drift.ADWIN()}, {"base": naive_bayes.GaussianNB()}])
def test_river_objects_cannot_be_saved(tmp_path, learner, options):
    model = learner(**options)
    model.learn_many(X, Y)
    with pytest.raises(MarleneError, match="holds River objects cannot be saved"):
        model.save(tmp_path / "model.npz")
    assert not (tmp_path / "model.npz").exists()
    odd = learner()
    odd.learn_one({("a", 1): 1.0}, {"y": 1})
    with pytest.raises(MarleneError, match="features and labels are texts or numbers"):
        odd.save(tmp_path / "model.npz")
