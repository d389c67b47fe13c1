"""The result of a prequential run."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene._common.files import atomic_write
from marlene._common.html import card, sparkline, table
from marlene._common.layouts import Field, Layout, Rule
from marlene._common.states import EVERY, arrays_under, refuse_other, require, restore_file, save_state, with_prefix
from marlene.evaluation._measures import MEASURES, label_rows
from marlene.evaluation._traces import STEPS
from marlene.metrics import SCORES, TRACE, Calibration
from marlene.metrics._calibration import BINS, RELIABILITY, RELIABLE
from marlene.report import History, run_page
from marlene.report._run import SCORE_NAMES
from marlene.report._tables import step_times

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Arrays, Floats, Labels
    from marlene._common.files import AnyPath

FILE_TYPE = "marlene-prequential-result"
VERSION = 4
HISTORY = "history"
LAYOUT = Layout(
    "a result",
    {
        "steps": STEPS,
        "pred": Field("int8", ("predictions", "labels"), "predictions", least=0, most=1),
        "proba": Field("float32", ("predictions", "labels"), "probabilities; NaN if there are none", bounded=False),
        "truth": Field("int8", ("predictions", "labels"), "the labels; -1 is unknown", least=-1, most=1),
        "confusion": Field("float64", ("labels", 4), "true positives, false positives, true and false negatives", 0),
        "reliability": RELIABILITY,
    },
    (
        Rule("predictions are kept of all examples or of none", lambda _, n: n["predictions"] in {0, n["examples"]}),
        RELIABLE,
    ),
)
TRACES = tuple(LAYOUT.fields)
HEADER: dict[str, Any] = {
    **dict.fromkeys(("stream", "method", "stopped"), str),
    **dict.fromkeys(("examples", "features", "window", "start", "delay", "after", "models", "drifts"), int),
    **dict.fromkeys(("fading", "cpu_seconds", "wall_seconds", "learn_seconds", "peak_rss_mb", "base_rss_mb"), float),
    **{name: {EVERY: float} for name in ("scores", "overall", "cumulative", "faded")},
    "seed": (int, None),
    "labels": [str],
}
"""What a file holds beside arrays."""
REPORTED = (
    *("stream", "method", "seed", "examples", "labels", "features", *TRACE),
    *("models", "drifts", "cpu_seconds", "learn_seconds", "peak_rss_mb", "base_rss_mb", "stopped"),
    *("labels_predicted", "labels_true", "calibration_error", "cumulative", "faded"),
)
"""What `marlene run --json` and `marlene compare --json` print of a run."""
DETAILS = ("window", "start", "delay", "fading", "after", "overall", "per_label", "calibration")
"""What `marlene run --json` prints on top of it."""


@dataclass(frozen=True, eq=False)
class PrequentialResult:
    """The result of one test-then-train run.

    Parameters
    ----------
    stream, method, seed
        What was run.
    examples, features
        How many examples were predicted, and how many features they have.
    labels
        The names of the labels.
    window, start, delay
        The settings of the evaluation: examples with an index greater than `start` are scored, in a window of
        the last `window` of them; labels arrive `delay` examples late, or each with its own delay (-1).
    fading, after
        The factor of the fading measures, and how many examples do not count for calibration.
    stopped
        "" for a run to the end, "interrupted" (Ctrl-C) or "callback" for one that ended early.
    scores
        Mean over all scored steps of the windowed Macro-, Micro- and Label-set-G-Mean and the Hamming score
        (NaN if no example was scored).
    overall
        Every metric over all scored examples at once, without a window.
    cumulative, faded
        Every metric over all examples but the first, and the same with fading: F1, precision and recall (micro, macro,
        example), G-Means, Jaccard index, subset accuracy, Hamming score and loss; and how many labels are predicted and
        true per example. A label that is neither true nor predicted has 0. NaN if there is only one example.
    models, drifts
        The numbers that the learner reports at the end, 0 if it reports none.
    cpu_seconds, wall_seconds, learn_seconds
        CPU and wall-clock time of the whole evaluation, and CPU time of the test-then-train calls alone, without
        compilation.
    peak_rss_mb, base_rss_mb
        Memory of the process at its peak, and before the first example.
    steps
        The four scores at every scored step (steps × 4), in the order of `marlene.metrics.TRACE`; of a `LazyStream`
        only at every `window`-th.
    pred, proba, truth
        Prediction, probability and truth (examples × labels) for every example, scored or not. Empty for a
        `LazyStream`.
    confusion
        True positives, false positives, true negatives and false negatives (labels × 4) of all examples but the first.
    reliability
        Predictions, positives and the sum of probabilities in ten bins of the probability (labels × 10 × 3). All 0 for
        a model that gives no probabilities.
    history
        What the run was like over time, if it was recorded.
    """

    stream: str
    method: str
    seed: int | None
    examples: int
    features: int
    labels: tuple[str, ...]
    window: int
    start: int
    delay: int
    fading: float
    after: int
    stopped: str
    scores: dict[str, float]
    overall: dict[str, float]
    cumulative: dict[str, float]
    faded: dict[str, float]
    models: int
    drifts: int
    cpu_seconds: float
    wall_seconds: float
    learn_seconds: float
    peak_rss_mb: float
    base_rss_mb: float
    steps: Floats = field(repr=False)
    pred: Labels = field(repr=False)
    proba: npt.NDArray[np.float32] = field(repr=False)
    truth: Labels = field(repr=False)
    confusion: Floats = field(repr=False)
    reliability: Floats = field(repr=False)
    history: History | None = field(default=None, repr=False, compare=False)

    def __getattr__(self, name: str) -> float:
        """Return one of the four scores by its name."""
        if name in TRACE:
            return self.scores[name]
        raise AttributeError(name)

    def trace(self, score: str) -> Floats:
        """Return one of the four scores at every scored step."""
        if score not in TRACE:
            raise MarleneError(f"there is no trace of {score!r}; known: {', '.join(TRACE)}")
        return self.steps[:, TRACE.index(score)]

    def labels_table(self) -> list[dict[str, Any]]:
        """Return a row for every label, over all examples but the first.

        A row has `label`, `examples` (where the label is known), `positives`, `share` (of positives),
        `predicted_share`, `precision`, `recall`, `f1`, `gmean` and `calibration_error`. A ratio 0/0 is 0.
        `polars.DataFrame` and `pandas.DataFrame` take the list as it is.
        """
        return label_rows(self.labels, self.confusion, Calibration.of(self.reliability))

    def reliability_curve(self, label: str | None = None) -> Floats:
        """Return number of predictions, mean probability and share of positives in each bin of the probability.

        Of one label, or of all labels together. NaN where a bin is empty.
        """
        return Calibration.of(self.reliability).curve(self._column(label))

    def calibration_error(self, label: str | None = None) -> float:
        """Return the expected calibration error of one label, or of all labels together; NaN without probabilities."""
        return Calibration.of(self.reliability).error(self._column(label))

    def _column(self, label: str | None) -> int | None:
        if label is not None and label not in self.labels:
            raise MarleneError(f"there is no label {label!r}; known: {', '.join(self.labels)}")
        return None if label is None else self.labels.index(label)

    def as_dict(self, *, details: bool = True) -> dict[str, Any]:
        """Return the dictionary that `marlene run --json` prints, or without details what a row of a grid has."""
        flat = vars(self) | self.scores | {"labels": len(self.labels), "calibration_error": self.calibration_error()}
        flat |= {name: self.cumulative[name] for name in ("labels_predicted", "labels_true")}
        if not details:
            return {name: flat[name] for name in REPORTED}
        names = ("predictions", "probability", "share")
        curve = [dict(zip(names, row, strict=True)) for row in self.reliability_curve().tolist()]
        flat |= {"per_label": self.labels_table(), "calibration": curve}
        return {name: flat[name] for name in (*REPORTED, *DETAILS)}

    def report(self, path: AnyPath) -> None:
        """Write the report of the run: one HTML file, which works offline; see docs/report.md."""
        run_page(self).write(path)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the scores, and the Macro-G-Mean over time."""
        facts = (
            f"{self.examples:,} examples, {self.features:,} features, {len(self.labels):,} labels; "
            f"{self.learn_seconds:.2f} s CPU of learning"
        )
        rows = []
        for score, name in SCORE_NAMES.items():
            last = f"{self.trace(score)[-1]:.3f}" if len(self.steps) else "-"
            rows.append((name, f"{self.scores[score]:.3f}", last))
        places = np.linspace(0, len(self.steps) - 1, min(len(self.steps), 160)).astype(np.int64)
        line = sparkline(self.trace(TRACE[0])[places].tolist())
        title = f"{self.method} on {self.stream}"
        return card(title, facts, table(("score", "mean", "last window"), rows), line)

    def plot(self, axes: Any = None) -> Any:  # noqa: ANN401 (of a package that may be absent)
        """Draw the windowed scores over time with matplotlib; dashed lines are true drifts.

        Parameters
        ----------
        axes
            Where to draw. Default: new axes.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.
        """
        if axes is None:
            pyplot = optional("matplotlib.pyplot", "experiments", "drawing a figure")
            axes = pyplot.subplots(figsize=(8, 3.5), layout="constrained")[1]
        times = step_times(self.steps, self.start, self.window, self.examples)
        for score, name in SCORE_NAMES.items():
            axes.plot(times, self.trace(score), label=name, linewidth=1.2)
        drifts = {} if self.history is None else self.history.drifts
        for time in sorted({time for found in drifts.values() for time in found}):
            axes.axvline(time, color="grey", linestyle="--", linewidth=0.8)
        axes.set(xlabel="examples", ylabel="score", ylim=(0, 1), title=f"{self.method} on {self.stream}")
        axes.legend(loc="lower right", fontsize="small")
        return axes

    def save_predictions(self, path: AnyPath) -> None:
        """Write the arrays `pred`, `proba` and `truth` as an npz file."""
        with atomic_write(path) as file:
            np.savez_compressed(file, pred=self.pred, proba=self.proba, truth=self.truth)

    def save(self, path: AnyPath) -> None:
        """Write `path`.npz, and `path`.json: a readable copy of everything but the arrays."""
        header = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in (*TRACES, HISTORY)}
        with atomic_write(_beside(path, ".json")) as file:
            # On disk before the npz file replaces an old one: a full disk leaves the old pair.
            file.write(dump_json(header, indent=2).encode())
            file.flush()
            os.fsync(file.fileno())
            arrays = {name: getattr(self, name) for name in TRACES}
            if self.history is not None:
                header[HISTORY] = self.history.header()
                arrays |= with_prefix(self.history.arrays(), f"{HISTORY}.")
            save_state(_beside(path, ".npz"), FILE_TYPE, VERSION, header, arrays)

    @classmethod
    def load(cls, path: AnyPath) -> PrequentialResult:
        """Read the npz file that `save` wrote; refuse a foreign or damaged one."""

        def restore(header: dict[str, Any], arrays: Arrays) -> PrequentialResult:
            refuse_other(header, HEADER, "the result")
            labels, told = tuple(header["labels"]), header.pop(HISTORY, None)
            history = None if told is None else History.of(told, arrays_under(arrays, f"{HISTORY}."), len(labels))
            known = {name for name in arrays if name in TRACES or name.startswith(f"{HISTORY}.")}
            require(known == set(arrays), "there are other arrays", "a result")
            traces = LAYOUT.checked(arrays, labels=len(labels), examples=header["examples"], bins=BINS)
            result = cls(**header | traces | {"labels": labels, HISTORY: history})
            result._refuse_other_scores()
            return result

        return restore_file(_beside(path, ".npz"), FILE_TYPE, VERSION, restore)

    def _refuse_other_scores(self) -> None:
        named = ((self.scores, TRACE), (self.overall, SCORES), (self.cumulative, MEASURES), (self.faded, MEASURES))
        for found, expected in named:
            if set(found) != set(expected):
                raise ValueError(f"scores are {', '.join(found)}, expected {', '.join(expected)}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PrequentialResult):
            return NotImplemented
        mine, theirs = asdict(replace(self, history=None)), asdict(replace(other, history=None))
        return all(np.array_equal(mine.pop(t), theirs.pop(t), equal_nan=True) for t in TRACES) and (
            dump_json(mine) == dump_json(theirs)
        )

    __hash__ = None  # type: ignore[assignment]


def dump_json(value: dict[str, Any], indent: int | None = None) -> str:
    """Return `value` as JSON; NaN and infinity become null, because JSON does not have them."""
    return json.dumps(_without_nan(value), indent=indent, allow_nan=False)


def _without_nan(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _beside(path: AnyPath, suffix: str) -> Path:
    """Append `suffix` to the name, in place of .json or .npz; other dots belong to the name."""
    return Path(str(path).removesuffix(".json").removesuffix(".npz") + suffix)
