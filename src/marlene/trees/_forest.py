"""A forest of Hoeffding trees in one set of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from marlene._common.arrays import as_floats
from marlene._common.checks import checked
from marlene._common.errors import MarleneError
from marlene._common.states import restore_file, save_state
from marlene.kernels.forest import state as layout
from marlene.kernels.forest import trees as kernels
from marlene.kernels.forest.state import empty_forest, feature_fields
from marlene.trees._parameters import MOST_VALUES, RULES, SIZE, as_kinds, kernel_settings
from marlene.trees._rows import as_rows
from marlene.trees._rules import feature_use, path, rules
from marlene.trees._storage import compact, expand, grown, lengthened

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from marlene._common.arrays import Array, Arrays, Floats, Ints
    from marlene.kernels.rows import Rows


KIND = "hoeffding-forest"
VERSION = 2
LARGEST_WEIGHT = 2**31 - 1


class HoeffdingForest:
    """Any number of Hoeffding trees over the same features, known by their ids.

    The trees are those of Domingos and Hulten (2000). Leaves predict by majority class or naive Bayes, whichever was
    right more often (Gama et al. 2003); the conventions are MOA's. Trees are independent: in a forest of a hundred,
    each gives the same votes as alone. Dense and sparse rows with the same values give the same bits.

    Differences from MOA: likelihoods are summed as logarithms and do not underflow; a Gaussian without variance does
    not veto a class (`variance_floor`); a leaf does not split on a tie of features without any gain.

    Parameters
    ----------
    kinds
        For every feature "numeric", "binary", or the number of values of a nominal feature (coded 0, 1, …). Absent
        entries of sparse rows are zero. NaN is a missing value: it is neither counted nor used, and at a split it takes
        the branch that was heaviest when the split was made.
    n_classes
        Number of classes.
    grace_period
        Weight a leaf sees between attempts to split.
    grace_tolerance
        How much of it a leaf may lack. Weights are whole numbers, so that leaves meet the period exactly again and
        again; but they begin with fractions, and rounding would decide. MOA has 0.
    delta
        Probability that a split is not the best one: δ of the Hoeffding bound.
    tie_threshold
        Hoeffding bound below which a leaf splits even if other tests are as good.
    split_points
        Number of thresholds tried for a numeric feature.
    leaf_prediction
        "majority", "naive_bayes" or "adaptive".
    max_depth, max_nodes
        Limits of a tree's growth; 0 for none.
    variance_floor
        Least variance of a Gaussian in a likelihood; 0 for none.
    inherit
        Whether new leaves take over their share of the split leaf's statistics of all features, instead of its class
        counts only. Trees then predict well right after a split, and take more time and memory.
    effective_size
        Whether the Hoeffding bound takes (Σw)² / Σw² as the number of examples, instead of Σw: an example of weight 50
        says no more than one of weight 1.

    Examples
    --------
    >>> import numpy as np
    >>> forest = HoeffdingForest(["numeric", "binary"])
    >>> tree, other = forest.add(2)
    >>> rng = np.random.default_rng(1)
    >>> X = np.column_stack([rng.normal(size=1000), rng.integers(0, 2, 1000)])
    >>> forest.learn_many([tree], X, X[:, 0] > 0.5)
    >>> forest.votes([2.0, 1.0]).round(2)  # the second tree has learnt nothing
    array([[0., 1.],
           [0., 0.]])
    >>> print(forest.rules(tree, names=["temperature", "alarm"]))
    temperature <= 0.3339: class 0 of weight 653.6 (100 %)
    temperature > 0.3339 and temperature <= 0.6072: class 1 of weight 70.5 (53 %)
    temperature > 0.3339 and temperature > 0.6072: class 1 of weight 204.5 (100 %)
    """

    def __init__(
        self,
        kinds: Sequence[int | str],
        *,
        n_classes: int = 2,
        grace_period: float = 200,
        delta: float = 1e-7,
        tie_threshold: float = 0.05,
        split_points: int = 10,
        leaf_prediction: str = "adaptive",
        max_depth: int = 0,
        max_nodes: int = 0,
        variance_floor: float = 1e-4,
        inherit: bool = False,
        effective_size: bool = False,
        grace_tolerance: float = 1e-6,
    ) -> None:
        given = locals()  # the parameters by name
        self._settings = {name: checked(given[name], name, rule) for name, rule in RULES.items()}
        # Both are for kernels of other packages too; growing replaces the arrays.
        self.arrays = empty_forest(as_kinds(kinds), int(n_classes), inherit)
        self.parameters = kernel_settings(self._settings)

    @property
    def kinds(self) -> Ints:
        """For every feature 0 if it is numeric, otherwise its number of values."""
        return self.arrays.kind.copy()

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self._settings["n_classes"])

    @property
    def ids(self) -> Ints:
        """Ids of all trees, ascending."""
        return np.flatnonzero(self.arrays.tree[:, layout.ALIVE])

    def grow(self, trees: int, presence: int, numeric: int) -> None:
        """Make room to train `trees` trees on one more example; `presence` and `numeric` count new table entries."""
        self.arrays = grown(self.arrays, trees, presence, numeric)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, unused room included."""
        plain = [array for array in self.arrays if isinstance(array, np.ndarray)]
        return sum(array.nbytes for array in [*plain, *self.arrays.presence, *self.arrays.numeric])

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<HoeffdingForest of {len(self)} trees over {len(self.arrays.kind)} features>"

    def __eq__(self, other: object) -> bool:
        """Tell whether two forests have the same settings and the same state, to the bit."""
        if not isinstance(other, HoeffdingForest):
            return NotImplemented
        mine, theirs = self.state(), other.state()
        return self._settings == other._settings and all(
            np.array_equal(mine[name], theirs[name], equal_nan=True) for name in mine
        )

    __hash__ = None  # type: ignore[assignment]

    def settings(self) -> dict[str, Any]:
        """Return the parameters except `kinds`, as JSON can hold them."""
        return dict(self._settings)

    def clone(self) -> Self:
        """Return a forest without trees that has the same features and settings."""
        return type(self)(self.kinds.tolist(), **self._settings)

    def add(self, count: int = 1) -> Ints:
        """Add `count` trees and return their ids, the lowest free ones."""
        count = checked(count, "count", SIZE)
        free = np.flatnonzero(self.arrays.tree[:, layout.ALIVE] == 0)
        if len(free) < count:
            have = len(self.arrays.tree)
            tree = lengthened(self.arrays.tree, max(2 * have, have + count - len(free)))
            self.arrays = self.arrays._replace(tree=tree)
            free = np.flatnonzero(tree[:, layout.ALIVE] == 0)
        ids = free[:count]
        self.arrays.tree[ids, layout.ALIVE] = 1
        return ids

    def remove(self, ids: npt.ArrayLike) -> None:
        """Remove trees; their ids and their memory are used again."""
        for tree in self._known(ids):
            kernels.remove_tree(self.arrays, tree)

    def add_features(self, kinds: Sequence[int | str]) -> None:
        """Append features; in all examples so far they were zero."""
        fields: dict[str, Any] = feature_fields(np.concatenate([self.arrays.kind, as_kinds(kinds)]))
        self.arrays = self.arrays._replace(**fields)

    def widen(self, feature: int, n_values: int) -> None:
        """Let a nominal feature have more values; in all examples so far these did not occur."""
        kind = self.kinds
        if not 0 <= feature < len(kind) or not 2 < kind[feature] <= n_values <= MOST_VALUES:
            raise MarleneError(f"feature {feature} cannot have {n_values} values")
        kind[feature] = n_values
        self.arrays = self.arrays._replace(**feature_fields(kind))

    def votes(self, x: Any, ids: npt.ArrayLike | None = None) -> Floats:  # noqa: ANN401 (array-like)
        """Return the votes (trees × classes) on one example, a row of values or a sparse matrix of one row.

        Votes of a tree sum to 1, or to 0 if it has no evidence. By default all trees vote.
        """
        votes: Floats = self.votes_many(_one_row(x), ids)[0]
        return votes

    def votes_many(self, X: Any, ids: npt.ArrayLike | None = None) -> Floats:  # noqa: ANN401
        """Return the votes (examples × trees × classes) on the rows of a matrix."""
        trees = self.ids if ids is None else self._known(ids)
        rows = as_rows(X, self.arrays.kind)
        nothing = np.zeros((len(rows.starts) - 1, len(trees)), np.int64)
        return self.run_rows(trees, rows, nothing, nothing)

    def learn(self, ids: npt.ArrayLike, x: Any, y: npt.ArrayLike, weights: npt.ArrayLike = 1) -> None:  # noqa: ANN401
        """Train trees on one example; class and weight are given for all of them or for each."""
        self.learn_many(ids, _one_row(x), _per_tree("y", y), _per_tree("weights", weights))

    def learn_many(self, ids: npt.ArrayLike, X: Any, y: npt.ArrayLike, weights: npt.ArrayLike = 1) -> None:  # noqa: ANN401
        """Train trees on the rows of a matrix, as `test_then_train` does."""
        self.test_then_train(ids, X, y, weights)

    def test_then_train(self, ids: npt.ArrayLike, X: Any, y: npt.ArrayLike, weights: npt.ArrayLike = 1) -> Floats:  # noqa: ANN401
        """Let trees vote on each row of a matrix and then learn it; return the votes.

        Parameters
        ----------
        ids
            The trees.
        X
            The examples, dense or sparse.
        y
            Classes: one per example, or one per example and tree.
        weights
            Whole numbers, likewise. A weight w is one update of weight w; 0 is no update.

        Returns
        -------
        array
            Votes before training (examples × trees × classes).
        """
        trees = self._known(ids)
        if len(np.unique(trees)) != len(trees):
            raise MarleneError("ids: a tree is named twice")
        rows = as_rows(X, self.arrays.kind)
        shape = (len(rows.starts) - 1, len(trees))
        classes = _whole_numbers("y", y, shape, self.n_classes - 1)
        whole_weights = _whole_numbers("weights", weights, shape, LARGEST_WEIGHT)
        return self.run_rows(trees, rows, classes, whole_weights)

    def run_rows(self, trees: Ints, rows: Rows, classes: Ints, weights: Ints) -> Floats:
        """Do what `test_then_train` does, with arguments that have been checked."""
        out = np.zeros((*weights.shape, self.n_classes))
        position = np.zeros(4, np.int64)
        while position[0] < len(weights):
            kernels.run_block(self.arrays, self.parameters, trees, rows, classes, weights, position, out)
            if position[0] < len(weights):
                self.grow(1, int(position[2]), int(position[3]))
        return out

    def n_nodes(self, tree: int) -> int:
        """Return the number of splits and leaves of a tree."""
        row = self.arrays.tree[self._known([tree])[0]]
        return int(row[layout.SPLITS] + row[layout.LEAVES])

    def n_leaves(self, tree: int) -> int:
        """Return the number of leaves of a tree; 0 if it was never trained."""
        return int(self.arrays.tree[self._known([tree])[0], layout.LEAVES])

    def depth(self, tree: int) -> int:
        """Return the number of splits on the longest way to a leaf."""
        return int(self.arrays.tree[self._known([tree])[0], layout.DEPTH])

    def rules(self, tree: int, names: Sequence[str] | None = None) -> str:
        """Return a tree as text: one line per leaf, with the conditions that lead to it.

        Parameters
        ----------
        tree
            Its id.
        names
            Names of the features. Default x0, x1, …
        """
        if names is not None and len(names) != len(self.arrays.kind):
            raise MarleneError(f"names: there are {len(names)} for {len(self.arrays.kind)} features")
        return rules(self.arrays, int(self._known([tree])[0]), names)

    def path(self, tree: int, x: Any, names: Sequence[str] | None = None) -> list[str]:  # noqa: ANN401 (array-like)
        """Return the conditions on the way of an example to its leaf, from the root on.

        Examples
        --------
        >>> forest = HoeffdingForest(["numeric"], grace_period=50)
        >>> tree = forest.add()[0]
        >>> for i in range(200):
        ...     forest.learn([tree], [i % 10], int(i % 10 > 4))
        >>> len(forest.path(tree, [1]))
        1
        """
        return path(self.arrays, int(self._known([tree])[0]), np.asarray(x, np.float64).ravel(), names)

    def feature_use(self, tree: int) -> dict[int, int]:
        """Return how many splits of a tree test each feature, the most used first."""
        return feature_use(self.arrays, int(self._known([tree])[0]))

    def state(self) -> Arrays:
        """Return all that was learnt as named arrays (copies)."""
        return compact(self.arrays)

    @classmethod
    def from_state(cls, state: Mapping[str, Array], settings: Mapping[str, Any]) -> Self:
        """Return the forest with this `state` and these `settings`; it continues as the original would, to the bit."""
        try:
            forest = cls(np.asarray(state["kind"]).tolist(), **settings)
        except (KeyError, TypeError, ValueError) as error:
            raise MarleneError(f"not the state of a forest, or damaged: {error!r}") from error
        forest.arrays = expand(state, forest.n_classes)._replace(inherit=forest.arrays.inherit)
        return forest

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the forest to a file (npz with a JSON header), whole or not at all."""
        save_state(path, KIND, VERSION, self.settings(), self.state())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; raise an error for any other or a damaged file."""
        return restore_file(path, KIND, VERSION, lambda settings, arrays: cls.from_state(arrays, settings))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle or a copy holds: settings and named arrays."""
        return {"settings": self.settings(), "arrays": self.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore what `__getstate__` gave."""
        self.__dict__ = type(self).from_state(state["arrays"], state["settings"]).__dict__

    def load_kernels(self) -> None:
        """Compile the kernels, or load them from the cache, in advance."""
        trial = self.clone()
        trees = trial.add()
        trial.learn_many(trees, np.zeros((1, len(trial.kinds))), 0)
        trial.remove(trees)

    def _known(self, ids: npt.ArrayLike) -> Ints:
        trees = np.atleast_1d(_as_array("ids", ids))
        if trees.ndim != 1 or (len(trees) and trees.dtype.kind not in "iu"):
            raise MarleneError("ids must be a list of whole numbers")
        alive = self.arrays.tree[:, layout.ALIVE]
        for tree in trees.tolist():
            if not (0 <= tree < len(alive) and alive[tree]):
                raise MarleneError(f"there is no tree {tree} in this forest")
        return trees.astype(np.int64)


def _one_row(x: Any) -> Any:  # noqa: ANN401 (array-like)
    row = x if hasattr(x, "tocsr") else as_floats(x, "X")
    row = row.reshape(1, -1) if row.ndim == 1 else row
    if row.ndim != 2 or row.shape[0] != 1:
        raise MarleneError(f"x has shape {row.shape}, expected one row")
    return row


def _as_array(name: str, values: npt.ArrayLike) -> Array:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise MarleneError(f"{name} must be whole numbers ({error})") from error


def _per_tree(name: str, values: npt.ArrayLike) -> Array:
    given = _as_array(name, values)
    return given[None] if given.ndim == 1 else given


def _whole_numbers(name: str, values: npt.ArrayLike, shape: tuple[int, int], largest: int) -> Ints:
    given = _as_array(name, values)
    if given.shape not in {(), shape, shape[:1]}:
        raise MarleneError(f"{name} has shape {given.shape}, expected {shape} or {shape[:1]}")
    if given.dtype.kind not in "biuf":
        raise MarleneError(f"{name} must be whole numbers")
    numbers = np.broadcast_to(given[:, None] if given.ndim == 1 else given, shape)
    with np.errstate(invalid="ignore"):
        whole = np.ascontiguousarray(numbers.astype(np.int64))
    wrong = (whole != numbers) | (whole < 0) | (whole > largest)
    if wrong.any():
        row, tree = (int(i) for i in np.argwhere(wrong)[0])
        found = numbers[row, tree]
        raise MarleneError(f"{name}, row {row}: expected a whole number from 0 to {largest}, found {found}")
    return whole
