"""Saved states: of learners, runs, results, workers and stores of results.

A case is JSON: which good state, and what is changed in it. So files are whole, and their checksums are right. The
target `files` has damaged bytes instead.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene._common.states import load_state
from marlene.evaluation import PrequentialResult, prequential
from marlene.evaluation._checkpoint import FILE_TYPE as CHECKPOINT
from marlene.evaluation._checkpoint import VERSION as CHECKPOINT_VERSION
from marlene.evaluation._result import FILE_TYPE as RESULT
from marlene.evaluation._result import VERSION as RESULT_VERSION
from marlene.experiments import Grid, ResultStore, run_grid
from marlene.experiments._report import compare_store
from marlene.learners import METHODS, create
from marlene.learners._saved import SavedLearner
from marlene.live import Record, Worker
from marlene.live._checkpoints import Checkpoints
from marlene.report import run_page
from marlene.streams import Stream, load
from tests.fuzz._mutations import changed_state, changes
from tests.fuzz._run import Target

if TYPE_CHECKING:
    import random

State = tuple[Any, dict[str, np.ndarray]]
LIMITS = ("max_memory", "max_labels", "max_features", "max_models")
"""Settings by which a learner may refuse what is new; a file may hold any of them."""
LEARNERS = tuple(name for name in METHODS if isinstance(create(name), SavedLearner))
VARIANTS: dict[str, dict[str, Any]] = {
    "mlhat grown": {"grace_period": 10, "delta": 0.9, "window": 5, "members": 2},
    "marlene subset": {"objective": "subset"},
    "marlene linear": {"base": "linear", "objective": "hamming"},
    **{f"br-marlene {drift}": {"drift": drift} for drift in ("adwin", "ddm", "ddm-oci", "none")},
    **{f"br-marlene {base}": {"base": base, "drift": "ddm"} for base in ("mixed", "linear", "inheriting-forest")},
    "brpw-marlene few": {"pairs": 2},
    "brpw-marlene own": {"combine": "marginal", "weighting": "predicted", "pooling": "mean", "voters": "own"},
    "br-marlene better": {"retired": "better"},
}
"""Options by which states hold something else; before them the method."""
ROWS = [
    {
        "id": i,
        "n": i % 7 / 2,
        "b": i % 3 == 0,
        "c": ("red", "blue", "green")[i % 3],
        "y": ["p"] if i % 2 else ["q", "r"],
    }
    for i in range(40)
]


@functools.cache
def _stream() -> Stream:
    return load(ROWS, labels="y", drop="id", kinds={"n": "numeric", "b": "binary", "c": "nominal"}, name="fuzz")


def _learner(method: str, **options: Any) -> Any:
    model, stream = create(method, **options), _stream()
    if method.endswith("marlene"):
        model.declare(stream.features, stream.labels, stream="old")
        model.learn_many(stream.X[:20], stream.Y[:20], stream="old")
    model.declare(stream.features, stream.labels)
    model.learn_many(stream.X, stream.Y)
    return model


@functools.cache
def _learners() -> dict[str, tuple[type, State]]:
    made = {method: _learner(method) for method in LEARNERS}
    made |= {name: _learner(name.split()[0], **options) for name, options in VARIANTS.items()}
    made["marlene bounded"] = bounded = Marlene(max_features=4, max_labels=3)
    for i in range(60):
        bounded.learn_one({"n": i % 3 / 2, f"n{i % 7}": 1.5, f"c{i % 5}": "abc"[i % 3]}, {f"p{i % 3}": i % 2 == 0})
    made["marlene texts"] = text = Marlene(features={"t": "text", "d": "date"})
    for i in range(12):
        text.learn_one(
            {"t": "late refund" if i % 2 else "new order", "d": i * 1e5, "v": "ab"[i % 2]}, {"p": i % 2 == 0}
        )
    return {name: (type(model), as_read(model.state())) for name, model in made.items()}


def as_read(state: State) -> State:
    return json.loads(json.dumps(state[0])), state[1]


def _made(rng: random.Random, seeds: list[bytes], _: tuple[bytes, ...], states: Any) -> bytes:
    which = json.loads(seeds[0])["state"]
    found = states()[which]
    header, arrays = found[-1] if isinstance(found[0], type) else found
    return json.dumps({"state": which, "changes": changes(rng, header, arrays)}).encode()


def _changed(case: bytes, states: Any) -> tuple[str, Any, Any, dict[str, np.ndarray]]:
    told = json.loads(case)
    found = states()[told["state"]]
    state = found[-1] if isinstance(found[0], type) else found
    return (told["state"], found[0], *changed_state(*state, told["changes"]))


def _as_seeds(states: Any) -> list[bytes]:
    return [json.dumps({"state": name, "changes": []}).encode() for name in states()]


def _file_of(header: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return a context in which every file holds this; to write it and to read it again would take long."""

    def read(*_: Any) -> State:
        if not isinstance(header, dict):
            raise MarleneError("no header")
        return dict(header), arrays

    return mock.patch("marlene._common.states.load_state", read)


def _afterwards(use: Any) -> None:
    """Use what was loaded: whatever is wrong should have been refused before."""
    try:
        use()
    except MarleneError as error:
        raise AssertionError(f"refused only after loading: {error}") from error


def _check_learner(case: bytes, folder: Path) -> None:  # noqa: ARG001
    name, kind, header, arrays = _changed(case, _learners)
    model = kind.from_state(header, arrays)

    def use() -> None:
        x = (
            {"t": "late order", "d": 5e5, "v": "a"}
            if "texts" in name
            else {"n": 1.0, "b": True, "c": "red", "new": 2.0}
        )
        for probability in model.predict_proba_one(x).values():
            assert 0 <= probability[True] <= 1
        model.predict_one(x)
        model.learn_one(x, dict.fromkeys([*model.predict_one(x)][:1], True))
        limited = any(getattr(model, limit, None) is not None for limit in LIMITS)
        with contextlib.suppress(MarleneError) if limited else contextlib.nullcontext():
            model.learn_one(x | {"newer": 1.0}, {"new label": True})
        for probability in model.predict_proba_one(x).values():
            assert 0 <= probability[True] <= 1
        again = kind.from_state(*as_read(model.state()))
        assert again.predict_proba_one(x) == model.predict_proba_one(x)

    _afterwards(use)


@functools.cache
def _checkpoints() -> dict[str, State]:
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        for method, delay in (("majority", 0), ("majority", 3), ("ebr", 0)):
            path = Path(folder) / f"{method}-{delay}.npz"
            prequential(create(method), _stream(), checkpoint=path, every=15, delay=delay, callbacks=[_stop])
            made[f"{method} {delay}"] = load_state(path, CHECKPOINT, CHECKPOINT_VERSION)
    return made


def _stop(progress: Any) -> bool:
    return bool(progress.done >= 30)


def _check_checkpoint(case: bytes, folder: Path) -> None:
    name, _, header, arrays = _changed(case, _checkpoints)
    method, delay = name.split()
    path = folder / "run.npz"
    path.touch()
    with _file_of(header, arrays):
        result = prequential(create(method), _stream(), checkpoint=path, delay=int(delay))
    _afterwards(result.as_dict)
    assert result.examples == 40


@functools.cache
def _results() -> dict[str, State]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.npz"
        prequential(create("ebr"), _stream(), window=10).save(path)
        return {"result": load_state(path, RESULT, RESULT_VERSION)}


def _check_result(case: bytes, folder: Path) -> None:
    *_, header, arrays = _changed(case, _results)
    with _file_of(header, arrays):
        result = PrequentialResult.load("result.npz")

    def use() -> None:
        json.dumps(result.as_dict(), allow_nan=True)
        result.trace("macro_gmean")
        result._repr_html_()
        run_page(result)
        result.save(folder / "again.npz")

    _afterwards(use)


@functools.cache
def _workers() -> dict[str, State]:
    worker = Worker(create("ebr"))
    worker.take([Record("fuzz", i, message) for i, message in enumerate(_messages())])
    return {"worker": as_read(worker.state())}


def _messages() -> list[bytes]:
    told = [{"id": i, "x": {"n": i % 4, "c": "ab"[i % 2]}, "y": {"p": i % 2 == 0}} for i in range(8)]
    asked = [{"id": 100 + i, "x": {"n": i}, "time": 5.0 + i} for i in range(3)]
    return [json.dumps(message).encode() for message in [*told, *asked, {"id": 101, "y": ["p"]}]]


class _OneFile(Checkpoints):
    """Checkpoints with one file, which is given."""

    def __init__(self, folder: Path, state: State) -> None:
        super().__init__(str(folder / "worker"))
        self._state = state
        (folder / "worker" / self._names()[0]).touch()

    def _names(self) -> list[str]:
        return ["checkpoint-1.npz"]

    def _read(self, path: Path, name: str) -> State:  # noqa: ARG002
        return self._state


def _check_worker(case: bytes, folder: Path) -> None:
    *_, header, arrays = _changed(case, _workers)
    worker = Worker(create("ebr"))
    checkpoints = _OneFile(folder, (header, arrays))
    try:
        resumed = checkpoints.resume(worker)
    finally:
        checkpoints.close()

    def use() -> None:
        said = worker.take([Record("fuzz", 20 + i, message) for i, message in enumerate(_messages()[::-1])])
        assert [json.loads(output.body) for output in said]
        json.dumps(worker.state()[0])

    _afterwards(use)
    if not resumed:
        raise MarleneError("passed over")


@functools.cache
def _store() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        streams = [{"synthetic": "SS", "size": 12, "source_size": 12}]
        store = run_grid(Grid(streams, [{"name": "majority"}]), folder)
        (path,) = (store.folder / "runs").glob("*.json")
        (traces,) = (store.folder / "traces").glob("*.npz")
        _store_traces.append(traces.read_bytes())
        return [path.read_bytes()]


_store_traces: list[bytes] = []


def _check_store(case: bytes, folder: Path) -> None:
    seed = _store()[0]
    key = json.loads(seed)["key"]
    store = ResultStore(folder / "store")
    (store.folder / "runs" / f"{key}.json").write_bytes(case)
    (store.folder / "traces" / f"{key}.npz").write_bytes(_store_traces[0])
    other = key[::-1]
    (store.folder / "runs" / f"{other}.json").write_bytes(seed.replace(key.encode(), other.encode()))
    (store.folder / "traces" / f"{other}.npz").write_bytes(_store_traces[0])
    assert {row["key"] for row in store.rows()} == set(store.statuses()) == {key, other}
    assert store.frame().height == 2
    compare_store(store)


def _files() -> list[bytes]:
    """Return whole files, each with a letter before it that says what it is."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.npz"
        _learner("ebr").save(path)
        found = [b"l" + path.read_bytes()]
        _store()
        buffer = io.BytesIO()
        np.savez(buffer, steps=np.zeros((3, 4)), names=np.array(["a", "b"]))
        return [*found, b"t" + buffer.getvalue()]


def _check_file(case: bytes, folder: Path) -> None:
    if case[:1] == b"t":
        store = ResultStore(folder / "traces only")
        (store.folder / "traces" / "a.npz").write_bytes(case[1:])
        store.traces("a")
        return
    path = folder / "file.npz"
    path.write_bytes(case[1:])
    type(create("ebr")).load(path)


def _target(name: str, states: Any, check: Any) -> Target:
    return Target(name, lambda: _as_seeds(states), check, make=functools.partial(_made, states=states))


LEARNERS_TARGET = _target("learners", _learners, _check_learner)
CHECKPOINTS_TARGET = _target("checkpoints", _checkpoints, _check_checkpoint)
RESULTS_TARGET = _target("results", _results, _check_result)
WORKERS_TARGET = _target("workers", _workers, _check_worker)
STORES_TARGET = Target("stores", _store, _check_store, (b'"status": "done"', b"[]", b"{}", b"null", b'"key": '))
FILES_TARGET = Target(
    "files", _files, _check_file, (b"PK\x03\x04", b"\x93NUMPY", b"(3, 4)", b"|O", b"<f8", b"header.npy")
)
