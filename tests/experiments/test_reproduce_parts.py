"""What reproduction is made of: plans, traits of methods, tables, refusals."""

import dataclasses
import sys

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from marlene.experiments import paper
from marlene.experiments import reproduce as package
from marlene.experiments._perform import perform
from marlene.experiments.reproduce import TARGETS, Plan, reproduce
from marlene.experiments.reproduce._page import joined
from marlene.experiments.reproduce._plan import PAPER_DATA_SETS, compared, in_order
from marlene.experiments.reproduce._table import Column, ResultTable, papers
from marlene.experiments.reproduce.targets import table_real, table_synthetic
from marlene.experiments.reproduce.targets.fig_labels import gmean_since_drift
from marlene.learners import METHODS as KNOWN
from marlene.metrics import MacroGMean
from tests.experiments.plans import PLAN

REAL_METHODS = compared()
WITHOUT_CHANCE = [name for name in REAL_METHODS if not KNOWN[name].random]


def test_traits_are_those_of_the_papers_tables():
    assert {row.method for row in paper.real_data()} == {m.name for m in KNOWN.values() if m.in_paper}
    assert [m.name for m in KNOWN.values() if m.proposed] == ["br-marlene", "brpw-marlene"]
    assert all(m.compared for m in KNOWN.values() if m.in_paper)


def test_an_unknown_target_is_refused(tmp_path):
    with pytest.raises(MarleneError, match=r"no table or figure 'table-reel'; known: table-datasets, .*, all$"):
        reproduce("table-reel", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_without_matplotlib_the_extra_is_named_before_anything_is_run(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MarleneError, match=r"reproducing the paper needs .* pip install \"marlene\[experiments\]\""):
        reproduce("fig-aswr", tmp_path / "out", quick=True)
    assert not (tmp_path / "out").exists()


def test_the_full_plan_is_the_papers(monkeypatch):
    monkeypatch.setattr("marlene.experiments.reproduce._plan.find", lambda name: name)
    plan = Plan.full(30, PAPER_DATA_SETS)
    real, synthetic = list(plan.real_runs()), list(plan.synthetic_runs(plan.synthetic_streams()))
    assert len(real) == 30 * (10 * 6 + 5) + 3 * 10 + 3 * 7  # three seeds on IMDB
    assert {run.method for run in real} == set(REAL_METHODS)
    assert {run.stream["load"] for run in real if run.method == "brpw-marlene"} == {
        "yeast", "slashdot", "ohsumed", "20ng", "tmc2007",
    }  # fmt: skip
    assert len(synthetic) == 6 * 3 * 6 * 30
    assert {run.options["drift"] for run in synthetic} == {"oracle"}
    detected = [run for run in table_synthetic.runs(plan) if run.options.get("drift", "oracle") != "oracle"]
    assert len(detected) == 6 * 3 * 6 * 30
    marlene = [run for run in table_synthetic.runs(plan) if run.method == "marlene"]
    assert len(marlene) == 6 * 3 * 2 * 30  # its data differ from seed to seed
    assert all(run.told for run in marlene)
    published = [run for run in table_real.runs(plan) if run.options.get("drift", "ddm-oci") != "ddm-oci"]
    assert {run.stream["features"] for run in published} == {"numeric"}
    assert {run.options["drift"] for run in published} == {"none"}
    ordered = in_order([*real, *synthetic])
    assert [run.seed for run in ordered] == sorted(run.seed for run in ordered)
    assert ordered[0].stream.get("size") == 50
    assert ordered[-1].stream.get("load") == "imdb" or ordered[-1].stream["size"] == 5000


def test_a_data_set_that_cannot_be_had_is_left_out_with_the_reason(monkeypatch):
    def find(name):
        if name == "imdb":
            raise MarleneError("imdb: no network")
        return name

    monkeypatch.setattr("marlene.experiments.reproduce._plan.find", find)
    plan = Plan.full(1, PAPER_DATA_SETS)
    assert plan.absent == (("imdb", "imdb: no network"),)
    assert set(plan.data_sets) == set(PAPER_DATA_SETS) - {"imdb"}


def test_figures_of_synthetic_streams_ask_for_no_data_set(monkeypatch):
    asked = []
    monkeypatch.setattr("marlene.experiments.reproduce._plan.find", asked.append)
    for name in ("table-synthetic", "fig-labels", "fig-aswr", "fig-transfer", "fig-drifts", "fig-windows"):
        plan = Plan.full(1, TARGETS[name].needs)
        assert {run.stream.get("load") for run in TARGETS[name].runs(plan)} <= {None, "yeast"}
    assert asked == []


def test_no_runs_are_refused(tmp_path):
    with pytest.raises(MarleneError, match="runs must be at least 1, not 0"):
        package.reproduce("fig-labels", tmp_path, runs=0)


@pytest.mark.parametrize("method", REAL_METHODS)
def test_methods_said_to_be_without_chance_are_and_no_others(method):
    run = PLAN.real("yeast", method)
    one, other = (perform(dataclasses.replace(run, seed=seed)).row["micro_gmean"] for seed in (1, 2))
    assert (one == other) == (method in WITHOUT_CHANCE)


def test_gmean_since_drift_is_that_of_rivers_metric_begun_anew():
    rng = np.random.default_rng(1)
    truth, pred = rng.random((2, 400)) < 0.3
    expected = []
    for part in (slice(0, 150), slice(150, 400)):
        metric = MacroGMean()
        for y, z in zip(truth[part], pred[part], strict=True):
            metric.update({"l": bool(y)}, {"l": bool(z)})
            expected.append(metric.get())
    found = gmean_since_drift(pred.astype(np.int8), truth.astype(np.int8), [150])
    np.testing.assert_allclose(found[20:150], expected[20:150])
    np.testing.assert_allclose(found[170:], expected[170:])


def test_the_best_is_bold_also_where_two_share_it():
    columns = [Column("m"), Column("a", best="max"), papers("a", best="max")]
    table = ResultTable("t", "", columns, [["x", 0.50004, 0.1], ["y", 0.5, None], ["z", 0.2, 0.3]])
    assert table.markdown().splitlines()[2:] == [
        "| x | **0.500** | 0.100 |",
        "| y | **0.500** |  |",
        "| z | 0.200 | **0.300** |",
    ]


def test_the_best_of_a_row_is_among_ours_and_among_the_papers():
    columns = [Column("a", best="min"), Column("b", best="min"), papers("a", best="min"), papers("b", best="min")]
    table = ResultTable("t", "", columns, [[1.0, 2.0, 5.0, 4.0], ["failed", 2.0, None, 4.0]], compared="rows")
    assert table.markdown().splitlines()[2:] == [
        "| **1.000** | 2.000 | 5.000 | **4.000** |",
        "| failed | 2.000 |  | 4.000 |",
    ]


def test_text_with_a_meaning_to_latex_and_markdown_is_escaped():
    table = ResultTable("t", "50 % of\nit", [Column("|D| & x_1")], [["a|b"]])
    assert r"$|$D$|$ \& x\_1 \\" in table.latex()
    assert table.markdown().splitlines()[2] == "| a&#124;b |"
    assert all(not line.startswith("it") for line in table.latex().splitlines())


def test_text_is_wrapped_and_tables_are_not():
    row = "| " + "cell | " * 40
    text = joined(["# Title", "- " + "word " * 60, row])
    first, second, third = text.split("\n\n")[1].splitlines()
    assert first.startswith("- word")
    assert max(len(first), len(second), len(third)) <= 120
    assert second.startswith("  word")
    assert text.endswith(f"\n\n{row}\n")
