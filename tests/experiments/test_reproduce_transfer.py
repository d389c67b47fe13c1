"""The page of what transfer is worth: its rows, the recorded gate, archives and the picture."""

import dataclasses
import statistics

import numpy as np
import pytest

from marlene.experiments import Grid, ResultStore, Run, run_grid
from marlene.experiments._perform import perform
from marlene.experiments.reproduce import Plan
from marlene.experiments.reproduce import _drawing as drawing
from marlene.experiments.reproduce import _gate as gate
from marlene.experiments.reproduce._plan import PAPER_DATA_SETS
from marlene.experiments.reproduce._results import Results
from marlene.experiments.reproduce.targets import _transfer_figure as transfer_figure
from marlene.experiments.reproduce.targets import transfer
from tests.experiments.plans import PLAN


def test_columns_of_transfer_are_what_they_say(tmp_path, monkeypatch):
    monkeypatch.setattr(transfer, "_another", lambda data_set: data_set)
    # The very small plan is too short for a snapshot: there tracking is the same as own.
    plan = dataclasses.replace(PLAN, seeds=(1,), limit=2000)
    wanted = [run for run in transfer.runs(plan) if run.stream.get("change", "swapped") == "swapped"]
    store = run_grid(Grid.of(wanted), tmp_path)
    page = transfer.page(plan, Results(store))
    rows = {(row[0], row[1]): row[2] for row in page.tables[0].rows}
    swapped = {"change": "swapped", "change_seed": 1}
    by_hand = {
        "own": perform(Run({"load": "yeast", "limit": 2000} | swapped, "marlene", {"transfer": "own"})),
        "tracking": perform(Run({"load": "yeast", "limit": 2000} | swapped, "marlene")),
        "told": perform(Run({"load": "yeast", "limit": 2000, "told": True} | swapped, "marlene")),
    }
    assert {how: rows["swapped", how] for how in by_hand} == {
        how: outcome.row["macro_gmean"] for how, outcome in by_hand.items()
    }
    assert len({rows["swapped", how] for how in by_hand}) == 3
    assert rows["as it is", "tracking"] != rows["swapped", "tracking"]
    archives = {(row[0], row[1]): row[2] for row in page.tables[3].rows}
    assert archives["whole", "noise"] < archives["whole", "same"]
    assert len({archives["whole", archive] for archive in ("none", "warm", "same", "renamed")}) == 4
    # Here the other data set is the same one, whose beginning is the first half.
    assert archives["whole", "another data set"] == archives["whole", "same"]
    models = {row["stream"]["archive"]: row["models"] for row in store.rows() if "archive" in row["stream"]}
    assert models["noise"] > models["none"]
    above, below = page.figures[0].figure.axes
    assert [text.get_text() for text in above.get_legend().get_texts()] == [
        "no drift",
        "without transfer (own)",
        "tracking",
    ]
    marks = {line.get_label(): line.get_xydata().tolist() for line in below.get_lines()}
    begin, end = below.get_xlim()
    assert begin < 666 < end
    names = [text.get_text() for text in below.get_yticklabels()]
    inside = [
        [time, names.index(label)]
        for label, events in by_hand["tracking"].row["inherited"].items()
        for time, *_ in events
        if begin <= time < end
    ]
    assert sorted(mark for kind in transfer_figure.MARKS for mark in marks[kind]) == sorted(inside) != []


def test_a_picture_tells_who_inherited_from_whom():
    unswapped = np.tile(np.eye(3, dtype=np.int8), (40, 1))
    truth = np.vstack([unswapped[:60], np.roll(unswapped[60:], 1, axis=1)])
    inherited = {"a": [[59, None, "b"], [65, None, "a"], [66, None, "c"], [67, None, "b"]], "b": [[70, None, "c"]]}
    row = {"true_drifts": {label: [60] for label in "abc"}, "examples": 120, "inherited": inherited}
    swap = transfer_figure.Swap.of(row, truth, unswapped)
    assert (swap.time, swap.begin, swap.end) == (60, 54, 80)
    assert swap.knew == {"a": "c", "b": "a", "c": "b"}
    assert list(swap.firsts()) == [("a", 66, "c"), ("b", 70, "c")]
    kinds = [swap.origin("a", giver, time) for time, giver in swap.events["a"]]
    assert kinds == ["from another label", "from its own past", transfer_figure.KNEW, "from another label"]
    assert swap.found() == (1, 6)
    with drawing.new_figure(6, 4) as figure:
        curve = transfer_figure.Curve(np.arange(120.0), np.linspace(0, 1, 120), {})
        transfer_figure.draw(figure, "abc", {"score": curve}, swap)
    assert [text.get_text() for text in figure.axes[1].texts] == ["← c", "← c"]
    assert transfer_figure.Swap.of(row | {"inherited": None}, truth, unswapped).found() == (0, 0)


def test_the_gate_is_shown_beside_whole_streams_with_three_seeds(tmp_path):
    plan = Plan(seeds=(1, 2, 3, 4), data_sets=("yeast",))
    wanted = [run for run in transfer.runs(plan) if run.stream.get("change") == "swapped" and run.options == {}]
    found = Results(run_grid(Grid.of(wanted), tmp_path))
    page = transfer.page(plan, found)
    rows = {(row[0], row[1]): row[2] for row in page.tables[1].rows}
    anew = rows["swapped", "gate started anew at every drift (recorded)"]
    assert anew == pytest.approx((0.7160 + 0.7168 + 0.7177) / 3)
    assert len(rows) == len(transfer.CHANGED) * 4 - 1 + 2
    tracked = statistics.fmean(found.mean(run, "micro_gmean") for run in wanted if not run.stream.get("told"))
    by = tracked - rows["swapped", "gate (recorded)"]
    assert any(
        "over the gated ensemble that it replaced" in said and f" / {by:+.3f} / " in said for said in page.findings
    )
    assert "*gate told of every drift* " in "".join(page.findings)
    for other in ({"limit": 2000}, {"seeds": (1, 2)}):
        less = transfer.page(dataclasses.replace(plan, **other), found)
        assert len(less.tables[0].rows) == len(transfer.CHANGED) * 3 - 1
        assert "recorded" not in less.markdown("transfer")


def test_the_gate_is_recorded_for_every_stream_of_transfer(tmp_path):
    plan = Plan(seeds=(1, 2, 3), data_sets=PAPER_DATA_SETS)
    page = transfer.page(plan, Results(ResultStore(tmp_path)))
    for table in page.tables[:3]:
        recorded = [row for row in table.rows if "recorded" in row[1]]
        assert [row[0] for row in recorded] == ["as it is", *["swapped"] * 3, *transfer.CHANGED[2:]]
        assert all(0 < value < 1 for row in recorded for value in row[2:])
    at, values = gate.curve()
    assert len(at) == len(values) <= 400
    assert (np.diff(at) > 0).all()
    assert at[-1] > 19000


def test_what_an_archive_wins_back_is_a_part_of_what_a_warm_start_gains():
    numbers = {"none": (0.5, 0.4), "warm": (0.7, 0.6), "same": (0.65, 0.55), "noise": (0.48, 0.4)}
    means = {
        (data_set, score, "whole", archive): values[i]
        for archive, values in numbers.items()
        for i, data_set in enumerate(("yeast", "imdb"))
        for score in ("macro_gmean", "micro_gmean", "label_set_gmean")
    }
    means["yeast", "micro_gmean", "whole", "warm"] = 0.2
    (said,) = [text for text in transfer._archive_gains(means) if "wins back" in text]
    assert said.endswith("*same* 75 % / no gap / 75 %; *noise* -5 % / no gap / -5 %.")


def test_the_repetitions_of_transfer_are_three_seeds_of_what_is_random():
    plan = dataclasses.replace(PLAN, seeds=tuple(range(1, 31)))
    runs = list(transfer.runs(plan))
    assert {run.seed for run in runs} == {1}
    assert {run.method for run in runs} == {"marlene"}
    assert {run.stream.get("change_seed") for run in runs if run.stream.get("change") == "swapped"} == {1, 2, 3}
    assert {run.stream.get("archive_seed") for run in runs if run.stream.get("archive") == "noise"} == {1, 2, 3}
    # As it is: 2; recurring: 3; four random changes: 9 each; archives: 4, and 3 of noise.
    assert len(runs) == len({run.key for run in runs}) == 2 + 3 + 4 * 9 + 4 + 3
    runs = list(transfer.runs(Plan(seeds=(1, 2, 3), data_sets=PAPER_DATA_SETS)))
    others = {run.stream["load"]: run.stream["archive"] for run in runs if run.stream.get("archive") in PAPER_DATA_SETS}
    assert others == dict.fromkeys(PAPER_DATA_SETS, "ohsumed") | {"ohsumed": "slashdot"}
    assert len(runs) == len({run.key for run in runs}) == 7 * 49
