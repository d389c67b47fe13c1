"""A folder of results: for every run one row as JSON and, beside it, its traces as npz."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from marlene._common.archives import read_arrays, write_arrays
from marlene._common.errors import MarleneError, quoted
from marlene._common.extras import optional
from marlene._common.files import atomic_write, take_lock
from marlene.evaluation._result import dump_json

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    import polars as pl

    from marlene._common.arrays import Array, Arrays

DONE, FAILED = "done", "failed"
FORMAT, VERSION = "format", 1
"""The version of a row's format. Files of before there were versions have none."""
TEXTS = ("status", "title", "method", "name", "started", "finished")
"""Values that are text in every row that has them; rows are sorted by the last."""


class Outcome(NamedTuple):
    """What is kept of a run: a row of plain values, and arrays."""

    row: dict[str, Any]
    traces: Arrays


class ResultStore:
    """A folder with `runs/KEY.json` and `traces/KEY.npz` for every run that has ended.

    Traces are written before the row, and each file appears as a whole. So a run that has a row is complete, even if
    the program was killed.

    Parameters
    ----------
    folder
        The folder; made if it is absent.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> store = ResultStore(tempfile.mkdtemp())
    >>> store.add({"key": "a1", "status": "done", "macro_gmean": 0.5}, {"steps": np.zeros(3)})
    >>> store.rows()[0]["macro_gmean"], store.traces("a1")["steps"]
    (0.5, array([0., 0., 0.]))
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        for part in ("runs", "traces"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)

    def add(self, row: Mapping[str, Any], traces: Mapping[str, Array]) -> None:
        """Keep a run: its row, and its traces if there are any."""
        if traces:
            with atomic_write(self._traces(row["key"])) as file:
                write_arrays(file, traces)
        with atomic_write(self._row(row["key"])) as file:
            file.write(dump_json({FORMAT: VERSION, **row}, indent=1).encode())

    def row(self, key: str) -> dict[str, Any]:
        """Return the row of a run; a score that is not defined is None."""
        path = self._row(key)
        try:
            row = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise MarleneError(f"{path}: the row of a run cannot be read ({error})") from error
        if not isinstance(row, dict) or row.get("key") != key or "status" not in row:
            raise MarleneError(f"{path}: not the row of the run {key}")
        written = row.pop(FORMAT, VERSION)
        if written != VERSION:
            raise MarleneError(f"{path}: version {quoted(written)} of the format, this program reads version {VERSION}")
        for name in TEXTS:
            if not isinstance(row.get(name, ""), str):
                raise MarleneError(f"{path}: {name} is {quoted(row[name])}, which is no text")
        return row

    def rows(self) -> list[dict[str, Any]]:
        """Return all rows, in the order in which the runs ended."""
        rows = [self.row(path.stem) for path in (self.folder / "runs").glob("[!.]*.json")]
        return sorted(rows, key=lambda row: (row.get("finished", ""), row["key"]))

    def frame(self) -> pl.DataFrame:
        """Return all rows as a polars frame, to be written as Parquet or CSV; what is not a single value is JSON."""
        polars = optional("polars", "experiments", "a frame of results")
        rows = [{name: _flat(value) for name, value in row.items()} for row in self.rows()]
        try:
            return polars.DataFrame(rows, infer_schema_length=None)  # type: ignore[no-any-return]
        except (polars.exceptions.PolarsError, polars.exceptions.PanicException, TypeError, OverflowError) as error:
            raise MarleneError(f"{self.folder}: rows do not fit together ({error})") from error

    def statuses(self) -> dict[str, str]:
        """Return the status of every run that has a row, done or failed, by its key."""
        return {row["key"]: row["status"] for row in self.rows()}

    def traces(self, key: str) -> Arrays:
        """Return the arrays of a run: scores, predictions and truth at every step, and what else was kept."""
        path = self._traces(key)
        try:
            return read_arrays(path.read_bytes())
        except Exception as error:  # a damaged file may raise anything
            raise MarleneError(f"{path}: the traces cannot be read ({error})") from error

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the folder: a second grid is refused. The lock ends with the process, however it ends."""
        with (self.folder / "lock").open("wb") as file:
            if not take_lock(file.fileno()):
                raise MarleneError(f"{self.folder}: another grid is running in this folder")
            yield

    def _row(self, key: str) -> Path:
        return self.folder / "runs" / f"{key}.json"

    def _traces(self, key: str) -> Path:
        return self.folder / "traces" / f"{key}.npz"


def _flat(value: object) -> object:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value


def number(value: float | None) -> float:
    """Return a score of a row; NaN for one that is not defined.

    Examples
    --------
    >>> number(0.5), number(None)
    (0.5, nan)
    """
    return float("nan") if value is None else float(value)
