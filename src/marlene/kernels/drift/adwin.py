"""Adaptive windows (Bifet and Gavaldà 2007): whether the mean changes within the recent past of a stream.

The layout is that of `kernels.drift.detectors`, with two differences: a row of zeros is a new detector, and after a
drift an ADWIN does not start afresh, but goes on with the newer part of its window.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.drift.detectors import DRIFT, IN_CONTROL

if TYPE_CHECKING:
    from marlene._common.arrays import Bools, Codes, Floats, Ints


ROWS = 32
BUCKETS = 5
CLOCK = 32
SHORTEST_WINDOW = 10
SHORTEST_SIDE = 5


class ADWINParameters(NamedTuple):
    """Settings of ADWIN."""

    delta: float


class ADWINArrays(NamedTuple):
    """State of ADWIN detectors.

    The window is an exponential histogram. Row r of a detector's buckets holds up to five buckets of 2**r inputs each,
    the oldest first. Each row below `rows` holds at least one bucket, the others none.
    """

    inputs: Ints
    width: Ints
    total: Floats
    variance_sum: Floats
    rows: Ints
    bucket_count: Codes
    """(detectors, rows)."""
    bucket_total: Floats
    """(detectors, rows, 5)."""
    bucket_variance: Floats
    """(detectors, rows, 5): sums of squared deviations from the bucket's mean."""
    cut: Bools
    """Whether the last input made the window shorter, whatever the direction of the change."""
    signal: Codes


@kernel
def adwin_step(arrays: ADWINArrays, parameters: ADWINParameters, i: int, value: float) -> int:
    """Give detector i one number; return the answer.

    1. Add the number to the window.
    2. Every 32 inputs, drop the oldest bucket as long as an older and a newer part of the window differ.
    3. It is a drift if the window was cut and its mean has risen.
    """
    before = arrays.total[i] / arrays.width[i] if arrays.width[i] > 0 else np.nan
    arrays.inputs[i] += 1
    _adwin_insert(arrays, i, value)
    cut = False
    if arrays.inputs[i] % CLOCK == 0 and arrays.width[i] > SHORTEST_WINDOW:
        while _adwin_halves_differ(arrays, parameters, i):
            _adwin_drop_oldest(arrays, i)
            cut = True
    signal = DRIFT if cut and arrays.total[i] / arrays.width[i] > before else IN_CONTROL
    arrays.cut[i] = cut
    arrays.signal[i] = signal
    return signal


@kernel
def adwin_update(arrays: ADWINArrays, parameters: ADWINParameters, ids: Ints, values: Floats, signals: Codes) -> None:
    """Give each of `ids` one number, in this order, and write the answers."""
    for k in range(len(ids)):
        signals[k] = adwin_step(arrays, parameters, ids[k], values[k])


@subkernel
def _adwin_insert(arrays: ADWINArrays, i: int, value: float) -> None:
    """Add a number to the window: a new bucket of one in row 0. Two buckets of a full row merge into the next row.

    The sum of squared deviations of two parts with sizes a, b and means m, m' is the sum of theirs plus
    a b (m - m')² / (a + b).
    """
    width = arrays.width[i]
    if width > 0:
        distance = value - arrays.total[i] / width
        arrays.variance_sum[i] += width * distance * distance / (width + 1)
    arrays.width[i] += 1
    arrays.total[i] += value
    total, variance, size = value, 0.0, 1.0
    for row in range(arrays.bucket_count.shape[1]):
        count = arrays.bucket_count[i, row]
        totals, variances = arrays.bucket_total[i, row], arrays.bucket_variance[i, row]
        if count < BUCKETS:
            totals[count] = total
            variances[count] = variance
            arrays.bucket_count[i, row] = count + 1
            arrays.rows[i] = max(arrays.rows[i], row + 1)
            return
        # The row is full: its two oldest buckets become one of the next row.
        distance = totals[0] / size - totals[1] / size
        merged_total = totals[0] + totals[1]
        merged_variance = variances[0] + variances[1] + size * size * distance * distance / (2.0 * size)
        _drop_first(totals, variances, 2)
        totals[BUCKETS - 2] = total
        variances[BUCKETS - 2] = variance
        arrays.bucket_count[i, row] = BUCKETS - 1
        total, variance, size = merged_total, merged_variance, 2.0 * size
    # No row is left for the oldest inputs: the window has its greatest length.
    _adwin_forget(arrays, i, size, total, variance)


@inlined
def _drop_first(totals: Floats, variances: Floats, count: int) -> None:
    """Drop the oldest buckets of a row."""
    for k in range(BUCKETS):
        totals[k] = totals[k + count] if k + count < BUCKETS else 0.0
        variances[k] = variances[k + count] if k + count < BUCKETS else 0.0


@subkernel
def _adwin_forget(arrays: ADWINArrays, i: int, size: float, total: float, variance: float) -> None:
    """Subtract a bucket from the sums of the window."""
    width = arrays.width[i] - size
    arrays.width[i] -= int(size)
    arrays.total[i] -= total
    distance = total / size - arrays.total[i] / width
    arrays.variance_sum[i] -= variance + size * width * distance * distance / (size + width)


@subkernel
def _adwin_drop_oldest(arrays: ADWINArrays, i: int) -> None:
    """Drop the oldest bucket of the window."""
    row = arrays.rows[i] - 1
    totals, variances = arrays.bucket_total[i, row], arrays.bucket_variance[i, row]
    total, variance = totals[0], variances[0]
    _drop_first(totals, variances, 1)
    arrays.bucket_count[i, row] -= 1
    if arrays.bucket_count[i, row] == 0:
        arrays.rows[i] -= 1
    _adwin_forget(arrays, i, 2.0**row, total, variance)


@subkernel
def _adwin_halves_differ(arrays: ADWINArrays, parameters: ADWINParameters, i: int) -> bool:
    """Tell whether the means of some older part of the window and of the newer rest differ; parts end at buckets.

    They differ if |mean_old - mean_new| > sqrt(2 m v L) + 2/3 m L, where v is the variance of the window,
    L = ln(2 ln(width) / δ) and m = 1 / (n_old - 4) + 1 / (n_new - 4) (MOA's constants).
    """
    width = float(arrays.width[i])
    variance = arrays.variance_sum[i] / width
    log_term = math.log(2.0 * math.log(width) / parameters.delta)
    old_size, old_total = 0.0, 0.0
    new_size, new_total = width, arrays.total[i]
    for row in range(arrays.rows[i] - 1, -1, -1):
        for k in range(arrays.bucket_count[i, row]):
            old_size += 2.0**row
            new_size -= 2.0**row
            old_total += arrays.bucket_total[i, row, k]
            new_total -= arrays.bucket_total[i, row, k]
            if min(old_size, new_size) <= SHORTEST_SIDE + 1:
                continue
            inverse_sizes = 1.0 / (old_size - SHORTEST_SIDE + 1) + 1.0 / (new_size - SHORTEST_SIDE + 1)
            # By rounding, the variance of a constant window may be below 0. The bound is then NaN: no cut.
            bound = math.sqrt(2.0 * inverse_sizes * variance * log_term) + 2.0 / 3.0 * log_term * inverse_sizes
            if abs(old_total / old_size - new_total / new_size) > bound:
                return True
    return False
