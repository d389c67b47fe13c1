"""Votes of nearest neighbours in plain Python; single precision where the kernel has it."""

import math

import numpy as np

from marlene.kernels.banks.neighbours import SAME


class Neighbours:
    """The latest examples, each with its inputs scaled to length one, and its labels."""

    def __init__(self, scales, window, smoothing):
        self.scales, self.window, self.smoothing = scales, window, smoothing
        self.examples = []

    def inputs(self, row):
        """Return the inputs of a row, and a constant beside them, scaled to length one."""
        z = self.scales.inputs(row)
        length = math.sqrt(sum((value * value for value in z.values()), start=1.0))
        return {None: np.float32(1 / length)} | {slot: np.float32(value / length) for slot, value in z.items()}

    def remember(self, row, truth, weight):
        self.examples = [*self.examples, (self.inputs(row), truth, weight)][-self.window :]

    def forget_input(self, slot):
        for inputs, *_ in self.examples:
            inputs.pop(slot, None)

    def forget_label(self, q):
        for _, truth, _ in self.examples:
            if q < len(truth):
                truth[q] = -1

    def similar(self, row):
        """Return the similarity of a row to each example."""
        inputs, found = self.inputs(row), []
        for example, *_ in self.examples:
            total = np.float32(0)
            for slot, z in inputs.items():
                total += z * example.get(slot, np.float32(0))
            found.append(float(total))
        return found

    def votes(self, row, n_labels):
        """Return P(label) for every label."""
        count = len(self.examples)
        if count < 2:
            return [0.5] * n_labels
        similar = self.similar(row)
        least = min(sorted(similar, reverse=True)[math.isqrt(count)], 1 - SAME)
        said = []
        for q in range(n_labels):
            known = [
                (s, truth[q], w) for s, (_, truth, w) in zip(similar, self.examples, strict=True) if q < len(truth)
            ]
            counts = [sum(w for _, y, w in known if y == c) for c in (0, 1)]
            share = (counts[1] + 1) / (sum(counts) + 2)
            no, yes = (sum(w * max(0, s - least) / (1 - least) for s, y, w in known if y == c) for c in (0, 1))
            no, yes = self.smoothing + no / (1 - share), self.smoothing + yes / share
            said.append(yes / (yes + no))
        return said
