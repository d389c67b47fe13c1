"""Nearest neighbours in a window that adjusts its size and removes examples that mislead."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.checks import checked, whole_number
from marlene._common.layouts import Field, Layout, Rule
from marlene._common.states import restored_count
from marlene.kernels.rivals.memory import CLOCK, COUNT, DEAD, SEEN, SHORTENED, Memory, MemorySettings, run_memory
from marlene.learners._saved import SavedLearner
from marlene.learners.baselines._inputs import Inputs
from marlene.learners.baselines._one_stream import OneStreamLearner

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Labels
    from marlene.kernels.rows import Rows

MOST_EXAMPLES = 5_000
"""For every example the order of all others is kept."""
MOST_NEIGHBOURS = 1_000
PENALTY = (float, lambda p: 0 <= p <= 1e9, "a number from 0 to 1e9")
REDUCTION = (float, lambda r: 0 < r <= 0.9, "a number above 0 and at most 0.9")


def _orders(order: Array, count: int) -> list[Array]:
    """Return, for each example, the places of those before it, the nearest first."""
    return np.split(order, np.cumsum(np.arange(count))[:-1]) if count else []


def _are_orders(arrays: Mapping[str, Array], lengths: Mapping[str, int]) -> bool:
    count = lengths["examples"]
    if lengths["pairs"] != count * (count - 1) // 2:
        return False
    orders = enumerate(_orders(arrays["order"], count))
    return all(np.array_equal(np.sort(own), np.arange(i)) for i, own in orders)


MEMORY = Layout(
    "a window of punished neighbours",
    {
        "size": Field("int64", ("examples",), "how many inputs of each example are not zero", least=0),
        "where": Field("int64", ("entries",), "which inputs, one example after the other", least=0, most="inputs"),
        "value": Field("float64", ("entries",), "their values"),
        "truth": Field("int8", ("examples", "labels"), "their labels; -1 is unknown", least=-1, most=1),
        "errors": Field("int64", ("examples",), "the labels that each is charged with", least=0),
        "order": Field("int64", ("pairs",), "for each example those before it, the nearest first", least=0),
        "low": Field("float64", ("inputs",), "the least value of each input"),
        "high": Field("float64", ("inputs",), "the greatest"),
        "times": Field("int64", ("inputs",), "how often it was not zero", least=0),
    },
    (
        Rule("`size` sums up to the number of entries", lambda a, n: a["size"].sum(dtype=object) == n["entries"]),
        Rule("no example has more inputs than there are", lambda a, n: (a["size"] <= n["inputs"]).all()),
        Rule("there are fewer examples than have room", lambda _, n: n["examples"] < n["most"]),
        Rule("no more examples are kept than came", lambda _, n: n["examples"] <= n["seen"]),
        Rule("each example has all before it in its order", _are_orders),
        # An example is wrong about a label at most once for each example that came.
        Rule("errors are of examples", lambda a, n: (a["errors"] <= n["seen"] * max(1, n["labels"])).all()),
        Rule("inputs are of examples", lambda a, n: (a["times"] <= n["seen"]).all()),
        Rule("the least value is not above the greatest", lambda a, _: (a["low"] <= a["high"]).all()),
    ),
)


@dataclass(eq=False, repr=False)
class PunitiveNeighbours(OneStreamLearner, SavedLearner):
    """MLSAMPkNN (Roseberry, Krawczyk and Cano 2019): k nearest neighbours, self-adjusting memory, punitive removal.

    P(label) is the share of the nearest examples in the window that have the label. After each example:

    1. Each of these neighbours is charged with the labels in which it differs from the example.
    2. The example joins the window. Neighbours charged with more than `penalty` times the number of labels leave it.
    3. The window is shortened to the size, of the present one and its reductions, whose examples best predict each
       other's whole label sets, each from the ones before it.

    Distances are Euclidean, with every input divided by its range in all examples before. They are measured once, when
    the later of two examples comes. Of equally near examples the oldest counts. A nominal feature becomes one input, 0
    or 1, for each value but the first. A missing value counts as zero. Unknown labels neither vote nor are charged.

    Parameters
    ----------
    neighbours
        Number of neighbours, k.
    least, most
        The window is not reduced below `least` examples and stays below `most`.
    penalty
        How many times the number of labels a neighbour may be charged with.
    reduction
        Each candidate size is this share of the one before.
    features
        "auto", "numeric", "binary" or a mapping, as of `BRMarlene`.
    seed
        As of all learners. Nothing here is random.
    absent
        "unknown" or "false", as of `BRMarlene`.

    Examples
    --------
    >>> model = PunitiveNeighbours()
    >>> for i in range(100):
    ...     model.learn_one({"x": i % 10}, {"big": i % 10 > 4, "odd": i % 2 == 1})
    >>> model.predict_one({"x": 9})
    {'big': True, 'odd': True}
    """

    _method = "punitive-neighbours"

    neighbours: int = 3
    least: int = 50
    most: int = 1000
    penalty: float = 1.0
    reduction: float = 0.5
    features: str | Mapping[Hashable, str] = "auto"
    seed: int = 1
    absent: str = "unknown"
    max_labels: int | None = field(default=None, kw_only=True)
    max_features: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        k = whole_number(self.neighbours, "neighbours", 1, MOST_NEIGHBOURS)
        most = whole_number(self.most, "most", 2, MOST_EXAMPLES)
        least = whole_number(self.least, "least", 1, most)
        whole_number(self.seed, "seed")
        self._begin()
        self._settings = MemorySettings(
            k, least, most, checked(self.penalty, "penalty", PENALTY), checked(self.reduction, "reduction", REDUCTION)
        )
        self._inputs = Inputs()
        self._memory = _empty(most, 0, 0, 0)

    def _add_features(self, widened: Mapping[int, int], kinds: Sequence[int]) -> None:
        for column, n_values in widened.items():
            self._inputs.widen(column, n_values)
        self._inputs.add_features(kinds)
        more = len(self._inputs) - len(self._memory.low)
        lacking = {name: np.pad(getattr(self._memory, name), (0, more)) for name in ("low", "high", "times")}
        self._memory = self._memory._replace(**lacking)

    def _add_labels(self, count: int) -> None:
        unknown = ((0, 0), (0, count))
        self._memory = self._memory._replace(truth=np.pad(self._memory.truth, unknown, constant_values=-1))

    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:  # noqa: ARG002
        given = self._inputs.rows(rows)
        self._make_room(int(np.diff(given.starts).max(initial=0)))
        run_memory(self._memory, self._settings, given, truth, True, probabilities)

    def _predict(self, rows: Rows, scores: Floats) -> None:
        given = self._inputs.rows(rows)
        run_memory(self._memory, self._settings, given, np.zeros((0, 0), np.int8), False, scores)

    def _make_room(self, width: int) -> None:
        """Have room for examples of so many non-zeros."""
        held = self._memory.where.shape[1]
        if width > held:
            more = ((0, 0), (0, max(width, held + held // 2) - held))
            wider = {name: np.pad(getattr(self._memory, name), more) for name in ("where", "value")}
            self._memory = self._memory._replace(**wider)

    def counts(self) -> dict[str, int]:
        """Return the number of models, one, and how often the window was shortened to another size."""
        return {"models": 1, "drifts": int(self._memory.told[SHORTENED])}

    def _learnt(self) -> tuple[dict[str, Any], Arrays]:
        memory = self._memory
        told = dict(zip(("seen", "shortened"), memory.told[[SEEN, SHORTENED]].tolist(), strict=True))
        line = memory.line[: memory.told[COUNT]]
        place = np.full(len(memory.born), -1, np.int64)
        place[line] = np.arange(len(line))
        orders = [place[memory.order[slot, : memory.length[slot]]] for slot in line]
        orders = [order[(order >= 0) & (order < i)] for i, order in enumerate(orders)]
        stored = np.arange(memory.where.shape[1]) < memory.size[line, None]
        arrays: Arrays = {
            "size": memory.size[line],
            "where": memory.where[line][stored],
            "value": memory.value[line][stored],
            "truth": memory.truth[line],
            "errors": memory.errors[line],
            "order": np.concatenate([np.zeros(0, np.int64), *orders]),
        }
        arrays |= {name: getattr(memory, name).copy() for name in ("low", "high", "times")}
        return self._named() | told, arrays | self._inputs.state()

    @classmethod
    def _restored_objects(cls, header: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG003 (it has none)
        return {}

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        self._restore_names(header)
        self._inputs.restore(arrays, self._space.forest_kinds())
        seen = restored_count(header["seen"], "the number of examples")
        lengths = {"inputs": len(self._inputs), "labels": len(self._names), "most": self._settings.most}
        found = MEMORY.checked(arrays, seen=seen, **lengths)
        count, size = len(found["size"]), found["size"]
        memory = _empty(self._settings.most, len(self._inputs), len(self._names), int(size.max(initial=0)))
        stored = np.arange(memory.where.shape[1]) < size[:, None]
        for name in ("where", "value"):
            getattr(memory, name)[:count][stored] = found[name]
        for name in ("size", "errors", "truth"):
            getattr(memory, name)[:count] = found[name]
        for i, own in enumerate(_orders(found["order"], count)):
            memory.order[i, :i] = own
        memory.born[:count] = memory.length[:count] = memory.line[:count] = np.arange(count)
        memory.told[[COUNT, CLOCK]] = count
        memory.told[SEEN] = seen
        memory.told[SHORTENED] = restored_count(header["shortened"], "how often the window was shortened")
        for name in ("low", "high", "times"):
            getattr(memory, name)[:] = found[name]
        self._memory = memory

    def _load_rare_kernels(self) -> None:
        """Do nothing: there is one kernel."""


def _empty(slots: int, inputs: int, labels: int, width: int) -> Memory:
    return Memory(
        where=np.zeros((slots, width), np.int64),
        value=np.zeros((slots, width)),
        size=np.zeros(slots, np.int64),
        truth=np.full((slots, labels), -1, np.int8),
        errors=np.zeros(slots, np.int64),
        born=np.full(slots, DEAD, np.int64),
        order=np.zeros((slots, slots), np.int32),
        length=np.zeros(slots, np.int64),
        line=np.zeros(slots, np.int64),
        told=np.zeros(4, np.int64),
        low=np.zeros(inputs),
        high=np.zeros(inputs),
        times=np.zeros(inputs, np.int64),
    )
