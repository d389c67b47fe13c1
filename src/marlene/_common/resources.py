"""How much memory this process uses, how much is free, and arrays that take none before they are used."""

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
"""Bytes of an array from which on it matters how much of it is really there."""


def zeros_on_demand(shape: tuple[int, ...], precision: npt.DTypeLike) -> Array:
    """Return zeros that take memory, in pages of usual size, where they are used.

    NumPy asks for huge pages, of which one is there as a whole as soon as a number in it is written.

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
    """Return the resident memory of this process in MB (10⁶ bytes), now or at its peak; NaN if it is not known.

    Examples
    --------
    >>> memory_mb(peak=True) >= 1
    True
    """
    # VmHWM begins anew with the program, where getrusage's figure may be that of the process that started it.
    field = "VmHWM:" if peak else "VmRSS:"
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith(field):
                return int(line.split()[1]) * 1024 / 1e6
    except OSError:
        pass
    return _peak_elsewhere()


def _peak_elsewhere() -> float:
    try:
        import resource  # noqa: PLC0415 (not on every system)
    except ImportError:
        return float("nan")
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def free_memory_mb() -> float:
    """Return the memory that can still be had in MB (10⁶ bytes); infinity if it is not known.

    Examples
    --------
    >>> free_memory_mb() > 1
    True
    """
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024 / 1e6
    except OSError:
        pass
    return float("inf")
