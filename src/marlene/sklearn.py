"""Every method as an estimator of scikit-learn; needs the extra `sklearn`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene.learners import METHODS, create
from marlene.learners._methods import DEFAULT_METHOD
from marlene.learners.input._frames import is_frame

optional("sklearn", "sklearn", "marlene.sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: E402 (only after the check that it is installed)
from sklearn.utils.multiclass import check_classification_targets, type_of_target  # noqa: E402
from sklearn.utils.validation import (  # noqa: E402
    _check_sample_weight,
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from marlene._common.arrays import Array, Floats, Labels


__all__ = ["MarleneClassifier"]

LISTED = "y lists labels: MultiLabelBinarizer makes a column of 0 and 1 of each, as scikit-learn expects"


class MarleneClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A method of this package as an estimator of scikit-learn, for one or many labels of two values each.

    Examples are learnt in the order of the rows. A one-dimensional `y` is one label; a two-dimensional `y` has a column
    per label. The two values of a label may be anything that can be sorted; probabilities are those of the second.
    Features are numbers, NaN is a missing value, and sparse matrices are accepted. The columns of a frame may also be
    texts, dates and categories.

    Parameters
    ----------
    method
        A name of `marlene methods`.
    seed
        Seed of the method's random numbers.
    features
        Kinds of the features, as in `marlene.Marlene`. The keys of a mapping are names of columns, or their positions.
    max_features
        The largest number of features, as in `marlene.Marlene`; None: any.
    objective, transfer
        Parameters of `marlene.Marlene`. Here and below, None is the default of the method, and a parameter that the
        method does not have is refused.
    base
        Parameter of `marlene.Marlene`, `marlene.BRMarlene`, `marlene.BRResampled` and `marlene.BRPWMarlene`.
    drift, resampling, max_models, retired
        Parameters of `marlene.BRMarlene`, `marlene.BRResampled` and `marlene.BRPWMarlene`.
    pairs, combine, weighting, pooling, voters, partner_fading, partner_margin, max_memory
        Parameters of `marlene.BRPWMarlene`.
    transformation, members, rate, threshold, delta, chunk
        Parameters of the ensembles `OnlineBagging`, `ADWINBagging` and `GOOWE` of `marlene.learners`.
    parts, grace_period, variance_floor
        Parameters of their transformations.
    neighbours, least, most, penalty, reduction
        Parameters of `marlene.learners.PunitiveNeighbours`.
    tie_threshold, cardinality, entropy, window, patience, significance, max_leaves
        Parameters of `marlene.learners.AdaptiveTree`, which also has `grace_period`, `delta`, `neighbours`, `members`
        and `learning_rate`.
    loss, learning_rate, bits
        Parameters of `marlene.learners.VowpalWabbit`.

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
    >>> model = MarleneClassifier(objective="macro-f1").partial_fit(stream.X[:400], stream.Y[:400])
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
        *,
        max_features: int | None = None,
        objective: str | Mapping[str, float] | None = None,
        transfer: str | None = None,
        base: Any = None,  # noqa: ANN401 (a name, or a bank of classifiers)
        drift: Any = None,  # noqa: ANN401 (a name, or a bank of detectors)
        resampling: str | None = None,
        max_models: int | None = None,
        retired: str | None = None,
        pairs: Any = None,  # noqa: ANN401 (a name, a number or a list)
        combine: str | None = None,
        weighting: str | None = None,
        pooling: str | None = None,
        voters: str | None = None,
        partner_fading: float | None = None,
        partner_margin: float | None = None,
        max_memory: float | None = None,
        transformation: Any = None,  # noqa: ANN401 (a transformation)
        members: int | None = None,
        rate: float | None = None,
        threshold: str | None = None,
        delta: float | None = None,
        chunk: int | None = None,
        parts: int | None = None,
        grace_period: int | None = None,
        variance_floor: float | None = None,
        neighbours: int | None = None,
        least: int | None = None,
        most: int | None = None,
        penalty: float | None = None,
        reduction: float | None = None,
        tie_threshold: float | None = None,
        cardinality: float | None = None,
        entropy: float | None = None,
        window: int | None = None,
        patience: int | None = None,
        significance: float | None = None,
        max_leaves: int | None = None,
        loss: str | None = None,
        learning_rate: float | None = None,
        bits: int | None = None,
    ) -> None:
        self.method = method
        self.seed = seed
        self.features = features
        self.max_features = max_features
        self.objective = objective
        self.transfer = transfer
        self.base = base
        self.drift = drift
        self.resampling = resampling
        self.max_models = max_models
        self.retired = retired
        self.pairs = pairs
        self.combine = combine
        self.weighting = weighting
        self.pooling = pooling
        self.voters = voters
        self.partner_fading = partner_fading
        self.partner_margin = partner_margin
        self.max_memory = max_memory
        self.transformation = transformation
        self.members = members
        self.rate = rate
        self.threshold = threshold
        self.delta = delta
        self.chunk = chunk
        self.parts = parts
        self.grace_period = grace_period
        self.variance_floor = variance_floor
        self.neighbours = neighbours
        self.least = least
        self.most = most
        self.penalty = penalty
        self.reduction = reduction
        self.tie_threshold = tie_threshold
        self.cardinality = cardinality
        self.entropy = entropy
        self.window = window
        self.patience = patience
        self.significance = significance
        self.max_leaves = max_leaves
        self.loss = loss
        self.learning_rate = learning_rate
        self.bits = bits

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn's tags)
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: ANN401 (array-likes)
        """Learn the rows one after the other, from scratch.

        Parameters
        ----------
        X
            A 2-D array, SciPy matrix or frame.
        y
            The label (1-D) or labels (2-D) of every row.
        sample_weight
            The weight of every row. The method `marlene` takes any, others only 0 and 1.
        """
        X, columns = self._validated(X, y, reset=True)
        values = [np.unique(column) for column in columns.T]
        known = values if self._one_dimensional else [_both(*pair) for pair in enumerate(values)]
        return self._start(X, columns, known, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:  # noqa: ANN401
        """Learn further rows, one after the other.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes
            The two values of all labels, or a sequence with the two values of each; used at the first call only.
            Default: the values in `y`. If `y` holds only one value of a label, it must be 0 or 1 (or False or True).
        """
        first = not hasattr(self, "model_")
        X, columns = self._validated(X, y, reset=first)
        if first:
            known = [_both(*pair) for pair in enumerate(_as_classes(classes, columns))]
            return self._start(X, columns, known, sample_weight)
        self._learn(self.model_, X, _encoded(columns, self._values), sample_weight)
        return self

    def predict(self, X: Any) -> Array:  # noqa: ANN401
        """Return the predicted value of the label (n,) or of every label (n × labels).

        The method decides; a method with thresholds need not choose the value of the larger probability.
        """
        X = self._matrix(X)
        positive = np.asarray(self.model_.predict_many(X))
        predicted = [values[column.astype(np.int64)] for values, column in zip(self._values, positive.T, strict=True)]
        return predicted[0] if self._one_dimensional else np.column_stack(predicted)

    def predict_proba(self, X: Any) -> Floats:  # noqa: ANN401
        """Return P(value) of the label (n × values), or of many labels P(second value) (n × labels)."""
        X = self._matrix(X)
        probabilities: Floats = np.asarray(self.model_.predict_proba_many(X))
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
        given = _as_array(y)
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

    def _start(self, X: Any, columns: Array, values: list[Array], weights: Any) -> Self:  # noqa: ANN401
        """Make the learner and learn the first rows, of labels with these values."""
        names = list(getattr(self, "feature_names_in_", ()))
        features = self.features
        if not isinstance(features, str) and not is_frame(X):
            features = {names.index(name) if name in names else name: kind for name, kind in features.items()}
        model = self._untrained(features)
        self._learn(model, X, _encoded(columns, values), weights)
        self.classes_: Any = values[0] if self._one_dimensional else values
        self.n_outputs_ = len(values)
        self.model_ = model
        return self

    def _learn(self, model: Any, X: Any, truth: Labels, weights: Any) -> None:  # noqa: ANN401
        model.learn_many(X, truth, w=1.0 if weights is None else _check_sample_weight(weights, X))

    def _untrained(self, features: str | Mapping[Hashable, str]) -> Any:  # noqa: ANN401 (a learner)
        own = ("method", "seed", "features")
        given = {n: value for n, value in self.get_params(deep=False).items() if n not in own and value is not None}
        options = METHODS[self.method].options if self.method in METHODS else ()
        model = create(self.method, self.seed, **{name: value for name, value in given.items() if name in options})
        parameters = inspect.signature(type(model)).parameters
        if "features" not in parameters:
            raise MarleneError(f"method {self.method} cannot be an estimator of scikit-learn's")
        for name in given:
            if name not in parameters and name not in options:
                raise MarleneError(f"method {self.method} has no parameter {name!r}")
        further = {name: value for name, value in given.items() if name not in options}
        return model.clone(new_params={"features": features} | further)

    def _matrix(self, X: Any, *, reset: bool = False) -> Any:  # noqa: ANN401
        """Return X as the learner takes it: numbers, or a frame if it holds anything else."""
        if not reset:
            check_is_fitted(self, "model_")
        if reset:
            self._framed: bool = is_frame(X) and not _is_numeric(X)
        if self._framed and not is_frame(X):
            raise MarleneError(f"X must be a frame, as before, not a {type(X).__name__}")
        if self._framed:
            return validate_data(self, X, reset=reset, skip_check_array=True)
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite="allow-nan")


def _as_array(y: Any) -> Array:  # noqa: ANN401 (array-like)
    if isinstance(y, Sequence) and any(isinstance(each, set | frozenset) for each in y[:1]):
        raise MarleneError(LISTED)
    try:
        given: Array = check_array(
            y.toarray() if hasattr(y, "toarray") else y, ensure_2d=False, dtype=None, input_name="y"
        )
    except ValueError as error:
        if "inhomogeneous" in str(error):
            raise MarleneError(LISTED) from error
        raise
    return given


def _is_numeric(frame: Any) -> bool:  # noqa: ANN401
    """Tell whether all columns of a frame are numbers or truth values."""
    return all(np.asarray(frame[name]).dtype.kind in "biuf" for name in frame.columns)


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
