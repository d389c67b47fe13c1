"""A multi-label stream: examples in their order, with named features and labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from marlene._common.checks import one_of, whole_number
from marlene._common.errors import MarleneError
from marlene._common.html import MOST_ROWS, card, table
from marlene._common.labels import UNKNOWN, as_labels
from marlene._common.lazy import Later
from marlene.streams._labels import DROPPED, matching_columns
from marlene.streams._matrix import as_matrix, dense, inferred_kinds
from marlene.streams.archives import halves
from marlene.streams.changes import changed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from marlene._common.arrays import Bools, Floats, Ints, Labels
    from marlene.streams._matrix import Matrix

Kind: TypeAlias = Literal["numeric", "binary", "nominal"]
KINDS: tuple[Kind, ...] = ("numeric", "binary", "nominal")
FeatureKinds: TypeAlias = "str | Mapping[str, str]"
"""A kind for all features, or kinds of single features by name; see `Stream.with_kinds`."""
Drifts: TypeAlias = "Mapping[str, tuple[int, ...]]"
"""For every label the numbers (from 0) of the examples with which a new concept begins."""

sp: Any = Later("scipy.sparse")


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of a stream's `X`.

    Parameters
    ----------
    name
        Its name.
    kind
        "numeric"; "binary" (the values 0 and 1); or "nominal" (column values are indices into `values`).
    values
        The names of a nominal feature's values.

    Examples
    --------
    >>> Feature("colour", "nominal", ("red", "green"))
    Feature(name='colour', kind='nominal', values=('red', 'green'))
    """

    name: str
    kind: Kind = "numeric"
    values: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Stream:
    """Examples in the order in which they arrive.

    Parameters
    ----------
    X
        Values (examples × features), float64: a dense array, or a CSR array in which an absent entry is zero.
        NaN is a missing value; infinities are refused.
    Y
        Labels (examples × labels), int8: 1, 0, or -1 where a label is not known.
    features
        Name and kind of every column of `X`.
    labels
        Name of every column of `Y`.
    name
        What the stream is called in reports.
    drifts
        If the true drifts are known: for every label the numbers (from 0) of the examples with which a new concept
        begins. Two streams with the same examples are equal, whatever is known about their drifts.
    clock
        If the source has a column of dates: the time of every example, in seconds since 1970; NaN where it is missing.

    Examples
    --------
    >>> stream = Stream.from_arrays([[0.5, 1], [1.5, 0]], [[1, 0], [0, 1]], labels=["urgent", "spam"])
    >>> len(stream), stream.features[1].kind
    (2, 'binary')
    >>> for x, y in stream:
    ...     print(x, y)
    {'x0': 0.5, 'x1': True} {'urgent': True, 'spam': False}
    {'x0': 1.5, 'x1': False} {'urgent': False, 'spam': True}
    """

    X: Matrix
    Y: Labels
    features: tuple[Feature, ...]
    labels: tuple[str, ...]
    name: str = "stream"
    drifts: Drifts = field(default_factory=dict)
    clock: Floats | None = None

    def __post_init__(self) -> None:
        if self.X.shape != (len(self.Y), len(self.features)):
            raise MarleneError(
                f"{self.name}: X has shape {self.X.shape}, expected {(len(self.Y), len(self.features))} "
                "(one row per row of Y, one column per feature)"
            )
        if self.Y.ndim != 2 or self.Y.shape[1] != len(self.labels):
            raise MarleneError(
                f"{self.name}: Y has shape {self.Y.shape}, expected two dimensions with {len(self.labels)} labels"
            )
        if self.clock is not None and self.clock.shape != (len(self.Y),):
            raise MarleneError(f"{self.name}: the clock has shape {self.clock.shape}, expected {(len(self.Y),)}")
        if not self.labels:
            raise MarleneError(f"{self.name}: there is no label")
        if not len(self.Y):
            raise MarleneError(f"{self.name}: the stream is empty")
        refuse_duplicates(self.name, "features", [feature.name for feature in self.features])
        refuse_duplicates(self.name, "labels", self.labels)
        self._refuse_infinities()

    def _refuse_infinities(self) -> None:
        if np.isinf(self.X.data if isinstance(self.X, sp.csr_array) else self.X).any():
            rows, columns = (abs(self.X) == np.inf).nonzero()
            feature = self.features[columns[0]].name
            raise MarleneError(f"{self.name}: example {rows[0]}, feature {feature!r}: the value is infinite")

    @classmethod
    def from_arrays(
        cls,
        X: Any,  # noqa: ANN401 (whatever NumPy or SciPy can turn into a matrix)
        Y: Any,  # noqa: ANN401
        *,
        features: Sequence[str | Feature] | None = None,
        labels: Sequence[str] | None = None,
        name: str = "arrays",
    ) -> Stream:
        """Make a stream from arrays.

        Parameters
        ----------
        X
            A two-dimensional array or SciPy sparse array or matrix.
        Y
            A two-dimensional array of 0, 1 and, where a label is not known, -1 or NaN.
        features
            Names, or `Feature` objects where the kinds are known. A column with only a name is binary if it holds
            only 0 and 1 (and missing values), otherwise numeric. Default x0, x1, …
        labels
            Names of the columns of `Y`. Default y0, y1, …
        name
            What the stream is called in reports.
        """
        matrix = as_matrix(X, name)
        truth = _label_matrix(Y, name, labels)
        given = [f"x{i}" for i in range(matrix.shape[1])] if features is None else features
        if len(given) != matrix.shape[1]:
            raise MarleneError(f"{name}: {len(given)} feature names for {matrix.shape[1]} columns")
        declared = tuple(
            feature if isinstance(feature, Feature) else Feature(feature, kind)
            for feature, kind in zip(given, inferred_kinds(matrix), strict=True)
        )
        label_names = tuple(labels) if labels is not None else tuple(f"y{i}" for i in range(truth.shape[1]))
        return cls(matrix, truth, declared, label_names, name)

    def __len__(self) -> int:
        return len(self.Y)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], dict[str, bool]]]:
        for index in range(len(self)):
            yield self.example(index), self.truth(index)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return (
            (self.name, self.features, self.labels) == (other.name, other.features, other.labels)
            and np.array_equal(self.Y, other.Y)
            and np.array_equal(dense(self.X), dense(other.X), equal_nan=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        layout = "sparse" if isinstance(self.X, sp.csr_array) else "dense"
        return (
            f"<Stream {self.name}: {len(self)} examples, {len(self.features)} features ({layout}), "
            f"{len(self.labels)} labels>"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows: how much there is, and how often every label is true."""
        kinds = Counter(feature.kind for feature in self.features)
        told = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        facts = f"{len(self):,} examples; {len(self.features):,} features: {told}; {len(self.labels):,} labels"
        rows = []
        for label, column in zip(self.labels[:MOST_ROWS], self.Y.T, strict=False):
            known, true = int((column != UNKNOWN).sum()), int((column == 1).sum())
            drifts = ", ".join(map(str, self.drifts.get(label, ())[:5]))
            rows.append((label, f"{true:,}", f"{true / max(1, known):.2%}", drifts))
        more = max(0, len(self.labels) - MOST_ROWS)
        return card(self.name, facts, table(("label", "true", "share", "drifts at"), rows, more))

    def example(self, index: int) -> dict[str, Any]:
        """Return the features of one example as a dictionary for River; see `as_example`."""
        return self.as_example(self.X[[index]])

    def as_example(self, row: Matrix) -> dict[str, Any]:
        """Turn a matrix of one row into a dictionary.

        All features except missing values are in it, zeros too: River takes an absent feature for missing.
        Binary features are booleans, nominal ones the names of their values.
        """
        return as_example(self.features, row)

    def truth(self, index: int) -> dict[str, bool]:
        """Return the known labels of one example."""
        return {label: bool(value) for label, value in zip(self.labels, self.Y[index], strict=True) if value != UNKNOWN}

    def blocks(self, size: int) -> Iterator[tuple[Matrix, Labels]]:
        """Yield X and Y in blocks of `size` examples; the last block may be shorter."""
        return ((self.X[i : i + size], self.Y[i : i + size]) for i in range(0, len(self), size))

    def parts(self) -> Iterator[Stream]:
        """Yield the stream itself; a `LazyStream` has many parts."""
        yield self

    @property
    def total(self) -> int:
        """How many examples there are."""
        return len(self)

    def head(self, count: int) -> Stream:
        """Return a stream of the first `count` examples."""
        whole_number(count, f"{self.name}: the number of examples", 1)
        drifts = {label: tuple(time for time in times if time < count) for label, times in self.drifts.items()}
        return replace(self.rows(slice(count)), drifts=drifts)

    def rows(self, chosen: slice | Ints) -> Stream:
        """Return a stream of some examples, with its drifts unchanged."""
        clock = None if self.clock is None else self.clock[chosen]
        return replace(self, X=self.X[chosen], Y=self.Y[chosen], clock=clock)

    def without(self, drop: str | Sequence[str]) -> Stream:
        """Return the stream without some features and labels.

        Parameters
        ----------
        drop
            Patterns of names such as "id,note_*", or a list of names.

        Examples
        --------
        >>> Stream.from_arrays([[0.5, 1], [0.0, 0]], [[1], [0]]).without("x1").features
        (Feature(name='x0', kind='numeric', values=()),)
        """
        names = [*(feature.name for feature in self.features), *self.labels]
        dropped = set(matching_columns(names, drop, self.name, DROPPED))
        kept = [i for i in range(len(self.features)) if i not in dropped]
        labels = [i for i in range(len(self.labels)) if i + len(self.features) not in dropped]
        return replace(
            self,
            X=self.X[:, kept],
            Y=self.Y[:, labels],
            features=tuple(self.features[i] for i in kept),
            labels=tuple(self.labels[i] for i in labels),
            drifts={label: times for label, times in self.drifts.items() if label in {self.labels[i] for i in labels}},
        )

    def rotated(self) -> Stream:
        """Return the stream with an abrupt drift of all labels in the middle.

        In the second half, every label has the values of the label before it, the first label those of the last. As
        after every change, the stream knows its `drifts`.

        Examples
        --------
        >>> rotated = Stream.from_arrays([[0.5]] * 4, [[1, 0, 0]] * 4).rotated()
        >>> rotated.Y.tolist()
        [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]]
        >>> rotated.drifts
        {'y0': (2,), 'y1': (2,), 'y2': (2,)}
        """
        return changed(self, "rotated")

    def swapped(self, seed: int = 1) -> Stream:
        """Return the stream with two abrupt drifts: labels are rotated in the second third, permuted in the last.

        Examples
        --------
        >>> Stream.from_arrays([[0.5]] * 3, [[1, 0, 0]] * 3).swapped(seed=3).Y.tolist()
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        """
        return changed(self, "swapped", seed)

    def recurring(self) -> Stream:
        """Return the stream with labels rotated in the second third, and as before in the last.

        Examples
        --------
        >>> Stream.from_arrays([[0.5]] * 3, [[1, 0, 0]] * 3).recurring().Y.tolist()
        [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
        """
        return changed(self, "recurring")

    def gradual(self, seed: int = 1) -> Stream:
        """Return the stream with labels rotated more and more often: over a tenth of it, around the middle.

        The drifts are told at the beginning of this tenth.

        Examples
        --------
        >>> Stream.from_arrays([[0.5]] * 100, [[1, 0]] * 100).gradual().drifts
        {'y0': (45,), 'y1': (45,)}
        """
        return changed(self, "gradual", seed)

    def few(self, seed: int = 1) -> Stream:
        """Return the stream with an abrupt drift in the middle of three labels only, which change places.

        Examples
        --------
        >>> Stream.from_arrays([[0.5]] * 2, [[1, 0, 1, 0, 1]] * 2).few().drifts
        {'y0': (), 'y1': (1,), 'y2': (1,), 'y3': (1,), 'y4': ()}
        """
        return changed(self, "few", seed)

    def replaced(self, seed: int = 1) -> Stream:
        """Return the stream with half of its labels. In the middle, each gets the values of one of the other half.

        Examples
        --------
        >>> replaced = Stream.from_arrays([[0.5]] * 2, [[1, 1, 0, 0]] * 2, labels=["a", "b", "c", "d"]).replaced()
        >>> replaced.labels, replaced.Y.tolist()
        (('a', 'b'), [[1, 1], [0, 0]])
        """
        return changed(self, "replaced", seed)

    def halves(self, archive: str = "same", seed: int = 1) -> tuple[Stream, Stream]:
        """Return the first half, to learn before as an archive, and the second; see `marlene.streams.archives`.

        Examples
        --------
        >>> archive, target = Stream.from_arrays([[0.5], [1.5]], [[1], [0]]).halves()
        >>> archive.name, target.name
        ('arrays, first half', 'arrays, second half')
        """
        return halves(self, archive, seed)

    def with_kinds(self, kinds: FeatureKinds) -> Stream:
        """Return the stream with other kinds of features.

        Parameters
        ----------
        kinds
            "auto" changes nothing; "numeric" makes binary features numeric; "binary" replaces numeric features by
            whether they are non-zero; a mapping gives the kinds of single features. Nominal features keep their kind
            unless a mapping names them; their values must then be numbers.

        Examples
        --------
        >>> stream = Stream.from_arrays([[0.5, 1], [0.0, 0]], [[1], [0]])
        >>> stream.with_kinds("binary").X
        array([[1., 1.],
               [0., 0.]])
        >>> [feature.kind for feature in stream.with_kinds({"x1": "numeric"}).features]
        ['numeric', 'numeric']
        """
        if kinds == "auto":
            return self
        if isinstance(kinds, str):
            kinds = {f.name: kinds for f in self.features if f.kind != "nominal"}
        unknown = sorted(kinds.keys() - {feature.name for feature in self.features})
        if unknown:
            raise MarleneError(f"{self.name}: there is no feature named {unknown[0]!r}")
        features = tuple(_with_kind(self.name, f, kinds.get(f.name, f.kind)) for f in self.features)
        X = self.X
        to_presence = np.zeros(len(features), dtype=bool)
        for i, (old, new) in enumerate(zip(self.features, features, strict=True)):
            if old.kind == "nominal" and new.kind != "nominal":
                X = _numbers_for_values(X, i, old, self.name)
            to_presence[i] = new.kind == "binary" and old.kind != "binary"
        if to_presence.any():
            X = _changed(X, to_presence, lambda values: values != 0)
        return replace(self, X=X, features=features)


def _with_kind(stream: str, feature: Feature, kind: Any) -> Feature:  # noqa: ANN401 (checked here)
    one_of(kind, f"{stream}, feature {feature.name!r}: the kind", KINDS)
    if kind == feature.kind:
        return feature
    if kind != "nominal":
        return Feature(feature.name, kind)
    if feature.kind == "numeric" and not feature.values:
        raise MarleneError(
            f"{stream}, feature {feature.name!r}: a numeric column has no list of values, so it cannot be nominal"
        )
    return Feature(feature.name, "nominal", feature.values or ("0", "1"))


def _numbers_for_values(X: Matrix, column: int, feature: Feature, stream: str) -> Matrix:
    """Replace the indices of a nominal feature's values by the values, which must be numbers."""
    numbers = np.empty(len(feature.values))
    for i, value in enumerate(feature.values):
        try:
            numbers[i] = float(value)
        except ValueError:
            raise MarleneError(f"{stream}, feature {feature.name!r}: its value {value!r} is not a number") from None
    if isinstance(X, sp.csr_array) and numbers[:1].any():
        # An absent entry means the first value, which is not zero.
        X = X.toarray()
    return _changed(X, np.arange(X.shape[1]) == column, lambda values: numbers[values.astype(np.intp)])


def _changed(X: Matrix, columns: Bools, change: Callable[[Floats], Floats | Bools]) -> Matrix:
    """Return a copy of `X` with the values of the given columns changed; missing values stay missing."""
    changed = X.copy()
    values = changed.data if isinstance(changed, sp.csr_array) else changed
    chosen = (columns[changed.indices] if isinstance(changed, sp.csr_array) else columns) & ~np.isnan(values)
    values[chosen] = change(values[chosen])
    return changed


def as_example(features: Sequence[Feature], row: Matrix) -> dict[str, Any]:
    """Return a matrix of one row as a dictionary; see `Stream.as_example`."""
    return {
        feature.name: _as_python(feature, value)
        for feature, value in zip(features, dense(row)[0].tolist(), strict=True)
        if value == value  # noqa: PLR0124 (false for a missing value only)
    }


def _as_python(feature: Feature, value: float) -> float | bool | str:
    if feature.kind == "binary":
        return bool(value)
    if feature.kind == "nominal":
        return feature.values[int(value)]
    return value


def refuse_duplicates(source: str, what: str, names: Sequence[str]) -> None:
    """Refuse a name that occurs twice; `what` says in the plural what is named."""
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise MarleneError(f"{source}: two {what} are named {twice!r}")


def _label_matrix(Y: Any, name: str, labels: Sequence[str] | None = None) -> Labels:  # noqa: ANN401
    def wording(row: int, column: int) -> str:
        label = repr(labels[column]) if labels is not None and column < len(labels) else str(column)
        return f"{name}: example {row}, label {label}"

    return as_labels(Y, f"{name}: Y", wording=wording)
