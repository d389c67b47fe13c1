"""The page of one run."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from marlene.report import _charts as charts
from marlene.report import _sentences as sentences
from marlene.report import _tables as tables
from marlene.report._page import ReportPage, coded

SCORE_NAMES = {
    "macro_gmean": "Macro-G-Mean",
    "micro_gmean": "Micro-G-Mean",
    "label_set_gmean": "Label-set-G-Mean",
    "hamming_score": "Hamming score",
}
"""The scores of a run, and their names for readers."""


def run_page(result: Any) -> ReportPage:  # noqa: ANN401 (a PrequentialResult, which is on a floor above)
    """Return the page of a result."""
    page = ReportPage(f"{result.method} on {result.stream}", _lead(result))
    page.tiles(_tiles(result))
    _Writer(page, result).write()
    return page


def _lead(result: Any) -> str:  # noqa: ANN401
    stopped = f" The run was stopped ({result.stopped})." if result.stopped else ""
    if not result.examples:
        return f"No example was predicted.{stopped}"
    return (
        f"Each of {sentences.counted(result.examples, 'example')} with "
        f"{sentences.counted(result.features, 'feature')} and {sentences.counted(len(result.labels), 'label')} was "
        f"predicted, then learnt.{stopped} Scores are those of the latest {result.window:,} examples, averaged over "
        "the stream."
    )


def _tiles(result: Any) -> dict[str, str]:  # noqa: ANN401
    facts = {name: f"{result.scores[key]:.3f}" for key, name in SCORE_NAMES.items()}
    facts["labels predicted / true"] = (
        f"{result.cumulative['labels_predicted']:.2f} / {result.cumulative['labels_true']:.2f}"
    )
    facts["changes of labels"] = f"{result.drifts:,}"
    facts["CPU time of learning"] = f"{result.learn_seconds:.2f} s"
    facts["peak memory"] = f"{result.peak_rss_mb:,.0f} MB"
    return facts


class _Writer:
    """Writes the sections of one run."""

    def __init__(self, page: ReportPage, result: Any) -> None:  # noqa: ANN401
        self.page, self.result, self.history = page, result, result.history
        self.labels = [str(label) for label in result.labels]
        self.rows = result.labels_table()
        self.shown = tables.most_frequent(self.history) if self.history else []
        self.names = [self.labels[q] for q in self.shown]

    def write(self) -> None:
        self._scores()
        if self.history is None or not self.result.examples:
            self.page.note("What the run was like over time was not recorded (history=False), so there is no more.")
            return
        left = len(self.labels) - len(self.shown)
        self._lines = tables.ratios(self.history.windowed(self.result.window))[0]
        self._heat(f"Shown are the {len(self.shown)} most frequent of {len(self.labels)} labels." if left else "")
        self._depth()
        self._help()
        self._thresholds()
        self._reliability()
        self._frequency()
        self._costs()
        self._worst()

    def _scores(self) -> None:
        page, result = self.page, self.result
        times = tables.step_times(result.steps, result.start, result.window, result.examples)
        steps, at = tables.thinned(result.steps, times, tables.POINTS)
        names = list(SCORE_NAMES.values())
        page.tables["scores"] = {
            "t": np.tile(at, len(names)),
            "score": {"names": names, "codes": np.repeat(np.arange(len(names)), len(at))},
            "value": steps.T.ravel(),
        }
        drifts = tables.true_drifts(self.history) if self.history else {"t": [], "says": []}
        says = sentences.of_scores(steps[:, 0], at, drifts["t"], result.start + 1 + result.window)
        if self.history:
            says += f" {sentences.of_changes(self.history, len(self.labels))}"
        page.section("scores", "Scores over time", says)
        if not len(at):
            return
        spec = charts.lines("scores", "value", "score", result.examples, "score", names)
        if drifts["t"]:
            page.tables["drifts"] = drifts
            spec = charts.with_rules(spec, "drifts", dashes=True)
        page.chart("scores", spec)
        if self.history and self.history.changes:
            page.tables["changes"] = tables.changes_over_time(self.history)
            there = page.tables["changes"]["kind"]["names"]
            order = [kind for kind in tables.KINDS if kind in there]
            page.chart(
                "changes",
                charts.bars_over_time("changes", "changes", result.examples, "kind", order),
                "Labels that changed, by whom they inherited from",
            )

    def _heat(self, note: str) -> None:
        says = sentences.of_labels(self.rows, self.shown, self._lines)
        explained = "Stronger is better; a line is a window without both classes. The most frequent label comes first."
        self.page.section("labels", "Labels over time", says, f"{explained} {note}".strip())
        self.page.tables["heat"] = tables.label_heat(self.history, self.result.window, self.shown, self.labels)
        spec = charts.heat_over_time("heat", "gmean", "G-Mean", self.result.examples, self.names, 1.0)
        self.page.chart("labels", spec)
        self.page.ramp("G-Mean", "0", "1")

    def _depth(self) -> None:
        page, history, result = self.page, self.history, self.result
        page.section("label", "One label", "Choose a label; everything in this section is about it.")
        page.texts["label"] = {
            self.labels[q]: sentences.of_label(
                self.rows[q], history, self._lines[:, q], result.calibration_error(result.labels[q])
            )
            for q in self.shown
        }
        page.chooser("label", "Label", self.names)
        page.tables["label_lines"] = tables.label_lines(history, result.window, self.shown, self.labels)
        page.tables["label_changes"] = tables.changes_of_labels(history, self.names)
        first = self.names[0]
        page.chart("label-scores", self._label_scores(first), "G-Mean, recall and specificity")
        share = charts.lines("label_lines", "share", "share of positives", result.examples) | {"height": 120}
        sides = [("label-share", charts.chosen_only(share, "label", first), "How often it is true")]
        if np.isfinite(result.calibration_error()):
            curve = charts.chosen_only(charts.reliability("reliability"), "label", first) | {"height": 120}
            sides.append(("label-reliability", curve, "Reliability"))
        page.beside(*sides)
        more = []
        if any(history.voters.values()):
            page.tables["voters"] = tables.voters(history, self.names)
            spec = charts.bars("voters", ("share", "share of the vote", "~p"), "voter", _most(page.tables["voters"]))
            more.append(("label-voters", charts.chosen_only(spec, "label", first), "Who votes at the end"))
        if any(history.features.values()):
            page.tables["features"] = tables.features(history, self.names)
            colour = {
                "field": "speaks",
                "type": "nominal",
                "title": None,
                "scale": {"domain": ["for", "against"], "range": ["var(--for)", "var(--against)"]},
            }
            spec = charts.bars(
                "features", ("term", "log odds", ",.3~f"), "feature", _most(page.tables["features"]), colour
            )
            more.append(("label-features", charts.chosen_only(spec, "label", first), "Most telling features"))
        if more:
            page.beside(*more)

    def _label_scores(self, first: str) -> dict[str, Any]:
        spec = charts.lines("label_lines", "value", "score", self.result.examples, "score")
        spec["transform"] = [
            {"filter": "datum.label == label"},
            {"calculate": "datum.gmean", "as": "G-Mean"},
            {"fold": ["G-Mean", "recall", "specificity"], "as": ["score", "value"]},
        ]
        spec["params"] = [{"name": "label", "value": first}]
        for layer in spec["layer"]:
            layer["encoding"]["y"]["scale"] = {"domain": [0, 1]}
        spec = charts.with_rules(spec, "label_changes", dashes=False, only="datum.label == label && !datum.true")
        return charts.with_rules(spec, "label_changes", dashes=True, only="datum.label == label && datum.true")

    def _help(self) -> None:
        page, history = self.page, self.history
        if not len(history.helps):
            return
        page.section("help", "Who helps whom", sentences.of_help(history, self.labels))
        columns = page.tables["helpers"] = tables.helpers(history, self.shown, self.labels)
        if not columns["share"]:
            return
        last = max(columns["point"])
        found = set(columns["giver"]["names"])
        givers = [name for name in self.names if name in found]
        givers += sorted(found - set(givers))[: tables.MOST_LABELS]
        heirs = [name for name in self.names if name in set(columns["label"]["names"])]
        page.slider(
            "point",
            "After",
            last,
            {number: f"{at:,} of {history.examples:,} examples" for number, at in enumerate(history.at.tolist())},
        )
        most = max(columns["share"])
        value = ("share", "share of the weight", most)
        spec = charts.matrix("helpers", "giver", value, (heirs, givers), ("label", "gets help from"))
        page.chart("help", charts.chosen_only(spec, "point", last, "point"))
        page.ramp("share of the weight", "0%", f"{most:.0%}")
        note = "A row is a label, a column who helps it. What a label's own learners say is not shown."
        if last < len(history.at) - 1:
            note += " The slider begins at the last time at which a label got help."
        page.note(note)

    def _thresholds(self) -> None:
        if not np.isfinite(self.history.thresholds).any():
            return
        says = sentences.of_thresholds(self.history, self.labels)
        note = "A label is predicted if its score reaches its threshold. The strong line is the label chosen above."
        self.page.section("thresholds", "Thresholds", says, note)
        self.page.tables["thresholds"] = tables.thresholds(self.history, self.shown, self.labels)
        spec = charts.highlighted("thresholds", "threshold", "threshold", self.result.examples, "label", self.names[0])
        self.page.chart("thresholds", spec)

    def _reliability(self) -> None:
        result = self.result
        error = result.calibration_error()
        curve = result.reliability_curve()
        self.page.section("reliability", "Reliability", sentences.of_reliability(curve, error))
        if not np.isfinite(error):
            return
        named = [
            (tables.ALL, curve),
            *((self.labels[q], result.reliability_curve(result.labels[q])) for q in self.shown),
        ]
        parts = [(name, one[one[:, 0] > 0]) for name, one in named]
        stacked = np.concatenate([one for _, one in parts])
        self.page.tables["reliability"] = {
            "label": coded([name for name, one in parts for _ in one]),
            "predictions": stacked[:, 0].astype(np.int64),
            "probability": stacked[:, 1],
            "share": stacked[:, 2],
        }
        every = {"filter": f"datum.label == '{tables.ALL}'"}
        curve_of_all, predictions = charts.reliability("reliability"), charts.histogram("reliability")
        curve_of_all["transform"] = [every]
        predictions["transform"].insert(0, every)
        self.page.beside(
            ("reliability", curve_of_all, "What came true"), ("predictions", predictions, "How many predictions")
        )

    def _frequency(self) -> None:
        page, history, result = self.page, self.history, self.result
        counted = result.cumulative
        says = sentences.of_frequency(self.rows, counted["labels_true"], counted["labels_predicted"])
        page.tables["pairs"] = tables.together(history, self.shown, self.labels)
        page.section("frequency", "Frequency and pairs", f"{says} {sentences.of_pairs(page.tables['pairs'])}")
        page.tables["frequency"] = tables.frequency(self.rows, self.shown)
        page.chart("frequency", charts.bars_with_ticks("frequency", self.names), "How often")
        names = [name for name in self.names if name in set(page.tables["pairs"]["label"]["names"])]
        if names:
            axes = ("of the examples with", "so many have")
            most = max(page.tables["pairs"]["share"])
            spec = charts.matrix("pairs", "other", ("share", "share", most), (names, names), axes)
            page.chart("pairs", spec, "Which labels come together")
            page.ramp("share of the row's examples", "0%", f"{most:.0%}")

    def _costs(self) -> None:
        result, history = self.result, self.history
        says = sentences.of_costs(
            result.examples, result.learn_seconds, history, result.base_rss_mb, result.peak_rss_mb
        )
        self.page.section("cost", "Cost", says)
        self.page.tables["costs"] = tables.costs(history)
        speed = charts.lines("costs", "speed", "examples a second", result.examples) | {"height": 150}
        memory = charts.lines("costs", "memory", "MB", result.examples) | {"height": 150}
        for spec in (speed, memory):
            spec["layer"][0]["encoding"]["y"]["scale"] = {"zero": True}
        self.page.beside(("speed", speed, "Speed"), ("memory", memory, "Memory of the process"))

    def _worst(self) -> None:
        worst = self.history.worst
        note = "Surprise is the mean of −log P(what is true) over the labels. Labels predicted wrongly are coloured."
        self.page.section("worst", "Worst examples", sentences.of_worst(worst, self.labels), note if worst else "")
        if worst:
            rows = [
                (f"{example['index']:,}", f"{example['loss']:.2f}", self._told(example), _values(example))
                for example in worst
            ]
            heading = ("example", "surprise", "labels: what is true, its probability", "features")
            self.page.table(heading, rows, numbers=(0, 1), stacked=True)

    def _told(self, example: dict[str, Any]) -> str:
        parts = []
        for q, truth, pred, probability in example["labels"]:
            name = escape(self.labels[q])
            word = name if truth == 1 else f"not {name}"
            styled = f'<span class="wrong">{word}</span>' if truth != pred else word
            sure = "" if probability is None else f" {probability if truth == 1 else 1 - probability:.2f}"
            parts.append(f'{styled}<span class="value">{sure}</span>')
        return ", ".join(parts)


def _most(columns: dict[str, Any]) -> int:
    """Return how many rows of a table one label has at most."""
    return max(columns["place"], default=0) + 1


def _values(example: dict[str, Any]) -> str:
    parts = []
    for name, value in example["features"].items():
        number = f"{value:.4g}" if isinstance(value, float) else str(value)
        shown = "" if value is True else f"\u00a0=\u00a0{number}"
        parts.append(f'{escape(str(name))}<span class="value">{escape(shown)}</span>')
    more = example.get("more_features", 0)
    return ", ".join(parts) + (f" and {more:,} more" if more else "")
