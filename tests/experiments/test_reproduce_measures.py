"""Pages of our own measures: the noise floor, and the methods that others have published."""

import csv
import dataclasses

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from marlene.experiments import Grid, ResultStore, published, run_grid
from marlene.experiments.reproduce import _measures as measures
from marlene.experiments.reproduce import reproduce
from marlene.experiments.reproduce._plan import Plan, rivals
from marlene.experiments.reproduce._results import Results
from marlene.experiments.reproduce.targets import _constants, noise_floor
from marlene.experiments.reproduce.targets import published as beside
from marlene.learners import create
from marlene.streams import CATALOGUE, load
from tests.experiments.plans import PLAN
from tests.naive import metrics as naive

EXISTING = {"micro-f1": "micro", "hamming": "none"}
"""Objectives that stand in for others."""


def read_csv(folder, name):
    with (folder / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("measures")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Plan, "quick_one", classmethod(lambda _: PLAN))
        for name, objective in EXISTING.items():
            key = next(key for key, measure in beside.MEASURES.items() if measure.objective == name)
            changed = dataclasses.replace(beside.MEASURES[key], objective=objective)
            patch.setitem(beside.MEASURES, key, changed)
        for target in ("published", "noise-floor"):
            assert reproduce(target, out, quick=True).failures == ()
    return out


def test_every_figure_is_there():
    assert len(published.METHODS) == 17
    assert set(published.DATA_SETS) == set(CATALOGUE) - {"reuters"}
    assert len(published.scores()) == (17 * 6 - 1) * 12
    assert max(published.scores().values()) < published.LONGEST
    assert {key for _, _, key in published.scores()} > set(beside.MEASURES)
    for data_set in published.DATA_SETS:
        for measure in beside.MEASURES:
            method, value = published.best(data_set, measure)
            finished = [name for name in published.METHODS if (data_set, name) != ("imdb", "AMF")]
            others = [published.scores()[data_set, name, measure] for name in finished]
            assert value == published.scores()[data_set, method, measure]
            assert value == (min(others) if measure == "hamming" else max(others))


def test_ours_stands_above_the_published_methods(folder):
    rows = read_csv(folder, "published-micro-f1")
    assert [row["method"] for row in rows] == [
        "marlene, objective micro",
        "marlene, default",
        *rivals(),
        "best constant",
        *published.METHODS,
    ]
    found = Results(ResultStore(folder / "runs"))
    run = PLAN.real("yeast", "marlene", {"objective": "micro"})
    assert rows[0]["yeast"] == f"{found.mean(run, 'cumulative_micro_f1'):.4f}"
    named = {row["method"]: row for row in rows}
    assert (rows[0]["seeds"], named["MLHAT"]["yeast"], named["MLHAT"]["seeds"]) == ("1", "0.5976", "")
    for rival in rivals():
        assert named[rival]["yeast"] == f"{found.mean(PLAN.real('yeast', rival), 'cumulative_micro_f1'):.4f}"


def test_passing_is_counted(folder):
    text = (folder / "published.md").read_text(encoding="utf-8").replace("\n  ", " ")
    found = Results(ResultStore(folder / "runs"))
    for measure, objective in (("micro_f1", "micro"), ("hamming", "none")):
        ours = beside.MEASURES[measure]
        value = found.mean(PLAN.real("yeast", "marlene", {"objective": objective}), ours.column)
        _, theirs = published.best("yeast", measure)
        passed = int(value < theirs if measure == "hamming" else value > theirs)
        assert (
            f"By {ours.name}, with `objective={objective}`, Marlene passes the best of the 17 methods on {passed} of 1"
            in text
        )
    default = found.rows(PLAN.real("yeast", "marlene"))[0]
    assert f"yeast {default['labels_predicted']:.1f} for {default['labels_true']:.1f}" in text


def test_where_a_rival_passes_is_said(folder):
    text = (folder / "published.md").read_text(encoding="utf-8").replace("\n  ", " ")
    found = Results(ResultStore(folder / "runs"))
    assert "vw" in rivals()
    for rival in rivals():
        passed = by_default = 0
        for measure in beside.MEASURES.values():
            objective = EXISTING.get(measure.objective, measure.objective)
            ours = found.mean(PLAN.real("yeast", "marlene", {"objective": objective}), measure.column)
            passed += measure.better(found.mean(PLAN.real("yeast", rival), measure.column), ours)
            default = found.mean(PLAN.real("yeast", "marlene"), measure.column)
            by_default += measure.better(found.mean(PLAN.real("yeast", rival), measure.column), default)
        said = f"Of {len(beside.MEASURES)} cells (measures × data sets), `{rival}`, run here, is better in {passed} "
        said += f"than Marlene with the fitting objective, and in {by_default} than Marlene with its default objective."
        assert said in text


def test_where_our_version_of_a_published_method_is_worse_is_said(folder):
    text = (folder / "published.md").read_text(encoding="utf-8").replace("\n  ", " ")
    found = Results(ResultStore(folder / "runs"))
    run, better = PLAN.real("yeast", "mlhat"), 0
    for name, measure in beside.MEASURES.items():
        value, theirs = found.mean(run, measure.column), published.scores()["yeast", "MLHAT", name]
        better += measure.better(value, theirs)
        cell = f"{measure.name} on yeast ({value:.4f}, published {theirs:.4f})"
        assert (cell in text.partition("It is worse in: ")[2]) == (not measure.better(value, theirs))
    assert f"better than the published MLHAT in {better} of {len(beside.MEASURES)} cells" in text


def test_an_objective_that_does_not_exist_is_not_run():
    unknown = dataclasses.replace(measures.MICRO_F1, objective="no such objective")
    assert measures.fitting(PLAN, "yeast", unknown) is None
    assert measures.fitting(PLAN, "yeast", measures.MICRO).options == {"objective": "micro"}


def test_the_best_constant_answer_is_the_best_of_those_tried():
    rng = np.random.default_rng(0)
    truth = (rng.random((60, 4)) < [0.7, 0.3, 0.1, 0.02]).astype(np.int8)
    tried = _constants.candidates(truth)
    assert tried.sum(axis=1).tolist()[:5] == [0, 1, 2, 3, 4]
    found = _constants.best_constants(truth, window=6, start=3)
    for measure in measures.CUMULATIVE:
        name = measure.column.removeprefix("cumulative_")
        values = []
        for answer in tried.tolist():
            scores = naive.scores(truth[1:].tolist(), [answer] * 59, [1.0] * 59)
            values.append(1 - scores["hamming_score"] if name == "hamming_loss" else scores[name])
        best = min(values) if measure.best == "min" else max(values)
        assert found[measure].value == pytest.approx(best)
        assert tried[values.index(best)].sum() == found[measure].labels
    assert found[measures.MACRO].value == 0
    assert found[measures.MICRO].value > 0.5


def test_the_commonest_label_set_is_tried():
    truth = np.array([[0, 1, 1], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 0, 1], [0, 1, 1], [0, 1, 1]], np.int8)
    assert _constants.candidates(truth)[-1].tolist() == [0, 1, 1]
    assert _constants.best_constants(truth, 2, 0)[measures.SUBSET].labels == 2


def test_the_floor_is_shown_beside_methods(folder):
    rows = {row["answer"]: row for row in read_csv(folder, "noise-floor-yeast")}
    assert list(rows) == [
        "best constant",
        "its number of labels",
        "prior",
        "coin",
        "marlene",
        "br-marlene",
        "ebr",
        noise_floor.FITTING,
    ]
    found = Results(ResultStore(folder / "runs"))
    assert rows["coin"]["Macro-G-Mean"] == f"{found.mean(PLAN.real('yeast', 'coin'), 'macro_gmean'):.3f}"
    assert rows["coin"]["seeds"] == "1, 2"
    stream = load("yeast", limit=PLAN.limit)
    floor = _constants.best_constants(stream.Y, PLAN.limit // 10, PLAN.limit // 20)
    assert rows["best constant"]["Micro-G-Mean"] == f"{floor[measures.MICRO].value:.3f}"
    assert rows["its number of labels"]["Micro-G-Mean"] == str(floor[measures.MICRO].labels)
    fit = measures.fitting(PLAN, "yeast", measures.LABEL_SET)
    assert rows[noise_floor.FITTING]["Label-set-G-Mean"] == f"{found.mean(fit, 'label_set_gmean'):.3f}"
    text = (folder / "noise-floor.md").read_text(encoding="utf-8").replace("\n  ", " ")
    assert f"Micro-G-Mean of the best constant answer: yeast {floor[measures.MICRO].value:.3f}." in text
    assert "`coin`" in text


def test_a_constant_is_what_a_learner_of_it_would_score():
    # Predict the best constant set for Micro-G-Mean on every example, as a run would.
    stream = load("yeast", limit=200)
    floor = _constants.best_constants(stream.Y, 20, 10)
    answer = _constants.candidates(stream.Y)[floor[measures.MICRO].labels]
    steps = []
    for t in range(11, 200):
        part = stream.Y[max(11, t - 19) : t + 1].tolist()
        steps.append(naive.scores(part, [answer.tolist()] * len(part), [1.0] * len(part))["micro_gmean"])
    assert np.mean(steps) == pytest.approx(floor[measures.MICRO].value)


def test_rows_of_an_earlier_version_are_refused_with_a_line(tmp_path):
    run = PLAN.real("yeast", "majority")
    store = run_grid(Grid.of([run]), tmp_path)
    row = store.rows()[0]
    del row["cumulative_micro_f1"]
    store.add(row, {})
    with pytest.raises(
        MarleneError, match="majority on yeast, seed 1 has no cumulative_micro_f1: it was run by an earlier"
    ):
        Results(store).mean(run, "cumulative_micro_f1")


def test_guesses_are_methods():
    assert [create(name, 3).how for name in noise_floor.GUESSES] == ["prior", "coin"]
