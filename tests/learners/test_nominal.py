"""Nominal features: the order of declared values means nothing, and the commonest value stands for absence."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.evaluation import prequential
from marlene.learners import METHODS, create
from marlene.learners.input._rows import rows_of_matrix
from marlene.learners.input._values import DECISIVE, codes_of, recoded
from marlene.streams import Feature, Stream, from_frame, load

COLOURS = ("red", "green", "blue", "black")
SWITCH = ("ALARM", "FINE")
LABELS = ("y0", "y1", "y2")
ORDERS = {
    "as it is": (COLOURS, SWITCH),
    "reversed": (COLOURS[::-1], SWITCH[::-1]),
    "rolled": ((*COLOURS[2:], *COLOURS[:2]), SWITCH),
}
METHODS_TRIED = ["marlene", "br-marlene", "brpw-marlene", "ebr", "gops", "ert"]


def table(n=240, seed=0):
    """Return columns of texts (None is missing), numbers and truth."""
    rng = np.random.default_rng(seed)
    colour = np.where(rng.random(n) < 0.5, 2, rng.integers(0, 4, n))
    columns = {"colour": [COLOURS[i] for i in colour], "size": rng.normal(size=n).round(3).tolist()}
    switches = rng.random((n, 6)) < 0.1
    switches[:3] = True  # the rare value comes first
    for i in range(6):
        columns[f"s{i}"] = [SWITCH[0] if on else SWITCH[1] for on in switches[:, i]]
    truth = np.column_stack([colour == 2, switches[:, :2].any(axis=1), switches[:, 2] ^ (colour == 1)])
    truth ^= rng.random(truth.shape) < 0.05
    for name in ("colour", "s0", "s5"):
        columns[name] = [None if rng.random() < 0.04 else value for value in columns[name]]
    return columns, truth.astype(int)


def declared(order):
    colours, switch = ORDERS[order]
    return {"colour": colours} | {f"s{i}": switch for i in range(6)}


def write_arff(path, columns, truth, values):
    kinds = dict.fromkeys(LABELS, "{0,1}") | dict.fromkeys(columns, "numeric")
    kinds |= {name: f"{{{','.join(known)}}}" for name, known in values.items()}
    header = [f"@attribute {name} {kind}" for name, kind in kinds.items()]
    rows = [
        ",".join(map(str, [*y, *("?" if v is None else v for v in x)]))
        for x, y in zip(zip(*columns.values(), strict=True), truth.tolist(), strict=True)
    ]
    path.write_text("\n".join(["@relation 'r: -C 3'", *header, "@data", *rows]) + "\n")


def read(reader, path, order, n=240):
    """Return the same stream by another way, with its values declared in some order, if they are."""
    columns, truth = table(n)
    values = declared(order)
    labels = dict(zip(LABELS, truth.T.tolist(), strict=True))
    if reader == "arff":
        write_arff(path / "r.arff", columns, truth, values)
        return load(path / "r.arff")
    if reader == "csv":
        pd.DataFrame(columns | labels).to_csv(path / "r.csv", index=False)
        return load(path / "r.csv", labels=[*LABELS], features=dict.fromkeys(values, "nominal"))
    if reader == "pandas":
        frame = pd.DataFrame(columns | labels)
        for name, known in values.items():
            frame[name] = pd.Categorical(frame[name], categories=known)
        return from_frame(frame, labels=[*LABELS])
    frame = pl.DataFrame(columns | labels).with_columns(
        pl.col(name).cast(pl.Enum(known)) for name, known in values.items()
    )
    return from_frame(frame, labels=[*LABELS])


def said_of(stream, method, block=50):
    """Return what a method says of a stream, and its state in the end."""
    model = create(method)
    model.declare(stream.features, stream.labels)
    parts = [model.decide_then_train(X, Y) for X, Y in stream.blocks(block)]
    probabilities, predictions = (np.concatenate(part) for part in zip(*parts, strict=True))
    return probabilities.tolist(), predictions.tolist(), model.predict_proba_many(stream.X).tolist()


@pytest.mark.parametrize("method", METHODS_TRIED)
def test_the_order_of_declared_values_means_nothing(tmp_path, method):
    assert method in METHODS
    expected = said_of(read("arff", tmp_path, "as it is", 700), method)
    assert len(np.unique(expected[0])) > 3
    for order in ORDERS:
        for reader in ("arff", "csv", "pandas", "polars"):
            assert said_of(read(reader, tmp_path, order, 700), method) == expected, (order, reader)


@pytest.mark.parametrize("method", ["marlene", "br-marlene"])
def test_dictionaries_of_declared_features(tmp_path, method):
    columns, truth = table()
    stream = read("arff", tmp_path, "as it is")
    expected = said_of(stream, method)[2]
    for order in ORDERS:
        model, values = create(method), declared(order)
        model.declare(
            [Feature(name, "nominal" if name in values else "numeric", values.get(name, ())) for name in columns]
        )
        for x, y in zip(zip(*columns.values(), strict=True), truth.tolist(), strict=True):
            model.learn_one(dict(zip(columns, x, strict=True)), dict(zip(LABELS, map(bool, y), strict=True)))
        found = [
            [p[True] for p in model.predict_proba_one(dict(zip(columns, x, strict=True))).values()]
            for x in zip(*columns.values(), strict=True)
        ]
        assert found == expected


def test_streams_may_declare_values_in_other_orders(tmp_path):
    first, other = read("arff", tmp_path, "as it is"), read("arff", tmp_path, "rolled")
    said = []
    for archive in (first, other):
        model = Marlene()
        model.declare(archive.features, archive.labels, stream="archive")
        model.learn_many(archive.X, archive.Y, stream="archive")
        model.declare(first.features, first.labels)
        said.append(model.test_then_train(first.X, first.Y).tolist())
    assert said[0] == said[1]
    more = Feature("colour", "nominal", ("white", "blue", "yellow"))
    model.declare([more], ["y0"], stream="third")
    model.learn_many([[1.0], [0.0], [2.0]], [[1], [0], [0]], stream="third")
    assert [*model._space.codes[0]] == ["black", "blue", "green", "red", "white", "yellow"]
    model.learn_many(first.X[:3], first.Y[:3], stream="of no declaration")
    with pytest.raises(MarleneError, match="feature 'colour' is nominal: expected the index of a value, found 3"):
        model.learn_many([[3.0]], [[1]], stream="third")


def test_an_entry_that_a_sparse_matrix_leaves_out_is_the_first_declared_value(tmp_path):
    stream = read("arff", tmp_path, "as it is")
    sparse = Stream(sp.csr_array(stream.X), stream.Y, stream.features, stream.labels)
    assert said_of(sparse, "marlene") == said_of(stream, "marlene")
    assert said_of(sparse, "br-marlene") == said_of(stream, "br-marlene")


@pytest.mark.parametrize("order", ORDERS)
def test_the_commonest_value_stands_for_absence(tmp_path, order):
    stream = read("arff", tmp_path, order)
    model = Marlene()
    model.declare(stream.features, stream.labels)
    tracker = model._tracker
    for t in range(len(stream)):
        assert tracker.values.tally.absent[3] == (t >= 3 + DECISIVE)  # the first three are 0
        model.learn_many(stream.X[[t]], stream.Y[[t]])
        tracker = model._tracker
    absent = [
        [*codes][value] for codes, value in zip(model._space.codes, tracker.values.tally.absent, strict=True) if codes
    ]
    assert absent == ["blue"] + ["FINE"] * 6
    rows, _ = model._space.rows(stream.X[100:], None, learning=False)
    assert np.diff(tracker.inputs_of(rows).starts).mean() < 4


@pytest.mark.parametrize("blocks", [[240], [1] * 240, [29, 1, 1, 9, 200], [7] * 34 + [2]])
def test_blocks_and_files_change_nothing(tmp_path, blocks):
    stream = read("arff", tmp_path, "rolled")
    expected, model = Marlene(), Marlene()
    for one in (expected, model):
        one.declare(stream.features, stream.labels)
    said = expected.test_then_train(stream.X, stream.Y)
    assert sum(blocks) == len(stream)
    at, found = 0, []
    for i, size in enumerate(blocks):
        part = slice(at, at + size)
        before = model.predict_proba_many(stream.X[part][:1])
        found.append(model.test_then_train(stream.X[part], stream.Y[part]))
        np.testing.assert_array_equal(found[-1][:1], before)
        at += size
        if i % 25 == 0 or i < 3:
            model.save(tmp_path / "model.npz")
            model = Marlene.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(np.concatenate(found), said)
    assert model.state()[1].keys() == expected.state()[1].keys()
    for name, array in expected.state()[1].items():
        np.testing.assert_array_equal(model.state()[1][name], array)


def test_a_rare_first_value_costs_nothing():
    rng = np.random.default_rng(1)
    X = (rng.random((1500, 60)) < 0.06).astype(float)
    Y = np.column_stack([X[:, 4 * q : 4 * q + 4].any(axis=1) for q in range(4)]).astype(np.int8)
    scores = []
    for values in (None, ("NO", "YES"), ("YES", "NO"), ("on", "off"), ("off", "on")):
        common_first = values in (None, ("NO", "YES"), ("off", "on"))
        kind = ("binary", ()) if values is None else ("nominal", values)
        features = tuple(Feature(f"x{i}", *kind) for i in range(60))
        stream = Stream(X if common_first else 1.0 - X, Y, features, ("a", "b", "c", "d"))
        scores.append(prequential(Marlene(), stream).macro_gmean)
    assert scores[0] > 0.7
    assert scores[1] == scores[2]
    assert scores[3] == scores[4]
    np.testing.assert_allclose(scores, scores[0], rtol=0, atol=0.02)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("absent", lambda a: a - 1),
        ("absent", lambda a: a + 5),
        ("absent", lambda a: np.append(a, 0)),
        ("seen", lambda a: a + 1),
        ("seen", lambda a: a - 50),
        ("times", lambda a: a - 1),
        ("times", lambda a: a[1:]),
    ],
)
def test_counts_that_cannot_be_are_refused(tmp_path, name, change):
    stream = read("arff", tmp_path, "rolled")
    model = Marlene()
    model.declare(stream.features, stream.labels)
    model.learn_many(stream.X, stream.Y)
    header, arrays = model.state()
    assert Marlene.from_state(header, arrays).predict_proba_many(stream.X).shape == (240, 3)
    with pytest.raises(MarleneError, match="not the state of nominal features, or damaged"):
        Marlene.from_state(header, arrays | {f"values.{name}": change(arrays[f"values.{name}"])})


@pytest.mark.parametrize("order", [[0, [1, 0]], [1, [0, 9, 1, 2]], [99, [0]], ["x", [0]], [0, ["a"]]])
def test_orders_of_values_that_cannot_be_are_refused(tmp_path, order):
    stream = read("arff", tmp_path, "rolled")
    model = create("br-marlene")
    model.declare([Feature("number"), *stream.features], stream.labels)
    header, arrays = model.state()
    space = header["space"] | {"orders": [[None, [order]]]}
    with pytest.raises(MarleneError, match="damaged"):
        type(model).from_state(header | {"space": space}, arrays)


@given(st.data())
def test_other_codes_for_the_same_values(data):
    n_values = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    some = st.lists(st.integers(0, 3), min_size=len(n_values), max_size=len(n_values))
    X = np.array(data.draw(st.lists(some, max_size=6)), float).reshape(-1, len(n_values)) % n_values
    missing = data.draw(st.lists(st.booleans(), min_size=X.size, max_size=X.size))
    X[np.array(missing, bool).reshape(X.shape)] = np.nan
    chosen = data.draw(st.sets(st.integers(0, len(n_values) - 1)))
    orders = {c: np.array(data.draw(st.permutations(range(n_values[c])))) for c in chosen}
    expected = X.copy()
    for c, order in orders.items():
        for row in range(len(X)):
            if not np.isnan(X[row, c]):
                expected[row, c] = order[int(X[row, c])]
    found, wanted = recoded(as_rows(X), codes_of(orders)), as_rows(expected)
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def as_rows(X):
    return rows_of_matrix(X)[0]
