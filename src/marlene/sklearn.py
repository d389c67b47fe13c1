"""Every method as an estimator of scikit-learn; needs the extra `sklearn`."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene.learners import create
from marlene.learners._methods import DEFAULT_METHOD

optional("sklearn", "sklearn", "marlene.sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: E402 (only after the check that it is installed)
from sklearn.utils.multiclass import check_classification_targets, type_of_target  # noqa: E402
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Array, Floats, Labels


__all__ = ["MarleneClassifier"]


class MarleneClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A method of this package as an estimator of scikit-learn, for one or many labels of two values each.

    Examples are learnt in the order of the rows. A one-dimensional `y` is one label; a two-dimensional `y` has a column
    per label. The two values of a label may be anything that can be sorted; probabilities are those of the second.
    Features are numbers, NaN is a missing value, and sparse matrices are accepted.

    Parameters
    ----------
    method
        A name of `marlene methods`.
    seed
        Seed of the method's random numbers.
    features
        Kinds of the features, as in `marlene.Marlene`. The keys of a mapping are names of columns, or their positions.
    options
        Further parameters of the method's learner by name, such as ``{"transfer": "own", "objective": "macro-f1"}``.

    Attributes
    ----------
    classes_
        The values of the label in ascending order; a list of such arrays, one per label, if `y` is two-dimensional.
    n_outputs_
        Number of labels.
    n_features_in_
        Number of features of the first fit.
    feature_names_in_
        Their names, if the first fit was given a frame.
    model_
        The learner inside, such as a `marlene.Marlene`.

    Examples
    --------
    >>> from marlene.streams import load
    >>> stream = load("yeast")
    >>> model = MarleneClassifier(seed=1).partial_fit(stream.X[:400], stream.Y[:400])
    >>> model.partial_fit(stream.X[400:800], stream.Y[400:800]).predict(stream.X[800:803]).shape
    (3, 14)
    >>> small = MarleneClassifier().fit([[1.0], [2.0], [8.0], [9.0]] * 10, ["low", "low", "high", "high"] * 10)
    >>> small.predict([[1.5], [8.5]]).tolist(), small.classes_.tolist()
    (['low', 'high'], ['high', 'low'])
    """

    def __init__(
        self,
        method: str = DEFAULT_METHOD,
        seed: int = 1,
        features: str | Mapping[Hashable, str] = "auto",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.method = method
        self.seed = seed
        self.features = features
        self.options = options

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn's tags)
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ANN401 (array-likes)
        """Learn the rows one after the other, from scratch.

        Parameters
        ----------
        X
            A 2-D array, SciPy matrix or frame of numbers.
        y
            The label (1-D) or labels (2-D) of every row.
        """
        X, columns = self._validated(X, y, reset=True)
        values = [np.unique(column) for column in columns.T]
        return self._start(
            X, columns, values if self._one_dimensional else [_both(*pair) for pair in enumerate(values)]
        )

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:  # noqa: ANN401
        """Learn further rows, one after the other.

        Parameters
        ----------
        X, y
            As for `fit`.
        classes
            The two values of all labels, or a sequence with the two values of each; used at the first call only.
            Default: the values in `y`. If `y` holds only one value of a label, it must be 0 or 1 (or False or True).
        """
        first = not hasattr(self, "model_")
        X, columns = self._validated(X, y, reset=first)
        if first:
            return self._start(X, columns, [_both(*pair) for pair in enumerate(_as_classes(classes, columns))])
        self.model_.learn_many(X, _encoded(columns, self._values))
        return self

    def predict(self, X: Any) -> Array:  # noqa: ANN401
        """Return the predicted value of the label (n,) or of every label (n × labels).

        The method decides; a method with thresholds need not choose the value of the larger probability.
        """
        X = self._matrix(X)
        positive = self.model_.predict_many(X)
        predicted = [values[column.astype(np.int64)] for values, column in zip(self._values, positive.T, strict=True)]
        return predicted[0] if self._one_dimensional else np.column_stack(predicted)

    def predict_proba(self, X: Any) -> Floats:  # noqa: ANN401
        """Return P(value) of the label (n × values), or of many labels P(second value) (n × labels)."""
        X = self._matrix(X)
        probabilities: Floats = self.model_.predict_proba_many(X)
        if not self._one_dimensional:
            return probabilities
        if len(self._values[0]) == 1:
            return np.ones_like(probabilities)
        return np.column_stack([1 - probabilities, probabilities])

    def _validated(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Array]:  # noqa: ANN401
        """Check the inputs; return X, and y with a column per label."""
        if y is None:
            raise MarleneError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X = self._matrix(X, reset=reset)
        given = check_array(y.toarray() if hasattr(y, "toarray") else y, ensure_2d=False, dtype=None, input_name="y")
        check_consistent_length(X, given)
        if not reset and (given.ndim == 1) != self._one_dimensional:
            raise MarleneError(f"y has {given.ndim} dimensions, but had {1 if self._one_dimensional else 2} before")
        columns = given.reshape(len(given), -1)
        for column in columns.T:
            check_classification_targets(column)
            found = type_of_target(column, input_name="y")
            if found != "binary":
                raise MarleneError(f"Only binary classification is supported. The type of the target is {found}.")
        if not reset and columns.shape[1] != self.n_outputs_:
            raise MarleneError(f"y has {columns.shape[1]} columns, but {self.n_outputs_} labels are known")
        self._one_dimensional: bool = given.ndim == 1
        return X, columns

    @property
    def _values(self) -> list[Array]:
        return [self.classes_] if self._one_dimensional else self.classes_

    def _start(self, X: Any, columns: Array, values: list[Array]) -> Self:  # noqa: ANN401
        """Make the learner and learn the first rows, of labels with these values."""
        names = list(getattr(self, "feature_names_in_", ()))
        features = self.features
        if not isinstance(features, str):
            features = {names.index(name) if name in names else name: kind for name, kind in features.items()}
        model = self._untrained(features)
        model.learn_many(X, _encoded(columns, values))
        self.classes_: Any = values[0] if self._one_dimensional else values
        self.n_outputs_ = len(values)
        self.model_ = model
        return self

    def _untrained(self, features: str | Mapping[Hashable, str]) -> Any:  # noqa: ANN401 (a learner)
        model = create(self.method, self.seed)
        parameters = inspect.signature(type(model)).parameters
        if "features" not in parameters:
            raise MarleneError(f"method {self.method} cannot be an estimator of scikit-learn's")
        options = dict(self.options or {})
        for name in options:
            if name not in parameters:
                raise MarleneError(f"method {self.method} has no parameter {name!r}")
        return model.clone(new_params={"features": features} | options)

    def _matrix(self, X: Any, *, reset: bool = False) -> Any:  # noqa: ANN401
        """Return X as the learner takes it."""
        if not reset:
            check_is_fitted(self, "model_")
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite="allow-nan")


def _as_classes(classes: Any, columns: Array) -> list[Array]:  # noqa: ANN401
    """Return the values of every label, as given or as seen."""
    if classes is None:
        return [np.unique(column) for column in columns.T]
    if len(classes) and np.ndim(classes[0]) == 0:
        return [np.unique(classes)] * columns.shape[1]
    if len(classes) != columns.shape[1]:
        raise MarleneError(f"classes are given of {len(classes)} labels, but y has {columns.shape[1]}")
    return [np.unique(values) for values in classes]


def _both(label: int, known: Array) -> Array:
    """Return both values of a label, given those that are known."""
    if len(known) > 2:
        raise MarleneError(f"Only binary classification is supported. Label {label} has {len(known)} classes.")
    if len(known) == 1 and known.dtype.kind in "biuf" and known[0] in (0, 1):
        return np.array([0, 1], known.dtype)
    if len(known) < 2:
        raise MarleneError(f"label {label}: only the class {known[0]!r} is known; name both in `classes`")
    return known


def _encoded(columns: Array, values: Sequence[Array]) -> Labels:
    """Return y as 0 and 1: the positions of its entries among the two values of their label."""
    encoded = np.zeros(columns.shape, np.int8)
    for label, known in enumerate(values):
        strange = ~np.isin(columns[:, label], known)
        if strange.any():
            row = int(np.argmax(strange))
            raise MarleneError(
                f"y, row {row}, label {label}: {columns[row, label]!r} is not one of the classes {known}"
            )
        encoded[:, label] = np.searchsorted(known, columns[:, label])
    return encoded
