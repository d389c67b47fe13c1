"""Reliability of probabilities, a line per definition."""

import math


def bins(truth, probabilities, count):
    """(predictions, positives, sum of probabilities) of each label and bin, of lists of rows."""
    labels = len(truth[0]) if truth else 0
    found = [[[[], []] for _ in range(count)] for _ in range(labels)]
    for t, p in zip(truth, probabilities, strict=True):
        for label in range(labels):
            if t[label] != -1 and not math.isnan(p[label]):
                said = min(1.0, max(0.0, p[label]))
                cell = found[label][min(count - 1, math.floor(said * count))]
                cell[0].append(t[label])
                cell[1].append(said)
    return [[(len(true), sum(true), math.fsum(said)) for true, said in row] for row in found]


def error(cells):
    """Return the expected calibration error of the bins of one label, or of several put together."""
    total = sum(n for n, _, _ in cells)
    parts = [abs(said / n - true / n) * n for n, true, said in cells if n]
    return math.fsum(parts) / total if total else math.nan


def together(of_labels):
    """Return the bins of all labels put together."""
    return [tuple(map(sum, zip(*cells, strict=True))) for cells in zip(*of_labels, strict=True)]
