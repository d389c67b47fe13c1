"""The paper's tables and figures, made anew."""

import csv
import dataclasses
import re
import statistics
import sys

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from marlene.experiments import Grid, ResultStore, paper, run_grid
from marlene.experiments import reproduce as package
from marlene.experiments._perform import perform
from marlene.experiments.reproduce import TARGETS, Plan, reproduce
from marlene.experiments.reproduce._ablation import GATE, alarmed, rotated, variant
from marlene.experiments.reproduce._labels import gmean_since_drift
from marlene.experiments.reproduce._more_figures import mean_transfer
from marlene.experiments.reproduce._plan import (
    PAPER_DATA_SETS,
    REAL_METHODS,
    SETTINGS,
    WITHOUT_CHANCE,
    in_order,
)
from marlene.experiments.reproduce._real import PUBLISHED_ROW, RANKED, RealData
from marlene.experiments.reproduce._results import Results
from marlene.experiments.reproduce._synthetic import SyntheticData
from marlene.experiments.reproduce._table import Column, ResultTable, papers
from marlene.experiments.statistics import friedman_over_time
from marlene.metrics import MacroGMean

PLAN = Plan(
    seeds=(1, 2),
    data_sets=("yeast",),
    limit=120,
    drift_types=("AA",),
    sizes=(10,),
    source_size=10,
    panels=(("AA", 10),),
    transfer=("AA", 10),
    absent=(("imdb", "the disk is full"),),
    quick=True,
)
METHODS = ("br-marlene", "br-resampled", "gobr")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with everything of a very small plan, with two seeds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Plan, "quick_one", classmethod(lambda _: PLAN))
        outcome = reproduce("all", tmp_path_factory.mktemp("reproduction"), quick=True)
    assert outcome.failures == ()
    return outcome


def results(made):
    return Results(ResultStore(made.out / "runs"))


def read_csv(made, name):
    with (made.out / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cells_of_markdown(text):
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip().replace("**", "").replace("&#124;", "|") for cell in row] for row in rows[:1] + rows[2:]]


def cells_of_latex(text):
    rows = [line.removesuffix(r" \\").split(" & ") for line in text.splitlines() if line.endswith(r"\\")]
    plain = {"--": "–", r"\_": "_", r"\%": "%", r"$\chi^2$": "χ²"}
    out = []
    for row in rows:
        cells = [re.sub(r"\\textbf\{(.*)\}", r"\1", cell) for cell in row]
        for written, meant in plain.items():
            cells = [cell.replace(written, meant) for cell in cells]
        out.append([cell.strip() for cell in cells])
    return out


def test_every_target_has_a_page_and_the_index_has_its_findings(made):
    assert [page.name for page in made.pages] == [*(f"{name}.md" for name in TARGETS), "index.md"]
    index = made.pages[-1].read_text(encoding="utf-8")
    for page in made.pages[:-1]:
        title, findings = page.read_text(encoding="utf-8").partition("\n## ")[0].split("\n", 1)
        assert f"## {title.removeprefix('# ')}\n{findings.rstrip()}" in index
        assert findings.strip().startswith("- ")
    assert "Quick reproduction" in index
    assert str(made.out) not in index


def test_every_link_of_the_pages_leads_somewhere(made):
    links = [link for page in made.pages for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))]
    assert len(links) > 50
    assert [link for link in links if not (made.out / link).is_file()] == []


def test_markdown_csv_and_latex_hold_the_same_cells(made):
    count = 0
    for page in made.pages[:-1]:
        for section in page.read_text(encoding="utf-8").split("\n## ")[1:]:
            name = section.partition("\n")[0]
            if "\n| " not in section:
                continue
            count += 1
            with (made.out / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
                as_csv = [[cell.strip() for cell in row] for row in csv.reader(file)]
            assert cells_of_markdown(section) == as_csv
            assert cells_of_latex((made.out / "tables" / f"{name}.tex").read_text(encoding="utf-8")) == as_csv
    assert count == len(list((made.out / "tables").glob("*.tex"))) > 15


def test_figures_are_there_in_three_formats(made):
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for name in ("fig-labels", "fig-aswr", "fig-windows", "fig-drifts", "fig-transfer"):
        for kind, start in starts.items():
            assert (made.out / "figures" / f"{name}.{kind}").read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("name", "figure"), [("macro", "macro_gmean"), ("micro", "micro_gmean"), ("label-set", "label_set_gmean")]
)
def test_cells_are_the_means_of_what_was_run_beside_the_papers(made, name, figure):
    store = ResultStore(made.out / "runs")
    rows = store.frame().filter(store.frame()["name"] == "yeast").rows(named=True)
    table = {row["method"]: row for row in read_csv(made, f"table-real-{name}")}
    assert list(table) == [*REAL_METHODS, PUBLISHED_ROW]
    for method in REAL_METHODS:
        values = [row[figure] for row in rows if row["method"] == method and row["options"] == "{}"]
        assert len(values) == (1 if method in WITHOUT_CHANCE else 2)
        assert table[method]["yeast"] == f"{np.mean(values):.3f}"
        assert table[method]["seeds"] == ("1" if method in WITHOUT_CHANCE else "1, 2")
    with_numbers = [row for row in rows if "numeric" in row["stream"]]
    assert {row["options"] for row in with_numbers} == {'{"drift": "none"}'}
    published = [row[figure] for row in with_numbers]
    assert table[PUBLISHED_ROW]["yeast"] == f"{np.mean(published):.3f}"
    place = paper.FIGURES.index(figure)
    assert float(table["br-marlene"]["yeast (paper)"]) == paper.figures("br-marlene", "yeast")[place]
    assert float(table[PUBLISHED_ROW]["yeast (paper)"]) == paper.figures("br-marlene", "yeast")[place]
    assert table["br-resampled"]["yeast (paper)"] == ""


def test_ranks_are_those_over_the_steps_of_the_mean_traces(made):
    found = results(made)
    traces = [np.mean([t["steps"] for t in found.traces(PLAN.real("yeast", m), "steps")], axis=0) for m in RANKED]
    expected = friedman_over_time(np.stack(traces, axis=1)[:, :, 0]).ranks
    table = {row["method"]: row for row in read_csv(made, "table-real-ranks-macro")}
    assert [table[method]["yeast"] for method in RANKED] == [f"{rank:.3f}" for rank in expected]
    assert [table[method]["mean"] for method in RANKED] == [f"{rank:.3f}" for rank in expected]
    assert table["br-marlene"]["yeast (paper)"] == "1.012"


def test_times_are_seconds_beside_the_papers(made):
    table = {row["method"]: row for row in read_csv(made, "table-time")}
    assert table["brpw-marlene"]["yeast (paper)"] == "82.6"
    assert table["ebr"]["yeast"] == f"{results(made).mean(PLAN.real('yeast', 'ebr'), 'learn_seconds'):.2f}"


def test_synthetic_ranks_are_those_of_six_settings(made):
    row, average = read_csv(made, "table-synthetic-label-set")
    found = results(made)
    steps = [found.mean_steps(PLAN.synthetic("AA", 10, *setting))[:, 2] for setting in SETTINGS]
    expected = [f"{rank:.3f}" for rank in friedman_over_time(np.column_stack(steps)).ranks]
    assert list(row.values())[:8] == ["AA", "10", *expected]
    assert list(average.values())[2:8] == expected
    assert average["BRPW similar (paper)"] == "2.063"
    assert row["BRPW similar (paper)"] == ""
    assert row["seeds"] == "1, 2"
    assert read_csv(made, "table-synthetic-detected-macro")[0]["seeds"] == "1"


def test_what_is_absent_is_named_with_the_reason(made):
    text = (made.out / "table-real.md").read_text(encoding="utf-8")
    assert "imdb was not run: the disk is full." in text
    rows = read_csv(made, "table-datasets")
    assert [row["examples"] for row in rows if row["data set"] == "imdb"] == ["not read"]
    assert [row["examples"] for row in rows if row["data set"] == "yeast"] == ["2417"]


def test_one_row_deleted_is_one_run_again(made, monkeypatch):
    monkeypatch.setattr(Plan, "quick_one", classmethod(lambda _: PLAN))
    before = {path.name: path.stat().st_mtime_ns for path in (made.out / "runs" / "runs").iterdir()}
    victim = PLAN.real("yeast", "eps").key
    (made.out / "runs" / "runs" / f"{victim}.parquet").unlink()
    table = (made.out / "tables" / "table-real-macro.csv").read_bytes()
    picture = (made.out / "figures" / "fig-labels.svg").read_bytes()
    ended = []
    reproduce("all", made.out, quick=True, watch=lambda progress: ended.append(progress.latest))
    assert [row["key"] for row in ended if row] == [victim]
    after = {path.name: path.stat().st_mtime_ns for path in (made.out / "runs" / "runs").iterdir()}
    assert {name for name in after if after[name] != before[name]} == {f"{victim}.parquet"}
    assert (made.out / "tables" / "table-real-macro.csv").read_bytes() == table
    assert (made.out / "figures" / "fig-labels.svg").read_bytes() == picture


def test_what_was_not_run_and_what_failed_are_shown_as_such(tmp_path):
    plan = dataclasses.replace(PLAN, data_sets=("yeast", "imdb"), seeds=(1,))
    broken = plan.real("yeast", "ebr")

    store = ResultStore(tmp_path)
    run_grid(Grid.of([plan.real("yeast", method) for method in METHODS]), tmp_path)
    store.add(perform(dataclasses.replace(broken, stream={"load": "no such file"})).row | _what(broken), {})
    page = TARGETS["table-real"].page(plan, Results(store))
    table = next(table for table in page.tables if table.name == "table-real-macro")
    rows = {row[0]: [table.text(i, j) for j in (1, 3, 5)] for i, row in enumerate(table.rows)}
    assert rows["ebr"] == ["failed", "not run", "none"]
    assert rows["gort"] == ["not run", "not run", "none"]
    assert rows["gobr"][1:] == ["not run", "1; imdb: none"]
    assert rows["brpw-marlene"] == ["not run", "not run", "none"]
    assert not page.figures
    assert "By Macro there are too few complete data sets for a test over data sets." in page.findings
    for name, target in TARGETS.items():
        if name != "table-datasets":
            assert target.page(plan, Results(store)).markdown().count("nan") == 0


def test_the_parts_of_marlene_are_compared(made):
    found = results(made)
    table = {row["variant"]: row for row in read_csv(made, "ablation-micro")}
    assert table["marlene"]["seeds"] == "1, 2"
    for name in ("marlene", "thresholds at 0.5", "br-marlene"):
        mean = statistics.fmean(found.values(variant(PLAN, "yeast", name), "micro_gmean"))
        assert table[name]["yeast"] == f"{mean:.3f}"
    assert table["best of any method in the paper"]["yeast"] == "0.724"
    assert len({row["yeast"] for row in table.values()}) > 5
    rows = [row for row in read_csv(made, "ablation-rotated") if row["figure"] == "Macro"]
    means = [statistics.fmean(found.values(rotated(PLAN, "yeast", vote), "macro_gmean")) for vote in GATE]
    assert [rows[0][vote] for vote in GATE] == [f"{mean:.3f}" for mean in means]
    assert rows[0]["gated less the better"] == f"{means[0] - max(means[1:]):.3f}"
    (row,) = [row for row in read_csv(made, "ablation-alarms") if row["figure"] == "Macro"]
    without, told = (
        statistics.fmean(found.values(alarmed(PLAN, "yeast", "marlene", alarms), "macro_gmean")) for alarms in (0, 5)
    )
    assert (row["marlene"], row["marlene with"]) == (f"{told - without:.3f}", f"{told:.3f}")
    page = (made.out / "ablation.md").read_text(encoding="utf-8")
    assert "What 5 false alarms in a row for every label change" in page
    assert "above the best of all methods in the paper's table in 0 of 3 cells" in page
    assert "Macro: `marlene` " in page


def _what(run):
    """Return the columns by which a row is found."""
    row = perform(dataclasses.replace(run, method="majority")).row
    return {name: row[name] for name in ("key", "stream")} | {"method": run.method}


def test_synthetic_settings_are_compared_on_the_seeds_they_share(made, tmp_path):
    whole = ResultStore(made.out / "runs")
    store = ResultStore(tmp_path)
    left_out = dataclasses.replace(PLAN.synthetic("AA", 10, "br-marlene", "similar"), seed=2)
    for row in whole.frame().iter_rows(named=True):
        if "synthetic" in row["stream"] and row["key"] != left_out.key:
            store.add(row, whole.traces(row["key"]))
    data = SyntheticData(PLAN, Results(store), "oracle")
    assert data.seeds(("AA", 10)) == (1,)
    one = [Results(whole).traces(PLAN.synthetic("AA", 10, *s), "steps", seeds=[1])[0]["steps"] for s in SETTINGS]
    expected = friedman_over_time(np.stack(one, axis=1)[:, :, 1]).ranks
    assert list(data.ranks("micro_gmean")["AA", 10].values()) == expected.tolist()
    wanted = PLAN.synthetic("AA", 10, "brpw-marlene", "none")
    assert (
        data.mean(("AA", 10), ("brpw-marlene", "none"), "micro_gmean")
        == Results(whole).values(wanted, "micro_gmean")[0]
    )


def test_nothing_run_at_all_makes_pages_that_say_so(tmp_path):
    store = ResultStore(tmp_path)
    for name, target in TARGETS.items():
        text = target.page(PLAN, Results(store)).markdown()
        assert name == "table-datasets" or "not run" in text


def test_more_seeds_later_count_in_the_tables(tmp_path):
    plan = dataclasses.replace(PLAN, seeds=(1,))
    run_grid(Grid.of([dataclasses.replace(plan.real("yeast", "ebr"), seed=seed) for seed in (3, 1, 2)]), tmp_path)
    assert RealData(plan, Results(ResultStore(tmp_path))).seeds("ebr") == "1–3"


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
    assert len(real) == 30 * (10 * 7 + 5) + 3 * 7
    assert {run.method for run in real} == set(REAL_METHODS)
    assert {run.stream["load"] for run in real if run.method == "brpw-marlene"} == {
        "yeast", "slashdot", "ohsumed", "20ng", "tmc2007",
    }  # fmt: skip
    assert len(synthetic) == 6 * 3 * 6 * 30
    assert {run.options["drift"] for run in synthetic} == {"oracle"}
    assert len(list(plan.detected_runs())) == 6 * 3 * 6
    assert {run.stream["features"] for run in plan.published_runs()} == {"numeric"}
    assert {run.options["drift"] for run in plan.published_runs()} == {"none"}
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


def test_a_row_of_the_transfer_matrix_belongs_to_the_label_of_its_own_box(made):
    found = results(made)
    run = PLAN.synthetic("AA", 10, "br-marlene", "similar")
    matrix, givers = mean_transfer(found, run)
    assert [label for stream, label in givers if not stream] == ["l1", "l2", "l3", "l4", "l5"]
    assert {stream for stream, _ in givers} == {"", "similar-1", "similar-2"}
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-5)
    own = [matrix[row, row] for row in range(5)]
    last = [traces["aswr"][-1] for traces in found.traces(run, "aswr")]
    np.testing.assert_allclose(1 - np.mean(own), np.mean(last), rtol=1e-5)


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
