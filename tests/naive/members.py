"""Members of an ensemble as plain objects, a line per line of their definition."""

from collections import Counter

from tests.naive.hoeffding_tree import NaiveHoeffdingTree


def share(votes):
    """P(class 1) of a binary tree's votes; 0.5 without evidence."""
    return votes[1] if sum(votes) > 0 else 0.5


class NaiveRelevance:
    """One tree per label."""

    def __init__(self, kinds, n_labels, **options):
        self.trees = [NaiveHoeffdingTree(kinds=kinds, n_classes=2, **options) for _ in range(n_labels)]

    def scores(self, x):
        return [share(tree.votes(x)) for tree in self.trees]

    def learn(self, x, y, weight):
        for tree, value in zip(self.trees, y, strict=True):
            if value >= 0:
                tree.learn(x, value, weight)


class NaiveChain:
    """One tree per label; each sees the labels earlier in the order."""

    def __init__(self, kinds, order, **options):
        self.order = order
        self.trees = {
            label: NaiveHoeffdingTree(kinds=[*kinds, *[2] * len(order)], n_classes=2, **options) for label in order
        }

    def scores(self, x):
        return self._pass(x, [-1] * len(self.order), 0)

    def learn(self, x, y, weight):
        self._pass(x, y, weight)

    def _pass(self, x, y, weight):
        """Predict the labels along the chain; then learn each with the true labels before it, or the predicted one."""
        n = len(self.order)
        scores, predicted = [0.5] * n, [0] * n
        for label in self.order:
            votes = self.trees[label].votes([*x, *predicted])
            scores[label] = share(votes)
            predicted[label] = int(votes[1] > votes[0])
        seen = [0] * n
        for label in self.order:
            if weight and y[label] >= 0:
                self.trees[label].learn([*x, *seen], y[label], weight)
            seen[label] = predicted[label] if y[label] < 0 else y[label]
        return scores


class NaivePrunedSets:
    """One tree over the frequent label sets."""

    def __init__(self, kinds, n_labels, buffer, most, parts=None, **options):
        self.n_labels, self.buffer, self.most, self.parts = n_labels, buffer, most, parts
        self.tree = NaiveHoeffdingTree(kinds=kinds, n_classes=most, **options)
        self.kept = []
        self.sets = None

    def scores(self, x):
        if self.sets is None:
            if not self.kept:
                return [0.5] * self.n_labels
            counts = Counter(labels for _, labels, _ in self.kept)
            frequent = max(counts.items(), key=lambda item: item[1])[0]
            return [float(label in frequent) for label in range(self.n_labels)]
        votes = self.tree.votes(x)
        return [
            sum(vote for vote, labels in zip(votes, self.sets, strict=False) if label in labels)
            for label in range(self.n_labels)
        ]

    def learn(self, x, y, weight):
        if -1 in y:
            return
        labels = tuple(label for label in range(self.n_labels) if y[label])
        if self.sets is not None:
            self._learn(x, labels, weight)
            return
        self.kept.append((x, labels, weight))
        if len(self.kept) == self.buffer:
            counts = Counter(own for _, own, _ in self.kept)
            threshold = 1
            while sum(count > threshold for count in counts.values()) > self.most:
                threshold += 1
            frequent = [own for own, _ in counts.most_common()]
            self.sets = [own for own in frequent if counts[own] > threshold] or frequent[: self.most]
            for example in self.kept:
                self._learn(*example)

    def _learn(self, x, labels, weight):
        if labels in self.sets:
            self.tree.learn(x, self.sets.index(labels), weight)
            return
        fitting = [own for own in self.sets if own and set(own) < set(labels)]
        for own in sorted(fitting, key=lambda own: -len(own))[: self.parts]:
            self.tree.learn(x, self.sets.index(own), weight)
