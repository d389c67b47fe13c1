"""What a reproduction runs: in full, or quickly to see that it works."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene.experiments import paper
from marlene.experiments._grid import ORACLE, Run
from marlene.learners import METHODS
from marlene.streams import synthetic
from marlene.streams.catalogue import find, local_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WITH_RIVER = "yeast"
PAPER_DATA_SETS = tuple(row.data_set for row in paper.data_sets())
PROPOSED = ("br-marlene", "brpw-marlene")
NOT_COMPARED = ("majority", "marlene")
REAL_METHODS = tuple(name for name in METHODS if name not in NOT_COMPARED)
WITHOUT_CHANCE = ("gobr", "gops", "gort")
"""Methods whose outcome does not depend on the seed; they are run once, as in the paper."""
PUBLISHED = dict(zip(paper.CLOSEST_SETTINGS[::2], paper.CLOSEST_SETTINGS[1::2], strict=True))
DETECTED = "ddm-oci"
SETTINGS = tuple((method, sources) for sources in ("none", "non-similar", "similar") for method in PROPOSED)
"""Methods and sources in the order of the paper's table of synthetic streams."""
PANELS = (("SS", 50), ("IS", 5000), ("II", 500), ("IA", 500), ("AA", 5000), ("AS", 5000))
"""Streams of the paper's figure of labels."""


@dataclass(frozen=True)
class Plan:
    """Which streams, sizes and seeds are run.

    Parameters
    ----------
    seeds
        Seeds of every method that chance plays a part in.
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
        BRPW-MARLENE has a classifier for every pair of labels, and is run up to this many labels.
    absent
        Data sets that cannot be had, each with the reason.
    quick
        Whether this is only to see that everything works.

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
        """Return the whole of it with so many seeds; needed data sets are downloaded where that is possible."""
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
        """Return the smallest that has every part: Yeast, two further data sets if they are here, one seed."""
        others = [name for name in PAPER_DATA_SETS if name != WITH_RIVER and local_file(name) is not None]
        left_out = "not part of a quick reproduction, or not on this machine"
        there = (WITH_RIVER, *[name for name in ("slashdot", "reuters") if name in others])
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

    def real(self, data_set: str, method: str) -> Run:
        """Return a run on a data set with the settings that are our defaults."""
        return Run(self._loaded(data_set), method)

    def published(self, data_set: str) -> Run:
        """Return a run of BR-MARLENE with the settings that meet the paper's figures most closely."""
        stream = self._loaded(data_set) | {"features": PUBLISHED["--features"]}
        return Run(stream, "br-marlene", {"drift": PUBLISHED["--drift"]})

    def synthetic(self, drift: str, size: int, method: str, sources: str, *, detector: str = ORACLE) -> Run:
        """Return a run on a synthetic stream; data are drawn anew with every seed."""
        stream = {
            "synthetic": drift,
            "size": size,
            "sources": sources,
            "source_size": self.source_size,
            "seed": "run",
        }
        return Run(stream, method, {"drift": detector})

    def reaches(self, data_set: str, method: str) -> bool:
        """Tell whether a method is run on a data set at all."""
        return method != "brpw-marlene" or _labels(data_set) <= self.most_labels

    def real_runs(self) -> Iterator[Run]:
        """Give what the tables of real data need, with the settings that are our defaults."""
        for data_set in self.data_sets:
            for method in REAL_METHODS:
                if self.reaches(data_set, method):
                    yield from self._seeded(self.real(data_set, method))

    def published_runs(self) -> Iterator[Run]:
        """Give BR-MARLENE with the published settings on every data set."""
        for data_set in self.data_sets:
            yield from self._seeded(self.published(data_set))

    def synthetic_runs(self, streams: Iterable[tuple[str, int]]) -> Iterator[Run]:
        """Give both proposed methods with all sources on these types and sizes, told of the true drifts."""
        for stream in streams:
            for setting in SETTINGS:
                yield from self._seeded(self.synthetic(*stream, *setting))

    def detected_runs(self) -> Iterator[Run]:
        """Give the same for every type and size once, with a drift detector instead of the truth."""
        for stream in self.synthetic_streams():
            for setting in SETTINGS:
                yield self.synthetic(*stream, *setting, detector=DETECTED)

    def transfer_runs(self) -> Iterator[Run]:
        """Give what the weight of transfer is drawn of: one synthetic stream, and Yeast."""
        for method in PROPOSED:
            yield from self._seeded(self.synthetic(*self.transfer, method, "similar"))
            yield from self._seeded(self.real(WITH_RIVER, method))

    def synthetic_streams(self) -> list[tuple[str, int]]:
        """Return type and size of every synthetic stream, in the order of the paper's table."""
        return [(drift, size) for drift in self.drift_types for size in self.sizes]

    def _loaded(self, data_set: str) -> dict[str, Any]:
        return {"load": data_set} | ({} if self.limit is None else {"limit": self.limit})

    def _seeded(self, run: Run) -> Iterator[Run]:
        """Give a run with every seed, or once if chance plays no part in it."""
        for seed in self.seeds[:1] if run.method in WITHOUT_CHANCE else self.seeds:
            yield replace(run, seed=seed)


def in_order(runs: Iterable[Run]) -> list[Run]:
    """Order runs so that a reproduction that is stopped has something of everything: by seed, small streams first."""
    return sorted(runs, key=lambda run: (run.seed, _examples(run)))


def _examples(run: Run) -> int:
    if "synthetic" in run.stream:
        segments = len(synthetic.synthetic_concepts(run.stream["synthetic"]))
        return segments * len(synthetic.LABELS) * int(run.stream["size"])
    sizes = {row.data_set: row.examples for row in paper.data_sets()}
    return min(sizes[run.stream["load"]], run.stream.get("limit") or sizes[run.stream["load"]])


def _labels(data_set: str) -> int:
    return next(row.labels for row in paper.data_sets() if row.data_set == data_set)
