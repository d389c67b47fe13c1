"""The candidates of a label in plain Python: dictionaries of weights, and the guests among them.

A *place* says what a classifier is: (room, part, label), see `tests.naive.tracking`.
"""

import math

from marlene.kernels.tracking.state import LEADERS
from marlene.kernels.tracking.weights import BEHIND, TEMPER
from marlene.learners.marlene._tracker_layout import NOT_YET

TARGET = 0
YOUNG, GUEST = "young", "guest"


class Weights:
    """The logarithms of the weights of the candidates of one kind for one label.

    Attributes
    ----------
    log
        The candidates that have any weight.
    silent
        The weight of a candidate that always says 0.5, by whose floor it has: they are not heard below it.
    guests
        Snapshots and learners of sources that are in the list, with or without weight.
    """

    def __init__(self, q, limit):
        self.q, self.limit = q, limit
        self.log = {(TARGET, 0, q): 0.0, (TARGET, 1, q): NOT_YET}
        self.guests = set()
        self.total = 0.0
        self.share = {(TARGET, 0, q): 1.0}
        self.silent = {YOUNG: -math.inf, GUEST: -math.inf}

    def find_leaders(self):
        heard = [place for place in self.log if self.is_heard(place)]
        best = max(self.log[place] for place in heard)
        close = [place for place in sorted(heard, key=self.order) if self.log[place] > best - BEHIND]
        leaders = sorted(sorted(close, key=lambda place: -self.log[place])[:LEADERS], key=self.order)
        weight = {place: math.exp(TEMPER * (self.log[place] - best)) for place in leaders}
        total = sum(weight.values())
        self.share = {place: weight[place] / total for place in leaders}
        self.total = best + math.log(total)

    def is_heard(self, place):
        kind = GUEST if place in self.guests else YOUNG if place == (TARGET, 1, self.q) else None
        return kind is None or self.log[place] > self.silent[kind]

    def order(self, place):
        return place in self.guests, place

    def hand_over(self, giver, heir):
        given, had = self.log.pop(giver), self.log.get(heir, -math.inf)
        high = max(given, had)
        self.log[heir] = high + math.log(math.exp(given - high) + math.exp(had - high))

    def withdraw(self, place, heir):
        """Take a candidate's weight away; if it counted, it is the heir's."""
        if place in self.log and self.log[place] > self.total - 2 * BEHIND:
            self.hand_over(place, heir)
            self.find_leaders()
        self.log.pop(place, None)

    def is_full(self):
        return len(self.guests) == self.limit

    def make_place(self, stays, at_most=math.inf):
        """Let the lightest guest leave, if it weighs less and is not among those that stay; tell whether it did."""
        leaving = min(
            (place for place in sorted(self.guests) if place not in stays),
            key=lambda place: self.log.get(place, -math.inf),
            default=None,
        )
        if leaving is None or self.log.get(leaving, -math.inf) >= at_most:
            return False
        self.guests.remove(leaving)
        self.log.pop(leaving, None)
        return True

    def offer(self, place, stays):
        """Take a classifier that has joined the pool as a guest, if there is a place left or if it is to stay."""
        if self.is_full():
            if place not in stays or not self.make_place(stays):
                return
            self.find_leaders()
        self.guests.add(place)

    def fill(self, pool, stays):
        """Take guests from the pool, first those that are to stay."""
        for place in sorted(pool, key=lambda place: (place not in stays, place)):
            if not self.is_full():
                self.guests.add(place)

    def send_scouts(self, logs, stays):
        """Let those of the pool in, with the weights they would have, that are heavier than the lightest guest."""
        for place, log in logs.items():
            if place not in self.guests and (not self.is_full() or self.make_place(stays, log)):
                self.guests.add(place)
                self.log[place] = log
