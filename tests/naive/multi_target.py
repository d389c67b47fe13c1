"""The multi-target tree as a graph of plain objects."""

import math


def deviation(weight, total, squares):
    if weight <= 1:
        return 0.0
    found = math.sqrt(max(0.0, (squares - total * total / weight) / weight))
    return found if found > 1e-5 else 0.0


def below(threshold, values):
    """Weight of (value, weight) pairs at most a threshold, from a Gaussian."""
    weight = sum(w for _, w in values)
    if weight == 0:
        return 0.0
    mean = sum(w * x for x, w in values) / weight
    variance = sum(w * x * x for x, w in values) / weight - mean * mean
    if variance <= 1e-15:
        return weight if mean <= threshold else 0.0
    return weight * 0.5 * math.erfc(-(threshold - mean) / math.sqrt(variance) / math.sqrt(2))


def spread(weight, ones):
    return ones * (weight - ones) / weight if weight > 0 else 0.0


class Leaf:
    """Keeps all examples it has seen, and a perceptron."""

    def __init__(self, n_inputs, n_targets):
        self.examples = []
        self.seen = self.last_attempt = self.practice = 0.0
        self.mean_weight, self.mean_sum = [0.0] * n_targets, [0.0] * n_targets
        self.mean_error, self.perceptron_error = [0.0] * n_targets, [0.0] * n_targets
        self.weights = [[0.0] * (1 + n_inputs) for _ in range(n_targets)]
        self.test = None

    def mean(self, t):
        return self.mean_sum[t] / self.mean_weight[t] if self.mean_weight[t] > 0 else 0.0

    def estimate(self, i, t, threshold):
        """Weight of the examples whose input is at most the threshold, and of those among them with the target."""
        values = {x[i] for x, _, _ in self.examples}
        if values <= {0.0, 1.0}:
            low = [(y[t], w) for x, y, w in self.examples if x[i] == 0]
            return sum(w for _, w in low), sum(w * y for y, w in low)
        ones = below(threshold, [(x[i], w * y[t]) for x, y, w in self.examples])
        return ones + below(threshold, [(x[i], w * (1 - y[t])) for x, y, w in self.examples]), ones

    def merit(self, i, threshold):
        total, n_targets = 0.0, len(self.mean_sum)
        for t in range(n_targets):
            weight, ones = self.estimate(i, t, threshold)
            if min(weight, self.seen - weight) <= 0.01 * self.seen:
                return 0.0
            all_ones = sum(w * y[t] for _, y, w in self.examples)
            before = spread(self.seen, all_ones)
            if before > 0:
                total += 1 - (spread(weight, ones) + spread(self.seen - weight, all_ones - ones)) / before
        return total / n_targets

    def suggestions(self, split_points):
        """Merit, input and threshold of the best test of every input that was not always zero, the best first."""
        found = []
        for i in range(len(self.examples[0][0])):
            values = [x[i] for x, _, _ in self.examples]
            if not any(values):
                continue
            points = 1 if set(values) <= {0.0, 1.0} else split_points
            low, high = (0.0, 1.0) if points == 1 else (min(values), max(values))
            tests = [low + (high - low) * (p + 1) / (points + 1) for p in range(points)]
            best = max(tests, key=lambda at, i=i: self.merit(i, at))
            found.append((self.merit(i, best), i, best))
        return sorted(found, key=lambda test: -test[0])


class NaiveMultiTargetTree:
    """`numeric` tells which inputs are standardised."""

    def __init__(self, numeric, n_targets, grace_period=200, delta=1e-7, tie_threshold=0.05, split_points=10):
        self.numeric, self.n_targets = numeric, n_targets
        self.grace_period, self.delta, self.tie_threshold = grace_period, delta, tie_threshold
        self.split_points = split_points
        self.history = []
        self.splits = []
        self.root = Leaf(len(numeric), n_targets)

    def find(self, x):
        node = self.root
        while node.test is not None:
            i, threshold, children = node.test
            node = children[x[i] > threshold]
        return node

    def inputs(self, x):
        weight = sum(w for _, _, w in self.history)
        result = [1.0]
        for i, value in enumerate(x):
            if self.numeric[i]:
                total = sum(w * past[i] for past, _, w in self.history)
                sd = deviation(weight, total, sum(w * past[i] ** 2 for past, _, w in self.history))
                result.append((value - total / weight) / sd if sd > 0 else 0.0)
            else:
                result.append(value)
        return result

    def target(self, t):
        known = [(y[t], w) for _, y, w in self.history if y[t] >= 0]
        weight = sum(w for _, w in known)
        mean = sum(w * y for y, w in known) / weight if weight else 0.0
        return mean, (math.sqrt(mean * (1 - mean)) if weight > 1 else 0.0)

    def perceive(self, leaf, z, t):
        mean, sd = self.target(t)
        return sum(a * b for a, b in zip(leaf.weights[t], z, strict=True)) * sd + mean

    def scores(self, x):
        leaf, z = self.find(x), self.inputs(x)
        result = []
        for t in range(self.n_targets):
            if leaf.mean_weight[t] <= 0:
                result.append(0.5)
            elif leaf.perceptron_error[t] < leaf.mean_error[t]:
                result.append(min(1.0, max(0.0, self.perceive(leaf, z, t))))
            else:
                result.append(leaf.mean(t))
        return result

    def learn(self, x, y, weight):
        if all(value < 0 for value in y):
            return
        leaf, z = self.find(x), self.inputs(x)
        known = [t for t in range(self.n_targets) if y[t] >= 0]
        for t in known:
            leaf.mean_error[t] = 0.95 * leaf.mean_error[t] + abs(leaf.mean(t) - y[t])
            leaf.perceptron_error[t] = 0.95 * leaf.perceptron_error[t] + abs(self.perceive(leaf, z, t) - y[t])
        leaf.practice += weight
        if sum(w for _, _, w in self.history) > 1:
            for _ in range(weight):
                self.practise(leaf, z, y, 0.02 / (1 + 0.001 * leaf.practice))
        leaf.examples.append((x, [leaf.mean(t) if y[t] < 0 else y[t] for t in range(self.n_targets)], weight))
        leaf.seen += weight
        for t in known:
            leaf.mean_weight[t] += weight
            leaf.mean_sum[t] += weight * y[t]
        self.history.append((x, y, weight))
        if leaf.seen - leaf.last_attempt >= self.grace_period:
            leaf.last_attempt = leaf.seen
            self.attempt(leaf)

    def practise(self, leaf, z, y, rate):
        for t in range(self.n_targets):
            mean, sd = self.target(t)
            if y[t] < 0:
                continue
            wanted = (y[t] - mean) / sd if sd > 0 else 0.0
            error = wanted - sum(a * b for a, b in zip(leaf.weights[t], z, strict=True))
            leaf.weights[t] = [w + rate * error * value for w, value in zip(leaf.weights[t], z, strict=True)]
            size = sum(abs(w) for w in leaf.weights[t])
            if size > 1:
                leaf.weights[t] = [w / size for w in leaf.weights[t]]

    def attempt(self, leaf):
        tests = [test for test in leaf.suggestions(self.split_points) if test[0] > 0]
        if not tests:
            return
        best, i, threshold = tests[0]
        second = tests[1][0] if len(tests) > 1 else 0.0
        bound = math.sqrt(math.log(1 / self.delta) / (2 * leaf.seen))
        if second / best < 1 - bound or bound < self.tie_threshold:
            children = [Leaf(len(self.numeric), self.n_targets) for _ in range(2)]
            for t in range(self.n_targets):
                weight, ones = leaf.estimate(i, t, threshold)
                all_ones = sum(w * y[t] for _, y, w in leaf.examples)
                children[0].mean_weight[t], children[0].mean_sum[t] = weight, ones
                children[1].mean_weight[t], children[1].mean_sum[t] = leaf.seen - weight, all_ones - ones
            for child in children:
                child.practice = leaf.practice
                child.weights = [list(weights) for weights in leaf.weights]
                child.mean_error, child.perceptron_error = list(leaf.mean_error), list(leaf.perceptron_error)
            leaf.test = (i, threshold, children)
            self.splits.append((i, threshold))
