"""Ensembles of multi-label classifiers as plain objects."""

import numpy as np

from tests.naive.detectors import NaiveADWIN


class NaiveBagging:
    """`new(k)` makes member number k, which learns example t `weight(k, t)` times."""

    def __init__(self, new, size, weight):
        self.new, self.weight = new, weight
        self.members = [(k, new(k)) for k in range(size)]
        self.t = 0

    def predict(self, x):
        scores = [member.scores(x) for _, member in self.members]
        return [sum(column) / len(scores) for column in zip(*scores, strict=True)]

    def learn(self, x, y):
        for k, member in self.members:
            times = self.weight(k, self.t)
            if times:
                member.learn(x, y, times)
        self.t += 1


class NaiveADWINBagging(NaiveBagging):
    """Bagging; when the error of any member rises, the member with the largest error is replaced."""

    def __init__(self, new, size, weight, delta=0.002):
        super().__init__(new, size, weight)
        self.made, self.delta = size, delta
        self.windows = [NaiveADWIN(delta) for _ in range(size)]
        self.replaced = []

    def learn(self, x, y):
        wrong = [
            any(value >= 0 and (score > 0.5) != value for score, value in zip(member.scores(x), y, strict=True))
            for _, member in self.members
        ]
        t = self.t
        super().learn(x, y)
        if all(value < 0 for value in y):
            return
        for window, error in zip(self.windows, wrong, strict=True):
            window.update(float(error))
        if any(window.change for window in self.windows):
            worst = max(range(len(self.windows)), key=lambda m: self.windows[m].estimation)
            self.members[worst] = (self.made, self.new(self.made))
            self.windows[worst] = NaiveADWIN(self.delta)
            self.made += 1
            self.replaced.append((t, worst))


def shares(scores):
    low = min(scores)
    total = sum(score - low for score in scores)
    return [(score - low) / total if total > 0 else 1 / len(scores) for score in scores]


class NaiveGOOWE:
    """GOOWE-ML; `predict` returns the shares, or None before the first chunk is full."""

    def __init__(self, new, size, chunk):
        self.new, self.size, self.chunk = new, size, chunk
        self.members, self.weights, self.kept, self.made = [], [], [], size

    def predict(self, x):
        if not self.members:
            return None
        summed = [0.0] * len(self.members[0].scores(x))
        for weight, member in zip(self.weights, self.members, strict=True):
            for label, score in enumerate(shares(member.scores(x))):
                summed[label] += weight * score
        return shares(summed)

    def learn(self, x, y):
        self.kept.append((x, y, [shares(member.scores(x)) for member in self.members]))
        if len(self.kept) < self.chunk:
            return
        if len(self.members) > 1:
            self.weights = self.solve()
        if len(self.members) < self.size:
            place = len(self.members)
            self.members.append(self.new(place))
            self.weights.append(1.0)
        else:
            place = self.weights.index(min(self.weights))
            self.members[place], self.weights[place] = self.new(self.made), 1.0
            self.made += 1
        for member in (self.members[place], *self.members):
            for example, truth, _ in self.kept:
                member.learn(example, truth, 1)
        self.kept = []

    def solve(self):
        """Least squares: one equation for every known label of every example of the chunk."""
        rows, wanted = [], []
        for _, y, said in self.kept:
            for label, value in enumerate(y):
                if value >= 0:
                    rows.append([scores[label] for scores in said])
                    wanted.append(value)
        found = np.linalg.lstsq(np.array(rows), np.array(wanted, float), rcond=None)[0].tolist()
        low, high = min(found), max(found)
        return [(weight - low) / (high - low) for weight in found] if high > low else [1.0] * len(found)
