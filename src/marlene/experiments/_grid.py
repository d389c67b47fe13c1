"""What to run: streams × methods × seeds, from TOML or Python."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marlene._common.checks import one_of, whole_number
from marlene._common.errors import MarleneError, quoted
from marlene.learners import METHODS, create
from marlene.streams import archives, changes, synthetic

if TYPE_CHECKING:
    import os

BURST = 200
"""Injected false alarms are 1 / BURST of the stream apart."""
LOADED = {
    "load": str,
    "labels": (str, int, list),
    "separator": str,
    "drop": (str, list),
    "kinds": dict,
    "features": str,
    "first_feature": int,
    "absent": str,
    "limit": int,
    "lazy": bool,
    "sources": list,
    "archive": str,
    "archive_seed": int,
    "change": str,
    "change_seed": int,
    "shuffle": int,
    "alarms": int,
    "told": bool,
}
NO_ARCHIVE, WARM = "none", "warm"
"""Archives beside those of `Stream.halves`: the first half is not learnt, or it is learnt as the target."""
SYNTHETIC = {"synthetic": str, "size": int, "sources": str, "source_size": int, "seed": (int, str), "told": bool}
SEVERAL = ("load", "archive", "archive_seed", "change", "change_seed")
"""Where a list stands for several loaded streams."""
EVALUATION: dict[str, Any] = {"window": int, "start": int, "delay": int, "fading": float, "after": int}
ORACLE = "oracle"
MOST_RUNS = 1_000_000


@dataclass(frozen=True)
class Run:
    """One cell of a grid, as plain data: what is run on what, and how.

    Parameters
    ----------
    stream
        How the stream is made; see `Grid`.
    method, options
        What `marlene.learners.create` is given.
    seed
        What the method's random numbers depend on.
    evaluation
        Window, start, delay, fading and after of `marlene.evaluation.prequential`, where they are not the defaults.

    Examples
    --------
    >>> Run({"load": "yeast"}, "br-marlene", {"drift": "none"}, seed=2).title
    'br-marlene (drift=none) on yeast, seed 2'
    """

    stream: dict[str, Any]
    method: str
    options: dict[str, Any] = field(default_factory=dict)
    seed: int = 1
    evaluation: dict[str, float] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """A hash of everything that describes the run."""
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @property
    def group(self) -> str:
        """The same without the seed: runs that differ only in their seed share it."""
        return replace(self, seed=0).key

    @property
    def sources(self) -> str:
        """The sources, which are learnt before the stream, in words."""
        sources = self.stream.get("sources", [])
        if isinstance(sources, str):
            return sources
        archive = self.stream.get("archive", NO_ARCHIVE)
        archived = [] if archive == NO_ARCHIVE else [_archive_in_words(archive, self.stream.get("archive_seed", 1))]
        return ", ".join([*sources, *archived]) or "none"

    @property
    def told(self) -> bool:
        """Whether the learner is told of drifts and false alarms, if it can be.

        That is so if the stream says it, or the method's detector is an oracle; and with false alarms if the method has
        no detector to choose.
        """
        chooses = self.method in METHODS and "drift" in METHODS[self.method].options
        alarmed = bool(self.stream.get("alarms")) and not chooses
        return bool(self.stream.get("told")) or self.options.get("drift") == ORACLE or alarmed

    @property
    def learner(self) -> str:
        """The method and its options in words."""
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.method} ({options})" if options else self.method

    @property
    def course(self) -> str:
        """The stream and its sources, in words."""
        stream = self.stream.get("load") or f"{self.stream['synthetic']}-{self.stream['size']}"
        stream += f", shuffled with seed {self.stream['shuffle']}" if "shuffle" in self.stream else ""
        stream += ", second half" if "archive" in self.stream else ""
        if "change" in self.stream:
            stream += f", {changes.in_words(self.stream['change'], self.stream.get('change_seed', 1))}"
        stream += f", {self.stream['alarms']} false alarms" if self.stream.get("alarms") else ""
        stream += ", told" if self.stream.get("told") else ""
        return str(stream) if self.sources == "none" else f"{stream} after {self.sources}"

    @property
    def title(self) -> str:
        """The run in words."""
        return f"{self.learner} on {self.course}, seed {self.seed}"


class Grid:
    """Every method on every stream with every seed.

    Parameters
    ----------
    streams
        Mappings. `load`: what `marlene.streams.load` takes, with `labels`, `separator`, `drop`, `kinds`, `features`,
        `absent`, `limit`, `lazy`, `sources` (a list of streams to learn before), `archive` and `archive_seed` (the
        target is the second half, and the first is learnt before: see `Stream.halves`; "none": it is not learnt;
        "warm": it is learnt as the target, before scoring starts; the name or file of another data set: as many
        examples of that are learnt instead), `change` and `change_seed` (how the labels of the target change places:
        see `marlene.streams.changes`), `shuffle` (a seed: the examples in a random order), and `alarms` (how many false
        alarms in a row, for every label, are injected from a quarter of the stream on; for learners with `drift =
        "oracle"` and those without a detector). Or `synthetic`: a type of `marlene.streams.synthetic_experiment`, with
        `size`, `sources`, `source_size`, and `seed` (a number, by default 1; or "run": drawn anew with the seed of the
        run). With `told = true` either kind tells the learner
        of every drift, and of the false alarms; it must have the method `signal_drift`. Lists under `load`, `archive`,
        `change`, their seeds, `synthetic`, `size` and the `sources` of a synthetic stream stand for several streams.
    methods
        Mappings: `name`, and the options of the method. A list stands for several settings.
    seeds
        Numbers, or how many (1, 2, …).
    evaluation
        `window`, `start`, `delay`, `fading` and `after` of the evaluation.
    where
        What errors name: the file the description comes from.

    Examples
    --------
    >>> grid = Grid(
    ...     streams=[{"synthetic": ["SS", "AA"], "size": 50, "sources": ["none", "similar"]}],
    ...     methods=[{"name": "br-marlene", "drift": "oracle"}, {"name": "br-resampled", "drift": ["none", "ddm-oci"]}],
    ...     seeds=3,
    ... )
    >>> len(grid.runs())
    36
    >>> grid.runs()[3].title
    'br-resampled (drift=none) on SS-50, seed 1'
    """

    def __init__(
        self,
        streams: Sequence[Mapping[str, Any]],
        methods: Sequence[Mapping[str, Any]],
        seeds: Sequence[int] | int = 1,
        evaluation: Mapping[str, float] | None = None,
        where: str = "grid",
    ) -> None:
        chosen = _mapping(evaluation or {}, f"{where}, evaluation")
        _check(chosen, EVALUATION, f"{where}, evaluation")
        every_seed = _seeds(seeds, f"{where}, seeds")
        every_stream = _every(streams, _streams, f"{where}, stream")
        every_method = _every(methods, _methods, f"{where}, method")
        _refuse_many(len(every_stream) * len(every_method) * len(every_seed), where)
        self._runs = _distinct(
            Run(stream, name, options, seed, chosen)
            for stream, (name, options), seed in itertools.product(every_stream, every_method, every_seed)
        )
        for run in self._runs:
            _check_told(run, f"{where}: {run.title}")
            if run.stream.get("alarms", 0) not in range(BURST // 2):
                raise MarleneError(f"{where}: alarms must be a number from 0 to {BURST // 2 - 1}")

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Grid:
        """Read a grid from a file with `seeds`, `[[streams]]`, `[[methods]]` and `[evaluation]`."""
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise MarleneError(f"{path}: {error.strerror or 'cannot be read'}") from error
        except (ValueError, RecursionError) as error:  # also for numbers and nesting that Python does not take
            raise MarleneError(f"{path}: not a TOML file: {error}") from None
        known = ("streams", "methods", "seeds", "evaluation")
        for key in content:
            if key not in known:
                raise MarleneError(f"{path}: {key!r} is not one of {', '.join(known)}")
        for key in known[:2]:
            if key not in content:
                raise MarleneError(f"{path}: there are no {key}; expected [[{key}]]")
        return cls(**content, where=str(path))

    @classmethod
    def of(cls, runs: Iterable[Run]) -> Grid:
        """Return a grid of just these runs, in their order; they need not be every method on every stream.

        Examples
        --------
        >>> once = Run({"load": "yeast"}, "majority")
        >>> [run.title for run in Grid.of([once, Run({"load": "imdb"}, "ebr"), once]).runs()]
        ['majority on yeast, seed 1', 'ebr on imdb, seed 1']
        """
        grid = cls.__new__(cls)
        grid._runs = _distinct(runs)  # noqa: SLF001 (a grid's own)
        return grid

    def runs(self) -> list[Run]:
        """Return all runs: stream by stream, method by method, seed by seed."""
        return list(self._runs)


def _archive_in_words(archive: str, seed: int) -> str:
    """Return what an archive is."""
    if archive == WARM:
        return "first half, as the target"
    return archives.in_words(archive, seed) if archive in archives.ARCHIVES else f"the beginning of {archive}"


def _check_told(run: Run, where: str) -> None:
    """Refuse to tell of drifts where there are none, or a learner that cannot be told."""
    said = "told = true" if run.stream.get("told") else f"drift = {ORACLE!r}"
    if run.told and not run.stream.keys() & {"synthetic", "change", "alarms"}:
        raise MarleneError(f"{where}: {said} needs a synthetic stream, change or alarms")
    if run.stream.get("told") and not hasattr(create(run.method, **run.options), "signal_drift"):
        raise MarleneError(f"{where}: {said}, but {run.method} cannot be told of drifts")


def _distinct(runs: Iterable[Run]) -> list[Run]:
    """Return every run once."""
    return list({run.key: run for run in runs}.values())


def _seeds(seeds: object, where: str) -> list[int]:
    if isinstance(seeds, int) and not isinstance(seeds, bool) and seeds > 0:
        _refuse_many(seeds, where)
        return list(range(1, seeds + 1))
    if isinstance(seeds, Sequence) and seeds and all(type(seed) is int and seed >= 0 for seed in seeds):
        return list(seeds)
    raise MarleneError(f"{where}: expected a number of seeds or a list of them, not {quoted(seeds)}")


def _every(given: object, read: Callable[[dict[str, Any], str], list[Any]], where: str) -> list[Any]:
    """Return everything that the entries of a list stand for, in order."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise MarleneError(f"{where}s: expected a list with at least one entry")
    names = [f"{where} {number}" for number in range(1, len(given) + 1)]
    return [one for entry, name in zip(given, names, strict=True) for one in read(_mapping(entry, name), name)]


def _mapping(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise MarleneError(f"{where}: expected a table of names and values, not {quoted(value)}")
    return dict(value)


def _check(given: Mapping[str, Any], known: Mapping[str, Any], where: str) -> None:
    for name, value in given.items():
        if name not in known:
            raise MarleneError(f"{where}: {name!r} is not one of {', '.join(known)}")
        if isinstance(value, bool) != (known[name] is bool) or not isinstance(value, known[name]):
            raise MarleneError(f"{where}: {name} cannot be {quoted(value)}")


def _refuse_many(runs: int, where: str) -> None:
    if runs > MOST_RUNS:
        raise MarleneError(f"{where}: more than {MOST_RUNS} runs")


def _combinations(given: Mapping[str, Any], names: Sequence[str], where: str) -> list[dict[str, Any]]:
    """Return a mapping for every choice of one value from each list under these names."""
    lists = {name: given[name] for name in given if name in names and isinstance(given[name], list)}
    for name, several in lists.items():
        if not several:
            raise MarleneError(f"{where}: {name} is an empty list")
    _refuse_many(math.prod(map(len, lists.values())), where)
    return [dict(given) | dict(zip(lists, chosen, strict=True)) for chosen in itertools.product(*lists.values())]


def _streams(stream: dict[str, Any], where: str) -> list[dict[str, Any]]:
    if ("load" in stream) == ("synthetic" in stream):
        raise MarleneError(f"{where}: expected either load or synthetic")
    if "load" in stream:
        return [_loaded(one, where) for one in _combinations(stream, SEVERAL, where)]
    several: list[dict[str, Any]] = [
        {"size": 500, "sources": "none", "source_size": 5000, "seed": 1} | one
        for one in _combinations(stream, ["synthetic", "size", "sources"], where)
    ]
    for one in several:
        _check(one, SYNTHETIC, where)
        one_of(one["synthetic"], f"{where}: synthetic", synthetic.DRIFT_TYPES)
        one_of(one["sources"], f"{where}: sources", synthetic.SOURCES)
        if isinstance(one["seed"], str) and one["seed"] != "run":
            raise MarleneError(f"{where}: seed must be a number or 'run', not {one['seed']!r}")
    return several


def _loaded(stream: dict[str, Any], where: str) -> dict[str, Any]:
    """Check the description of a loaded stream; add the seeds that matter, and take away the others."""
    _check(stream, LOADED, where)
    if not stream["load"]:
        raise MarleneError(f"{where}: expected the name of a data set or of a file, not {quoted(stream['load'])}")
    if not all(isinstance(source, str) and source for source in stream.get("sources", [])):
        raise MarleneError(f"{where}: sources must be names of data sets or files, not {quoted(stream['sources'])}")
    drawn = [name for name, change in changes.CHANGES.items() if change.random]
    made = dict(stream)
    if "change" in made:
        one_of(made["change"], f"{where}: change", changes.CHANGES)
    for name, random in (("archive", [archives.NOISE]), ("change", drawn)):
        seed = made.pop(f"{name}_seed", None)
        if name not in made and seed is not None:
            raise MarleneError(f"{where}: {name}_seed needs {name}")
        if made.get(name) in random:
            made[f"{name}_seed"] = whole_number(1 if seed is None else seed, f"{where}: {name}_seed", 0)
    return made


def _methods(method: dict[str, Any], where: str) -> list[tuple[str, dict[str, Any]]]:
    name = method.pop("name", None)
    if not isinstance(name, str):
        raise MarleneError(f"{where}: expected a name, see `marlene methods`")
    several = _combinations(method, list(method), where)
    for options in several:
        try:
            create(name, **options)
        except MarleneError as error:
            raise MarleneError(f"{where}: {error}") from error
    return [(name, options) for options in several]
