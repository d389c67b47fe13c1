"""MLHAT, slowly: nodes are objects, leaves keep all their examples.

Sums are taken in the order of examples, inputs and labels, so that the kernel has the same bits.
"""

import math

from tests.naive.detectors import NaiveADWIN

LEAST_ERROR = 1e-6
CLOSEST = 1e-9
LEAST_SHARE = 0.01


def added(numbers):
    """Return a sum from left to right; `sum` may round less often."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def entropy(share):
    return -(share * math.log2(share) + (1 - share) * math.log2(1 - share)) if 0 < share < 1 else 0.0


class NaiveLeaf:
    """A leaf; an example is a dense row, its labels (0, 1, -1) and its weight."""

    def __init__(self, settings, n_labels):
        self.settings, self.n_labels, self.last = settings, n_labels, 0.0
        self.examples = []
        self.models = [[{} for _ in range(n_labels)] for _ in range(settings["members"])]

    def weight(self):
        return sum(w for _, _, w in self.examples)

    def label_weight(self, label):
        return sum(w for _, truth, w in self.examples if truth[label] == 1)

    def sets(self):
        return len({tuple(max(value, 0) for value in truth) for _, truth, _ in self.examples})

    def entropy(self):
        return added(entropy(self.label_weight(label) / self.weight()) for label in range(self.n_labels))

    def activation(self, model, x):
        z = added([model.get("constant", 0.0), *(model.get(i, 0.0) * value for i, value in enumerate(x))])
        return 1 / (1 + math.exp(-max(-500.0, min(500.0, z))))

    def vote(self, x):
        if self.sets() == 0:
            return [math.nan] * self.n_labels
        if self.sets() == 1:
            return [self.label_weight(label) / self.weight() for label in range(self.n_labels)]
        if self.weight() < self.settings["cardinality"] or self.entropy() < self.settings["entropy"]:
            return self.neighbours(x)
        votes = [[self.activation(model, x) for model in models] for models in self.models]
        return [added(vote) / len(votes) for vote in zip(*votes, strict=True)]

    def distance(self, x, other):
        """Return the Euclidean distance: over the inputs that the other example has, then over all other ones."""
        apart = added((a - b) * (a - b) for a, b in zip(x, other, strict=True) if b)
        common = added(a * a for a, b in zip(x, other, strict=True) if b)
        return math.sqrt(apart + max(0.0, added(a * a for a in x) - common))

    def neighbours(self, x):
        latest = self.examples[-self.settings["window"] :]
        ring = len(self.examples) - len(latest)
        # Equally near ones: the one that comes first in the ring.
        places = [
            (self.distance(x, other), (ring + i) % self.settings["window"], i) for i, (other, _, _) in enumerate(latest)
        ]
        nearest = sorted(places)[: self.settings["neighbours"]]
        votes = []
        for label in range(self.n_labels):
            true = known = 0.0
            for distance, _, i in nearest:
                truth, weight = latest[i][1][label], 1 / max(distance, CLOSEST)
                true += weight if truth == 1 else 0
                known += weight if truth >= 0 else 0
            votes.append(true / known if known else math.nan)
        return votes

    def learn(self, x, truth, times):
        self.examples.append((x, truth, max(1, times[0])))
        for member, often in enumerate(times[1:]):
            for _ in range(often):
                for label, model in enumerate(self.models[member]):
                    if truth[label] >= 0:
                        slope = self.activation(model, x) - truth[label]
                        model["constant"] = model.get("constant", 0.0) - 0.01 * slope
                        for i, value in enumerate(x):
                            model[i] = model.get(i, 0.0) - self.settings["learning_rate"] * slope * value

    def below(self, i, threshold, binary, label=None):
        """Return the weight at or below a threshold if values are normally distributed; of a label's, if given."""
        values = [(x[i], w) for x, truth, w in self.examples if label is None or truth[label] == 1]
        total = sum(w for _, w in values)
        if binary or not total:
            return sum(w for value, w in values if value <= threshold)
        mean = added(w * value for value, w in values) / total
        variance = added(w * value * value for value, w in values) / total - mean * mean
        if variance <= 1e-12 * (1 + mean * mean):
            return total if mean <= threshold else 0.0
        return total * 0.5 * (1 + math.erf((threshold - mean) / math.sqrt(2 * variance)))

    def gain(self, i, threshold, binary):
        weight = self.weight()
        left = self.below(i, threshold, binary)
        right = weight - left
        if min(left, right) <= LEAST_SHARE * weight:
            return -math.inf
        after = 0.0
        for label in range(self.n_labels):
            low = self.below(i, threshold, binary, label)
            high = self.label_weight(label) - low
            after += left * entropy(low / left) + right * entropy(high / right)
        return self.entropy() - after / weight

    def split(self, binary):
        """Return input and threshold if the leaf splits now."""
        weight = self.weight()
        if weight - self.last < self.settings["grace_period"] or self.sets() <= 1:
            return None
        self.last = weight
        best = [(0.0, -1, 0.0)]
        for i in range(len(self.examples[0][0])):
            values = [x[i] for x, _, _ in self.examples]
            if any(values):
                low, high = min(values), max(values)
                points = [0.5] if binary else [low + (high - low) * step / 11 for step in range(1, 11)]
                best.append(max(((self.gain(i, t, binary), i, t) for t in points), key=lambda each: each[0]))
        best.sort(key=lambda each: -each[0])
        spread = math.log2(max(2, self.sets()))
        bound = math.sqrt(spread * spread * math.log(1 / self.settings["delta"]) / (2 * weight))
        if best[0][1] >= 0 and (best[0][0] - best[1][0] > bound or bound < self.settings["tie_threshold"]):
            return best[0][1:]
        return None


class NaiveNode:
    def __init__(self, settings, n_labels):
        self.leaf, self.test, self.children, self.alternate = NaiveLeaf(settings, n_labels), None, (), None
        self.detector = NaiveADWIN()

    def next(self, x):
        return self.children[0 if x[self.test[0]] <= self.test[1] else 1]

    def way(self, x):
        """Return the nodes from here to a leaf."""
        return [self] if self.test is None else [self, *self.next(x).way(x)]

    def error(self):
        return self.detector.total / max(1, self.detector.width)

    def trust(self):
        error = max(LEAST_ERROR, self.error())
        return 1 / (error * error)

    def leaves(self):
        below = [self.leaf] if self.test is None else [leaf for child in self.children for leaf in child.leaves()]
        return below + (self.alternate.leaves() if self.alternate else [])


class NaiveAdaptiveTree:
    """`times` of an example: its draws, the first for the tree, then for each linear model."""

    def __init__(self, n_labels, binary, **settings):
        self.n_labels, self.binary, self.settings = n_labels, binary, settings
        self.root, self.switches = self.new(), 0

    def new(self):
        return NaiveNode(self.settings, self.n_labels)

    def predict(self, x):
        trees = [
            node.alternate
            for node in self.root.way(x)
            if node.alternate and node.alternate.detector.width > self.settings["patience"]
        ]
        ways = [self.root, *trees]
        votes = [(tree.way(x)[-1].leaf.vote(x), tree.trust()) for tree in ways]
        out = []
        for label in range(self.n_labels):
            said = [(vote[label], trust) for vote, trust in votes if not math.isnan(vote[label])]
            total = added(trust for _, trust in said)
            out.append(added(trust * share for share, trust in said) / total if said else math.nan)
        return out

    def watch(self, tree, x, truth):
        """Give the loss of a tree to the detectors on the way; return the branches where errors have risen."""
        vote = tree.way(x)[-1].leaf.vote(x)
        known = [k for k in range(self.n_labels) if truth[k] >= 0]
        loss = sum((vote[k] > 0.5) != (truth[k] == 1) for k in known) / len(known)
        for node in tree.way(x):
            node.detector.update(loss)
        return [node for node in tree.way(x) if node.detector.change and node.test is not None]

    def learn(self, x, truth, times):
        if max(truth) < 0:
            return
        starts = [node for node in self.watch(self.root, x, truth) if node.alternate is None]
        ends, judged = [self.root.way(x)[-1]], []
        for node in self.root.way(x):
            if node.alternate:
                self.watch(node.alternate, x, truth)
                judged.append((node, self.verdict(node)))
                ends.append(node.alternate.way(x)[-1])
        splits = []
        for end in ends:
            end.leaf.learn(x, truth, times)
            splits.append((end, end.leaf.split(self.binary)))
        for end, test in splits:
            if test:
                end.test, end.children, end.leaf = test, (self.new(), self.new()), None
        for node in starts:
            node.alternate = self.new()
        for node, verdict in judged:
            if verdict and node in self.everything():
                self.settle(node, verdict > 0)

    def settle(self, node, replaced):
        other, node.alternate = node.alternate, None
        if replaced:
            node.leaf, node.test, node.children = other.leaf, other.test, other.children
            node.detector, self.switches = other.detector, self.switches + 1

    def everything(self, node=None):
        node = node or self.root
        below = [each for child in node.children for each in self.everything(child)]
        return [node, *below, *(self.everything(node.alternate) if node.alternate else [])]

    def verdict(self, node):
        """Return 1 if the alternate tree is better, -1 if it is worse, 0 if that is not known."""
        widths = [each.detector.width for each in (node, node.alternate)]
        if min(widths) <= self.settings["patience"]:
            return 0
        error, log = node.error(), math.log(2 / self.settings["significance"])
        bound = math.sqrt(max(0.0, 2 * error * (1 - error) * log * (1 / widths[0] + 1 / widths[1])))
        difference = error - node.alternate.error()
        return 0 if abs(difference) <= bound else 1 if difference > 0 else -1
