"""What was learnt, as a file: named arrays and a JSON header, never a pickle."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.files import atomic_write

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import numpy.typing as npt

HEADER = "header"


def save_state(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    settings: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
) -> None:
    """Write arrays and settings to one npz file, whole or not at all.

    Parameters
    ----------
    path
        The file; an existing one is replaced.
    kind, version
        What the file holds and in which version of its format; `load_state` checks both.
    settings
        What JSON can hold.
    arrays
        Numbers by name.
    """
    header = json.dumps({"kind": kind, "version": version, "settings": dict(settings)}).encode()
    with atomic_write(path) as file:
        np.savez_compressed(file, allow_pickle=False, **{HEADER: np.frombuffer(header, np.uint8), **arrays})


def load_state(
    path: str | os.PathLike[str], kind: str, version: int
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return settings and arrays of a file that `save_state` wrote; another or a damaged one is an error.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "state.npz"
    >>> save_state(file, "example", 1, {"depth": 3}, {"counts": np.arange(3)})
    >>> load_state(file, "example", 1)
    ({'depth': 3}, {'counts': array([0, 1, 2])})
    """
    source = Path(path)
    try:
        content = io.BytesIO(source.read_bytes())
        with np.load(content, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop(HEADER).tobytes())
        found, written = header["kind"], header["version"]
        settings = dict(header["settings"])
    except OSError as error:
        raise MarleneError(f"{source}: {error.strerror or 'cannot be read'}") from error
    except Exception as error:  # a damaged file may raise anything
        raise MarleneError(f"{source}: not a file of marlene's, or damaged ({error})") from error
    if found != kind:
        raise MarleneError(f"{source}: holds {found!r}, expected {kind!r}")
    if written != version:
        raise MarleneError(f"{source}: version {written} of the format, this program reads version {version}")
    return settings, arrays
