"""How likely a label is each label of the sources, in plain Python."""

import math

from marlene.kernels.tracking.search import HEEDED, LASTS, LEAST_LIKELY, SLEPT

NONE = "none of them"


class Search:
    """The search of one label, among the most trusted labels of sources, all of which are as likely as told.

    An offer is what a label of a source that is awake says of an example, by its place.
    """

    def __init__(self, together, trusted, limit):
        total, most = sum(trusted.values()), sorted(trusted, key=lambda place: (-trusted[place], place))[:limit]
        self.log = {place: math.log(together * trusted[place] / total) for place in most}
        self.log[NONE] = math.log(1 - together)

    def mean(self, offers, own):
        """Return the mean of what the label may be, by how likely each is."""
        awake = {place: value for place, value in offers.items() if place in self.log} | {NONE: own}
        best = max(self.log[place] for place in awake)
        likely = {place: math.exp(self.log[place] - best) for place in awake}
        return sum(likely[place] * value for place, value in awake.items()) / sum(likely.values())

    def learn(self, offers, own, y, w):
        """Learn from what each gave to the true class; those that sleep are a little less likely than before."""
        for place in self.log:
            asleep = place != NONE and place not in offers
            p = offers.get(place, own)
            self.log[place] += w * (math.log(max(p if y else 1 - p, LEAST_LIKELY)) + (SLEPT if asleep else 0))


class Searches:
    """The searches of all labels of a target that have not ended."""

    def __init__(self):
        self.of = {}

    def heed_probabilities(self, offers, own):
        """Return the probabilities of all labels."""
        offered = {place: p for place, (p, _) in offers.items()}
        return [self.of[q].mean(offered, p) if q in self.of else p for q, p in enumerate(own)]

    def heed_decisions(self, offers, own):
        """Return the predictions of all labels."""
        decided = {place: decision for place, (_, decision) in offers.items()}
        means = {q: search.mean(decided, own[q]) for q, search in self.of.items()}
        return [int(means[q] >= HEEDED) if q in means else decision for q, decision in enumerate(own)]

    def learn(self, offers, own, truth, examples, w):
        """Learn from an example; `examples`: how many examples labels have had before."""
        offered = {place: p for place, (p, _) in offers.items()}
        for q in list(self.of):
            if truth[q] >= 0:
                self.of[q].learn(offered, own[q], truth[q], w)
                if examples[q] >= LASTS:
                    del self.of[q]
