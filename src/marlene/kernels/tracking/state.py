"""The arrays of a tracker: classifiers in columns, what is known of each stream, and the weights of candidates.

A *room* holds the classifiers of one stream, which share the scales of its inputs. Room 0 is the target's. Its columns
come in blocks of one column per target label: the *own* learners, the *young* ones, and the *snapshots*. The room of a
source has a block of *warm* learners, one per target label, and a block of the source's own learners, one per label of
the source. Every column is a classifier of each *kind*: naive Bayes and linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.banks.linear import Linear, LinearSettings
from marlene.kernels.banks.naive_bayes import Bayes, BayesSettings
from marlene.kernels.banks.neighbours import Window, WindowSettings, WindowSpace
from marlene.kernels.banks.scales import FullRow, Scales
from marlene.kernels.compile import inlined
from marlene.kernels.decisions.cuts import Aims
from marlene.kernels.decisions.decide import Objective
from marlene.kernels.decisions.label_sets import LabelSets
from marlene.kernels.held import describe
from marlene.kernels.rows import Rows
from marlene.kernels.tracking.given import Given
from marlene.kernels.tracking.touched import Touched

if TYPE_CHECKING:
    from marlene._common.arrays import Bools, Floats, Ints, Labels

KINDS = 2
BAYES, LINEAR = range(KINDS)
NEIGHBOURS, VOICES = KINDS, KINDS + 1
"""What is blended: both kinds, and the target's nearest neighbours, which are no classifiers and not tracked."""
TOGETHER, WITHOUT, HEDGED, RECORDS = range(VOICES, VOICES + 4)
"""Whose errors are recorded, too: the blend of all; that without the neighbours; that with neighbours who always say
0.5, which is better where nothing can be learnt."""
TARGET = 0
"""The target's number among streams and rooms."""
ABSENT = -1e30
"""The logarithm of the weight of a column that is no candidate, or less."""
LEADERS = 8
"""How many candidates vote on a label at most."""
OWN_PLACE, YOUNG_PLACE = range(2)
"""The first places of a list of candidates."""
SCOUTS = 8
"""How many of the pool are considered for the lists of the labels of an example."""
EVENT_TIME, EVENT_KIND, EVENT_LABEL, EVENT_COLUMN, EVENT_WIDTH = range(5)
STALE, EVENTS, POOL, QUIET, CLOCKS = range(5)
"""Places of `Model.clock`: whether a source has learnt since the last row of the target; how many events there are;
how many columns have joined the pool; whether the neighbours help too little to be asked every time."""


OFFERED, LOG_NEGATIVE, LOG_POSITIVE, DECIDED, OFFERS = range(5)
"""What a source says of a label: its probability, logarithms of those of both classes, and whether it predicts it."""
SILENT_YOUNG, SILENT_GUEST = range(2)
"""Places of `Weights.silent`."""
STEP, INPUTS, MARKS = range(3)
"""Places of `WorkSpace.scored`: the step at which the present scores were made, and how many inputs the example has."""
NO_STEP = -1
NOT_YET, ALONE, NAMESAKE, SEARCHING = range(4)
"""How a label began: not yet; without help; with a source's label of the same name; among labels of other names."""


class Kinds(NamedTuple):
    """The classifiers of both kinds, the window of neighbours, and which of them are used.

    `used` are the kinds, `voices` the kinds and the neighbours.
    """

    bayes: Bayes
    bayes_settings: BayesSettings
    linear: Linear
    linear_settings: LinearSettings
    window: Window
    window_settings: WindowSettings
    used: Bools
    voices: Bools


class RoomScales(NamedTuple):
    """The scales of the inputs of all rooms: those of `Scales`, and `known`, the inputs a source itself has met."""

    met: Bools
    known: Bools
    seen: Ints
    times: Floats
    mean: Floats
    squares: Floats
    origin: Floats
    missing: Floats


class Rooms(NamedTuple):
    """The columns of each room, and the scales of its inputs.

    Attributes
    ----------
    first
        The first column of each room, and the end of the last.
    block
        The width of a block of target labels; there may be more columns than labels.
    """

    numeric: Ints
    scales: RoomScales
    first: Ints
    block: int


class Streams(NamedTuple):
    """What is known of the labels of every stream.

    Attributes
    ----------
    labels
        How many labels each stream has.
    seen
        How many examples each stream had.
    examples, lent
        Negative and positive examples (streams × labels × 2), those lent by sources included; and these alone.
    errors, counted
        `Blend` of each stream, with further records of the target (streams × records × labels × 2).
    counts, shares, cut, rows, judged
        `Cuts` of each stream.
    lines
        How probabilities follow from scores, see `calibration` (streams × labels × numbers).
    same
        For every stream and target label the stream's label of the same name, -1 if there is none.
    trust
        How much the labels of sources are trusted by target labels of other names.
    learnt
        Whether a source has learnt since.
    searched, search, alone
        For target labels that search (see `search`) the streams and labels that they may be (target labels × places ×
        2; stream 0: no more), how likely each is, as a logarithm, and how likely none of them; `ABSENT` if a label does
        not search.
    """

    labels: Ints
    seen: Ints
    examples: Floats
    lent: Floats
    errors: Floats
    counted: Floats
    counts: Floats
    shares: Floats
    cut: Ints
    rows: Floats
    judged: Ints
    lines: Floats
    same: Ints
    trust: Floats
    learnt: Bools
    searched: Ints
    search: Floats
    alone: Floats


class Weights(NamedTuple):
    """The weights of candidates, for every kind and target label.

    Attributes
    ----------
    log, candidate, size
        The lists of candidates: logarithms of weights, up to a constant, and columns (kinds × labels × places); how
        long they are.
    floor
        The least weight that a snapshot or a source's learner has for any label, as a logarithm.
    pool
        The columns that are, or were, to be candidates of all labels: snapshots, and learners of sources.
    total
        The logarithm of the leaders' weight: of the best, plus that of the sum of their says (see `TEMPER`).
    leaders, leader, share
        How many leaders there are, their columns and their shares of the weight.
    began
        How a label began, see `NOT_YET`.
    silent
        The logarithm of the weight of a candidate that always says 0.5, as the young learner and as guests have it:
        they are not heard below it (kinds × labels × 2).
    least
        The floor of all that have one (one number).
    """

    log: Floats
    candidate: Ints
    size: Ints
    floor: Floats
    pool: Ints
    total: Floats
    leaders: Ints
    leader: Ints
    share: Floats
    began: Ints
    silent: Floats
    least: Floats


class Growth(NamedTuple):
    """How old young learners and snapshots are.

    Attributes
    ----------
    young
        Negative and positive examples that each young learner has learnt.
    since
        Negative and positive examples of each label since its last snapshot.
    taken
        How many snapshots each label has had.
    alive
        Which snapshots there are (slots × labels).
    """

    young: Ints
    since: Ints
    taken: Ints
    alive: Bools


class WorkSpace(NamedTuple):
    """Work space: log odds of columns and their probabilities (kinds × columns), ln P(y) (kinds × 2 × columns).

    `full`: the present example with its zeros. `scouts`, see `lists`. `guests`: the floors of guests, and ln P(0) and
    ln P(1) as they say it. `said`: what voices say of labels; `scores`: the same blended; `odds`: their log odds;
    `probabilities`: from these; `choice`: for decisions; `work`: for training; `importance`: the weight of the present
    example; `offers`: what sources say of their labels (see `OFFERED`; × streams × labels); `scored`: of which example,
    and when, the scores here were made; `touched`: which inputs were learnt since when.
    """

    full: FullRow
    score: Floats
    chance: Floats
    logs: Floats
    said: Floats
    scores: Floats
    odds: Floats
    probabilities: Floats
    choice: Floats
    work: Floats
    slopes: Floats
    lesson: Labels
    scouts: Ints
    guests: Floats
    importance: Floats
    offers: Floats
    scored: Ints
    window: WindowSpace
    touched: Touched


class Model(NamedTuple):
    """Everything a tracker is.

    `sets`: which labels of the target occur together. `events`: who inherited when from which column, until the caller
    reads them. `steps`: how often kernels changed something; not saved. Kernels get it, with the objective, as a table
    (see `held`).
    """

    kinds: Kinds
    rooms: Rooms
    streams: Streams
    weights: Weights
    growth: Growth
    sets: LabelSets
    scratch: WorkSpace
    events: Ints
    clock: Ints
    steps: Ints
    objective: Objective


class Block(NamedTuple):
    """What is known of the labels of a block of rows, its weights, and where scores, probabilities and predictions go.

    If there is no room for scores, nothing but learning is wanted.
    """

    truth: Labels
    weights: Floats
    scores: Floats
    probabilities: Floats
    predictions: Labels

    def part(self, start: int, stop: int) -> Block:
        """Return what belongs to some of the rows."""
        rows = slice(start, stop)
        return Block(
            self.truth[rows], self.weights[rows], self.scores[rows], self.probabilities[rows], self.predictions[rows]
        )


class Task(NamedTuple):
    """A block of rows of inputs, for one call of a kernel; or room for a row, and an example that becomes this row."""

    rows: Rows
    block: Block
    given: Given


describe(
    {
        BayesSettings: (0, 0, 0),
        Bayes: (3, 2, 3, 3, 3, 2, 2, 2, 2, 2, 1),
        LinearSettings: (0, 0, 0),
        Linear: (2, 2, 1, 1, 1),
        WindowSettings: (0,),
        Window: (2, 1, 2, 2, 1, 1, 2, 2, 1),
        WindowSpace: (1, 1, 1, 1, 2),
        Kinds: (0, 0, 0, 0, 0, 0, 1, 1),
        RoomScales: (2, 2, 2, 2, 2, 2, 2, 2),
        Rooms: (1, 0, 1, 0),
        Streams: (1, 1, 3, 3, 4, 4, 4, 4, 2, 2, 2, 3, 2, 2, 1, 3, 2, 1),
        Weights: (3, 3, 2, 1, 1, 2, 2, 3, 3, 1, 3, 1),
        Growth: (2, 2, 1, 2),
        LabelSets: (2, 1, 1, 1, 1),
        Rows: (1, 1, 1),
        FullRow: (0, 1, 1),
        Touched: (1, 1, 1, 1, 2),
        WorkSpace: (0, 2, 2, 3, 2, 1, 1, 1, 2, 2, 1, 1, 1, 2, 1, 3, 1, 0, 0),
        Aims: (0, 0, 0, 0, 0),
        Objective: (0, 0, 0),
        Model: (0, 0, 0, 0, 0, 0, 0, 2, 1, 1, 0),
        Block: (2, 1, 2, 2, 2),
        Given: (1, 1, 1, 1),
        Task: (0, 0, 0),
    }
)


@inlined
def scales_of(rooms: Rooms, room: int) -> Scales:
    """Return the scales of a room."""
    scales = rooms.scales
    return Scales(
        rooms.numeric,
        scales.met[room],
        scales.seen[room],
        scales.times[room],
        scales.mean[room],
        scales.squares[room],
        scales.origin[room],
        scales.missing[room],
    )


@inlined
def own_examples(streams: Streams, q: int, y: int) -> float:
    """Return how many examples of class y a target label has had, without those lent."""
    return float(streams.examples[TARGET, q, y] - streams.lent[TARGET, q, y])


@inlined
def room_of(rooms: Rooms, column: int) -> int:
    """Return the room a column lies in."""
    room = 0
    while rooms.first[room + 1] <= column:
        room += 1
    return room


@inlined
def young_column(rooms: Rooms, q: int) -> int:
    """Return the column of a label's young learner."""
    return rooms.block + q


@inlined
def snapshot_column(rooms: Rooms, slot: int, q: int) -> int:
    """Return the column of a label's snapshot."""
    return (2 + slot) * rooms.block + q


@inlined
def source_column(rooms: Rooms, room: int, label: int) -> int:
    """Return the column of a source's learner."""
    return int(rooms.first[room] + rooms.block + label)


@inlined
def learner_column(rooms: Rooms, room: int, q: int) -> int:
    """Return the column of the learner of target label q in a room: its own, or a warm one."""
    return int(rooms.first[room] + q)
