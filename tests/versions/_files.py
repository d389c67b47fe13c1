"""One file of every format and every method, and what it must lead to."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import marlene
from marlene.evaluation import PrequentialResult, prequential
from marlene.evaluation._checkpoint import FILE_TYPE as RUN
from marlene.evaluation._checkpoint import VERSION as RUN_VERSION
from marlene.evaluation._checkpoint import Checkpoint
from marlene.evaluation._result import FILE_TYPE as RESULT
from marlene.evaluation._result import VERSION as RESULT_VERSION
from marlene.experiments import Grid, ResultStore, run_grid
from marlene.learners import METHODS, create
from marlene.learners._saved import FILE_KIND as LEARNER
from marlene.learners._saved import FILE_VERSION as LEARNER_VERSION
from marlene.learners._saved import SavedLearner
from marlene.learners.baselines._committee_learner import CommitteeLearner
from marlene.learners.baselines._goowe import GOOWE
from marlene.live import Record, Worker
from marlene.live._checkpoints import FILE_TYPE as WORKER
from marlene.live._checkpoints import VERSION as WORKER_VERSION
from marlene.live._checkpoints import Checkpoints
from marlene.streams import Stream, load
from marlene.trees import HoeffdingForest
from marlene.trees._forest import KIND as FOREST
from marlene.trees._forest import VERSION as FOREST_VERSION

FOLDER = Path(__file__).parent
CURRENT = marlene.__version__.partition(".dev")[0]
EXPECTED = "expected.json"
KINDS = {"n": "numeric", "b": "binary", "c": "nominal"}
STOP, EVERY, WINDOW = 40, 20, 15


def rows(count: int, seed: int) -> list[dict[str, Any]]:
    """Return rows of a table with features of every kind; the rule of the labels changes in the middle."""
    made, state = [], seed
    for i in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        bits = state >> 33
        n, b, c = bits % 17 / 4 - 2, bits % 3 == 0, ("red", "blue", "green")[bits % 5 % 3]
        turned = i > count // 2
        tags = [tag for tag, on in (("p", (n > 0) != turned), ("q", b), ("r", c == "red")) if on]
        made.append({"n": n, "b": b, "c": c, "tags": tags})
    return made


def stream() -> Stream:
    """Return the rows as a stream."""
    return load(rows(60, 1), labels="tags", kinds=KINDS, name="versions")


def examples(count: int, seed: int) -> list[tuple[dict[str, Any], dict[str, bool]]]:
    """Return the rows as dictionaries of features and of labels; later ones have a text and a date, too."""
    found = []
    for i, row in enumerate(rows(count, seed)):
        x = {name: row[name] for name in KINDS}
        if i >= count // 2:
            x |= {"note": f"word{i % 4} word{i % 7} more words", "day": f"2024-05-{i % 28 + 1:02}"}
        found.append((x, {tag: tag in row["tags"] for tag in "pqr"}))
    return found


def build(method: str) -> Any:
    """Return an untrained learner of few members, so that files are small."""
    model = create(method, seed=3)
    if not isinstance(model, CommitteeLearner):
        return model
    return model.clone(new_params={"members": 3} | ({"chunk": 20} if isinstance(model, GOOWE) else {}))


def said(model: Any) -> Any:
    """Return what a learner says of examples, and says after it has learnt them."""
    found = []
    for x, y in examples(12, 7):
        found.append({str(label): p[True] for label, p in model.predict_proba_one(x).items()})
        model.learn_one(x, y)
    return found


class Learner:
    """A saved learner."""

    def __init__(self, method: str) -> None:
        self.name, self.method = f"learner-{method}.npz", method
        self.format: tuple[str, int] | None = (LEARNER, LEARNER_VERSION)

    def write(self, path: Path) -> None:
        model = build(self.method)
        for x, y in examples(40, 2) if METHODS[self.method].transfer else []:
            model.learn_one(x, y, stream="archive")
        for x, y in examples(40, 3):
            model.learn_one(x, y)
        model.save(path)

    def read(self, path: Path) -> Any:
        return said(type(build(self.method)).load(path))


class Run:
    """The checkpoint of a run. Only the version that wrote it goes on with it, but later ones can read it."""

    def __init__(self, method: str) -> None:
        self.name, self.method = f"run-{method}.npz", method
        self.format: tuple[str, int] | None = (RUN, RUN_VERSION)

    def _run(self, path: Path, **options: Any) -> PrequentialResult:
        with mock.patch.object(Checkpoint, "_refuse_other_runs"):
            return prequential(
                build(self.method), stream(), window=WINDOW, checkpoint=path, every=EVERY, history=True, **options
            )

    def write(self, path: Path) -> None:
        self._run(path, callbacks=[lambda progress: progress.done >= STOP])

    def read(self, path: Path) -> Any:
        result = self._run(path)
        return {"scores": result.scores, "examples": result.examples, "confusion": result.confusion.tolist()}


class Result:
    """A saved result."""

    name, format = "result.npz", (RESULT, RESULT_VERSION)

    def write(self, path: Path) -> None:
        prequential(build("ebr"), stream(), window=WINDOW, history=True).save(path)
        path.with_suffix(".json").unlink()  # a copy for people

    def read(self, path: Path) -> Any:
        result = PrequentialResult.load(path)
        history = result.history
        assert history is not None
        return {"scores": result.scores, "counted": int(history.counts.sum()), "predicted": int(result.pred.sum())}


class Forest:
    """A saved forest."""

    name, format = "forest.npz", (FOREST, FOREST_VERSION)

    def write(self, path: Path) -> None:
        forest, data = HoeffdingForest([0, 2, 3], grace_period=20), stream()
        trees = forest.add(3)
        dense = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
        forest.learn_many(trees, np.nan_to_num(dense), data.Y)
        forest.save(path)

    def read(self, path: Path) -> Any:
        return HoeffdingForest.load(path).votes(np.array([0.5, 1.0, 2.0])).tolist()


class Store:
    """A store of results: a folder."""

    name, format = "store", None

    def write(self, path: Path) -> None:
        grid = Grid([{"synthetic": "SS", "size": 30, "source_size": 30}], [{"name": "majority"}, {"name": "ebr"}])
        store = run_grid(grid, path)
        for row in store.rows():
            store.add(row | {"system": "any", "processor": "any"}, {})
        (path / "lock").unlink(missing_ok=True)

    def read(self, path: Path) -> Any:
        store = ResultStore(path)
        kept = sorted(store.rows(), key=lambda row: row["key"])
        traces = {row["key"]: store.traces(row["key"]) for row in kept}
        return [[row["key"], row["status"], row["macro_gmean"], sorted(traces[row["key"]])] for row in kept]


class Live:
    """A checkpoint of a worker: a folder."""

    name, format = "worker", (WORKER, WORKER_VERSION)

    def _messages(self) -> list[Record]:
        told = [{"id": i, "x": x, "y": y} for i, (x, y) in enumerate(examples(20, 4))]
        asked = [{"id": 100 + i, "x": x, "time": 5.0 + i} for i, (x, _) in enumerate(examples(6, 5))]
        late = [{"id": 100 + i, "y": ["p"]} for i in range(3)]
        return [Record("versions", i, json.dumps(m).encode()) for i, m in enumerate([*told, *asked, *late])]

    def write(self, path: Path) -> None:
        worker, checkpoints = Worker(build("marlene")), Checkpoints(str(path))
        worker.take(self._messages()[:-3])
        checkpoints.write(worker)
        checkpoints.close()
        for other in path.iterdir():
            if other.suffix != ".npz":
                other.unlink()

    def read(self, path: Path) -> Any:
        worker, checkpoints = Worker(build("marlene")), Checkpoints(str(path))
        assert checkpoints.resume(worker)
        checkpoints.close()
        outputs = worker.take(self._messages()[-3:])
        return [worker.counts, [json.loads(output.body) for output in outputs]]


def formats() -> list[Any]:
    """Return all files that this version writes."""
    learners = [Learner(name) for name in METHODS if isinstance(create(name), SavedLearner)]
    runs = [Run(name) for name in METHODS if hasattr(create(name), "state")]
    return [*learners, *runs, Result(), Forest(), Store(), Live()]


def of_name(name: str) -> Any:
    """Return the format of a file by its name; methods may have gone, formats may not."""
    kind, _, method = name.removesuffix(".npz").partition("-")
    plain = {"result": Result, "forest": Forest, "store": Store, "worker": Live}
    return plain[kind]() if kind in plain else {"learner": Learner, "run": Run}[kind](method)


def read_copy(form: Any, path: Path, folder: Path) -> Any:
    """Return what a file leads to, as JSON gives it back; it is read from a copy, as reading may write."""
    copy = folder / path.name
    (shutil.copytree if path.is_dir() else shutil.copy)(path, copy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return json.loads(json.dumps(form.read(copy)))
