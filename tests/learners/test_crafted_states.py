"""States with right checksums whose parts contradict each other: refused when they are loaded, not later."""

import copy
import json

import numpy as np
import pytest

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.banks import LinearBank
from marlene.learners import MultiTargetTree, OnlineBagging, create
from marlene.learners.marlene._tracker_layout import ROLES


def refuse(model, change, said):
    """Change a state, and expect that it is refused; the state itself is not."""
    header, arrays = model.state()
    header, arrays = json.loads(json.dumps(header)), {name: array.copy() for name, array in arrays.items()}
    type(model).from_state(copy.deepcopy(header), arrays)
    change(header, arrays)
    with pytest.raises(MarleneError, match=said):
        type(model).from_state(header, arrays)


@pytest.fixture(scope="module")
def tree():
    model = OnlineBagging(MultiTargetTree(), members=1)
    for i in range(50):
        model.learn_one({"x": 0.5 + i % 10, "z": i % 3 == 0}, {"big": i % 10 > 4, "small": i % 10 < 5})
    return model


def test_a_test_with_one_child(tree):
    def change(_, arrays):
        arrays["members.tree0.node"] = np.array([[0, 1, 0], [-1, 0, 0]])
        arrays["members.tree0.node_value"], arrays["members.tree0.top"] = np.zeros(2), np.array([2, 1])

    refuse(tree, change, "children come in twos")


@pytest.mark.parametrize(("column", "value"), [(1, 1.0), (0, 0.5)])
def test_inputs_that_are_said_to_be_numbers(tree, column, value):
    def change(_, arrays):
        arrays["members.tree0.leaf_input"][:, column, -1] = value

    refuse(tree, change, "inputs that are 0 or 1 had no other numbers")


def test_inputs_in_another_order(tree):
    def change(_, arrays):
        arrays["members.inputs"] = arrays["members.inputs"][::-1].copy()

    refuse(tree, change, "in the order in which they come")


def taught(method, **options):
    model = create(method, **options)
    for i in range(300):
        late = i > 150
        x = {"n": i % 7 / 2, "b": i % 2 == 0, "c": "rgb"[i % 3], f"w{i % 9}": 1.0}
        model.learn_one(x, {"p": (i % 7 > 3) ^ late, "q": (i % 2 == 0) ^ late, "r": i % 5 == 0})
    return model


@pytest.mark.parametrize("giver", [["owner", 0, 0], ["own", 0, 0.5], ["own", True, 0], [0, 0, 0], ["own", 0]])
def test_givers_that_there_are_not(giver):
    def change(header, _):
        header["events"] = [[10, 0, 0, giver]]

    refuse(taught("marlene"), change, "the changes of labels|damaged")
    assert "own" in ROLES


def test_a_label_that_has_not_begun_has_no_guests():
    model = taught("marlene")
    assert model.state()[1]["weights.size"][:, :3].max() > 2

    def change(_, arrays):
        arrays["weights.began"][:3] = 0

    refuse(model, change, "lists hold the learners of a label")


@pytest.mark.parametrize("members", [[2, -1, 1], [1, 1, -1], [2, 1, -1]])
def test_sets_whose_labels_do_not_ascend(members):
    def change(_, arrays):
        arrays["sets.members"][0, :3] = members

    refuse(taught("marlene", objective="subset"), change, "the labels of a set ascend")


def test_rows_of_sets_that_there_are_not():
    def change(_, arrays):
        arrays["sets.members"][-1, 1] = 1

    refuse(taught("marlene", objective="subset"), change, "the labels of a set ascend")


@pytest.mark.parametrize("seen", [1e300, -5, 0.5])
def test_numbers_of_examples_that_cannot_be(seen):
    def change(header, _):
        header["ensembles"][0]["streams"][0]["seen"] = seen

    refuse(taught("br-marlene"), change, "the number of examples of a stream")


def test_windows_that_are_not_the_sum_of_their_buckets():
    model = create("mlhat", grace_period=10, delta=0.9, window=5, members=2)
    for i in range(300):
        model.learn_one({"n": i % 7 / 2, "b": i % 2 == 0}, {"p": (i % 7 > 3) ^ (i > 150), "q": i % 3 == 0})
    places = np.argwhere(model.state()[1]["detectors.width"] > 9).ravel()
    assert len(places)

    def change(_, arrays):
        arrays["detectors.total"][places[0]] += 1.0

    refuse(model, change, "the detectors")


def test_rows_that_are_kept_have_no_zeros():
    model = create("gobr")
    for i in range(20):
        model.learn_one({"n": i % 7 / 2, "b": True}, {"p": i % 7 > 3})

    def change(_, arrays):
        binary = arrays["chunk.indices"] == 1
        assert binary.any()
        arrays["chunk.values"][binary] = 0.0

    refuse(model, change, "0/1 features 1")


def test_a_setting_that_is_lost_in_squares_is_refused():
    with pytest.raises(MarleneError, match="start must be positive, 1e-30 to 1e\\+100, not 1e-300"):
        LinearBank(start=1e-300)
    model = Marlene(base=LinearBank(start=1e-30))
    for i in range(50):
        model.learn_one({"n": i % 7 / 2, "b": i % 2 == 0}, {"p": i % 7 > 3})
    assert type(model).from_state(*model.state()).predict_one({"n": 1.0}) == model.predict_one({"n": 1.0})
