"""The window of nearest neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from marlene._common.checks import whole_number
from marlene._common.errors import MarleneError
from marlene._common.layouts import Field, Layout, Rule
from marlene.kernels.banks.neighbours import FILLED, MOST_PLACES, NEXT, RING, Window, WindowSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays, Ints

MOST_EXAMPLES = 1 << 22
MOST_WEIGHT = 5e15
"""More than so many examples can weigh. Beyond it, the share of a label could not be told from 1."""
WINDOW = Layout(
    "a window of neighbours",
    {
        "sizes": Field("int64", ("examples",), "how many inputs of each example are not zero", least=0),
        "where": Field("int32", ("entries",), "which inputs, one example after the other", least=0, most="inputs"),
        "value": Field("float32", ("entries",), "their values"),
        "constant": Field("float32", ("examples",), "the constant of each example"),
        "weight": Field("float64", ("examples",), "how much each example counts", 0, MOST_WEIGHT),
        "truth": Field("int8", ("examples", "labels"), "their labels; -1 is unknown", least=-1, most=1),
        "known": Field("float64", ("labels", 2), "the weight of negative and positive examples", 0, MOST_WEIGHT),
        "ring": Field("int64", (RING,), "how many examples there are, and which is replaced next", least=0),
    },
    (
        Rule("`sizes` sum up to the number of entries", lambda a, n: a["sizes"].sum(dtype=object) == n["entries"]),
        Rule("no example has more inputs than there are", lambda a, n: (a["sizes"] <= n["inputs"]).all()),
        Rule("there are no more examples than have room", lambda a, n: a["ring"][FILLED] <= n["examples"]),
        Rule(
            "where there is no example yet, there are no inputs", lambda a, _: not a["sizes"][a["ring"][FILLED] :].any()
        ),
        Rule("and no labels", lambda a, _: (a["truth"][a["ring"][FILLED] :] == -1).all()),
        Rule(
            "the next place is free, or any if none is free",
            lambda a, n: (
                a["ring"][NEXT] < n["examples"]
                if a["ring"][FILLED] == n["examples"]
                else a["ring"][NEXT] == a["ring"][FILLED]
            ),
        ),
    ),
)


class Neighbours:
    """Nearest neighbours among the latest examples; as a part of `Marlene`, not a bank of classifiers.

    The examples most similar to a new one vote on all of its labels: of n examples the ⌊√n⌋ most similar ones, each by
    how much more similar it is than the next one. A vote for a label is divided by how common the label is among all n.
    Inputs are scaled as a `LinearBank` scales them. Work is proportional to the non-zeros of the new example, times n.

    Parameters
    ----------
    window
        How many examples are remembered.
    smoothing
        How many votes are added for and against each label.

    Examples
    --------
    >>> from marlene import Marlene
    >>> from marlene.banks import NaiveBayesBank
    >>> model = Marlene(base=[NaiveBayesBank(), Neighbours(window=200)])
    """

    name = "neighbours"

    def __init__(self, window: int = 1000, smoothing: float = 3.0) -> None:
        self.window = whole_number(window, "window", 2, MOST_EXAMPLES)
        if not 0 < smoothing < np.inf:
            raise MarleneError(f"smoothing must be positive, not {smoothing!r}")
        self.parameters = WindowSettings(float(smoothing))
        self._arrays = no_window(self.window, 0, 0, 0)

    def __repr__(self) -> str:
        return f"<Neighbours(window={self.window}, smoothing={self.parameters.smoothing})>"

    def settings(self) -> dict[str, Any]:
        """Return the parameters, as JSON can hold them."""
        return {"window": self.window, "smoothing": self.parameters.smoothing}

    def clone(self) -> Self:
        """Return an empty window with the same settings."""
        return type(self)(**self.settings())

    @property
    def arrays(self) -> Window:
        """The arrays themselves, for kernels; `fit` may replace them by larger ones."""
        return self._arrays

    def fit(self, inputs: int = 0, labels: int = 0, widest: int = 0) -> bool:
        """Have room for so many inputs, labels, and inputs of one example; tell whether there was too little."""
        before = self._arrays
        sizes = len(before.table), len(before.known), before.where.shape[1]
        wanted = min(inputs, MOST_PLACES), labels, widest
        if all(size >= need for size, need in zip(sizes, wanted, strict=True)):
            return False
        more = sizes[0], sizes[1] // 2, sizes[2] // 2  # room for inputs comes last in memory, and costs nothing unused
        room = (
            size if size >= need else max(need, size + further)
            for size, need, further in zip(sizes, wanted, more, strict=True)
        )
        larger = no_window(self.window, *room)
        mine: Array
        theirs: Array
        for mine, theirs in zip(larger, before, strict=True):  # type: ignore[assignment]
            mine[tuple(slice(0, length) for length in theirs.shape)] = theirs
        self._arrays = larger
        return True

    def room(self) -> float:
        """Return how many inputs there is room for."""
        return np.inf if len(self._arrays.table) >= MOST_PLACES else len(self._arrays.table)

    def take_copies(self) -> None:
        """Have copies of all arrays."""
        self._arrays = Window(**{name: array.copy() for name, array in self._arrays._asdict().items()})

    def move(self, before: Ints, after: Ints, inputs: int) -> None:
        """Have so many inputs; those at `before` are now at `after`."""
        self.fit(inputs=inputs)
        if not np.array_equal(before, after):
            moved = np.zeros(max(1, inputs), np.int64)
            moved[before] = after
            self._arrays = self._arrays._replace(where=moved[self._arrays.where].astype(np.int32))
            self._fill_table()

    def forget_input(self, slot: int) -> None:
        """Let an input be absent from all examples."""
        table, _, where, value, sizes, *_, ring = self._arrays
        there, given, place = where[: ring[FILLED]], value[: ring[FILLED]], slot % MOST_PLACES
        given[there == slot] = 0.0
        listed = np.arange(there.shape[1]) < sizes[: ring[FILLED], None]
        table[place, : ring[FILLED]] = np.sum(given, axis=1, where=listed & (there % MOST_PLACES == place))

    def keep(self, inputs: Ints, known: int) -> None:
        """Have only these of so many known inputs, in their order; the others are absent from all examples."""
        window = self._arrays
        moved = np.full(max(1, known), -1)
        moved[inputs] = np.arange(len(inputs))
        where = moved[window.where]
        listed = (np.arange(where.shape[1]) < window.sizes[:, None]) & (where >= 0)
        smaller = window._replace(where=np.zeros_like(window.where), value=np.zeros_like(window.value))
        sizes = listed.sum(axis=1)
        place = np.arange(where.shape[1]) < sizes[:, None]
        smaller.where[place], smaller.value[place] = where[listed], window.value[listed]
        self._arrays = smaller._replace(sizes=sizes)
        self._fill_table()

    def forget_label(self, label: int) -> None:
        """Forget what is known of a label."""
        self._arrays.truth[:, label] = -1
        self._arrays.known[label] = 0.0

    def _fill_table(self) -> None:
        """Make the table from the lists."""
        _, _, where, value, sizes, *_ = self._arrays
        table = np.zeros(self._arrays.table.shape, np.float32)
        listed = np.arange(where.shape[1]) < sizes[:, None]
        example, _ = np.nonzero(listed)
        np.add.at(table, (where[listed] % MOST_PLACES, example), value[listed])
        self._arrays = self._arrays._replace(table=table)

    def state(self, labels: int) -> Arrays:
        """Return everything but the settings as named arrays (copies); there are so many labels."""
        window = self._arrays
        listed = np.arange(window.where.shape[1]) < window.sizes[:, None]
        return {
            "constant": window.constant.copy(),
            "where": window.where[listed],
            "value": window.value[listed],
            "sizes": window.sizes.copy(),
            "weight": window.weight.copy(),
            "truth": window.truth[:, :labels].copy(),
            "known": window.known[:labels].copy(),
            "ring": window.ring.copy(),
        }

    def restore(self, state: Mapping[str, Array], inputs: int, labels: int) -> None:
        """Take over what `state` gave, over so many inputs and labels."""
        given = WINDOW.checked(state, examples=self.window, inputs=max(1, inputs), labels=labels)
        sizes = given["sizes"]
        self.fit(inputs, labels, int(sizes.max(initial=0)))
        window = self._arrays
        listed = np.arange(window.where.shape[1]) < sizes[:, None]
        window.where[listed], window.value[listed] = given["where"], given["value"]
        window.constant[:], window.sizes[:], window.ring[:] = given["constant"], sizes, given["ring"]
        window.truth[:, :labels] = given["truth"]
        window.weight[:], window.known[:labels] = given["weight"], given["known"]
        self._fill_table()


def no_window(window: int, inputs: int, labels: int, widest: int) -> Window:
    """Return an empty window."""
    return Window(
        table=np.zeros((inputs, window), np.float32),
        constant=np.zeros(window, np.float32),
        where=np.zeros((window, widest), np.int32),
        value=np.zeros((window, widest), np.float32),
        sizes=np.zeros(window, np.int64),
        weight=np.zeros(window),
        truth=np.full((window, labels), -1, np.int8),
        known=np.zeros((labels, 2)),
        ring=np.zeros(RING, np.int64),
    )
