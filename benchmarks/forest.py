"""A forest of one tree per label against as many trees of River: predict, then train, on every example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from river.tree import HoeffdingTreeClassifier
from river.tree.splitter import GaussianSplitter

from benchmarks._measure import Bound, Table, absent_data, cpu_seconds, median_seconds, progress
from marlene.streams import load
from marlene.trees import HoeffdingForest

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from marlene.streams import Stream

    Floats = npt.NDArray[np.float64]

ROUNDS = 5


def forest_of(stream: Stream) -> tuple[HoeffdingForest, npt.NDArray[np.int64]]:
    """Return an untrained forest for the features of a stream, and a tree of it per label."""
    kinds = [len(feature.values) if feature.kind == "nominal" else feature.kind for feature in stream.features]
    forest = HoeffdingForest(kinds)
    return forest, forest.add(len(stream.labels))


def in_one_call(stream: Stream) -> tuple[Floats, int]:
    """Return the votes of our trees before training, and their nodes after it; all examples in one call."""
    forest, trees = forest_of(stream)
    votes = forest.test_then_train(trees, stream.X, stream.Y)[:, :, 1]
    return votes, sum(map(forest.n_nodes, trees))


def one_by_one(stream: Stream, rows: list[Any]) -> tuple[Floats, int]:
    """Return the same, from two calls per example; `rows` are the inputs as matrices of one row."""
    forest, trees = forest_of(stream)
    votes = np.zeros(stream.Y.shape)
    for i, x in enumerate(rows):
        votes[i] = forest.votes(x, trees)[:, 1]
        forest.learn(trees, x, stream.Y[i])
    return votes, sum(map(forest.n_nodes, trees))


def with_river(
    settings: dict[str, Any], examples: list[dict[str, float]], truth: list[list[bool]]
) -> tuple[Floats, int]:
    """Return the same of River's trees, with the settings of ours."""
    trees = [
        HoeffdingTreeClassifier(
            grace_period=int(settings["grace_period"]),
            delta=settings["delta"],
            tau=settings["tie_threshold"],
            splitter=GaussianSplitter(n_splits=settings["split_points"]),
            leaf_prediction="nba",
        )
        for _ in truth[0]
    ]
    votes = np.zeros((len(truth), len(trees)))
    for i, (x, y) in enumerate(zip(examples, truth, strict=True)):
        for j, tree in enumerate(trees):
            votes[i, j] = tree.predict_proba_one(x).get(True, 0.0)
            tree.learn_one(x, y[j])
    return votes, sum(int(tree.n_nodes) for tree in trees)


def compare(title: str, method: str, stream: Stream, least: float) -> Table:
    """Compare our trees with River's on a stream; `least` is the ratio that is wanted."""
    forest = forest_of(stream)[0]
    forest.load_kernels()
    settings = forest.settings()
    names = [feature.name for feature in stream.features]
    dense = stream.X if isinstance(stream.X, np.ndarray) else stream.X.toarray()
    examples = [dict(zip(names, row, strict=True)) for row in dense.tolist()]
    truth = stream.Y.astype(bool).tolist()
    rows = [stream.X[[i]] for i in range(len(stream))]
    progress(f"{title}, marlene")
    block = median_seconds(lambda: in_one_call(stream), ROUNDS)
    single = median_seconds(lambda: one_by_one(stream, rows), ROUNDS)
    progress(f"{title}, River")
    results: list[tuple[Floats, int]] = []
    river = cpu_seconds(lambda: results.append(with_river(settings, examples, truth)))
    (our_votes, our_nodes), (river_votes, river_nodes) = in_one_call(stream), results[0]
    agreement = float(np.mean((our_votes > 0.5) == (river_votes > 0.5)))
    timed = [
        ("marlene, one call for all examples", block, our_nodes),
        ("marlene, two calls per example", single, our_nodes),
        ("River", river, river_nodes),
    ]
    text = (
        f"{len(stream.labels)} trees, one per label, predict and then learn {len(stream):,} examples of "
        f"{len(names):,} features. {method} Both use adaptive naive Bayes in the leaves, grace period "
        f"{settings['grace_period']:g}, δ = {settings['delta']:g}, tie threshold {settings['tie_threshold']:g} and "
        f"{settings['split_points']} split points, the defaults of both. Ours: from matrix to votes, median of "
        f"{ROUNDS} runs; River: `predict_proba_one` and `learn_one` for every example and tree, one run. Matrices of "
        "one row and River's dictionaries are made before the clock starts. Nodes are those of all trees at the end. "
        f"Both predict the same in {100 * agreement:.1f} % of the cases."
    )
    columns = ("learner", "CPU s", "µs per example and tree", "× River's speed", "nodes")
    cells = [(name, cpu, 1e6 * cpu / stream.Y.size, river / cpu, nodes) for name, cpu, nodes in timed]
    bound = Bound(f"{title}, speed", river / block, least, "× River's", at_least=True)
    return Table(title, text, columns, [*cells], [bound])


def yeast(limit: int | None = None) -> Table:
    return compare("Trees on Yeast", "All features are numeric and dense.", load("yeast", limit=limit), 60)


def slashdot(limit: int) -> Table:
    title = "Trees on Slashdot"
    if absent_data():
        return Table(title, absent_data())
    method = (
        "The features are words, present or not: ours gets sparse rows of binary features, River a dictionary with the "
        "number 0 or 1 for each."
    )
    return compare(title, method, load("slashdot", limit=limit), 1000)


def tables(*, quick: bool = False) -> Iterator[Table]:
    yield yeast(200 if quick else None)
    yield slashdot(50 if quick else 500)
