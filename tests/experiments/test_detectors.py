"""The page of drift detectors: what counts as found, and that its tables are the runs'."""

import csv
import statistics

import pytest

from marlene.experiments import ResultStore
from marlene.experiments.reproduce import Plan, reproduce
from marlene.experiments.reproduce._results import Results
from marlene.experiments.reproduce._words import SCORES
from marlene.experiments.reproduce.targets import detectors
from marlene.experiments.reproduce.targets.detectors import DETECTORS, SETTINGS, Tally
from marlene.learners import BRMarlene
from tests.experiments.plans import PLAN


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder of a very small page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Plan, "quick_one", classmethod(lambda _: PLAN))
        outcome = reproduce("detectors", tmp_path_factory.mktemp("detectors"), quick=True)
    assert outcome.failures == ()
    return outcome.out


def table(made, name):
    with (made / "tables" / f"detectors-{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_first_alarm_before_the_next_drift_finds_it():
    tally = Tally()
    tally.add([100, 300], [40, 120, 130, 290, 450], 500)
    assert (tally.true, tally.found, tally.late, tally.share) == (2, 2, [20, 150], [0.1, 0.75])
    assert (tally.alarms, tally.examples, tally.part) == (3, 500, 1.0)
    tally.add([200], [199], 500)
    assert (tally.true, tally.found, tally.alarms, tally.part) == (3, 2, 4, 2 / 3)
    assert tally.rate == 4 / 1000 * detectors.PER
    assert tally.cells() == [3, 2 / 3, 85.0, 40.0]


def test_without_drifts_every_alarm_is_one_too_many():
    tally = Tally()
    tally.add([], [1, 2], 100)
    assert tally.cells() == [0, None, None, 200.0]
    assert Tally().cells() == [0, None, None, None]


def test_drifts_and_alarms_are_those_of_the_runs(made):
    results = Results(ResultStore(made / "runs"))
    rows = {(row["labels"], row["detector"]): row for row in table(made, "synthetic")}
    assert {detector for _, detector in rows} == set(DETECTORS)
    for name, options in DETECTORS.items():
        runs = results.rows(detectors._synthetic(PLAN, ("AA", 10), options))
        assert [run["seed"] for run in runs] == [1, 2]
        for letter in "AS":
            alarms = found = true = examples = 0
            for run in runs:
                for label, times in run["true_drifts"].items():
                    if bool(times) == (letter == "A"):
                        said = run["found_drifts"].get(label, [])
                        true += len(times)
                        found += sum(any(time <= alarm for alarm in said) for time in times)  # each has one drift
                        alarms += len(said)
                        examples += run["examples"]
            row = rows[letter, name]
            assert int(row["drifts"]) == true
            assert row["found"] == (f"{found / true:.2f}" if true else "")
            assert row["alarms"] == f"{detectors.PER * (alarms - found) / examples:.2f}"
    real = {(row["change"], row["detector"]): row for row in table(made, "real")}
    assert {change for change, _ in real} == {"as it is", "rotated", "gradual"}
    assert {row["drifts"] for (change, _), row in real.items() if change != "as it is"} == {"14"}
    assert real["as it is", "ddm"]["drifts"] == "0"


def test_what_is_found_where_nothing_changes(made):
    results = Results(ResultStore(made / "runs"))
    summary = {row["detector"]: row for row in table(made, "summary")}
    assert any(float(row[f"{change}: unchanged"]) > 0 for row in summary.values() for change in detectors.CHANGES)
    for name, options in DETECTORS.items():
        (same, *_) = results.rows(detectors._real(PLAN, "yeast", "as it is", options))
        for change in detectors.CHANGES:
            (changed,) = results.rows(detectors._real(PLAN, "yeast", change, options))
            times = {label: time for label, (time,) in changed["true_drifts"].items()}
            later = [max(same["found_drifts"].get(label, [-1])) >= time for label, time in times.items()]
            assert summary[name][f"{change}: unchanged"] == f"{statistics.fmean(later):.2f}"


def test_scores_are_means_of_the_runs(made):
    results = Results(ResultStore(made / "runs"))
    for short, score in {"macro": "macro_gmean", "micro": "micro_gmean", "label-set": "label_set_gmean"}.items():
        for row in table(made, short):
            name = row["detector, retired voters"]
            alone = name == detectors.ALONE
            run = (
                detectors._alone(PLAN, "yeast") if alone else detectors._real(PLAN, "yeast", "as it is", SETTINGS[name])
            )
            assert run.method == ("br-resampled" if alone else "br-marlene")
            values = [one[score] for one in results.rows(run)]
            assert len(values) == 2
            assert row["yeast"] == row["mean"] == f"{statistics.fmean(values):.3f}"
    drifting = {row["detector"]: row for row in table(made, "drifting")}
    assert list(drifting) == [*DETECTORS, "none"]
    rotated = results.rows(detectors._real(PLAN, "yeast", "rotated", {"drift": "none"}))
    assert drifting["none"]["rotated"] == f"{rotated[0]['macro_gmean']:.3f}"


def test_the_default_is_what_the_page_calls_so():
    assert SETTINGS[detectors.DEFAULT] == {"drift": BRMarlene().drift}
    assert detectors.DEFAULT.startswith(f"{BRMarlene().drift}, ")


def test_where_the_default_gains_most_and_what_it_loses_is_said(made):
    results = Results(ResultStore(made / "runs"))
    text = (made / "detectors.md").read_text(encoding="utf-8").replace("\n  ", " ")
    means = {
        name: [results.mean(detectors._real(PLAN, "yeast", "as it is", SETTINGS[name]), score) for score in SCORES]
        for name in detectors.BESIDE
    }
    shown = ", ".join(f"{' / '.join(f'{mean:.3f}' for mean in found)} with *{name}*" for name, found in means.items())
    assert f"On yeast, where it gains most, the scores (Macro / Micro / Label-set) are {shown}." in text
    default, before, _ = means.values()
    gains = {short: one - other for short, one, other in zip(SCORES.values(), default, before, strict=True)}
    lost = ", ".join(f"yeast {short} ({by:+.4f})" for short, by in gains.items() if by < -detectors.CLEAR) or "none"
    assert f"It loses more than 0.005 in: {lost}." in text
    rotated = [results.mean(detectors._real(PLAN, "yeast", "rotated", SETTINGS[name]), "macro_gmean") for name in means]
    assert f"rotated {' / '.join(f'{mean:.3f}' for mean in rotated)}" in text
