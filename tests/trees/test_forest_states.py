"""What a forest has learnt as arrays and as a file: it goes on to the bit, and damage is noticed."""

import copy
import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene._common.states import HEADER, save_state
from marlene.kernels.forest.state import BRANCHES, FEATURE, IS_SPLIT, LEAF, MULTIWAY_TEST, NUMERIC_TEST, STATE, TEST
from marlene.trees import HoeffdingForest
from tests.trees.damage import damaged, sound_forest, use

MISSING = (0.0, 0.1)
SETTINGS = HoeffdingForest([]).settings()


@pytest.fixture(params=MISSING, ids=["complete", "missing values"])
def sound(request):
    return sound_forest(request.param)


@pytest.fixture
def forest():
    return sound_forest(0.0)[0]


def through_file(forest, folder):
    forest.save(folder / "forest.npz")
    return HoeffdingForest.load(folder / "forest.npz")


COPIES = {
    "state": lambda forest, _: HoeffdingForest.from_state(forest.state(), forest.settings()),
    "deepcopy": lambda forest, _: copy.deepcopy(forest),
    "pickle": lambda forest, _: pickle.loads(pickle.dumps(forest)),
    "file": through_file,
    "json": lambda forest, _: HoeffdingForest.from_state(forest.state(), json.loads(json.dumps(forest.settings()))),
}


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES.keys())
def test_a_copy_goes_on_to_the_bit(sound, make, tmp_path):
    forest, data = sound
    original = HoeffdingForest.from_state(forest.state(), forest.settings())
    other = make(original, tmp_path)
    assert other == original
    assert other.settings() == original.settings()
    assert [other.rules(tree) for tree in other.ids] == [original.rules(tree) for tree in original.ids]
    votes = [f.test_then_train(f.ids, data.X, data.y, data.w) for f in (original, other)]
    assert (votes[0] == votes[1]).all()
    assert original == other != forest
    for f in (original, other):
        f.remove([0])
        assert f.add(2).tolist() == [0, 3]
        f.learn_many([0, 3], data.X, data.y)
    assert original == other


def test_a_copy_shares_nothing(forest):
    state = forest.state()
    other = HoeffdingForest.from_state(state, forest.settings())
    for array in state.values():
        array[...] = 1
    assert other == forest
    other.add()
    assert other != forest


def test_a_forest_without_trees_can_be_kept(tmp_path):
    for kinds in ([], ["numeric", 5]):
        forest = HoeffdingForest(kinds, n_classes=4, leaf_prediction="majority")
        assert through_file(forest, tmp_path) == forest
        assert len(through_file(forest, tmp_path)) == 0


def test_arrays_in_the_order_of_another_machine_are_read(forest):
    swapped = {name: array.astype(array.dtype.newbyteorder(">")) for name, array in forest.state().items()}
    assert HoeffdingForest.from_state(swapped, forest.settings()) == forest


@settings(max_examples=150)
@given(seed=st.integers(0, 2**32), missing=st.sampled_from(MISSING))
def test_a_damaged_state_is_refused_or_harmless(seed, missing):
    forest, data = sound_forest(missing)
    use(damaged(forest.state(), np.random.default_rng(seed)), forest.settings(), data)


def test_an_undamaged_state_is_used(sound):
    forest, data = sound
    assert use(forest.state(), forest.settings(), data)


@pytest.mark.parametrize("name", HoeffdingForest([]).state())
def test_every_array_is_looked_at(forest, name):
    state = forest.state()
    for wrong in (
        None,
        state[name][None],
        state[name][..., None],
        state[name].astype(complex),
        state[name].astype(object),
        state[name].astype(float if state[name].dtype.kind == "i" else np.longdouble),
        state[name][:-1],
        np.full_like(state[name], -(2**31)) if name != "node_value" else np.full_like(state[name], np.nan),
    ):
        changed = {key: array for key, array in state.items() if key != name}
        if wrong is not None:
            changed[name] = wrong
        with pytest.raises(MarleneError, match=r"not the state of a forest, or damaged|kinds"):
            HoeffdingForest.from_state(changed, forest.settings())


def splits(state, test):
    rows = np.flatnonzero(state["node"][:, STATE] == IS_SPLIT)
    return [row for row in rows if state["node"][row, TEST] == test]


def test_a_multiway_test_of_a_numeric_feature_is_refused(forest):
    # Its values would be branches, however large.
    state = forest.state()
    state["node"][splits(state, NUMERIC_TEST)[0], TEST] = MULTIWAY_TEST
    with pytest.raises(MarleneError, match="the tests of the splits"):
        HoeffdingForest.from_state(state, forest.settings())


@pytest.mark.parametrize(("column", "value"), [(FEATURE, 99), (BRANCHES, 1 << 40), (LEAF, 3), (STATE, 5)])
def test_a_node_that_points_elsewhere_is_refused(forest, column, value):
    state = forest.state()
    state["node"][:, column] = value
    with pytest.raises(MarleneError, match="not the state of a forest, or damaged: the "):
        HoeffdingForest.from_state(state, forest.settings())


def test_an_entry_that_is_listed_twice_is_refused(forest):
    state = forest.state()
    leaf, c = np.argwhere((state["leaf_list"][:, :, 0] > 0) & (state["leaf"][:, 2:3] > 1))[0]
    first = int(state["leaf"][:leaf, 2].sum())
    state["leaf_list"][leaf, c, 0] = 2
    state["presence_listed"][first + 1, c] = state["presence_listed"][first, c]
    with pytest.raises(MarleneError, match="the lists of the presence tables"):
        HoeffdingForest.from_state(state, forest.settings())


def test_an_entry_missing_from_its_list_is_refused(forest):
    # Training would put it there, and once more the next time.
    state = forest.state()
    leaf, c = np.argwhere(state["leaf_list"][:, :, 0])[0]
    state["leaf_list"][leaf, c, 0] = 0
    with pytest.raises(MarleneError, match="the lists of the presence tables"):
        HoeffdingForest.from_state(state, forest.settings())


@pytest.mark.parametrize(
    "changes",
    [
        {"n_classes": 4},
        {"n_classes": 2.0},
        {"n_classes": 10**12},
        {"delta": "small"},
        {"leaf_prediction": ["adaptive"]},
        {"max_depth": 10**30},
        {"split_points": 10**9},
        {"kinds": [0]},
        {"colour": 1},
    ],
    ids=str,
)
def test_settings_of_something_else_are_refused(forest, changes):
    with pytest.raises(MarleneError, match=f"of a forest, or damaged: .*({next(iter(changes))}|another length)"):
        HoeffdingForest.from_state(forest.state(), forest.settings() | changes)


@pytest.mark.parametrize("kind", [[2**40], [1], [-1], [0.5], [np.nan], ["blue"], [[2]], 3, [None]], ids=str)
def test_kinds_of_something_else_are_refused(kind):
    empty = HoeffdingForest([])
    with pytest.raises(MarleneError, match=r"of a forest, or damaged: .*(kinds\[0\]|not iterable)"):
        HoeffdingForest.from_state(empty.state() | {"kind": np.array(kind)}, empty.settings())


@pytest.fixture
def file(forest, tmp_path):
    path = tmp_path / "forest.npz"
    forest.save(path)
    return path


def refused(path, match):
    with pytest.raises(MarleneError, match=match) as caught:
        HoeffdingForest.load(path)
    assert str(path) in str(caught.value)


def test_a_file_cut_short_is_refused(file):
    content = file.read_bytes()
    for length in [*range(0, len(content), len(content) // 40), len(content) - 1]:
        file.write_bytes(content[:length])
        refused(file, "not a file of marlene's, or damaged")


@settings(max_examples=100)
@given(seed=st.integers(0, 2**32))
def test_a_file_with_changed_bytes_is_refused_or_as_good(seed, tmp_path_factory):
    rng = np.random.default_rng(seed)
    forest, path = sound_forest(0.0)[0], tmp_path_factory.getbasetemp() / "changed.npz"
    forest.save(path)
    content = bytearray(path.read_bytes())
    for place in rng.integers(0, len(content), rng.integers(1, 4)):
        content[place] = rng.integers(256)
    path.write_bytes(content)
    try:
        loaded = HoeffdingForest.load(path)
    except MarleneError as error:
        message = str(error)
    else:
        message = str(path)
        assert loaded == forest
    assert str(path) in message


def test_a_foreign_file_is_refused(file, tmp_path):
    for content in (b"", b"PK", b"\x93NUMPY", b"@relation x", bytes(1000)):
        file.write_bytes(content)
        refused(file, "not a file of marlene's, or damaged")
    np.savez(file, x=np.arange(3))
    refused(file, "not a file of marlene's, or damaged")
    np.save(file.with_suffix(".npy"), np.arange(3))
    refused(file.with_suffix(".npy"), "not a file of marlene's, or damaged")
    refused(tmp_path / "absent.npz", "No such file")
    refused(tmp_path, "directory")


def test_another_kind_or_version_is_named(forest, file):
    save_state(file, "detector-bank", 1, forest.settings(), forest.state())
    refused(file, "holds 'detector-bank', expected 'hoeffding-forest'")
    save_state(file, "hoeffding-forest", 99, forest.settings(), forest.state())
    refused(file, "version 99 of the format, this program reads version 2")
    save_state(file, "hoeffding-forest", 2, forest.settings(), forest.state() | {"node": np.zeros(3)})
    refused(file, "not the state of a forest, or damaged: node is not of type int64")


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def header_of(**changes):
    header = {"type": "hoeffding-forest", "version": 2, "settings": SETTINGS} | changes
    return np.frombuffer(json.dumps(header).encode(), np.uint8)


def test_pickles_are_not_loaded(forest, file):
    bomb = np.empty(1, object)
    bomb[0] = Bomb()
    np.savez(
        file, allow_pickle=True, **{HEADER: header_of(settings=forest.settings())}, **(forest.state() | {"leaf": bomb})
    )
    refused(file, "not a file of marlene's, or damaged .'leaf.npy' is not an array of the size it claims")


@pytest.mark.parametrize(
    "header",
    [
        np.frombuffer(b"[" * 100_000, np.uint8),
        np.frombuffer(b"\xff\xfe", np.uint8),
        np.frombuffer(b'"text"', np.uint8),
        np.arange(3.0),
        header_of(settings=[]),
        header_of(settings=None),
        header_of(settings="text"),
        header_of(settings={"n_classes": 2}),
        header_of(type=None),
    ],
)
def test_a_wrong_header_is_refused(forest, file, header):
    np.savez(file, **{HEADER: header}, **forest.state())
    refused(file, "damaged|expected 'hoeffding-forest'")


def test_an_array_that_claims_to_be_huge_is_refused(file):
    member = io.BytesIO()
    np.lib.format.write_array_header_1_0(member, {"descr": "<i8", "fortran_order": False, "shape": (2**50, 9)})
    with zipfile.ZipFile(file) as source:
        members = {name: source.read(name) for name in source.namelist()}
    with zipfile.ZipFile(file, "w") as target:
        for name, content in members.items():
            target.writestr(name, member.getvalue() if name == "node.npy" else content)
    refused(file, "not a file of marlene's, or damaged")
