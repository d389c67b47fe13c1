"""Drift detectors: one input to one detector (`*_step`), and one input to each of many (`*_update`).

All detectors of a type live in the arrays of one NamedTuple; detector i owns row i of each. A row of zeros is no
detector: `*_reset` starts one. `signal` is the last answer of a detector. After `DRIFT`, the detector starts afresh at
its next input. ADWIN has the same layout and a module of its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel

if TYPE_CHECKING:
    from marlene._common.arrays import Bools, Codes, Floats, Ints

IN_CONTROL, WARNING, DRIFT = range(3)

SMALLEST_POSITIVE = 5e-324
"""Java's Double.MIN_VALUE, at which the published DDM-OCI starts its maxima."""
ENOUGH_EXAMPLES = 10.0
"""Effective minority examples below which the strict rule treats a recall as noise."""


class DDMOCIParameters(NamedTuple):
    """Settings of DDM-OCI."""

    strict: bool
    theta: float
    fading: float
    minimum: int
    warning: float
    drift: float


class DDMOCIArrays(NamedTuple):
    """State of DDM-OCI detectors.

    `p` and `s` are recall and deviation of the minority class, `p_max` and `s_max` those with the largest sum. Arrays
    with two columns have one for each class. Class sizes and recalls are fading averages, numerator / denominator.
    """

    n: Ints
    minority: Codes
    p: Floats
    s: Floats
    p_max: Floats
    s_max: Floats
    class_size: Floats
    class_size_den: Floats
    """One column: the denominators of both classes are the same."""
    recall_num: Floats
    recall_den: Floats
    signal: Codes


class BalancedParameters(NamedTuple):
    """Settings of balanced detectors."""

    theta: float
    fading: float
    minimum: int
    warning: float
    drift: float


class BalancedArrays(NamedTuple):
    """State of balanced detectors.

    `n` counts examples of the minority class. `p` and `s` are the mean of both recalls and its deviation, `p_max` and
    `s_max` those with the largest sum. Arrays with two columns have one for each class.
    """

    n: Ints
    p: Floats
    s: Floats
    p_max: Floats
    s_max: Floats
    class_size: Floats
    recall_num: Floats
    recall_den: Floats
    signal: Codes


class DDMParameters(NamedTuple):
    """Settings of DDM."""

    minimum: int
    warning: float
    drift: float


class DDMArrays(NamedTuple):
    """State of DDM detectors: inputs, error rate and its deviation, and those with the smallest sum."""

    n: Ints
    p: Floats
    s: Floats
    p_min: Floats
    s_min: Floats
    signal: Codes


class OracleArrays(NamedTuple):
    """Drifts that were announced to an oracle and not reported yet."""

    announced: Bools


@kernel
def first_absent(alive: Bools, ids: Ints) -> int:
    """Return the position in `ids` of the first detector that does not exist, or -1."""
    for position in range(len(ids)):
        if ids[position] < 0 or ids[position] >= len(alive) or not alive[ids[position]]:
            return position
    return -1


@inlined
def _start_ddm_oci(arrays: DDMOCIArrays, i: int) -> None:
    """Let detector i start afresh, with equal class sizes and no recalls."""
    arrays.signal[i] = IN_CONTROL
    arrays.n[i] = 0
    arrays.class_size_den[i] = 0.5
    for c in range(2):
        arrays.class_size[i, c] = 0.5
        arrays.p_max[i, c] = SMALLEST_POSITIVE
        arrays.s_max[i, c] = SMALLEST_POSITIVE
        arrays.recall_num[i, c] = 0.0
        arrays.recall_den[i, c] = 0.0
    arrays.minority[i], arrays.p[i], arrays.s[i] = 1, 0.0, np.nan


@kernel
def ddm_oci_reset(arrays: DDMOCIArrays, i: int) -> None:
    """Let detector i start afresh."""
    _start_ddm_oci(arrays, i)


@inlined
def ddm_oci_step(arrays: DDMOCIArrays, parameters: DDMOCIParameters, i: int, correct: bool, truth: int) -> int:
    """Give detector i one input: whether an example of class `truth` (0 or 1) was predicted right; return the answer.

    1. Fade the class sizes: w_c = θ w_c + [class is c]; and the recall of the true class: R = (η a + [correct]) /
       (η d + 1), with its numerator a and denominator d.
    2. Of the smaller class take the recall p and its deviation s = sqrt(p (1 - p) / d).
    3. Test, after the first `minimum` inputs.
    """
    if arrays.signal[i] == DRIFT:
        _start_ddm_oci(arrays, i)
    arrays.n[i] += 1
    true_class = 1 if truth else 0
    for c in range(2):
        arrays.class_size[i, c] = parameters.theta * arrays.class_size[i, c] + (1.0 if c == true_class else 0.0)
    arrays.class_size_den[i] = parameters.theta * arrays.class_size_den[i] + 1.0
    hit = 1.0 if correct else 0.0
    arrays.recall_num[i, true_class] = parameters.fading * arrays.recall_num[i, true_class] + hit
    arrays.recall_den[i, true_class] = parameters.fading * arrays.recall_den[i, true_class] + 1.0

    size_0 = arrays.class_size[i, 0] / arrays.class_size_den[i]
    size_1 = arrays.class_size[i, 1] / arrays.class_size_den[i]
    minority = 0 if size_0 < size_1 else 1
    examples = arrays.recall_den[i, minority]
    p, s = 0.0, np.nan
    if examples > 0.0:
        p = arrays.recall_num[i, minority] / examples
        s = math.sqrt(p * (1.0 - p) / examples)
    arrays.minority[i] = minority
    arrays.p[i] = p
    arrays.s[i] = s
    signal = IN_CONTROL
    too_little = parameters.strict and (s == 0.0 or examples < ENOUGH_EXAMPLES)
    if arrays.n[i] > parameters.minimum and not too_little:
        signal = _ddm_oci_test(arrays, parameters, i)
    arrays.signal[i] = signal
    return signal


@inlined
def _ddm_oci_test(arrays: DDMOCIArrays, parameters: DDMOCIParameters, i: int) -> int:
    """Update the maxima and compare: drift if p - s <= p_max - drift · s_max, likewise for a warning."""
    p, s, minority = arrays.p[i], arrays.s[i], arrays.minority[i]
    # Without an example of the minority class, s is NaN and all three comparisons are false.
    if p + s > arrays.p_max[i, minority] + arrays.s_max[i, minority]:
        for c in range(2):
            if c == minority or not parameters.strict:
                arrays.p_max[i, c] = p
                arrays.s_max[i, c] = s
    if p - s <= arrays.p_max[i, minority] - parameters.drift * arrays.s_max[i, minority]:
        return DRIFT
    if p - s <= arrays.p_max[i, minority] - parameters.warning * arrays.s_max[i, minority]:
        return WARNING
    return IN_CONTROL


@kernel
def ddm_oci_update(
    arrays: DDMOCIArrays, parameters: DDMOCIParameters, ids: Ints, correct: Bools, truth: Bools, signals: Codes
) -> None:
    """Give each of `ids` one input, in this order, and write the answers."""
    for k in range(len(ids)):
        signals[k] = ddm_oci_step(arrays, parameters, ids[k], correct[k], truth[k])


@inlined
def _start_balanced(arrays: BalancedArrays, i: int) -> None:
    """Let detector i start afresh, with equal class sizes and no recalls."""
    arrays.signal[i] = IN_CONTROL
    arrays.n[i] = 0
    arrays.p[i], arrays.s[i] = 0.0, np.nan
    arrays.p_max[i], arrays.s_max[i] = 0.0, 0.0
    for c in range(2):
        arrays.class_size[i, c] = 0.5
        arrays.recall_num[i, c] = 0.0
        arrays.recall_den[i, c] = 0.0


@kernel
def balanced_reset(arrays: BalancedArrays, i: int) -> None:
    """Let detector i start afresh."""
    _start_balanced(arrays, i)


@inlined
def balanced_step(arrays: BalancedArrays, parameters: BalancedParameters, i: int, correct: bool, truth: int) -> int:
    """Give detector i one input: whether an example of class `truth` (0 or 1) was predicted right; return the answer.

    1. Fade the class sizes. At an example of the smaller class, fade both recalls.
    2. Count the example in the recall r of its class. With d examples, s_c² = r (1 - r) / d.
    3. Test b = (r⁺ + r⁻) / 2 with s = sqrt(s₊² + s₋²) / 2, after `minimum` examples of the smaller class. While both
       recalls are exactly 1, s is 0 and nothing is tested.
    """
    if arrays.signal[i] == DRIFT:
        _start_balanced(arrays, i)
    true_class = 1 if truth else 0
    for c in range(2):
        arrays.class_size[i, c] = parameters.theta * arrays.class_size[i, c] + (1.0 if c == true_class else 0.0)
    if true_class == (0 if arrays.class_size[i, 0] < arrays.class_size[i, 1] else 1):
        arrays.n[i] += 1
        for c in range(2):
            arrays.recall_num[i, c] *= parameters.fading
            arrays.recall_den[i, c] *= parameters.fading
    arrays.recall_num[i, true_class] += 1.0 if correct else 0.0
    arrays.recall_den[i, true_class] += 1.0
    arrays.p[i], arrays.s[i] = 0.0, np.nan
    if arrays.recall_den[i, 0] > 0.0 and arrays.recall_den[i, 1] > 0.0:
        r_0 = arrays.recall_num[i, 0] / arrays.recall_den[i, 0]
        r_1 = arrays.recall_num[i, 1] / arrays.recall_den[i, 1]
        variance = r_0 * (1.0 - r_0) / arrays.recall_den[i, 0] + r_1 * (1.0 - r_1) / arrays.recall_den[i, 1]
        arrays.p[i], arrays.s[i] = 0.5 * (r_0 + r_1), 0.5 * math.sqrt(max(0.0, variance))
    signal = IN_CONTROL
    if arrays.n[i] >= parameters.minimum and arrays.s[i] > 0.0:
        signal = _balanced_test(arrays, parameters, i)
    arrays.signal[i] = signal
    return signal


@inlined
def _balanced_test(arrays: BalancedArrays, parameters: BalancedParameters, i: int) -> int:
    """Update the maxima and compare, as DDM-OCI does."""
    p, s = arrays.p[i], arrays.s[i]
    if p + s > arrays.p_max[i] + arrays.s_max[i]:
        arrays.p_max[i], arrays.s_max[i] = p, s
    if p - s <= arrays.p_max[i] - parameters.drift * arrays.s_max[i]:
        return DRIFT
    if p - s <= arrays.p_max[i] - parameters.warning * arrays.s_max[i]:
        return WARNING
    return IN_CONTROL


@kernel
def balanced_update(
    arrays: BalancedArrays, parameters: BalancedParameters, ids: Ints, correct: Bools, truth: Bools, signals: Codes
) -> None:
    """Give each of `ids` one input, in this order, and write the answers."""
    for k in range(len(ids)):
        signals[k] = balanced_step(arrays, parameters, ids[k], correct[k], truth[k])


@kernel
def ddm_reset(arrays: DDMArrays, i: int) -> None:
    """Let detector i start afresh."""
    arrays.n[i] = 0
    arrays.p[i] = 0.0
    arrays.s[i] = 0.0
    arrays.p_min[i] = np.inf
    arrays.s_min[i] = np.inf
    arrays.signal[i] = IN_CONTROL


@kernel
def ddm_step(arrays: DDMArrays, parameters: DDMParameters, i: int, correct: bool) -> int:
    """Give detector i one input, whether an example was predicted right; return the answer.

    With the error rate p of n inputs and s = sqrt(p (1 - p) / n): drift if p + s > p_min + drift · s_min, likewise for
    a warning.
    """
    if arrays.signal[i] == DRIFT:
        ddm_reset(arrays, i)
    arrays.n[i] += 1
    n = arrays.n[i]
    p = arrays.p[i] + ((0.0 if correct else 1.0) - arrays.p[i]) / n
    s = math.sqrt(p * (1.0 - p) / n)
    arrays.p[i] = p
    arrays.s[i] = s
    if n <= parameters.minimum:
        return IN_CONTROL
    if p + s <= arrays.p_min[i] + arrays.s_min[i]:
        arrays.p_min[i] = p
        arrays.s_min[i] = s
    signal = IN_CONTROL
    if p + s > arrays.p_min[i] + parameters.drift * arrays.s_min[i]:
        signal = DRIFT
    elif p + s > arrays.p_min[i] + parameters.warning * arrays.s_min[i]:
        signal = WARNING
    arrays.signal[i] = signal
    return signal


@kernel
def ddm_update(
    arrays: DDMArrays, parameters: DDMParameters, ids: Ints, correct: Bools, _truth: Bools, signals: Codes
) -> None:
    """Give each of `ids` one input, in this order, and write the answers; the true class is not used."""
    for k, i in enumerate(ids):
        signals[k] = ddm_step(arrays, parameters, i, correct[k])


@kernel
def oracle_update(arrays: OracleArrays, ids: Ints, signals: Codes) -> None:
    """Report the announced drifts of `ids`, each once."""
    for k in range(len(ids)):
        signals[k] = DRIFT if arrays.announced[ids[k]] else IN_CONTROL
        arrays.announced[ids[k]] = False
