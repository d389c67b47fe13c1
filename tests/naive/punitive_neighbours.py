"""MLSAMPkNN, slowly: everything about the window is worked out anew for every example."""

import math


class NaiveExample:
    """An example in the window, with the distances to those that were there when it came."""

    def __init__(self, x, truth, distances):
        self.x, self.truth, self.distances, self.errors = x, truth, distances, 0


class NaivePunitiveNeighbours:
    """Rows are dictionaries of non-zero inputs; labels are 0, 1 or -1 (unknown)."""

    def __init__(self, n_labels, neighbours=3, least=50, most=1000, penalty=1.0, reduction=0.5):
        self.n_labels, self.k, self.least, self.most = n_labels, neighbours, least, most
        self.penalty, self.reduction = penalty, reduction
        self.window, self.rows, self.shortened = [], [], 0

    def scale(self, name):
        values = [x.get(name, 0.0) for x in self.rows]
        spread = max(values) - min(values) if values else 0.0
        return 1 / spread if spread > 0 else 0.0

    def distance(self, x, other):
        apart = common = whole = 0.0
        for name in sorted(x):
            whole += (x[name] * self.scale(name)) ** 2
        for name in sorted(other):
            scale = self.scale(name)
            apart += (x.get(name, 0.0) * scale - other[name] * scale) ** 2
            common += (x.get(name, 0.0) * scale) ** 2
        return apart + max(0.0, whole - common)

    def votes(self, neighbours):
        shares = []
        for label in range(self.n_labels):
            known = [n.truth[label] for n in neighbours if n.truth[label] >= 0]
            shares.append(sum(known) / len(known) if known else math.nan)
        return shares

    def nearest(self, distances, among):
        """Return the nearest; `sorted` keeps the order of equally near ones."""
        return sorted(among, key=lambda example: distances[id(example)])[: self.k]

    def predict(self, x):
        distances = {id(example): self.distance(x, example.x) for example in self.window}
        return self.votes(self.nearest(distances, self.window))

    def accuracy(self, size):
        """Return how many of the latest examples are predicted rightly by those of them that came before."""
        part = self.window[len(self.window) - size :]
        right = 0
        for i, example in enumerate(part):
            shares = self.votes(self.nearest(example.distances, part[:i]))
            pairs = zip(shares, example.truth, strict=True)
            right += all((share > 0.5) == (truth == 1) for share, truth in pairs if truth >= 0)
        return right / size

    def learn(self, x, truth):
        if max(truth) < 0:
            return
        distances = {id(example): self.distance(x, example.x) for example in self.window}
        for neighbour in self.nearest(distances, self.window):
            pairs = zip(neighbour.truth, truth, strict=True)
            neighbour.errors += sum(a >= 0 and b >= 0 and a != b for a, b in pairs)
        self.window.append(NaiveExample(x, truth, distances))
        self.window = [example for example in self.window if example.errors <= self.penalty * self.n_labels]
        if len(self.window) >= 2 * self.least:
            sizes = [len(self.window)]
            while sizes[-1] >= 2 * self.least:
                sizes.append(max(1, int(sizes[-1] * self.reduction)))
            best = max(sizes, key=self.accuracy)  # the first of equally good ones
            self.shortened += best < len(self.window)
            self.window = self.window[len(self.window) - best :]
        if len(self.window) == self.most:
            del self.window[0]
        self.rows.append(x)
