"""Write streams to files, block by block."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene._common.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import IO

    from marlene._common.files import AnyPath
    from marlene.streams._gaussians import Block

SUFFIXES = (".arff", ".csv", ".parquet")


def refuse_other_suffix(path: AnyPath) -> None:
    """Refuse a file whose suffix is not that of a format that can be written."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise MarleneError(f"{path}: expected the suffix {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")


def write_blocks(path: AnyPath, features: Sequence[str], labels: Sequence[str], blocks: Iterable[Block]) -> None:
    r"""Write numeric examples to an ARFF, CSV or Parquet file, labels first; whole or not at all.

    A text file takes constant memory; for Parquet the whole stream is held in memory. Names must be plain words.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "small.csv"
    >>> write_blocks(path, ["x1"], ["l1"], [(np.array([[0.1], [2.0]]), np.array([[1], [0]]))])
    >>> path.read_text()
    'l1,x1\n1,0.1\n0,2.0\n'
    """
    refuse_other_suffix(path)
    suffix = Path(path).suffix.lower()
    with atomic_write(path) as file:
        if suffix == ".parquet":
            _write_parquet(file, [*labels, *features], blocks)
            return
        header = [",".join([*labels, *features])]
        if suffix == ".arff":
            relation = Path(path).stem.replace("'", "")
            header = [f"@relation '{relation}: -C {len(labels)}'"]
            header += [f"@attribute {label} {{0,1}}" for label in labels]
            header += [f"@attribute {feature} numeric" for feature in features]
            header += ["@data"]
        file.write(("\n".join(header) + "\n").encode())
        for X, Y in blocks:
            rows = zip(Y.tolist(), X.tolist(), strict=True)
            # The repr of a float is the shortest text that reads back as the same number.
            file.write("".join(f"{','.join(map(repr, [*y, *x]))}\n" for y, x in rows).encode())


def _write_parquet(file: IO[bytes], names: Sequence[str], blocks: Iterable[Block]) -> None:
    polars = optional("polars", "experiments", "writing Parquet")
    frames = [polars.DataFrame(dict(zip(names, _columns(X, Y), strict=True))) for X, Y in blocks]
    polars.concat(frames).write_parquet(file)


def _columns(X: Any, Y: Any) -> list[Any]:  # noqa: ANN401 (arrays of two types)
    return [*np.asarray(Y, np.int8).T, *np.ascontiguousarray(np.asarray(X, np.float64).T)]
