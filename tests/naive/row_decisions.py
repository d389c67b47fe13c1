"""Probabilities from scores, and decisions for rows as a whole, in plain Python."""

import itertools
import math

from marlene.kernels.decisions.calibration import FIRST_SLOPE, LEAST_SLOPE, MEMORY, PRIOR, RIDGE, SUREST
from marlene.kernels.decisions.decide import SETTLED
from marlene.kernels.decisions.label_sets import FADING, LARGEST_SET, MOST_SETS, NEVER_SURE, POWERS, UNSEEN
from marlene.learners.marlene._decisions import AIMS
from tests.naive.decisions import Cuts


def log_odds(score):
    if math.isnan(score):
        return 0.0
    score = min(max(score, SUREST), 1 - SUREST)
    return math.log(score / (1 - score))


class Line:
    """How the probability of a label follows from its score: shift and slope, and second derivatives of the loss."""

    def __init__(self):
        self.shift = self.slope = 0.0
        self.curve = [[0.0, 0.0], [0.0, 0.0]]

    def copy(self, part):
        other = Line()
        other.shift, other.slope = self.shift, self.slope
        other.curve = [[part * number for number in row] for row in self.curve]
        return other

    def probability(self, score, examples):
        prior = math.log((examples[1] + PRIOR) / (examples[0] + PRIOR))
        odds = prior + self.shift + max(FIRST_SLOPE + self.slope, LEAST_SLOPE) * log_odds(score)
        return 1 / (1 + math.exp(-min(max(odds, -30), 30)))

    def learn(self, score, said, y, w):
        inputs = (1.0, log_odds(score))
        weight = w * max(said * (1 - said), SUREST)
        for i, j in itertools.product((0, 1), repeat=2):
            self.curve[i][j] = MEMORY * self.curve[i][j] + weight * inputs[i] * inputs[j]
        (a, b), (_, c) = self.curve
        a, c = a + RIDGE, c + RIDGE
        slope = [w * (y - said) * x for x in inputs]
        self.shift += (c * slope[0] - b * slope[1]) / (a * c - b * b)
        self.slope += (a * slope[1] - b * slope[0]) / (a * c - b * b)


class LabelSets:
    """How often which sets of labels occurred."""

    def __init__(self):
        self.times = {}
        self.empty = self.expected_empty = self.rows = 0.0
        self.right = [0.0] * len(POWERS)

    def learn(self, probabilities, truth, w):
        if min(truth, default=0) < 0:
            return
        found = tuple(q for q, y in enumerate(truth) if y == 1)
        self.rows += w
        self.empty += w * (not found)
        self.expected_empty += w * math.prod(1 - p for p in probabilities)
        if len(found) > LARGEST_SET:
            return
        if found not in self.times and len(self.times) == MOST_SETS:
            self.times = {known: times / 2 for known, times in self.times.items() if times / 2 >= 1}
            self.rows, self.empty, self.expected_empty = self.rows / 2, self.empty / 2, self.expected_empty / 2
        if found in self.times or len(self.times) < MOST_SETS:
            self.times[found] = self.times.get(found, 0.0) + w

    def best_labels(self, probabilities, measure, certain):
        """Return the set with the largest expected value of a measure; `certain`, see `Cuts`."""
        expected = sum(probabilities)
        best, chosen = 0.0, ()
        order = sorted(range(len(probabilities)), key=lambda q: -probabilities[q])
        for size in range(1, len(order) + 1):
            top = order[:size]
            inside = sum(probabilities[q] for q in top)
            if measure == "jaccard":
                value = inside / (size + expected - inside)
            elif measure == "label-set":
                rejected = max(1 - (size - inside) / max(len(order) - expected, NEVER_SURE), 0.0)
                hits = min(inside / max(expected, NEVER_SURE), 1.0)
                value = math.prod(
                    c * share + (1 - c) * math.sqrt(share) for c, share in zip(certain, (rejected, hits), strict=True)
                )
            else:
                value = sum(2 * probabilities[q] / (size + 1 + expected - probabilities[q]) for q in top)
            if value <= best:
                break
            best, chosen = value, top
        if measure == "label-set":
            return set(chosen)
        independent = math.prod(1 - p for p in probabilities)
        none = min(1.0, independent * (self.empty + 0.5) / (self.expected_empty + 0.5))
        return set() if none * (1 - independent) > best * (1 - none) else set(chosen)

    def likeliest(self, probabilities, examples, power):
        """Return the likeliest set; its labels depend on each other as much as the power says."""
        inside = [min(max(p, NEVER_SURE), 1 - NEVER_SURE) for p in probabilities]
        usual = [(positive + 0.5) / (negative + positive + 1) for negative, positive in examples]

        def log_probability(labels, of):
            return sum(math.log(p if q in labels else 1 - p) for q, p in enumerate(of))

        above = {q for q, p in enumerate(probabilities) if p > 0.5}
        total = self.rows + UNSEEN
        found = {None: log_probability(above, inside) + power * math.log(UNSEEN / total)}
        for labels, times in self.times.items():
            independent = log_probability(labels, usual)
            more = math.log((times + UNSEEN * math.exp(independent)) / total) - independent
            found[labels] = log_probability(labels, inside) + power * more
        best = max(found, key=found.get)
        return above if best is None else set(best)

    def judge(self, probabilities, examples, truth):
        for i, power in enumerate(POWERS):
            labels = self.likeliest(probabilities, examples, power)
            right = all(y < 0 or (q in labels) == (y == 1) for q, y in enumerate(truth))
            self.right[i] = FADING * self.right[i] + right


class Decisions:
    """Probabilities and predictions of all labels of a stream."""

    def __init__(self, n_labels, objective):
        self.cuts, self.sets, self.lines, self.examples = Cuts(0, {}), LabelSets(), [], []
        self.add_labels(n_labels)
        self.aim(objective)

    def aim(self, objective):
        """Decide for another objective."""
        self.objective = objective
        self.cuts.aims = AIMS.get(objective, {}) if isinstance(objective, str) else {}
        if self.cuts.aims and self.lines:
            self.cuts.choose(SETTLED)

    def add_labels(self, count):
        self.cuts.add_labels(count)
        self.lines += [Line() for _ in range(count)]
        self.examples += [[0, 0] for _ in range(count)]

    def probabilities(self, scores):
        return [
            line.probability(score, examples)
            for line, score, examples in zip(self.lines, scores, self.examples, strict=True)
        ]

    def decide(self, scores, probabilities=None):
        """Return the predictions; `probabilities`: those to decide by, if not those that follow from the scores."""
        probabilities = self.probabilities(scores) if probabilities is None else probabilities
        name = self.objective
        if name in ("label-set", "example-f1", "jaccard"):
            certain = [sum_ / max(self.cuts.rows, 1e-9) for sum_ in self.cuts.certain]
            chosen = self.sets.best_labels(probabilities, name, certain)
        elif name == "subset":
            power = POWERS[1] if self.sets.right[1] > self.sets.right[0] else POWERS[0]
            chosen = self.sets.likeliest(probabilities, self.examples, power)
        elif name == "none":
            chosen = {q for q, score in enumerate(scores) if score >= 0.5}
        elif isinstance(name, str) and name != "hamming":
            return self.cuts.decide(scores)
        else:
            costs = {"false_positive": 1, "false_negative": 1} | ({} if isinstance(name, str) else name)
            level = costs["false_positive"] / sum(costs.values())
            chosen = {q for q, p in enumerate(probabilities) if p > level}
        return [int(q in chosen) for q in range(len(scores))]

    def learn(self, scores, truth, probabilities=None, settled=None, sets=True, w=1.0):
        """Learn from an example; sources do not learn sets."""
        probabilities = self.probabilities(scores) if probabilities is None else probabilities
        for line, score, said, y in zip(self.lines, scores, probabilities, truth, strict=True):
            if y >= 0 and not math.isnan(score):
                line.learn(score, said, y, w)
        self.cuts.learn(scores, truth, settled, w)
        if sets and max(truth) >= 0:
            if self.objective == "subset":
                self.sets.judge(probabilities, self.examples, truth)
            self.sets.learn(probabilities, truth, w)
        for examples, y in zip(self.examples, truth, strict=True):
            if y >= 0:
                examples[y] += w
