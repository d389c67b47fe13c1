"""Memory: of this process, free memory, and arrays that take memory only where they are used."""

from __future__ import annotations

import math
import mmap
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Array

WORTH_PAGES = 1 << 26
"""From this size in bytes on, an array takes memory only where it is used."""


def zeros_on_demand(shape: tuple[int, ...], precision: npt.DTypeLike) -> Array:
    """Return zeros that take memory only where they are used, in pages of the usual size.

    NumPy asks for huge pages; each is allocated as a whole as soon as one number in it is written.

    Examples
    --------
    >>> zeros_on_demand((2, 3), float).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    size = math.prod(shape) * np.dtype(precision).itemsize
    if size < WORTH_PAGES or not hasattr(mmap, "MADV_NOHUGEPAGE"):
        return np.zeros(shape, precision)
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, precision).reshape(shape)


def memory_mb(peak: bool = False) -> float:
    """Return the resident memory of this process in MB (10⁶ bytes), now or at its peak; NaN if unknown.

    Examples
    --------
    >>> memory_mb(peak=True) >= 1
    True
    """
    # VmHWM starts from zero with the program; getrusage may return the peak of the process that started it.
    found = _from_proc("self/status", "VmHWM:" if peak else "VmRSS:")
    if found is not None:
        return found
    try:
        import resource  # noqa: PLC0415 (not on every system)
    except ImportError:
        return float("nan")
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def free_memory_mb() -> float:
    """Return the memory that is still available in MB (10⁶ bytes); infinity if unknown.

    Examples
    --------
    >>> free_memory_mb() > 1
    True
    """
    found = _from_proc("meminfo", "MemAvailable:")
    return float("inf") if found is None else found


def _from_proc(file: str, field: str) -> float | None:
    """Return a field of a file below /proc in MB; None where there is none."""
    try:
        for line in Path("/proc", file).read_text(encoding="ascii").splitlines():
            if line.startswith(field):
                return int(line.split()[1]) * 1024 / 1e6
    except OSError:
        pass
    return None
