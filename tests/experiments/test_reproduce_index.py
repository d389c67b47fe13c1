"""What a reproduction took, which seeds a page counts, and what a quick page leaves out."""

import dataclasses
from collections import Counter

import pytest

from marlene.experiments import ResultStore
from marlene.experiments.reproduce import RUNS, TARGETS, Plan, ReproduceTarget, reproduce
from marlene.experiments.reproduce._index import costs, write_index
from marlene.experiments.reproduce._page import Page
from marlene.experiments.reproduce._plan import FEW_SEEDS, PAPER_DATA_SETS
from marlene.experiments.reproduce._results import Results
from marlene.experiments.reproduce._table import Column, ResultTable, papers
from marlene.experiments.reproduce._words import Comparison
from marlene.learners import METHODS
from tests.experiments.plans import PLAN

WHOLE = Plan(tuple(range(1, RUNS + 1)), PAPER_DATA_SETS)


def add(store, run, seconds):
    """Add the row of a run that took so many seconds."""
    machine = {"processor": "abacus", "cores": 3}
    times = {"cpu_seconds": seconds, "finished": str(run.seed)}
    store.add({"key": run.key, "group": run.group, "seed": run.seed, "status": "done"} | machine | times, {})


@pytest.fixture
def plan():
    return dataclasses.replace(PLAN, seeds=(1, 2, 3))


@pytest.fixture
def targets():
    """Return two targets that share a method; one measures memory, too."""

    def target(name, methods, measured=()):
        return ReproduceTarget(
            name,
            ("yeast",),
            lambda plan: plan.seeded(plan.real("yeast", method) for method in methods),
            lambda *_: Page(["Nothing."]),
            lambda plan: [plan.real("yeast", method) for method in measured],
        )

    first, second = target("table-real", ["ebr", "gobr"]), target("ablation", ["ebr", "ecc", "eps"], ["ebr"])
    return {"table-real": first, "ablation": second}


@pytest.fixture
def results(tmp_path, plan):
    store, alone = ResultStore(tmp_path / "runs"), ResultStore(tmp_path / "alone")
    for seed, seconds in ((1, 100.0), (2, 200.0), (7, 600.0)):
        add(store, dataclasses.replace(plan.real("yeast", "ebr"), seed=seed), seconds)
    add(store, plan.real("yeast", "gobr"), 36.0)
    add(store, plan.real("yeast", "ecc"), 10.0)
    add(alone, plan.real("yeast", "ebr"), 7.0)
    return Results(store, alone)


def test_a_run_counts_for_the_first_target_and_an_absent_one_as_the_same_with_other_seeds(plan, results, targets):
    first, second = costs(plan, results, targets)
    assert (first.runs, first.seconds, first.seeds) == (4, 936.0, (1, 2, 7))
    assert (first.planned, first.needed, first.unknown) == (4, 100.0 + 200.0 + 300.0 + 36.0, 0)
    assert (second.runs, second.seconds, second.seeds) == (2, 17.0, (1,))
    assert (second.planned, second.needed, second.unknown) == (7, 10.0 * 3 + 7.0, 3)


def test_the_index_says_what_everything_took(plan, results, targets, tmp_path):
    write_index(tmp_path, targets, ["Read this."], plan, results)
    text = (tmp_path / "index.md").read_text(encoding="utf-8")
    words = " ".join(text.split())
    assert "has 6 runs of these pages, which took 0.26 hours of CPU time on abacus with 3 cores." in words
    assert "`marlene reproduce all` with its default of 3 seeds has 11 runs and takes more than 0.2 CPU hours" in words
    assert "3 of them are not there with any seed; their time is left out" in words
    assert "| table-real | 4 | 4 | 0.26 | 0.18 | 1, 2, 7 |" in text.splitlines()
    assert "| all | 6 | 11 | 0.26 | 0.19 | 1, 2, 7 |" in text.splitlines()


def test_a_page_may_count_the_first_seeds_alone(results, plan):
    run = plan.real("yeast", "ebr")
    assert results.seeds(run) == results.first(None).seeds(run) == (1, 2, 7)
    fewer = results.first(2)
    assert (fewer.seeds(run), fewer.mean(run, "cpu_seconds")) == ((1, 2), 150.0)
    assert fewer.measured.seeds(run) == (1,)
    alone = Results(ResultStore(results.measured._store.folder)).first(0)
    assert alone.measured.seeds(run) == ()


@pytest.mark.parametrize("name", TARGETS)
def test_all_random_methods_of_a_target_are_run_with_the_same_seeds(name):
    target = TARGETS[name]
    most = RUNS if target.most_seeds is None else target.most_seeds
    groups = Counter(
        run.group
        for run in {run.key: run for run in target.runs(WHOLE)}.values()
        if run.method in METHODS and METHODS[run.method].random and run.stream.get("load") != "imdb"
    )
    once = {"detectors": 6 * 6 * 2}  # on changed data sets
    assert Counter(groups.values())[1] == (once.get(name, 0) if most > 1 else len(groups))
    assert set(groups.values()) <= {1, most}
    assert most in {RUNS, FEW_SEEDS, 1}


def test_what_others_printed_is_left_out_of_a_page_that_does_not_compare():
    columns = [Column("method"), Column("Macro", best="max"), papers("Macro"), Column("off", compares=True)]
    rows = [["ebr", 0.1, 0.2, 0.1], ["ecc", 0.3, 0.1, 0.2], ["theirs", 0.9, 0.9, 0.0]]
    table = ResultTable("t", "Scores[[, beside the paper's]].", columns, rows, theirs=(2,))
    notes = ["[[The paper has others.]]", "Means[[, the paper's, too]]."]
    assert table.bold == {(2, 1)}
    whole = Page([Comparison("Near the paper."), "Fast."], [table], notes=notes)
    text = whole.markdown("table-real")
    assert "- The paper has others.\n\n- Means, the paper's, too.\n" in text
    assert "Scores, beside the paper's. ([CSV]" in text
    assert "% Scores, beside the paper's." in table.latex()
    page = whole.alone()
    assert page.notes == ["Means."]
    assert page.findings == ["Fast."]
    assert page.tables[0].csv() == "method,Macro\nebr,0.100\necc,0.300\n"
    assert page.tables[0].bold == {(1, 1)}
    assert page.tables[0].caption == "Scores."
    assert Page([Comparison("Near the paper.")]).alone().findings == ["Nothing here is compared with the paper."]


def test_quick_pages_are_not_compared(tmp_path, monkeypatch):
    small = dataclasses.replace(PLAN, seeds=(1,), quick=True)
    monkeypatch.setattr(Plan, "quick_one", classmethod(lambda _: small))
    for target in ("table-br-marlene", "imitation"):
        reproduce(target, tmp_path, quick=True)
        text = (tmp_path / f"{target}.md").read_text(encoding="utf-8")
        assert "- Nothing here is compared with the paper." in text
        assert "(paper)" not in text
        assert "largest difference" not in text
    assert "is left out of the pages" in (tmp_path / "index.md").read_text(encoding="utf-8")
