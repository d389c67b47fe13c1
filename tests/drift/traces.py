"""What several tests compare with recorded traces of detectors."""

import pytest


def check_adwin_statistics(trace, t, estimation, total, variance):
    """Compare mean, sum and variance of a window with those recorded at step t."""
    expected = tuple(trace[key][t] for key in ("estimation", "total", "variance"))
    assert (estimation, total, variance) == pytest.approx(expected, rel=1e-9, abs=1e-12)
