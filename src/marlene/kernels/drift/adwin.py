"""Adaptive windows (Bifet and Gavaldà 2007): the means of a stream's recent past, and whether they differ.

Laid out as the detectors of `kernels.drift.detectors`, with one difference: after a drift an ADWIN does not start
afresh, because it has dropped the older part of its window and goes on with the rest.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import kernel
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

    Row r of a detector's buckets holds up to five of 2**r inputs each, the oldest first; all rows below `rows` hold
    one at least, the others none.
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
    """Whether the last input made the window shorter, for better or worse."""
    signal: Codes


def new_adwin(capacity: int, rows: int = ROWS) -> ADWINArrays:
    """Return room for ADWIN detectors."""
    return ADWINArrays(
        inputs=np.zeros(capacity, np.int64),
        width=np.zeros(capacity, np.int64),
        total=np.zeros(capacity),
        variance_sum=np.zeros(capacity),
        rows=np.zeros(capacity, np.int64),
        bucket_count=np.zeros((capacity, rows), np.uint8),
        bucket_total=np.zeros((capacity, rows, BUCKETS)),
        bucket_variance=np.zeros((capacity, rows, BUCKETS)),
        cut=np.zeros(capacity, np.bool_),
        signal=np.zeros(capacity, np.uint8),
    )


@kernel
def adwin_reset(arrays: ADWINArrays, i: int) -> None:
    """Let detector i start afresh."""
    arrays.inputs[i] = 0
    arrays.width[i] = 0
    arrays.total[i] = 0.0
    arrays.variance_sum[i] = 0.0
    arrays.rows[i] = 0
    arrays.bucket_count[i] = 0
    arrays.bucket_total[i] = 0.0
    arrays.bucket_variance[i] = 0.0
    arrays.cut[i] = False
    arrays.signal[i] = IN_CONTROL


@kernel
def adwin_step(arrays: ADWINArrays, parameters: ADWINParameters, i: int, correct: bool, truth: int) -> int:  # noqa: ARG001
    """Tell detector i whether an example was predicted right; return what it says. The class plays no part."""
    return adwin_value_step(arrays, parameters, i, 0.0 if correct else 1.0)


@kernel
def adwin_value_step(arrays: ADWINArrays, parameters: ADWINParameters, i: int, value: float) -> int:
    """Give detector i any number; `DRIFT` means that the window was cut and its mean is higher than before."""
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
def adwin_update(arrays: ADWINArrays, parameters: ADWINParameters, ids: Ints, values: Floats) -> Codes:
    """Give each of `ids` one number, in this order, and return what each says."""
    signals = np.empty(len(ids), np.uint8)
    for k in range(len(ids)):
        signals[k] = adwin_value_step(arrays, parameters, ids[k], values[k])
    return signals


@kernel
def _adwin_insert(arrays: ADWINArrays, i: int, value: float) -> None:
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
        for k in range(2, BUCKETS):
            totals[k - 2] = totals[k]
            variances[k - 2] = variances[k]
        totals[BUCKETS - 2] = total
        variances[BUCKETS - 2] = variance
        totals[BUCKETS - 1] = 0.0
        variances[BUCKETS - 1] = 0.0
        arrays.bucket_count[i, row] = BUCKETS - 1
        total, variance, size = merged_total, merged_variance, 2.0 * size
    # No row is left for the oldest inputs: the window is as long as it can be.
    _adwin_forget(arrays, i, size, total, variance)


@kernel
def _adwin_forget(arrays: ADWINArrays, i: int, size: float, total: float, variance: float) -> None:
    """Take a bucket out of the sums of the window."""
    width = arrays.width[i] - size
    arrays.width[i] -= int(size)
    arrays.total[i] -= total
    distance = total / size - arrays.total[i] / width
    arrays.variance_sum[i] -= variance + size * width * distance * distance / (size + width)


@kernel
def _adwin_drop_oldest(arrays: ADWINArrays, i: int) -> None:
    row = arrays.rows[i] - 1
    totals, variances = arrays.bucket_total[i, row], arrays.bucket_variance[i, row]
    total, variance = totals[0], variances[0]
    for k in range(1, BUCKETS):
        totals[k - 1] = totals[k]
        variances[k - 1] = variances[k]
    totals[BUCKETS - 1] = 0.0
    variances[BUCKETS - 1] = 0.0
    arrays.bucket_count[i, row] -= 1
    if arrays.bucket_count[i, row] == 0:
        arrays.rows[i] -= 1
    _adwin_forget(arrays, i, 2.0**row, total, variance)


@kernel
def _adwin_halves_differ(arrays: ADWINArrays, parameters: ADWINParameters, i: int) -> bool:
    """Tell whether some older part of the window, ending at a bucket, has another mean than the newer rest."""
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
            # Rounding can leave a constant window with a variance below 0; the bound is then NaN: no cut.
            bound = math.sqrt(2.0 * inverse_sizes * variance * log_term) + 2.0 / 3.0 * log_term * inverse_sizes
            if abs(old_total / old_size - new_total / new_size) > bound:
                return True
    return False
