"""What every learner of this package offers: River's interface, arrays, and one step for blocks of rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from river import base

from marlene._common.errors import MarleneError
from marlene._common.labels import UNKNOWN, as_labels

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Floats, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.input._features import Additions, FeatureSpace
    from marlene.streams import Feature


PLAIN_TRUTH = {bool, np.bool_}


class BlockLearner(base.MultiLabelClassifier):
    """A multi-label learner over rows.

    A subclass says how rows are learnt and predicted; this class turns dictionaries, frames, arrays and sparse
    matrices into rows and checks them, before anything is changed.
    """

    _space: FeatureSpace

    @abstractmethod
    def _labels(self, stream: str | None) -> list[Hashable]:
        """Return the labels known of a stream."""

    @abstractmethod
    def _add(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        """Add labels of a stream and the features that `_space` has gained."""

    @abstractmethod
    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:
        """Learn rows, writing P(label), or NaN without evidence, before each if `probabilities` has columns."""

    @abstractmethod
    def _predict(self, rows: Rows, probabilities: Floats) -> None:
        """Write P(label) of every row, NaN without evidence."""

    def _decide(self, probabilities: Floats) -> Labels:
        """Return the predictions that go with P(label), NaN without evidence."""
        return (probabilities > 0.5).astype(np.int8)

    def _test(self, rows: Rows, truth: Labels, probabilities: Floats) -> Labels:
        """Learn rows of the target, writing P(label) before each, and return the predictions before each."""
        self._run(None, rows, truth, probabilities)
        return self._decide(probabilities)

    def declare(self, features: Sequence[Feature], labels: Sequence[Hashable] = (), stream: str | None = None) -> None:
        """Tell the learner names and kinds of a stream's features, and its labels, before its first example.

        Columns of arrays of that stream are then these features and labels, by position; features are matched with
        those of other streams by name.
        """
        self._space.declare(features, stream)
        self._add(stream, labels)

    def learn_one(self, x: dict[Hashable, Any], y: dict[Hashable, bool], stream: str | None = None) -> None:
        """Learn one example.

        Parameters
        ----------
        x
            Values by feature; an absent feature is zero, None or NaN is missing.
        y
            Labels; one that is absent or None is not known for this example.
        stream
            Name of the source stream the example comes from. Default: the target.
        """
        rows, additions = self._space.rows_of_dicts([x], learning=True)
        if x and not self._labels(stream):
            self._space.refuse_strangers(x, stream)
        labels, truth = _row_of_labels(self._labels(stream), y)
        self._admit(stream, additions, labels)
        self._run(stream, rows, truth, np.zeros((0, 0)))

    def predict_proba_one(self, x: dict[Hashable, Any], **_: Any) -> dict[Hashable, dict[bool, float]]:  # noqa: ANN401
        """Return the probabilities of every target label; 0.5 where there is no evidence."""
        rows, _additions = self._space.rows_of_dicts([x], learning=False)
        probabilities = _without_gaps(self._probabilities(rows))[0].tolist()
        return {label: {False: 1 - p, True: p} for label, p in zip(self._labels(None), probabilities, strict=True)}

    def predict_one(self, x: dict[Hashable, Any], **_: Any) -> dict[Hashable, bool]:  # noqa: ANN401
        """Return the prediction of every target label; without evidence, False."""
        rows, _additions = self._space.rows_of_dicts([x], learning=False)
        predictions = self._decide(self._probabilities(rows))[0].astype(bool).tolist()
        return dict(zip(self._labels(None), predictions, strict=True))

    def learn_many(self, X: Any, Y: Any, stream: str | None = None) -> None:  # noqa: ANN401 (array-likes)
        """Learn many examples, one after the other.

        Parameters
        ----------
        X
            A 2-D array, SciPy matrix or frame. Columns of a frame are features by name, others by position.
        Y
            A 2-D array or frame of 0, 1, and -1 or NaN where a label is not known.
        stream
            Name of the source stream. Default: the target.
        """
        rows, truth = self._take(X, Y, stream)
        self._run(stream, rows, truth, np.zeros((0, 0)))

    def test_then_train(self, X: Any, Y: Any) -> Floats:  # noqa: ANN401
        """Predict and then learn examples of the target, one after the other; return P(label) before learning."""
        return self.decide_then_train(X, Y)[0]

    def decide_then_train(self, X: Any, Y: Any) -> tuple[Floats, Labels]:  # noqa: ANN401
        """Do what `test_then_train` does; return P(label) and the predictions, both before learning."""
        rows, truth = self._take(X, Y, None)
        probabilities = np.full((len(truth), len(self._labels(None))), 0.5)
        predictions = self._test(rows, truth, probabilities)
        return _without_gaps(probabilities), predictions

    def decide_many(self, X: Any) -> tuple[Floats, Labels]:  # noqa: ANN401
        """Return P(label) and the predictions (examples × target labels)."""
        probabilities = self._probabilities(self._rows(X, None, learning=False)[0])
        predictions = self._decide(probabilities)
        return _without_gaps(probabilities), predictions

    def predict_proba_many(self, X: Any) -> Floats:  # noqa: ANN401
        """Return P(label) (examples × target labels)."""
        return self.decide_many(X)[0]

    def predict_many(self, X: Any) -> Labels:  # noqa: ANN401
        """Return the predictions (examples × target labels), 0 or 1."""
        return self.decide_many(X)[1]

    def _probabilities(self, rows: Rows) -> Floats:
        probabilities = np.full((len(rows.starts) - 1, len(self._labels(None))), 0.5)
        self._predict(rows, probabilities)
        return probabilities

    def _rows(self, X: Any, stream: str | None, learning: bool) -> tuple[Rows, Additions]:  # noqa: ANN401
        if hasattr(X, "columns") and hasattr(X, "dtypes"):
            names = list(X.columns)
            columns = [np.asarray(X[name]).tolist() for name in names]
            dicts = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
            return self._space.rows_of_dicts(dicts, learning)
        return self._space.rows_of_matrix(X, stream, learning)

    def _take(self, X: Any, Y: Any, stream: str | None) -> tuple[Rows, Labels]:  # noqa: ANN401
        """Check a block and make its features and labels known."""
        rows, additions = self._rows(X, stream, learning=True)
        if hasattr(X, "columns") and not self._labels(stream):
            self._space.refuse_strangers(X.columns, stream)
        known = self._labels(stream)
        truth = as_labels(Y, "Y", wording=lambda row, column: f"Y, row {row}, column {column}")
        labels: list[Hashable] = list(Y.columns) if hasattr(Y, "columns") else known or list(range(truth.shape[1]))
        if len(labels) != truth.shape[1]:
            raise MarleneError(f"Y has {truth.shape[1]} columns, but {len(labels)} labels are known")
        if len(truth) != len(rows.starts) - 1:
            raise MarleneError(f"X has {len(rows.starts) - 1} rows, but Y has {len(truth)}")
        if hasattr(Y, "columns"):
            labels, truth = _by_name(known, labels, truth)
        self._admit(stream, additions, labels)
        return rows, truth

    def _admit(self, stream: str | None, additions: Additions, labels: Sequence[Hashable]) -> None:
        """Make features, values and labels known that are new."""
        if additions.features or additions.values or len(labels) > len(self._labels(stream)) or not labels:
            self._space.add(additions)
            self._add(stream, labels)


def _without_gaps(probabilities: Floats) -> Floats:
    """Return 0.5 where there is no evidence."""
    probabilities[np.isnan(probabilities)] = 0.5
    return probabilities


def _row_of_labels(known: list[Hashable], y: Mapping[Hashable, object]) -> tuple[list[Hashable], Labels]:
    """Return all labels, the known ones first, and one row of truth."""
    if PLAIN_TRUTH.issuperset(map(type, y.values())):
        said: list[Any] = [*y.values()]
    else:
        said = [_as_truth(label, value) for label, value in y.items()]
    if [*y] == known:
        return known, np.array([said], np.int8)
    places = {label: place for place, label in enumerate(known)}
    columns = [places.setdefault(label, len(places)) for label in y]
    truth = np.full((1, len(places)), UNKNOWN, np.int8)
    truth[0, columns] = said
    return [*places], truth


def _as_truth(label: Hashable, value: object) -> int:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return UNKNOWN
    if value not in (0, 1):
        raise MarleneError(f"label {label!r}: expected 0 or 1, found {value!r}")
    return int(bool(value))


def _by_name(known: Sequence[Hashable], labels: list[Hashable], truth: Labels) -> tuple[list[Hashable], Labels]:
    """Put the columns of a frame in the order of the known labels; those it lacks are not known."""
    if len(set(labels)) != len(labels):
        raise MarleneError("Y has two columns of the same name")
    order = [*known, *(label for label in labels if label not in known)]
    ordered = np.full((len(truth), len(order)), UNKNOWN, np.int8)
    for column, label in enumerate(labels):
        ordered[:, order.index(label)] = truth[:, column]
    return order, ordered
