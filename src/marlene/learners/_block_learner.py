"""The interface of every learner: River's methods for one example, and the same for blocks of rows."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from river import base

from marlene._common.alone import OneAtATime
from marlene._common.checks import one_of, whole_number
from marlene._common.errors import MarleneError, quoted, warn_user
from marlene._common.html import MOST_ROWS, card, table
from marlene.learners._growth import Growth
from marlene.learners._whole import UNFINISHED, Whole
from marlene.learners.input._examples import as_example, flat
from marlene.learners.input._features import FeatureSpace
from marlene.learners.input._frames import like_input
from marlene.learners.input._labels import ABSENT, NeverFalse, labels_of_block, labels_of_example
from marlene.learners.input._rows import cut_rows, repeated
from marlene.learners.input._strangers import warn_of_strangers
from marlene.learners.input._values import load_recoding

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence

    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.input._additions import Additions
    from marlene.streams import Feature


PLAIN_TRUTH = {bool, np.bool_}
LARGEST_WEIGHT = 1e9
"""The largest weight of an example. Sums of larger ones would be inexact."""
SHARE_FORGOTTEN = 1 / 8
"""The share of `max_features` that is forgotten at once, as it takes time."""
FIRST_PART, LARGEST_PART = 64, 1024
"""How many rows of a block are learnt before a signal is handled: at first, and at most."""
SECONDS_OF_A_PART = 0.2
"""How long a signal waits, about."""


class BlockLearner(OneAtATime, base.MultiLabelClassifier):
    """A multi-label learner over rows.

    A subclass learns and predicts rows. This class makes rows of dictionaries, frames, arrays and sparse matrices, and
    checks them before anything is changed.
    """

    features: str | Mapping[Hashable, str]
    absent: str
    max_labels: int | None
    max_features: int | None
    _space: FeatureSpace
    _never_false: NeverFalse
    _weighs: ClassVar[bool] = False
    """Whether examples may have other weights than 0 and 1; see `_run_weighted`."""
    _forgets: ClassVar[bool] = False
    """Whether features can be forgotten; see `_forget`."""
    _settles: ClassVar[bool] = False
    """Whether an example that was interrupted is found to be learnt or not, by the next call."""
    _unfinished: bool = False
    """Whether a change was begun and not ended."""

    def _begin(self) -> None:
        """Make what is the same for all learners; their constructors call it."""
        one_of(self.absent, "absent", ABSENT)
        for name in ("max_labels", "max_features"):
            if getattr(self, name) is not None:
                whole_number(getattr(self, name), name, low=1)
        self._space = FeatureSpace(self.features)
        self._never_false = NeverFalse()
        self._growth = Growth()

    @abstractmethod
    def _labels(self, stream: str | None) -> list[Hashable]:
        """Return the known labels of a stream; a learner without transfer refuses sources."""

    def _count_labels(self) -> int:
        """Return how many labels are known, of all streams."""
        return len(self._labels(None))

    @abstractmethod
    def _add(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        """Add labels of a stream, and the new features of `_space`."""

    @abstractmethod
    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:
        """Learn rows. If `probabilities` has columns, write P(label) before each row; NaN: no evidence."""

    @abstractmethod
    def _predict(self, rows: Rows, scores: Floats) -> None:
        """Write the score of every label for every row, from 0 to 1; NaN: no evidence."""

    def _run_weighted(self, stream: str | None, rows: Rows, truth: Labels, weights: Floats) -> None:
        """Learn rows of different weights, none 0."""
        raise NotImplementedError

    def _decisions(self, rows: Rows) -> tuple[Floats, Labels]:
        """Return P(label), NaN without evidence, and the predictions for rows."""
        scores = self._scores(rows)
        return scores, (scores > 0.5).astype(np.int8)

    def _learnt_plainly(self, x: Any, y: Any, w: Any, stream: str | None) -> bool:  # noqa: ANN401, ARG002
        """Learn an example the short way, if there is one; tell whether it was learnt."""
        return False

    def _learnt_row_plainly(self, X: Any, Y: Any, w: Any, stream: str | None) -> bool:  # noqa: ANN401, ARG002
        """Learn a matrix of one row the short way, if there is one; tell whether it was learnt."""
        return False

    def _decided_plainly(self, x: Any, what: str) -> dict[Hashable, Any] | None:  # noqa: ANN401, ARG002
        """Return probabilities or predictions of an example the short way; None if there is none."""
        return None

    def _test(self, rows: Rows, truth: Labels, probabilities: Floats) -> Labels:
        """Learn rows of the target; write P(label), and return the predictions, before each row."""
        self._run(None, rows, truth, probabilities)
        return (probabilities > 0.5).astype(np.int8)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: settings, how much is known, and who votes on every label."""
        labels = self._labels(None)
        told = [f"{len(self._space):,} features, {len(labels):,} labels"]
        told += [f"{count:,} {what}" for what, count in getattr(self, "counts", dict)().items()]
        shown = labels[:MOST_ROWS]
        tell = getattr(self, "thresholds", None)
        thresholds = tell() if callable(tell) else {}
        explain = getattr(self, "explain", None)
        rows = [
            (
                str(label),
                f"{thresholds[label]:.2f}" if thresholds.get(label, math.nan) >= 0 else "",
                _voters(explain(label, most=0), label) if callable(explain) else "",
            )
            for label in shown
        ]
        heading = ("label", "threshold", "most of the vote")
        kept = [i for i in range(len(heading)) if i == 0 or any(row[i] for row in rows)]
        cells = [[row[i] for i in kept] for row in rows]
        drawn = table([heading[i] for i in kept], cells, len(labels) - len(shown)) if rows else ""
        return card(" ".join(repr(self).split()), "; ".join(told), drawn)

    def declare(self, features: Sequence[Feature], labels: Sequence[Hashable] = (), stream: str | None = None) -> None:
        """Declare the features of a stream, and its labels, before its first example.

        They are the columns of the stream's arrays, by position. Streams share the features of the same name.
        """
        self._refuse_unfinished()
        self._refuse_labels({*self._labels(stream), *labels}, self._labels(stream))
        known = self._space.column
        self._refuse_features(self._space.size() + sum(feature.name not in known for feature in features))
        self._warn_of_strangers([feature.name for feature in features], stream)
        with Whole(self):
            self._space.declare(features, stream)
            self._add(stream, labels)

    def learn_one(
        self,
        x: Mapping[Hashable, Any],
        y: Mapping[Hashable, bool] | Collection[Hashable],
        w: float = 1.0,
        stream: str | None = None,
    ) -> None:
        """Learn one example.

        Parameters
        ----------
        x
            Values by feature. An absent feature is zero, or the first of its declared values, by the alphabet. None or
            NaN is missing. Fields of a dictionary in it are features named `a.b`.
        y
            Truth values by label. A known label that is absent, None or NaN is unknown, or with `absent="false"` false.
            Or a set or list of the labels that are true: all others known so far are false.
        w
            The weight of the example: how much is learnt from it, and how much it counts where learning is judged. With
            0 only the names of its features and labels become known. `Marlene` takes any weight, others only 0 and 1.
        stream
            Name of the source stream. Default: the target.
        """
        self._refuse_unfinished()
        if self._learnt_plainly(x, y, w, stream):
            return
        known, weights = self._labels(stream), self._checked_weights(w, 1)
        x = x if isinstance(x, dict) else as_example(x)
        rows, additions = self._space.rows_of_dicts([x], learning=True)
        if x and not known:
            self._warn_of_strangers(flat(x), stream)
        if isinstance(y, dict) and [*y] == known and PLAIN_TRUTH.issuperset(map(type, y.values())):
            labels, truth = known, np.array([[*y.values()]], np.int8)
        else:
            labels, truth = labels_of_example(known, y, self.absent)
        self._refuse_labels(labels, known)
        with Whole(self):
            if self._lacks_room(additions):
                rows, additions = self._with_room(additions, lambda room: self._space.rows_of_dicts([x], True, room))
            self._admit(stream, additions, labels)
            self._never_false.see(stream, labels, truth)
            self._learn_weighted(stream, rows, truth, weights)

    def predict_proba_one(self, x: dict[Hashable, Any], **_: Any) -> dict[Hashable, dict[bool, float]]:  # noqa: ANN401
        """Return the probabilities of every target label; 0.5 without evidence."""
        self._refuse_unfinished()
        plain = self._decided_plainly(x, "probabilities")
        if plain is not None:
            return {label: {False: 1 - p, True: p} for label, p in plain.items()}
        rows, _additions = self._space.rows_of_dicts([x], learning=False)
        probabilities = _without_gaps(self._decisions(rows)[0])[0].tolist()
        return {label: {False: 1 - p, True: p} for label, p in zip(self._labels(None), probabilities, strict=True)}

    def predict_one(self, x: dict[Hashable, Any], **_: Any) -> dict[Hashable, bool]:  # noqa: ANN401
        """Return the prediction of every target label; False without evidence."""
        self._refuse_unfinished()
        plain = self._decided_plainly(x, "predictions")
        if plain is not None:
            return plain
        rows, _additions = self._space.rows_of_dicts([x], learning=False)
        predictions = self._decisions(rows)[1][0].astype(bool).tolist()
        return dict(zip(self._labels(None), predictions, strict=True))

    def learn_many(self, X: Any, Y: Any, w: Any = 1.0, stream: str | None = None) -> None:  # noqa: ANN401 (array-likes)
        """Learn many examples, one after the other.

        Parameters
        ----------
        X
            A 2-D array, SciPy matrix or frame. Columns of a frame are features by name, others by position.
        Y
            A 2-D array or frame of 0 and 1; -1: the label is unknown. NaN, or a known label without a column in a
            frame, is as `absent` says.
        w
            The weight of all examples, or one of each; see `learn_one`.
        stream
            Name of the source stream. Default: the target.
        """
        self._refuse_unfinished()
        if not self._learnt_row_plainly(X, Y, w, stream):
            self._in_parts(X, Y, w, stream, lambda *part: self._learn_weighted(stream, *part))

    def test_then_train(self, X: Any, Y: Any) -> Floats:  # noqa: ANN401
        """Predict, then learn, one example of the target after the other; return P(label) before learning."""
        return self.decide_then_train(X, Y)[0]

    def decide_then_train(self, X: Any, Y: Any) -> tuple[Floats, Labels]:  # noqa: ANN401
        """Do the same as `test_then_train`; return P(label) and the predictions, both before learning."""
        found: list[tuple[Floats, Labels]] = []

        def test(rows: Rows, truth: Labels, _: Floats) -> None:
            probabilities = np.full(truth.shape, 0.5)
            predictions = self._test(rows, truth, probabilities)
            self._count_features(rows)
            found.append((_without_gaps(probabilities), predictions))

        self._in_parts(X, Y, 1.0, None, test)
        probabilities, predictions = zip(*found, strict=True)
        return np.concatenate(probabilities), np.concatenate(predictions)

    def decide_many(self, X: Any) -> tuple[Floats, Labels]:  # noqa: ANN401
        """Return P(label) and the predictions (examples × target labels)."""
        self._refuse_unfinished()
        probabilities, predictions = self._decisions(self._space.rows(X, None, learning=False)[0])
        return _without_gaps(probabilities), predictions

    def predict_proba_many(self, X: Any) -> Any:  # noqa: ANN401 (an array or a frame)
        """Return P(label) (examples × target labels); for a frame as a frame with its index."""
        return like_input(X, self.decide_many(X)[0], self._labels(None))

    def predict_many(self, X: Any) -> Any:  # noqa: ANN401 (an array or a frame)
        """Return the predictions (examples × target labels), 0 or 1; for a frame as a frame with its index."""
        return like_input(X, self.decide_many(X)[1], self._labels(None))

    def load_kernels(self) -> None:
        """Compile the kernels, or load them from the cache, before they are needed."""
        load_recoding()
        trial = self.clone()
        trial.test_then_train(np.zeros((2, 1)), np.array([[0, 1], [1, 0]]))
        trial.predict_proba_many(np.zeros((1, 1)))
        trial._load_rare_kernels()  # noqa: SLF001 (of the same class)

    @abstractmethod
    def _load_rare_kernels(self) -> None:
        """Load the kernels that a first few examples do not call; `self` is a trial with labels 0 and 1."""

    def _scores(self, rows: Rows) -> Floats:
        scores = np.full((len(rows.starts) - 1, len(self._labels(None))), 0.5)
        self._predict(rows, scores)
        return scores

    def _checked_weights(self, w: Any, count: int) -> Floats:  # noqa: ANN401 (array-like)
        """Return the weights of examples."""
        try:
            weights = np.asarray(w, np.float64)
        except (TypeError, ValueError):
            raise MarleneError(f"w must be a number, or one for each example, not {quoted(w)}") from None
        if weights.ndim and weights.shape != (count,):
            raise MarleneError(f"w has shape {weights.shape}, expected one weight for each of {count} examples")
        wrong = weights[~((weights >= 0) & (weights <= LARGEST_WEIGHT))]
        if wrong.size:
            raise MarleneError(f"w must be from 0 to {LARGEST_WEIGHT:g}, not {wrong[0]:g}")
        other = weights[(weights != 0) & (weights != 1)]
        if other.size and not self._weighs:
            raise MarleneError(
                f"{type(self).__name__} takes no weights of examples: w must be 1 or 0, not {other[0]:g}"
            )
        return np.array(np.broadcast_to(weights, count))

    def _learn_weighted(self, stream: str | None, rows: Rows, truth: Labels, weights: Floats) -> None:
        """Learn rows, but those of weight 0."""
        if not weights.all():
            chosen = np.flatnonzero(weights)
            rows, truth, weights = repeated(rows, chosen), truth[chosen], weights[chosen]
            if not len(weights):
                return
        if (weights != 1.0).any():
            self._run_weighted(stream, rows, truth, weights)
        else:
            self._run(stream, rows, truth, np.zeros((0, 0)))
        self._count_features(rows)

    def _refuse_unfinished(self) -> None:
        """Refuse to go on after a change that was begun and not ended."""
        if self._unfinished:
            raise MarleneError(UNFINISHED)

    def _refuse_labels(self, labels: Collection[Hashable], known: Collection[Hashable]) -> None:
        """Refuse new labels of a stream if there would be too many in all."""
        if self.max_labels is None or len(labels) <= len(known):
            return
        if self._count_labels() - len(known) + len(labels) > self.max_labels:
            raise MarleneError(f"more than {self.max_labels} labels: no more are taken")

    def _refuse_features(self, count: int) -> None:
        """Refuse so many features if that is too many, and none can be left out."""
        if self.max_features is not None and count > self.max_features:
            raise MarleneError(f"{count} features, but max_features is {self.max_features}")

    def _count_features(self, rows: Rows) -> None:
        """Take note of which features were not zero in examples that were learnt."""
        if self.max_features is not None and self._forgets:
            self._space.count(rows.indices)

    def _lacks_room(self, additions: Additions) -> bool:
        return (
            self.max_features is not None
            and bool(additions)
            and self._space.size() + len(additions) > self.max_features
        )

    def _with_room(self, additions: Additions, made: Callable[[int], tuple[Rows, Additions]]) -> tuple[Rows, Additions]:
        """Forget features, if possible, to make room for new ones; return rows without what finds no room."""
        most = self.max_features or 0
        if self._forgets:
            lacking = self._space.size() + len(additions) - most
            self._forget(self._space.least_used(max(lacking, int(most * SHARE_FORGOTTEN))))
        return made(max(0, most - self._space.size()))

    def _forget(self, columns: Ints) -> None:
        """Forget features."""
        raise NotImplementedError

    def _in_parts(self, X: Any, Y: Any, w: Any, stream: str | None, learn: Callable[..., None]) -> None:  # noqa: ANN401
        """Check a block, add its new features and labels, and learn it in parts: rows, truth and weights.

        Each part is learnt as a whole, the first with what is new. Signals are handled before the next one.
        """
        self._refuse_unfinished()
        known = self._labels(stream)
        rows, additions = self._space.rows(X, stream, learning=True)
        if hasattr(X, "columns") and not known:
            self._warn_of_strangers(X.columns, stream)
        labels, truth = labels_of_block(known, Y, self.absent)
        if len(truth) != len(rows.starts) - 1:
            raise MarleneError(f"X has {len(rows.starts) - 1} rows, but Y has {len(truth)}")
        weights = self._checked_weights(w, len(truth))
        self._refuse_labels(labels, known)
        lacks_room = self._lacks_room(additions)
        if lacks_room and not hasattr(X, "columns"):
            self._refuse_features(self._space.size() + len(additions))
        begin, size = 0, FIRST_PART
        while begin == 0 or begin < len(truth):
            began = time.perf_counter()
            with Whole(self):
                if begin == 0 and lacks_room:
                    rows, additions = self._with_room(additions, lambda room: self._space.rows(X, stream, True, room))
                if begin == 0:
                    self._admit(stream, additions, labels)
                    self._never_false.see(stream, labels, truth)
                part = slice(begin, min(len(truth), begin + size))
                learn(cut_rows(rows, part.start, part.stop), truth[part], weights[part])
            begin += size
            size = max(1, min(LARGEST_PART, int(size * SECONDS_OF_A_PART / (time.perf_counter() - began))))

    def _warn_of_strangers(self, names: Iterable[Hashable], stream: str | None) -> None:
        names = list(names)
        if names and stream not in self._space.layouts:
            warn_of_strangers(self._space, names, stream, bool(self._labels(None)))

    def _admit(self, stream: str | None, additions: Additions, labels: Sequence[Hashable]) -> None:
        """Add what is new: features, values and labels."""
        space, known = self._space, len(self._labels(stream))
        if additions or len(labels) > known or not labels:
            self._growth.see("features", space.size() + len(additions), self.max_features)
            self._growth.see("labels", self._count_labels() + len(labels) - known, self.max_labels)
            self._take_in(stream, additions, labels)
        for said in space.doubts(additions) if additions.doubts else ():
            warn_user(said)

    def _take_in(self, stream: str | None, additions: Additions, labels: Sequence[Hashable]) -> None:
        self._space.add(additions)
        self._add(stream, labels)

    def _keep_additions(self) -> None:
        """Keep what was admitted, even if nothing is learnt with it."""


def _voters(rows: Sequence[Mapping[str, Any]], label: Hashable) -> str:
    """Return the streams and labels that have most of a vote."""
    shares: dict[str, float] = {}
    for row in rows:
        stream = "" if row["stream"] is None else f"{row['stream']}: "
        name = "its own" if (row["stream"], row["label"]) == (None, label) else f"{stream}{row['label']}"
        shares[name] = shares.get(name, 0.0) + row["share"]
    first = sorted(shares.items(), key=lambda item: -item[1])[:3]
    return ", ".join(f"{name} {share:.0%}" for name, share in first if share >= 0.01)


def _without_gaps(probabilities: Floats) -> Floats:
    """Replace NaN, no evidence, by 0.5."""
    probabilities[np.isnan(probabilities)] = 0.5
    return probabilities
