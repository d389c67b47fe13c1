"""What a reproduction runs: in full, or quickly to see that it works."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene.experiments import paper
from marlene.experiments._grid import ORACLE, Run
from marlene.experiments.reproduce._words import notes, say
from marlene.learners import METHODS
from marlene.streams import synthetic
from marlene.streams.catalogue import find, local_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Options = Mapping[str, Any]

WITH_RIVER = "yeast"
PRINTED = {row.data_set: row for row in paper.data_sets()}
PAPER_DATA_SETS = tuple(PRINTED)
BR, RESAMPLED, MARLENE = "br-marlene", "br-resampled", "marlene"
PROPOSED = tuple(method.name for method in METHODS.values() if method.proposed)
PUBLISHED = dict(zip(paper.CLOSEST_SETTINGS[::2], paper.CLOSEST_SETTINGS[1::2], strict=True))
DETECTED = "ddm-oci"
"""The paper's detector, which its methods have in the tables."""
SETTINGS = tuple((method, sources) for sources in ("none", "non-similar", "similar") for method in PROPOSED)
"""Methods and sources in the order of the paper's table of synthetic streams."""
PANELS = (("SS", 50), ("IS", 5000), ("II", 500), ("IA", 500), ("AA", 5000), ("AS", 5000))
"""Streams of the paper's figure of labels."""


LARGE, SEEDS_OF_LARGE = 100_000, 3
"""Data sets of more examples are run with fewer seeds."""
FEW_SEEDS = 3
"""What is not in the paper and has runs of its own is run with at most so many seeds."""


def compared() -> list[str]:
    """Return the methods that are compared on real data."""
    return [method.name for method in METHODS.values() if method.compared]


def rivals() -> list[str]:
    """Return the rivals from elsewhere that can be run."""
    return [method.name for method in METHODS.values() if method.rival and method.available]


@dataclass(frozen=True)
class Plan:
    """Which streams, sizes and seeds are run.

    Parameters
    ----------
    seeds
        Seeds of every method whose outcome depends on them.
    data_sets
        Real data sets, by name.
    limit
        Only so many examples of each of them; None for all.
    drift_types, sizes, source_size
        Synthetic streams: their types, their sizes per Gaussian, and that of their sources.
    panels
        Type and size of the streams whose labels are drawn.
    transfer
        Type and size of the synthetic stream, after similar sources, of which the weight of transfer is drawn.
    most_labels
        Methods with a classifier for every pair of labels are run on data sets of up to this many labels.
    absent
        Data sets that are not there, each with the reason.
    quick
        Whether this only shows that everything works.

    Examples
    --------
    >>> plan = Plan.quick_one()
    >>> plan.real("yeast", "ebr").title, plan.synthetic("AA", 20, "brpw-marlene", "similar").title
    ('ebr on yeast, seed 1', 'brpw-marlene (drift=oracle) on AA-20 after similar, seed 1')
    """

    seeds: tuple[int, ...]
    data_sets: tuple[str, ...]
    limit: int | None = None
    drift_types: tuple[str, ...] = synthetic.DRIFT_TYPES
    sizes: tuple[int, ...] = (50, 500, 5000)
    source_size: int = 5000
    panels: tuple[tuple[str, int], ...] = PANELS
    transfer: tuple[str, int] = ("AA", 5000)
    most_labels: int = 25
    absent: tuple[tuple[str, str], ...] = ()
    quick: bool = False

    @classmethod
    def full(cls, runs: int, needed: Sequence[str]) -> Plan:
        """Return the full plan with so many seeds; data sets are downloaded where that is possible."""
        if runs < 1:
            raise MarleneError(f"runs must be at least 1, not {runs}")
        absent = []
        for name in needed:
            try:
                if name != WITH_RIVER:
                    find(name)
            except (MarleneError, OSError) as error:
                absent.append((name, str(error)))
        there = tuple(name for name in PAPER_DATA_SETS if name in needed and name not in dict(absent))
        return cls(tuple(range(1, runs + 1)), there, absent=tuple(absent))

    @classmethod
    def quick_one(cls) -> Plan:
        """Return the smallest plan with every part: Yeast, two further data sets if they are here, one seed."""
        left_out = "not part of a quick reproduction, or not on this machine"
        there = (WITH_RIVER, *[name for name in ("slashdot", "reuters") if local_file(name) is not None])
        return cls(
            seeds=(1,),
            data_sets=tuple(name for name in PAPER_DATA_SETS if name in there),
            limit=300,
            drift_types=("SS", "IA", "AA"),
            sizes=(20,),
            source_size=40,
            panels=(("SS", 20), ("IA", 20), ("AA", 20)),
            transfer=("AA", 20),
            absent=tuple((name, left_out) for name in PAPER_DATA_SETS if name not in there),
            quick=True,
        )

    def real(self, data_set: str, method: str, options: Options | None = None, stream: Options | None = None) -> Run:
        """Return a run on a data set, with options of the method and further keys of the stream (see `Grid`).

        Methods with a drift detector have that of the paper, unless the options say otherwise.
        """
        limited = {} if self.limit is None else {"limit": self.limit}
        detects = method in METHODS and "drift" in METHODS[method].options
        chosen = ({"drift": DETECTED} if detects else {}) | dict(options or {})
        return Run({"load": data_set} | limited | dict(stream or {}), method, chosen)

    def published(self, data_set: str, method: str = BR) -> Run:
        """Return a run with the settings that come closest to the paper's scores."""
        return self.real(data_set, method, {"drift": PUBLISHED["--drift"]}, {"features": PUBLISHED["--features"]})

    def synthetic(self, drift: str, size: int, method: str, sources: str, *, detector: str = ORACLE) -> Run:
        """Return a run on a synthetic stream; data are drawn anew with every seed."""
        stream = {"synthetic": drift, "size": size, "sources": sources, "source_size": self.source_size, "seed": "run"}
        if method in METHODS and "drift" not in METHODS[method].options:
            return Run(stream | ({"told": True} if detector == ORACLE else {}), method)
        return Run(stream, method, {"drift": detector})

    def reaches(self, data_set: str, method: str) -> bool:
        """Tell whether a method is run on a data set at all."""
        return method not in METHODS or not METHODS[method].pairs or PRINTED[data_set].labels <= self.most_labels

    def real_runs(self) -> Iterator[Run]:
        """Return what the tables of real data need, with default settings."""
        cells = itertools.product(self.data_sets, compared())
        return self.seeded(self.real(*cell) for cell in cells if self.reaches(*cell))

    def synthetic_runs(self, streams: Iterable[tuple[str, int]]) -> Iterator[Run]:
        """Return both proposed methods with all sources on these types and sizes, with true drifts signalled."""
        return self.seeded(self.synthetic(*stream, *setting) for stream in streams for setting in SETTINGS)

    def transfer_streams(self, method: str) -> dict[str, Run]:
        """Return the runs whose transfer is drawn, by title: one synthetic stream, and Yeast."""
        drift, size = self.transfer
        title = f"{drift}, size {size}, similar sources"
        return {title: self.synthetic(drift, size, method, "similar"), "Yeast": self.real(WITH_RIVER, method)}

    def transfer_runs(self) -> Iterator[Run]:
        """Return what the figures of transfer need."""
        return self.seeded(run for method in PROPOSED for run in self.transfer_streams(method).values())

    def synthetic_streams(self) -> list[tuple[str, int]]:
        """Return type and size of every synthetic stream, in the order of the paper's table."""
        return [(drift, size) for drift in self.drift_types for size in self.sizes]

    def among(self, names: Sequence[str] = PAPER_DATA_SETS) -> list[str]:
        """Return those of the named data sets that are there; in a quick plan only Yeast."""
        return [name for name in names if name in ((WITH_RIVER,) if self.quick else self.data_sets)]

    def seeded(self, runs: Iterable[Run], most: int | None = None) -> Iterator[Run]:
        """Return runs with every seed (or so many); a run whose outcome does not depend on the seed only once."""
        for run in runs:
            large = PRINTED[name].examples > LARGE if (name := run.stream.get("load")) in PRINTED else False
            bound = min(most or len(self.seeds), SEEDS_OF_LARGE if large else len(self.seeds))
            random = run.method not in METHODS or METHODS[run.method].random or run.stream.get("seed") == "run"
            for seed in self.seeds[: bound if random else 1]:
                yield replace(run, seed=seed)

    def notes(self, page: str, **named: object) -> list[str]:
        """Return the notes of a page, and one for every data set that is not there."""
        absent = [say("index", "absent", name=name, reason=reason) for name, reason in self.absent]
        return [*notes(page, **named), *absent]


def in_order(runs: Iterable[Run]) -> list[Run]:
    """Order runs by seed, then from small to large streams: a reproduction that stops early covers everything."""
    return sorted(runs, key=lambda run: (run.seed, _examples(run)))


def _examples(run: Run) -> int:
    if "synthetic" in run.stream:
        segments = len(synthetic.synthetic_concepts(run.stream["synthetic"]))
        return segments * len(synthetic.LABELS) * int(run.stream["size"])
    examples = PRINTED[run.stream["load"]].examples
    return min(examples, int(run.stream.get("limit", examples)))
