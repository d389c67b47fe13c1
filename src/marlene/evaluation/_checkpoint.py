"""Checkpoints: learner, position and scores of a run in one file, from which it resumes to the bit."""

from __future__ import annotations

import hashlib
import inspect
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from marlene._common.errors import MarleneError
from marlene._common.states import arrays_under, restore_file, save_state, with_prefix
from marlene.kernels.compile import sources_hash
from marlene.streams import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from marlene._common.arrays import Array, Arrays
    from marlene._common.files import AnyPath
    from marlene.evaluation._run import PrequentialRun
    from marlene.streams import LazyStream


FILE_TYPE = "marlene-checkpoint"
VERSION = 4
SECONDS_BETWEEN = 10.0
# Learn at least this many times as long as the last write took: writing then costs at most a twentieth of a run.
TIMES_A_WRITE = 20
LEARNER = "learner."
# Words for error messages: a checksum itself would tell a reader nothing.
DIGESTS = {
    "data": "the examples",
    "sources": "the sources",
    "learner": "the learner's settings, or what it had learnt before",
    "program": "the version of the program",
}


class Checkpoint:
    """The checkpoint file of one run.

    Parameters
    ----------
    path
        The file; it need not exist yet.
    every
        Write after every so many examples. None: from time to time, so that writing costs little.
    model
        The learner, before the run.
    run, sources
        The run, and the streams that are learnt before it.
    settings
        Everything else that the result depends on, by name.
    """

    def __init__(
        self,
        path: AnyPath,
        every: int | None,
        model: Any,  # noqa: ANN401 (whatever has `state` and `from_state`)
        run: PrequentialRun,
        sources: Sequence[Stream | LazyStream],
        settings: Mapping[str, Any],
    ) -> None:
        self.path = Path(path)
        self._every = every
        self._model = model
        self._run = run
        if not all(callable(getattr(model, name, None)) for name in ("state", "from_state")):
            raise MarleneError(f"{settings['method']} cannot be saved, so it cannot be run with a checkpoint")
        if not self.path.absolute().parent.is_dir():
            raise MarleneError(f"{self.path}: there is no folder {self.path.absolute().parent}")
        learner, learnt = model.state()
        self._identity = {
            **settings,
            "stream": run.stream.name,
            "examples": len(run.stream) if isinstance(run.stream, Stream) else None,
            "data": _digest_of_stream(run.stream) if isinstance(run.stream, Stream) else None,
            "sources": [[source.name, _digest_of_parts(source)] for source in sources],
            "learner": _digest([learner, list(learnt)], learnt.values()),
            "program": sources_hash(),
        }
        run.watch()
        self._done, self._finished, self._learnt = -1, False, 0.0
        self._pause = SECONDS_BETWEEN

    def resume(self) -> bool:
        """Bring learner and run to the state in the file; return False if there is no file yet."""
        if not self.path.exists():
            return False

        def restore(content: dict[str, Any], arrays: Arrays) -> Any:  # noqa: ANN401 (a learner)
            self._refuse_other_runs(content["identity"])
            restored = type(self._model).from_state(content["learner"], arrays_under(arrays, LEARNER))
            self._run.restore(content["run"], arrays)
            return restored

        restored = restore_file(self.path, FILE_TYPE, VERSION, restore)
        # The caller holds this learner: fill it, do not replace it. Its parameters are the same already.
        parameters = inspect.signature(type(self._model)).parameters
        vars(self._model).update({name: v for name, v in vars(restored).items() if name not in parameters})
        self._note()
        return True

    def offer(self) -> None:
        """Write the file if it is time."""
        run, every = self._run, self._every
        due = run.done % every == 0 if every else run.learn_seconds - self._learnt >= self._pause
        if run.done > self._done and due:
            self._write()

    def close(self) -> None:
        """Write the file unless it is up to date."""
        if (self._run.done, self._run.finished) != (self._done, self._finished):
            self._write()

    def _write(self) -> None:
        began = time.perf_counter()
        header, arrays = self._run.state()
        learner, learnt = self._model.state()
        content = {"identity": self._identity, "run": header, "learner": learner}
        save_state(self.path, FILE_TYPE, VERSION, content, arrays | with_prefix(learnt, LEARNER))
        self._note()
        self._pause = max(SECONDS_BETWEEN, TIMES_A_WRITE * (time.perf_counter() - began))

    def _note(self) -> None:
        """Remember which state is in the file."""
        self._done, self._finished, self._learnt = self._run.done, self._run.finished, self._run.learn_seconds

    def _refuse_other_runs(self, found: Mapping[str, Any]) -> None:
        # Through JSON, which turns tuples into lists.
        wanted = json.loads(json.dumps(self._identity))
        other = [key for key in wanted if found.get(key) != wanted[key]]
        if other:
            told = [DIGESTS.get(key) or f"{key} {found.get(key)} instead of {wanted[key]}" for key in other]
            raise MarleneError(
                f"the checkpoint of another run, which differs in {', '.join(told)}; "
                "nothing was changed: give another file, or remove this one"
            )


def _digest_of_stream(stream: Stream) -> str:
    X = stream.X
    names = [[f.name, f.kind, *f.values] for f in stream.features], list(stream.labels)
    parts = (X.data, X.indices, X.indptr) if isinstance(X, sp.csr_array) else (X,)
    return _digest([names, X.shape], [stream.Y, *parts])


def _digest_of_parts(stream: Stream | LazyStream) -> str:
    if isinstance(stream, Stream):
        return _digest_of_stream(stream)
    return _digest([_digest_of_stream(part) for part in stream.parts()], [])


def _digest(header: object, arrays: Iterable[Array]) -> str:
    digest = hashlib.sha256(json.dumps(header).encode())
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
