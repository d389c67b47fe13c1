"""Every score computed anew from all examples, a line per definition."""

import math

UNKNOWN = -1


def weights(n_examples, window=None, fading=None):
    """Weight of each of the examples seen so far, oldest first."""
    ages = range(n_examples - 1, -1, -1)
    if window is not None:
        return [1.0 if age < window else 0.0 for age in ages]
    if fading is not None:
        return [fading**age for age in ages]
    return [1.0 for _ in ages]


def ratio(part, whole):
    return part / whole if part > 0 else 0.0


def confusion(pairs, pair_weights):
    """(tp, fp, tn, fn) of weighted (truth, prediction) pairs of single labels."""
    cells = {(1, 1): [], (0, 1): [], (0, 0): [], (1, 0): []}
    for pair, weight in zip(pairs, pair_weights, strict=True):
        if pair[0] != UNKNOWN:
            cells[tuple(pair)].append(weight)
    return [math.fsum(cells[cell]) for cell in ((1, 1), (0, 1), (0, 0), (1, 0))]


def gmean(counts):
    tp, fp, tn, fn = counts
    return math.sqrt(ratio(tp, tp + fn) * ratio(tn, tn + fp))


def f1(counts):
    tp, fp, _, fn = counts
    return ratio(2 * tp, 2 * tp + fp + fn)


def precision(counts):
    tp, fp, _, _ = counts
    return ratio(tp, tp + fp)


def recall(counts):
    tp, _, _, fn = counts
    return ratio(tp, tp + fn)


def accuracy(counts):
    tp, fp, tn, fn = counts
    return ratio(tp + tn, tp + fp + tn + fn)


def all_right(counts):
    _, fp, _, fn = counts
    return 1.0 if fp + fn == 0 else 0.0


def jaccard(counts):
    tp, fp, _, fn = counts
    return ratio(tp, tp + fp + fn)


def label_confusions(truth, prediction, example_weights):
    """Counts of each label."""
    columns = zip(zip(*truth, strict=True), zip(*prediction, strict=True), strict=True)
    return [confusion(zip(t, p, strict=True), example_weights) for t, p in columns]


def scores(truth, prediction, example_weights):
    """Every score of `marlene.metrics.Scores.as_dict`, of lists of rows."""
    of_labels = label_confusions(truth, prediction, example_weights)
    summed = [math.fsum(cell) for cell in zip(*of_labels, strict=True)]
    of_examples = []
    for t, p, weight in zip(truth, prediction, example_weights, strict=True):
        if any(value != UNKNOWN for value in t):
            of_examples.append((confusion(zip(t, p, strict=True), [1.0] * len(t)), weight))
    total = math.fsum(weight for _, weight in of_examples)

    def macro(measure):
        return math.fsum(measure(counts) for counts in of_labels) / len(of_labels)

    def example(measure):
        return ratio(math.fsum(weight * measure(counts) for counts, weight in of_examples), total)

    return {
        "macro_gmean": macro(gmean),
        "micro_gmean": gmean(summed),
        "label_set_gmean": example(gmean),
        "hamming_score": example(accuracy),
        "subset_accuracy": example(all_right),
        "macro_f1": macro(f1),
        "micro_f1": f1(summed),
        "example_f1": example(f1),
        "macro_precision": macro(precision),
        "micro_precision": precision(summed),
        "example_precision": example(precision),
        "macro_recall": macro(recall),
        "micro_recall": recall(summed),
        "example_recall": example(recall),
        "example_jaccard": example(jaccard),
    }
