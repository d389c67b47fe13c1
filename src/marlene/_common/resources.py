"""How much memory this process uses, and how much is free."""

from __future__ import annotations

import sys
from pathlib import Path


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
