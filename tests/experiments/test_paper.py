"""The paper's tables: complete, consistent with themselves, and with cells read by eye."""

import numpy as np
import pytest

from marlene.experiments import paper
from marlene.streams import CATALOGUE
from marlene.streams.synthetic import DRIFT_TYPES, SIZES

METHODS = ["br-marlene", "ebr", "ecc", "eps", "ert", "eabr", "eacc", "eaps", "gobr", "gocc", "gops", "gort"]
# Rows BR-M of the table of results.
BR_MARLENE = {
    "slashdot": (0.357, 0.572, 0.412),
    "ohsumed": (0.571, 0.610, 0.497),
    "reuters": (0.415, 0.753, 0.640),
    "yeast": (0.539, 0.644, 0.606),
    "20ng": (0.699, 0.759, 0.650),
    "tmc2007": (0.752, 0.774, 0.733),
    "imdb": (0.411, 0.524, 0.397),
}

PRINTED_SOURCES = ("none", "similar", "non-similar")


def results():
    return {(row.score, row.method, row.data_set): row for row in paper.real_data()}


def ranks():
    return {(r.score, r.drift, r.size, r.method, r.sources): r.rank for r in paper.synthetic_ranks()}


def test_the_data_sets_are_those_of_the_catalogue():
    assert [row.data_set for row in paper.data_sets()] == list(CATALOGUE)
    assert paper.data_sets()[5] == ("tmc2007", "binary", 28596, 500, 22, 0.098, 0.092, 0.098)


def test_every_method_is_on_every_data_set():
    expected = {(f, m, d) for f in paper.SCORES for m in METHODS for d in [*CATALOGUE, "average"]}
    assert set(results()) == expected | {(f, "brpw-marlene", "yeast") for f in paper.SCORES}
    assert len(results()) == len(paper.real_data())
    times = {(row.method, row.data_set) for row in paper.times()}
    assert times == {(m, d) for m in METHODS for d in CATALOGUE} | {("brpw-marlene", "yeast")}


@pytest.mark.parametrize("data_set", CATALOGUE)
def test_cells_read_by_eye(data_set):
    assert paper.scores("br-marlene", data_set) == BR_MARLENE[data_set]


def test_more_cells_read_by_eye():
    assert paper.scores("brpw-marlene", "yeast") == (0.567, 0.663, 0.636)
    assert paper.scores("gops", "yeast") == (0.218, 0.576, 0.514)
    assert paper.scores("ebr", "slashdot") == (0.023, 0.065, 0.015)
    assert paper.scores("gort", "imdb") == (0.043, 0.612, 0.515)
    assert results()["micro_gmean", "gort", "slashdot"][3:] == (0.596, 2.031, "same")
    assert results()["label_set_gmean", "gobr", "slashdot"].mark == "best"
    assert {(r.method, r.data_set): r.milliseconds for r in paper.times()}["ecc", "imdb"] == 31_296_078
    assert ranks()["label_set_gmean", "AS", 5000, "brpw-marlene", "non-similar"] == 1.139


@pytest.mark.parametrize("score", paper.SCORES)
def test_ranks_add_up(score):
    """Twelve ranks sum to 78 and six to 21, whoever is first; a mistyped digit would show."""
    for data_set in CATALOGUE:
        total = sum(results()[score, method, data_set].rank for method in METHODS)
        assert total == pytest.approx(78, abs=0.01)
    for drift in DRIFT_TYPES:
        for size in SIZES:
            rows = [ranks()[score, drift, size, m, s] for m in ("br-marlene", "brpw-marlene") for s in PRINTED_SOURCES]
            assert sum(rows) == pytest.approx(21, abs=0.004)


@pytest.mark.parametrize("score", paper.SCORES)
def test_averages_are_averages(score):
    for method in METHODS:
        mean = np.mean([results()[score, method, data_set].rank for data_set in CATALOGUE])
        assert results()[score, method, "average"].rank == pytest.approx(mean, abs=0.002)
    for method in ("br-marlene", "brpw-marlene"):
        for sources in PRINTED_SOURCES:
            mean = np.mean([ranks()[score, d, size, method, sources] for d in DRIFT_TYPES for size in SIZES])
            assert ranks()[score, "average", None, method, sources] == pytest.approx(mean, abs=0.002)


def test_every_row_has_a_best():
    best = {(row.score, row.data_set) for row in paper.real_data() if row.mark == "best"}
    assert best == {(f, d) for f in paper.SCORES for d in [*CATALOGUE, "average"]}
    best_ranks = [row for row in paper.synthetic_ranks() if row.mark == "best"]
    assert len(best_ranks) == 3 * 19
    for row in best_ranks:
        same_row = [r.rank for r in paper.synthetic_ranks() if r[:3] == row[:3]]
        assert row.rank == min(same_row)
