"""Drift detectors as plain objects: the reference the compiled detector banks are compared with."""

import math

SMALLEST_POSITIVE = 5e-324


class NaiveDDMOCI:
    """Drift detection on the recall of the minority class (spec section 7; golden README section b).

    After a drift the detector starts afresh with the next input, so its attributes can still be looked at.

    Parameters
    ----------
    strict
        While the deviation is 0 or the minority class has fewer than ten effective examples, neither test
        nor move the maxima. ``False`` is the published rule.
    theta, fading
        Forgetting factors of the class sizes and of the recalls.
    minimum
        Inputs before the first test.
    warning, drift
        Deviations below the best recall at which each is signalled.
    """

    def __init__(
        self,
        strict: bool = True,
        *,
        theta: float = 0.99,
        fading: float = 0.999,
        minimum: int = 30,
        warning: float = 2,
        drift: float = 3,
    ) -> None:
        self.strict = strict
        self.theta = theta
        self.fading = fading
        self.minimum = minimum
        self.warning_level = warning
        self.drift_level = drift
        self._reset()

    def _reset(self) -> None:
        self.warning = False
        self.drift = False
        self.n = 0
        self.p = 0.0
        self.s = math.nan
        # The published program starts its maxima at Java's Double.MIN_VALUE, the smallest positive number.
        self.p_max = [SMALLEST_POSITIVE, SMALLEST_POSITIVE]
        self.s_max = [SMALLEST_POSITIVE, SMALLEST_POSITIVE]
        self.minority = 1
        self.class_size = [0.5, 0.5]
        self.class_size_den = [0.5, 0.5]
        self.recall_num = [0.0, 0.0]
        self.recall_den = [0.0, 0.0]

    def update(self, correct: bool, y: int) -> None:
        """Take one prediction of an example of class ``y`` (0 or 1)."""
        if self.drift:
            self._reset()
        self.n += 1
        for c in (0, 1):
            self.class_size[c] = self.theta * self.class_size[c] + (y == c)
            self.class_size_den[c] = self.theta * self.class_size_den[c] + 1.0
        self.recall_num[y] = self.fading * self.recall_num[y] + correct
        self.recall_den[y] = self.fading * self.recall_den[y] + 1.0

        size_0, size_1 = (self.class_size[c] / self.class_size_den[c] for c in (0, 1))
        self.minority = 0 if size_0 < size_1 else 1
        examples = self.recall_den[self.minority]
        if examples > 0.0:
            self.p = self.recall_num[self.minority] / examples
            self.s = math.sqrt(self.p * (1.0 - self.p) / examples)
        else:
            self.p, self.s = 0.0, math.nan
        self.warning = False
        if self.n > self.minimum and not (self.strict and (self.s == 0.0 or examples < 10.0)):
            self._test()

    def _test(self) -> None:
        """Move the maxima first, then compare; every comparison with a NaN deviation is false."""
        c = self.minority
        if self.p + self.s > self.p_max[c] + self.s_max[c]:
            self.p_max[c], self.s_max[c] = self.p, self.s
            if not self.strict:
                self.p_max[1 - c], self.s_max[1 - c] = self.p, self.s
        low = self.p - self.s
        self.drift = low <= self.p_max[c] - self.drift_level * self.s_max[c]
        self.warning = not self.drift and low <= self.p_max[c] - self.warning_level * self.s_max[c]


class NaiveBalanced:
    """Drift detection on the mean of both recalls, which fade at examples of the smaller class."""

    def __init__(
        self, theta: float = 0.99, fading: float = 0.999, minimum: int = 30, warning: float = 2, drift: float = 3
    ) -> None:
        self.theta, self.fading, self.minimum = theta, fading, minimum
        self.warning_level, self.drift_level = warning, drift
        self._reset()

    def _reset(self) -> None:
        self.warning = False
        self.drift = False
        self.n = 0
        self.p, self.s = 0.0, math.nan
        self.p_max, self.s_max = 0.0, 0.0
        self.class_size = [0.5, 0.5]
        self.recall_num = [0.0, 0.0]
        self.recall_den = [0.0, 0.0]

    def update(self, correct: bool, y: int) -> None:
        """Take one prediction of an example of class ``y`` (0 or 1)."""
        if self.drift:
            self._reset()
        self.class_size = [self.theta * size + (y == c) for c, size in enumerate(self.class_size)]
        smaller = 0 if self.class_size[0] < self.class_size[1] else 1
        if y == smaller:
            self.n += 1
            self.recall_num = [self.fading * hits for hits in self.recall_num]
            self.recall_den = [self.fading * examples for examples in self.recall_den]
        self.recall_num[y] += correct
        self.recall_den[y] += 1.0
        self.p, self.s, self.warning = 0.0, math.nan, False
        if min(self.recall_den) > 0.0:
            recalls = [hits / examples for hits, examples in zip(self.recall_num, self.recall_den, strict=True)]
            variances = [r * (1.0 - r) / examples for r, examples in zip(recalls, self.recall_den, strict=True)]
            self.p = sum(recalls) / 2.0
            self.s = math.sqrt(max(0.0, sum(variances))) / 2.0
        if self.n < self.minimum or not self.s > 0.0:
            return
        if self.p + self.s > self.p_max + self.s_max:
            self.p_max, self.s_max = self.p, self.s
        low = self.p - self.s
        self.drift = low <= self.p_max - self.drift_level * self.s_max
        self.warning = not self.drift and low <= self.p_max - self.warning_level * self.s_max


class NaiveDDM:
    """Gama's drift detection method on the error rate, as in River.

    The minima and the tests start when more than ``minimum`` inputs were seen. (MOA keeps minima and warns
    one or two inputs earlier.) After a drift the detector starts afresh with the next input.
    """

    def __init__(self, minimum: int = 30, warning: float = 2, drift: float = 3) -> None:
        self.minimum = minimum
        self.warning_level = warning
        self.drift_level = drift
        self._reset()

    def _reset(self) -> None:
        self.warning = False
        self.drift = False
        self.n = 0
        self.p = 0.0
        self.s = 0.0
        self.p_min = math.inf
        self.s_min = math.inf

    def update(self, error: bool) -> None:
        """Take one prediction, wrong or right."""
        if self.drift:
            self._reset()
        self.n += 1
        self.p += (error - self.p) / self.n
        self.s = math.sqrt(self.p * (1.0 - self.p) / self.n)
        if self.n <= self.minimum:
            return
        if self.p + self.s <= self.p_min + self.s_min:
            self.p_min, self.s_min = self.p, self.s
        high = self.p + self.s
        self.drift = high > self.p_min + self.drift_level * self.s_min
        self.warning = not self.drift and high > self.p_min + self.warning_level * self.s_min


class NaiveADWIN:
    """Bifet and Gavaldà's adaptive window in exponential buckets, as in MOA (golden README section d).

    ``raw_change``: the window was cut at this input. ``change``: and its mean is higher than before the input; with
    errors as inputs, a drift for the worse.
    """

    buckets_per_row = 5
    clock = 32
    shortest_window = 10
    shortest_side = 5

    def __init__(self, delta: float = 0.002) -> None:
        self.delta = delta
        self.inputs = 0
        self.width = 0
        self.total = 0.0
        self.variance_sum = 0.0
        self.raw_change = False
        self.change = False
        # rows[i] holds (total, sum of squared deviations) of buckets of 2**i inputs, the oldest first.
        self.rows: list[list[tuple[float, float]]] = [[]]

    @property
    def estimation(self) -> float:
        """Mean of the window; NaN while it is empty."""
        return self.total / self.width if self.width else math.nan

    @property
    def variance(self) -> float:
        """Variance of the window per input; NaN while it is empty."""
        return self.variance_sum / self.width if self.width else math.nan

    def update(self, value: float) -> None:
        """Take one input and, every ``clock`` inputs, cut the window while two parts of it differ."""
        before = self.estimation
        self.inputs += 1
        self._insert(value)
        self.raw_change = False
        if self.inputs % self.clock == 0 and self.width > self.shortest_window:
            while self._has_cut():
                self._drop_oldest_bucket()
                self.raw_change = True
        self.change = self.raw_change and self.estimation > before

    def _insert(self, value: float) -> None:
        if self.width:
            distance = value - self.total / self.width
            self.variance_sum += self.width * distance * distance / (self.width + 1)
        self.width += 1
        self.total += value
        self.rows[0].append((value, 0.0))
        row = 0
        while len(self.rows[row]) > self.buckets_per_row:
            self._merge_two_oldest(row)
            row += 1

    def _merge_two_oldest(self, row: int) -> None:
        (total_1, variance_1), (total_2, variance_2) = self.rows[row][:2]
        del self.rows[row][:2]
        size = 2**row
        distance = total_1 / size - total_2 / size
        variance = variance_1 + variance_2 + size * size * distance * distance / (2 * size)
        if row + 1 == len(self.rows):
            self.rows.append([])
        self.rows[row + 1].append((total_1 + total_2, variance))

    def _drop_oldest_bucket(self) -> None:
        size = 2 ** (len(self.rows) - 1)
        total, variance = self.rows[-1].pop(0)
        if not self.rows[-1]:
            self.rows.pop()
        self.width -= size
        self.total -= total
        distance = total / size - self.total / self.width
        self.variance_sum -= variance + size * self.width * distance * distance / (size + self.width)

    def _has_cut(self) -> bool:
        """Whether some older part of the window, ending at a bucket, differs from the newer rest."""
        old_size, old_total = 0, 0.0
        new_size, new_total = self.width, self.total
        for row in range(len(self.rows) - 1, -1, -1):
            for total, _ in self.rows[row]:
                old_size += 2**row
                new_size -= 2**row
                old_total += total
                new_total -= total
                if min(old_size, new_size) <= self.shortest_side + 1:
                    continue
                if abs(old_total / old_size - new_total / new_size) > self._bound(old_size, new_size):
                    return True
        return False

    def _bound(self, old_size: int, new_size: int) -> float:
        log_term = math.log(2.0 * math.log(self.width) / self.delta)
        inverse_sizes = 1.0 / (old_size - self.shortest_side + 1) + 1.0 / (new_size - self.shortest_side + 1)
        spread = 2.0 * inverse_sizes * self.variance * log_term
        # Rounding can leave a constant window with a variance below 0; MOA's bound is then NaN: no cut.
        deviation = math.sqrt(spread) if spread >= 0.0 else math.nan
        return deviation + 2.0 / 3.0 * log_term * inverse_sizes
