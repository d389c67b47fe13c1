"""Results that are kept: a row and, beside it, the traces of every run, in a folder that only grows."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene._common.files import atomic_write

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    import polars as pl

    from marlene._common.arrays import Array, Arrays

DONE, FAILED = "done", "failed"


class ResultStore:
    """A folder with one Parquet file of one row for every run that has ended, and npz files of traces.

    A run's traces are written before its row, and each file appears as a whole: whatever has a row is complete,
    whenever the program was killed.

    Parameters
    ----------
    folder
        Where; made if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> store = ResultStore(tempfile.mkdtemp())
    >>> store.add({"key": "a1", "status": "done", "macro_gmean": 0.5}, {"steps": np.zeros(3)})
    >>> store.frame()["macro_gmean"].to_list(), store.traces("a1")["steps"]
    ([0.5], array([0., 0., 0.]))
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._polars: Any = optional("polars", "experiments", "keeping results")
        for part in ("runs", "traces"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)

    def add(self, row: Mapping[str, Any], traces: Mapping[str, Array]) -> None:
        """Keep a run: its row, and its traces if there are any."""
        if traces:
            with atomic_write(self._traces(row["key"])) as file:
                np.savez_compressed(file, allow_pickle=False, **traces)
        with atomic_write(self._row(row["key"])) as file:
            self._polars.DataFrame([dict(row)]).write_parquet(file)

    def frame(self) -> pl.DataFrame:
        """Return all rows, in the order in which the runs ended; an empty frame if there are none."""
        rows = [self._read(path) for path in sorted((self.folder / "runs").glob("*.parquet"))]
        if not rows:
            return self._polars.DataFrame()  # type: ignore[no-any-return]
        frame = self._polars.concat(rows, how="diagonal_relaxed")
        return frame.sort([name for name in ("finished", "key") if name in frame.columns])  # type: ignore[no-any-return]

    def statuses(self) -> dict[str, str]:
        """Return for every run that has a row whether it is done or failed, by its key."""
        frame = self.frame()
        return dict(zip(frame["key"], frame["status"], strict=True)) if frame.height else {}

    def traces(self, key: str) -> Arrays:
        """Return the arrays of a run: figures, predictions and truth at every step, and what else was kept."""
        path = self._traces(key)
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
        except Exception as error:  # a damaged file may raise anything
            raise MarleneError(f"{path}: the traces cannot be read ({error})") from error

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others from running a grid in this folder meanwhile; the system ends it with the process."""
        with (self.folder / "lock").open("wb") as file:
            try:
                import fcntl  # noqa: PLC0415 (not on every system)

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ImportError:
                pass
            except OSError as error:
                raise MarleneError(f"{self.folder}: another grid is running in this folder") from error
            yield

    def _row(self, key: str) -> Path:
        return self.folder / "runs" / f"{key}.parquet"

    def _traces(self, key: str) -> Path:
        return self.folder / "traces" / f"{key}.npz"

    def _read(self, path: Path) -> pl.DataFrame:
        try:
            frame = self._polars.read_parquet(io.BytesIO(path.read_bytes()))
            known = frame.height == 1 and {"key", "status"} <= set(frame.columns) and frame["key"][0] == path.stem
        except Exception as error:
            raise MarleneError(f"{path}: the row of a run cannot be read ({error})") from error
        if not known:
            raise MarleneError(f"{path}: not the row of the run {path.stem}")
        return frame  # type: ignore[no-any-return]
