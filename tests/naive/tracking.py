"""The tracker of Marlene in plain Python: one object per classifier.

A *place* says what a classifier is: (room, part, label). Room 0 is the target's: part 0 are the own learners, part 1
the young ones, part 2 and above the slots of snapshots. Room s is that of source s: part 0 are the warm learners of
target labels, part 1 the source's own learners. Places in order are columns in order.
"""

import copy
import math

from marlene.kernels.banks.naive_bayes import LARGEST, PATIENCE
from marlene.kernels.tracking.begin import HARDLY_PROVEN, NAMED, UNNAMED
from marlene.kernels.tracking.inherit import (
    FEW_EXAMPLES,
    FOUND_EXAMPLES,
    KEPT_POSITIVES,
    KEPT_SQUARES,
    LEAST_EXAMPLES,
    NAMED_EXAMPLES,
    NEGATIVES,
    RARER_CLASS,
    TAKEN_OVER,
    YOUNG_FOR,
)
from marlene.kernels.tracking.learn import HEAVIEST, SUREST
from marlene.kernels.tracking.state import (
    ALONE,
    BAYES,
    HEDGED,
    NAMESAKE,
    NEIGHBOURS,
    NOT_YET,
    SCOUTS,
    SEARCHING,
    TOGETHER,
    WITHOUT,
)
from marlene.kernels.tracking.voices import EARNED, RARELY, TRIAL
from marlene.kernels.tracking.weights import (
    BEHIND,
    HASTE,
    LARGEST_CLASS_WEIGHT,
    OTHERS_PRIOR,
    OWN_PRIOR,
    PROVEN,
    PROVEN_NAMED,
    RATE,
    SEARCHED,
    SHARE,
    YOUNG_PRIOR,
)
from marlene.learners.marlene._tracker_layout import OWN, SNAPSHOT, SOURCE, WARM, YOUNG
from tests.naive import candidates
from tests.naive.candidates import TARGET, Weights
from tests.naive.neighbours import Neighbours
from tests.naive.search import Search, Searches
from tests.naive.tracked_streams import Stream, probability


class Tracker:
    """Own, young and warm learners, snapshots and sources.

    Parameters
    ----------
    make
        For each kind in use a function that returns an empty classifier over some scales.
    objective
        What decisions are to be good at.
    slots
        How many snapshots of each label are kept; none: nothing is taken from sources either.
    numeric
        The inputs that are numbers, which may grow.
    limit
        How many snapshots and learners of sources are candidates of a label at most.
    neighbours
        The window and the smoothing of nearest neighbours, if they vote.
    """

    def __init__(self, make, objective, slots, numeric, limit, neighbours=None):
        self.make, self.objective, self.slots, self.numeric, self.limit = make, objective, slots, numeric, limit
        voices = [*make, *([NEIGHBOURS, TOGETHER, WITHOUT, HEDGED] if neighbours else [])]
        self.streams, self.names = [Stream(voices, numeric, objective, is_target=True)], [None]
        self.neighbours = Neighbours(self.streams[0].scales, *neighbours) if neighbours else None
        self.quiet = False
        """Whether neighbours count for too little to be asked every time."""
        self.models = {}
        """The classifier of each kind at each place."""
        self.weights = {}
        self.floors = {}
        self.pool = set()
        self.began, self.young, self.since, self.taken, self.alive = [], [], [], [], set()
        self.events = []
        self.searches = Searches()

    def add(self, stream, labels):
        """Add labels that are new to a stream."""
        if stream not in self.names:
            self.names.append(stream)
            self.streams.append(Stream(self.make, self.numeric, self.objective, is_target=False))
        s = self.names.index(stream)
        for name in labels:
            if name in self.streams[s].labels:
                continue
            q = len(self.streams[s].labels)
            self.streams[s].add_label(name)
            if s == TARGET:
                self.start((TARGET, 0, q))
                self.start((TARGET, 1, q))
                self.weights |= {(k, q): Weights(q, self.limit) for k in self.make}
                self.began.append(NOT_YET)
                self.young.append([0, 0])
                self.since.append([0, 0])
                self.taken.append(0)
            else:
                self.start((s, 1, q))

    def start(self, place):
        scales = self.streams[place[0]].scales
        self.models |= {(k, place): make(scales) for k, make in self.make.items()}

    def forget(self, slot):
        """Let all classifiers forget what they learnt of an input."""
        for (_, (room, _, _)), model in self.models.items():
            if slot in self.streams[room].scales.met:
                model.forget(slot)
        if self.neighbours:
            self.neighbours.forget_input(slot)
        for stream in self.streams:
            stream.scales.met.discard(slot)
            stream.known.discard(slot)

    def odds(self, k, place, row):
        """Return the log odds of a classifier for a row of its own stream."""
        model = self.models[k, place]
        if k == BAYES and 0.0 in model.weights:  # a class that was never seen gets no vote
            return LARGEST * ((model.weights[1] > 0) - (model.weights[0] > 0))
        return model.log_odds(row)

    def is_asleep(self, place, row):
        """Tell whether a classifier is that of a source that knows too little of a row."""
        room, part, _ = place
        return room != TARGET and part == 1 and not self.streams[room].is_familiar(row)

    def all_odds(self, row):
        """Return the log odds of all classifiers for a row of the target; 0 if they sleep."""
        return {(k, h): 0.0 if self.is_asleep(h, row) else self.odds(k, h, row) for k, h in self.models}

    def are_asked(self):
        """Tell whether neighbours vote on the present example."""
        seen = self.streams[TARGET].seen
        return bool(self.neighbours) and (not self.quiet or seen < TRIAL or seen % RARELY == 0)

    def vote(self, odds, row):
        """Return what each kind, and the neighbours, say of each label, and the scores; log odds of 0 are no vote."""
        target, said = self.streams[TARGET], []
        for q in range(len(target.labels)):
            said.append({})
            for k in self.make:
                awake = {h: share for h, share in self.weights[k, q].share.items() if odds[k, h] != 0}
                votes = [share * probability(odds[k, h]) for h, share in awake.items()]
                said[q][k] = sum(votes) / sum(awake.values()) if awake else 0.5
        if self.are_asked():
            for q, p in enumerate(self.neighbours.votes(row, len(said))):
                said[q][NEIGHBOURS] = p
        return said, [target.blend(q, said[q]) for q in range(len(said))]

    def ready(self):
        """Return the tracker as it is for predictions: labels that have not begun do so in a copy."""
        if NOT_YET not in self.began:
            return self
        trial = copy.deepcopy(self)
        trial.begin()
        return trial

    def predict(self, row):
        """Return the scores, and a function from scores to probabilities and predictions."""
        trial = self.ready()
        odds, target = trial.all_odds(row), trial.streams[TARGET]
        offers = trial.offers(odds, row)

        def answer(scores):
            probabilities = trial.searches.heed_probabilities(offers, target.decisions.probabilities(scores))
            decisions = target.decisions.decide(scores, probabilities)
            decided = trial.searches.heed_decisions(offers, decisions) if target.cuts.aims else decisions
            return probabilities, decided

        return trial.vote(odds, row)[1], answer

    def offers(self, odds, row):
        """Return what the labels of sources that are awake say: their probability, and whether they are predicted."""
        offers = {}
        for s, stream in enumerate(self.streams):
            if s == TARGET or not stream.is_familiar(row):
                continue
            labels = range(len(stream.labels))
            said = [{k: probability(odds[k, (s, 1, label)]) for k in self.make} for label in labels]
            scores = [stream.blend(label, said[label]) for label in labels]
            found = zip(stream.decisions.probabilities(scores), stream.cuts.decide(scores), strict=True)
            offers |= {(s, label): offer for label, offer in enumerate(found)}
        return offers

    def same(self, s, q):
        """Return the label of a source that has the name of target label q, or None."""
        name, labels = self.streams[TARGET].labels[q], self.streams[s].labels
        return labels.index(name) if name in labels else None

    def trusted(self, sources):
        """Return the trust in all labels of these sources that are to be trusted by labels of other names."""
        every = {(s, q): self.streams[s].trust(q, PROVEN) for s in sources for q in range(len(self.streams[s].labels))}
        return {pair: trust for pair, trust in every.items() if trust > 0}

    def namesakes(self, sources, q):
        """Return for these sources the trust in the label that has the name of target label q, if there is any."""
        labels = {s: self.same(s, q) for s in sources}
        every = {s: self.streams[s].trust(label, PROVEN_NAMED) for s, label in labels.items() if label is not None}
        return {s: trust for s, trust in every.items() if trust > 0}

    def sources(self):
        """Return the numbers of the sources, if anything is taken from them."""
        return range(1, len(self.streams)) if self.slots else []

    def stays(self, q):
        """Return the places of guests that are not to leave the list of a label."""
        snapshots = {(TARGET, 2 + slot, q) for slot in range(self.slots)}
        return snapshots | {(s, 1, self.same(s, q)) for s in self.sources()}

    def join(self, place):
        """Let a classifier join the pool, and offer it to all labels that have begun."""
        if place not in self.pool:
            self.pool.add(place)
            for (_, q), weights in self.weights.items():
                if self.began[q] != NOT_YET:
                    weights.offer(place, self.stays(q))

    def set_floors(self):
        others = [*self.alive, *((s, 1, label) for s, label in self.trusted(self.sources()))]
        self.floors = {place: math.log(SHARE * OTHERS_PRIOR / len(others)) for place in others}

    def begin(self):
        """Let labels begin that have not."""
        for s, label in self.trusted(self.sources()):
            self.join((s, 1, label))
        self.set_floors()
        for q, began in enumerate(self.began):
            if began == NOT_YET:
                for k in self.make:
                    self.weights[k, q].fill(self.pool, self.stays(q))
                self.began[q] = self.first_weights(q)

    def first_weights(self, q):
        """Give the candidates of a label their first weights; return how it begins."""
        trusted, namesakes = self.trusted(self.sources()), self.namesakes(self.sources(), q)
        if not trusted and not namesakes:
            return ALONE
        most, giver = max(namesakes.values(), default=0.0), max(namesakes, key=namesakes.get, default=None)
        is_proven = (giver, self.same(giver, q)) in trusted if namesakes else False
        foreign = (NAMED if is_proven else HARDLY_PROVEN) if namesakes else UNNAMED * max(trusted.values())
        for k in self.make:
            weights = self.weights[k, q]
            weights.log[TARGET, 0, q] = math.log(1 - foreign)
            for (s, label), trust in trusted.items():
                part = (1 - NAMED if namesakes else 1.0) * foreign * trust / sum(trusted.values())
                if (s, 1, label) in weights.guests:
                    weights.log[s, 1, label] = math.log(part)
            for s, trust in namesakes.items():
                self.models[k, (s, 0, q)] = self.models[k, (s, 1, self.same(s, q))].copy()
                weights.log[s, 0, q] = math.log(NAMED * foreign * trust / most)
            weights.find_leaders()
        if not namesakes:
            self.searches.of[q] = Search(foreign, trusted, self.limit)
            return SEARCHING
        examples = NAMED_EXAMPLES if is_proven else FOUND_EXAMPLES
        self.inherit_threshold(giver, self.same(giver, q), q, examples)
        lent = self.streams[giver].examples[self.same(giver, q)]
        self.streams[TARGET].borrow_examples(q, lent, min(examples, FEW_EXAMPLES))
        return NAMESAKE

    def inherit_threshold(self, s, label, q, examples):
        """Let a label have the cut, line and errors of a source's label, and so many of its scores besides its own."""
        target, source = self.streams[TARGET], self.streams[s]
        part = min(1.0, examples / max(1.0, sum(map(sum, source.cuts.counts[label]))))
        target.cuts.cut[q] = source.cuts.cut[label]
        for mine, theirs in ((target.cuts.counts, source.cuts.counts), (target.cuts.shares, source.cuts.shares)):
            for y in (0, 1):
                mine[q][y] = [a + part * b for a, b in zip(mine[q][y], theirs[label][y], strict=True)]
        target.decisions.lines[q] = source.decisions.lines[label].copy(part)
        target.errors[q] |= {k: errors.copy() for k, errors in source.errors[label].items()}

    def learn_source(self, name, row, truth, settled, w=1):
        s, self.importance = self.names.index(name), w
        stream = self.streams[s]
        odds = {(k, q): self.odds(k, (s, 1, q), row) for k in self.make for q in range(len(truth))}
        said = [{k: probability(odds[k, q]) for k in self.make} for q in range(len(truth))]
        stream.learn(said, [stream.blend(q, said[q]) for q in range(len(truth))], truth, settled, w)
        stream.seen += 1
        if max(truth, default=-1) < 0:
            return
        stream.scales.observe(row)
        stream.known |= row.keys()
        for (k, q), score in odds.items():
            self.train(k, (s, 1, q), row, stream, q, truth[q], score)

    def train(self, k, place, row, stream, q, y, score):
        """Train a classifier on a label of a stream; `score` is what it said before."""
        if y < 0:
            return
        model, weight = self.models[k, place], stream.class_weight(q, y)
        if k == BAYES:
            model.learn(row, y, weight, PATIENCE if place[:2] == (TARGET, 1) else 1.0, self.importance)
        else:
            model.learn(row, self.importance * min(weight, model.largest) * (probability(score) - y))

    def learn(self, row, truth, found, settled, w=1):
        """Learn a row of the target; `found`: the scores to decide by, if not those voted here."""
        self.begin()
        self.importance = w
        target, odds = self.streams[TARGET], self.all_odds(row)
        said, scores = self.vote(odds, row)
        if self.are_asked():
            self.compare_voices(said, scores, truth, w)
        scores = scores if found is None else found
        own, examples = target.decisions.probabilities(scores), [sum(target.own_examples(q)) for q in range(len(truth))]
        self.searches.learn(self.offers(odds, row), own, truth, examples, w)
        target.learn(said, scores, truth, settled, w)
        if max(truth, default=-1) >= 0:
            for k in self.make:
                scouts = self.find_scouts(k, odds)
                for q, y in enumerate(truth):
                    if y >= 0:
                        self.move_weights(k, q, y, odds, scouts if y else [])
            self.train_all(row, truth, odds)
        target.seen += 1

    def compare_voices(self, said, scores, truth, w):
        """Count the errors of all voices, and with no or silent neighbours; judge now and then if these help enough."""
        target = self.streams[TARGET]
        for q, y in enumerate(truth):
            if y >= 0:
                without = target.blend(q, {k: said[q][k] for k in self.make})
                hedged = target.blend(q, said[q] | {NEIGHBOURS: 0.5})
                target.errors[q][TOGETHER].count(scores[q], y, w)
                target.errors[q][WITHOUT].count(without, y, w)
                target.errors[q][HEDGED].count(hedged, y, w)
        if target.seen % RARELY == 0:
            together, *others = (
                sum(record[k].value() for record in target.errors) for k in (TOGETHER, WITHOUT, HEDGED)
            )
            self.quiet = together > (1 - EARNED) * min(others)

    def find_scouts(self, k, odds):
        """Return those of the pool that score highest, unless all are guests of all labels."""
        if len(self.pool) <= self.limit:
            return []
        return sorted(self.floors, key=lambda place: (-odds[k, place], place))[:SCOUTS]

    def is_helped(self, k, q, odds):
        """Tell whether a label has a warm learner, or searches among sources of which one is awake."""
        awake = [place for place in self.pool if place[0] != TARGET and odds[k, place] != 0]
        return self.began[q] == NAMESAKE or (self.began[q] == SEARCHING and bool(awake))

    def step(self, q, y, helped):
        """Return how far the weights of a label move; further at first if it is searched for."""
        target = self.streams[TARGET]
        larger = max(target.class_weight(q, 0), target.class_weight(q, 1))
        step = RATE * target.class_weight(q, y) * min(1, LARGEST_CLASS_WEIGHT / larger) * min(self.importance, HEAVIEST)
        hasty = helped and self.began[q] == SEARCHING
        return step * (1 + HASTE / (1 + sum(target.own_examples(q)) / SEARCHED)) if hasty else step

    def own_bound(self, q, y):
        """Return the largest log odds of a label's own learner that count while the label is helped."""
        before = self.streams[TARGET].own_examples(q)
        before[y] -= self.importance
        return min(SUREST, math.log(1 + max(0, min(before))))

    def lift(self, k, q, least):
        """Let no weight of a label be below its floor."""
        weights = self.weights[k, q]
        lifted = {place: floor for place, floor in least.items() if place in weights.guests}
        for place, prior in {
            (TARGET, 1, q): YOUNG_PRIOR,
            **{(s, 0, q): OWN_PRIOR for s in range(len(self.streams))},
        }.items():
            if place in weights.log:
                lifted[place] = math.log(SHARE * prior) + weights.total
        for place, floor in lifted.items():
            weights.log[place] = max(weights.log.get(place, -math.inf), floor)

    def move_weights(self, k, q, y, odds, scouts):
        weights, helped = self.weights[k, q], self.is_helped(k, q, odds)
        step = self.step(q, y, helped)
        least = {place: floor + weights.total for place, floor in self.floors.items()}
        self.lift(k, q, least)

        def said(place):
            """Return the probability that a candidate gave to the true class."""
            bound = self.own_bound(q, y) if helped and place == (TARGET, 0, q) else SUREST
            p = probability(min(max(odds[k, place], -bound), bound))
            return p if y else 1 - p

        def sleeps(place):
            return place[0] != TARGET and odds[k, place] == 0

        awake = {place: share for place, share in weights.share.items() if not sleeps(place)}
        together = sum(share * said(place) for place, share in awake.items()) / sum(awake.values()) if awake else 0.5

        def moved(place, log):
            kept = sleeps(place) and place in weights.guests
            return log + step * math.log(together if kept else said(place))

        for place in weights.log:
            weights.log[place] = moved(place, weights.log[place])
        floors = {candidates.YOUNG: [weights.total + math.log(SHARE * YOUNG_PRIOR)], candidates.GUEST: least.values()}
        for kind, silent in weights.silent.items():
            weights.silent[kind] = max([silent, *floors[kind]]) + step * math.log(0.5)
        weights.send_scouts({place: moved(place, least[place]) for place in scouts}, self.stays(q))
        weights.find_leaders()
        for giver, share in weights.share.items():
            if share > TAKEN_OVER and giver != (giver[0], 0, q):
                self.inherit(k, q, giver)
                odds[k, (giver[0], 0, q)] = odds[k, giver]
                return

    def inherit(self, k, q, giver):
        """Let a label's learner in the giver's room become a copy of it."""
        room, part, label = giver
        heir, target = (room, 0, q), self.streams[TARGET]
        model = self.models[k, giver]
        if room == TARGET and part > 1:
            self.models[k, heir] = model.copy(KEPT_POSITIVES if k == BAYES else KEPT_SQUARES)
        else:
            self.models[k, heir] = model.copy()
        if room != TARGET and sum(target.own_examples(q)) < FEW_EXAMPLES:
            self.inherit_threshold(room, label, q, FOUND_EXAMPLES)
        self.weights[k, q].hand_over(giver, heir)
        self.weights[k, q].find_leaders()
        role = SOURCE if room else YOUNG if part == 1 else SNAPSHOT
        self.events.append((target.seen, q, k, (role, room, label)))

    def train_all(self, row, truth, odds):
        """Train own, warm and young learners; then renew the young and take snapshots."""
        target = self.streams[TARGET]
        if self.neighbours:
            self.neighbours.remember(row, list(truth), self.importance)
        for stream in self.streams:
            stream.scales.observe(row)
        lesson = [self.lesson(q, y) for q, y in enumerate(truth)]
        for k, (room, part, q) in self.models:
            if part == 0 or (room, part) == (TARGET, 1):
                place, y = (room, part, q), lesson[q] if part else truth[q]
                self.train(k, place, row, target, q, y, odds[k, place])
        taken = False
        for q, y in enumerate(truth):
            if y >= 0:
                self.since[q][y] += 1
                self.renew_young(q)
                taken |= self.take_snapshot(q)
        if taken:
            self.set_floors()

    def lesson(self, q, y):
        """Return the class that a young learner is to learn, and count it; -1: it has had enough negative examples."""
        if y < 0 or (y == 0 and self.young[q][0] >= NEGATIVES * (self.young[q][1] + NEGATIVES)):
            return -1
        self.young[q][y] += 1
        return y

    def renew_young(self, q):
        if self.young[q][1] < YOUNG_FOR:
            return
        self.young[q] = [0, 0]
        self.start((TARGET, 1, q))
        for k in self.make:
            weights = self.weights[k, q]
            weights.withdraw((TARGET, 1, q), (TARGET, 0, q))
            weights.log[TARGET, 1, q] = weights.silent[candidates.YOUNG] = weights.total - 3 * BEHIND

    def take_snapshot(self, q):
        if self.slots == 0 or min(self.since[q]) < RARER_CLASS or sum(self.since[q]) < LEAST_EXAMPLES:
            return False
        self.since[q] = [0, 0]
        self.taken[q] += 1
        slot = max(s for s in range(self.slots) if self.taken[q] % 2**s == 0)
        place = (TARGET, 2 + slot, q)
        self.alive.add(place)
        for k in self.make:
            self.models[k, place] = self.models[k, (TARGET, 0, q)].copy()
            for other in range(len(self.began)):
                self.weights[k, other].withdraw(place, (TARGET, 0, other))
        self.join(place)
        return True

    def signal(self, q):
        for k in self.make:
            weights = self.weights[k, q]
            first = {h: floor - math.log(SHARE) for h, floor in self.floors.items() if h in weights.guests}
            learners = {(room, 0, q) for room in range(len(self.streams))} & weights.log.keys()
            first |= dict.fromkeys(learners, math.log(OWN_PRIOR)) | {(TARGET, 1, q): math.log(YOUNG_PRIOR)}
            weights.silent = dict.fromkeys(weights.silent, -math.inf)
            weights.log = {place: weights.total + part for place, part in first.items()}
            weights.find_leaders()
        self.young[q] = [0, 0]
        self.start((TARGET, 1, q))
        if self.neighbours:
            self.neighbours.forget_label(q)
        self.events.append((self.streams[TARGET].seen, q, -1, None))

    def shares(self, q):
        """Return the shares of all that vote on a label, by kind, role, stream and label."""
        roles = [OWN, YOUNG, *[SNAPSHOT] * self.slots]
        found = {}
        for k in self.make:
            for (room, part, label), share in self.weights[k, q].share.items():
                role = (WARM, SOURCE)[part] if room else roles[part]
                key = (k, role, room, label)
                found[key] = found.get(key, 0.0) + share
        return found
