"""Reports without a browser: bounded size, harmless names, sentences that agree with the numbers."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from marlene.evaluation import PrequentialResult, prequential
from marlene.experiments._report import compare_results, report_of
from marlene.learners import Majority
from marlene.report import _sentences as sentences
from marlene.report import _tables as tables
from marlene.report import run_page
from marlene.streams import Stream
from tests.report.runs import NASTY, result

MOST_BYTES = 2_000_000
MOST_POINTS = 2000


def data_of(html):
    return json.loads(re.search(r'id="page-data">(.*?)</script>', html, re.DOTALL)[1])


def wide(n_labels, n=600):
    """Return the result of a run with many labels, over a stream that is cut into many parts."""
    rng = np.random.default_rng(2)
    Y = (rng.random((n, n_labels)) < 0.2).astype(np.int8)
    return prequential(Majority(), Stream.from_arrays(rng.random((n, 3)), Y, name="wide"))


def test_names_are_harmless():
    html = run_page(result()).render()
    body = html.partition("<script>(()=>")[0]
    for harmful in ("<script>alert", "</script><b>", "<img src=x", "<i>0</i>"):
        assert harmful not in body
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in body
    assert set(data_of(html)["texts"]["label"]) == set(NASTY)
    assert "http://" not in body.replace("http-equiv", "")
    assert "https://" not in body


@pytest.mark.parametrize("n_labels", [1, 3, 300])
def test_a_report_stays_small(tmp_path, n_labels):
    path = tmp_path / "wide.html"
    wide(n_labels).report(path)
    assert path.stat().st_size < MOST_BYTES
    for name, columns in data_of(path.read_text(encoding="utf-8"))["tables"].items():
        lengths = {len(column if isinstance(column, list) else column["codes"]) for column in columns.values()}
        assert len(lengths) == 1, name
    assert "64 most frequent of 300 labels" in path.read_text(encoding="utf-8") or n_labels < 64


def test_lines_have_few_points():
    values, times = tables.thinned(np.arange(120_919.0), np.arange(120_919), tables.POINTS)
    assert len(values) == tables.POINTS <= MOST_POINTS
    assert values.mean() == pytest.approx(np.arange(120_919).mean(), rel=1e-3)
    assert times[-1] == 120_918


def test_windowed_counts_are_those_of_the_predictions():
    run = result()
    window = run.history.windowed(run.window)
    ends = run.history.ends()
    for place in (0, len(ends) // 2, len(ends) - 1):
        width = round(run.window / run.history.stride) * run.history.stride
        rows = slice(max(0, ends[place] - width), ends[place])
        hits = ((run.truth[rows] == 1) & (run.pred[rows] == 1)).sum(axis=0)
        assert window[place, :, 0].tolist() == hits.tolist()


def test_a_result_keeps_its_history(tmp_path):
    result().save(tmp_path / "run")
    loaded = PrequentialResult.load(tmp_path / "run")
    for name, array in result().history.arrays().items():
        np.testing.assert_array_equal(getattr(loaded.history, name), array)
    assert json.dumps(loaded.history.header()) == json.dumps(result().history.header())
    assert report_of(tmp_path).render() == run_page(result()).render()


def test_without_a_history_there_are_scores_only():
    stream = Stream.from_arrays(np.zeros((40, 1)), np.eye(40, 2, dtype=np.int8))
    page = run_page(prequential(Majority(), stream, history=False))
    assert set(page.charts) == {"scores"}
    assert "was not recorded" in page.render()


def test_a_run_without_examples_has_a_report():
    stream = Stream.from_arrays(np.zeros((40, 1)), np.eye(40, 2, dtype=np.int8))
    stopped = prequential(Majority(), stream, callbacks=[lambda progress: progress.done >= 1])
    assert "No example was scored." in run_page(stopped).render()


def test_sentences_say_what_a_drift_did():
    times = np.arange(1, 1001)
    macro = np.where(times < 500, 0.8, np.where(times < 700, 0.5, 0.8))
    said = sentences.of_scores(macro, times, [499], 0)
    assert "lowest (0.500) at example 500" in said
    assert "it fell from 0.800 to 0.500 and was back at 0.800 by example 700" in said
    assert "hardly changed it" in sentences.of_scores(np.full(1000, 0.8), times, [499], 0)


def test_two_runs_side_by_side_have_a_verdict():
    better, worse = result(), wide(3)
    html = compare_results([better, worse]).render()
    assert "No two methods ran on all streams." in html
    stream = Stream.from_arrays(np.tile([[0.0], [1.0]], (200, 1)), np.tile([[0, 1], [1, 0]], (200, 1)), name="both")
    learnt = prequential(Majority(), stream, method="a")
    same = prequential(Majority(), stream, method="b")
    html = compare_results([learnt, replace(same, learn_seconds=9.0, peak_rss_mb=9000.0)]).render()
    assert "no significant difference between a and b" in html
    assert "a has the highest G-Mean on 2 of 2 labels. Runs took CPU time between" in html
    assert "and 9.00 s (b) and peak memory between" in html
    assert "and 9,000 MB (b)." in html


def test_the_true_drifts_of_a_comparison_are_marked():
    page = compare_results([result(), replace(result(), method="other")])
    page.render()
    assert page.tables["drifts_0"]["t"] == [350]


def test_one_label_has_a_sentence_of_every_picture():
    page = run_page(result())
    page.render()
    said = page.texts["label"]["naïve ✓"]
    for part in ("is true in", "its G-Mean is", "It changed", "are off by", "heaviest voter", "most for it"):
        assert part in said
    helps = replace(result().history, at=np.array([700]), helps=np.array([[0, 1, 0, 0.02]]), givers=[(None, "a")])
    assert sentences.of_help(helps, ["a", "b", "c", "d"]) == (
        "At the end 1 of 4 labels gets help from others: 0.5% of the weight of a label on average. The largest share "
        "is that of a in b: 2%."
    )


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(MarleneError, match="neither a saved result"):
        report_of(tmp_path)
    (tmp_path / "runs").mkdir()
    with pytest.raises(MarleneError, match="no run has ended"):
        report_of(tmp_path)


def test_the_fullest_history_fits():
    """Many labels with long names, all helped by others all the time, changing often, with all that is kept."""
    rng = np.random.default_rng(3)
    names = [f"a label with a rather long name, number {q}" for q in range(80)]
    small = wide(80, 200)
    points = np.arange(1, 50)
    helps = np.array([(p, q, (q + g) % 80, rng.random()) for p in range(49) for q in range(80) for g in range(1, 9)])
    voter = {"base": "naive-bayes", "role": "snapshot", "stream": None, "share": 0.123456}
    speaks = {"for": {f"a word that speaks {i}": rng.random() for i in range(5)}}
    speaks["against"] = {f"a word against it {i}": -rng.random() for i in range(5)}
    fat = replace(
        small.history,
        stride=1000,
        examples=512_000,
        counts=rng.integers(0, 999, (512, 80, 4)),
        at=points * 10_000,
        thresholds=rng.random((49, 80)),
        seconds=rng.random(49).cumsum(),
        memory=rng.random(49) * 1000,
        helps=helps,
        together=rng.random((80, 80)) * 100_000,
        givers=[(None, name) for name in names],
        changes=[
            {"time": i * 25, "label": names[i % 80], "inherited": True, "stream": None, "giver": names[i % 77]}
            for i in range(10_000)
        ],
        voters={name: [voter | {"label": other} for other in names[:8]] for name in names},
        features=dict.fromkeys(names, speaks),
    )
    steps = rng.random((512_000, 4))
    page = run_page(replace(small, labels=tuple(names), history=fat, steps=steps, examples=512_000))
    assert len(page.render().encode()) < MOST_BYTES
