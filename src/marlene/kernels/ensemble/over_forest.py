"""An ensemble of Hoeffding trees, row by row: vote, watch for drift, learn, judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import borrower, inlined, subkernel
from marlene.kernels.drift.detectors import BalancedArrays, BalancedParameters, DDMOCIArrays, DDMOCIParameters
from marlene.kernels.ensemble import state
from marlene.kernels.ensemble.performance import Bar, Votes, predict_tasks, update_tasks
from marlene.kernels.ensemble.state import Heard, Jobs, Members, Tasks, Voters, Watch, Work
from marlene.kernels.forest.branches import Space
from marlene.kernels.forest.frozen import TREES, Frozen, frozen_vote, rule_out, sum_up
from marlene.kernels.forest.leaves import BY_MAJORITY, add_one_present, decide, is_simple, rule_of, score
from marlene.kernels.forest.observers import (
    entries_needed,
    find_present,
    request_counts,
    request_present,
    surely_fits,
)
from marlene.kernels.forest.state import NODE_COLUMNS, Forest, Settings
from marlene.kernels.forest.tables import Arena
from marlene.kernels.forest.trees import Arrival, Example, count_numeric, has_room, leaf_at, learn, root_of, route
from marlene.kernels.held import describe, held
from marlene.kernels.prefetch import prefetch
from marlene.kernels.rows import close_row, open_row

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.ensemble.state import Batch
    from marlene.kernels.rows import Rows


GROUP = 16
"""How many trees are approached before the first of them votes: what they need of memory comes meanwhile."""


class Trees(NamedTuple):
    """The trees that vote and learn: the forest, its settings, what is written down of old trees, and work space."""

    forest: Forest
    settings: Settings
    frozen: Frozen
    space: Space


class Scene(NamedTuple):
    """All that takes rows forward, but the rows: trees, members, their records (see `Voters`), tasks, detectors."""

    trees: Trees
    members: Members
    records: Floats
    tasks: Tasks
    watch: Watch
    work: Work


describe(
    {
        Arena: (1, 3, 3, 2, 1, 1, 1),
        Forest: (2, 2, 1, 2, 1, 1, 1, 2, 2, 3, 3, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0),
        Settings: (0,) * 9,
        Frozen: (1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1),
        Space: (2, 1, 2, 1, 1, 1, 1, 2),
        Trees: (0, 0, 0, 0),
        Members: (1, 2, 1, 1, 1, 2, 2, 2, 2, 2, 1, 1),
        Tasks: (1,) * 6,
        DDMOCIArrays: (1, 1, 1, 1, 2, 2, 2, 1, 2, 2, 1),
        DDMOCIParameters: (0,) * 6,
        BalancedArrays: (1, 1, 1, 1, 1, 2, 2, 2, 1),
        BalancedParameters: (0,) * 5,
        Watch: (0,) * 5,
        Jobs: (1,) * 4,
        Heard: (3, 1),
        Work: (0, 1, 0, 2, 1, 2, 1),
        Scene: (0, 0, 3, 0, 0, 0),
    }
)


class Views(NamedTuple):
    """An example as the members see it: once as it is, or twice, with the given label 0 and 1.

    Attributes
    ----------
    plain, given
        Both forms of the example; the same if there is only one. They share one dense array, which holds the first.
    column
        The given label's column, in which the forms differ; -1 if there is only one form.
    prefix
        Whether the first form is how the second begins.
    """

    plain: Example
    given: Example
    column: int
    prefix: bool


@inlined
def _open(trees: Trees, rows: Rows, row: int, values: int, dense: Floats) -> Views:
    """Return the views of a row, whose values are written into `dense`; `close_row` clears it."""
    forest, places = trees.forest, trees.space.places
    last = (values - 1) * ((len(rows.starts) - 1) // values) + row
    missing = open_row(rows, row, dense)
    plain = slice(rows.starts[row], rows.starts[row + 1])
    given = slice(rows.starts[last], rows.starts[last + 1])
    column = _given_column(rows, row, last) if values > 1 else -1
    # The given label is no number, and stands where in the first form there is nothing: one count serves both.
    numeric, others = count_numeric(forest.kind, rows.indices[given], rows.values[given])
    return Views(
        Example(rows.indices[plain], rows.values[plain], dense, missing, numeric, others, places, 0),
        Example(rows.indices[given], rows.values[given], dense, missing, numeric, others, places, 0),
        column,
        column < 0 or column == rows.indices[rows.starts[last + 1] - 1],
    )


@inlined
def _noted(example: Example, notes: Ints, h: int) -> Example:
    """Return an example with the places that were noted for a member; otherwise they have to be found."""
    if notes[h, 0] == 0:
        return example
    dense, missing, numeric, others = example.dense, example.missing, example.n_numeric, example.others
    return Example(example.indices, example.values, dense, missing, numeric, others, notes[h, 1:], notes[h, 0])


@inlined
def _ask_one(trees: Trees, members: Members, h: int, views: Views, clock: int, begun: bool, work: Work) -> None:
    """Let a member vote on both forms of an example; if `begun`, its tree is entered where the last vote left it."""
    forest, settings, space = trees.forest, trees.settings, trees.space
    out, dense, raw = space.votes, views.plain.dense, work.scratch
    for value in range(len(members.positive)):
        example = views.plain
        if value > 0:
            example = views.given
            dense[views.column] = 1.0
        start = members.node[value, h] if begun else root_of(forest, members.classifier[h])
        node, branch = route(forest, start, dense)
        at_leaf = node >= 0 and branch < 0
        if value == 0 and node == members.node[0, h]:
            example = _noted(example, work.notes, h)
        rule = rule_of(forest, settings, node, members.learns[h]) if at_leaf else BY_MAJORITY
        leaf = leaf_at(forest, node, branch)
        if rule != BY_MAJORITY and value > 0 and node == members.node[0, h] and is_simple(forest, leaf, example):
            # All but one feature said the same when it was 0.
            out[0], out[1] = raw[0, h], raw[1, h]
            add_one_present(forest, leaf, views.column, out)
        elif rule != BY_MAJORITY:
            score(forest, settings, node, example, space, out)
            raw[0, h], raw[1, h] = out[0], out[1]
        bayes = decide(forest, node, rule, out)
        _note(members, value, h, node, branch, bayes, out)
    if views.column >= 0:
        dense[views.column] = 0.0
    members.clock[h] = clock


@inlined
def _approach(forest: Forest, members: Members, h: int, views: Views) -> None:
    """Note where an example falls in a member's tree, and request what the vote will read there first."""
    node, branch = route(forest, members.node[0, h], views.plain.dense)
    members.node[0, h], members.branch[0, h] = node, branch
    if node >= 0 and branch < 0:
        request_present(forest, leaf_at(forest, node, branch), views.plain)


@inlined
def _enter(forest: Forest, members: Members, h: int) -> None:
    """Let an example enter a member's tree, and request the root."""
    root = root_of(forest, members.classifier[h])
    for value in range(len(members.positive)):
        members.node[value, h] = root
    prefetch(forest.node, max(root, 0) * NODE_COLUMNS)


@inlined
def _look(trees: Trees, members: Members, h: int, views: Views, notes: Ints) -> None:
    """Note the places of an example's values in the leaf it reaches, and request what is counted there."""
    forest, node = trees.forest, members.node[0, h]
    leaf, some = leaf_at(forest, node, members.branch[0, h]), len(views.plain.indices)
    notes[h, 0] = 0
    if leaf < 0 or views.plain.n_numeric == some or len(views.given.indices) >= notes.shape[1]:
        return
    if rule_of(forest, trees.settings, node, members.learns[h]) != BY_MAJORITY:
        plain, places = views.plain, notes[h, 1:]
        dense, missing, numeric, others = plain.dense, plain.missing, plain.n_numeric, plain.others
        find_present(forest, leaf, Example(plain.indices, plain.values, dense, missing, numeric, others, places, 0))
        notes[h, 0] = some
        request_counts(forest, leaf, _noted(plain, notes, h))


@inlined
def _place_of(frozen: Frozen, members: Members, h: int) -> int:
    """Return the number of a member's tree among the frozen ones, or -1."""
    tree = members.classifier[h]
    return int(frozen.place[tree]) - 1 if tree < len(frozen.place) else -1


@inlined
def _ask_frozen(frozen: Frozen, members: Members, queue: Ints, views: Views, clock: int, out: Floats) -> None:
    """Let the frozen members of a queue vote on both forms of an example."""
    sum_up(frozen, views.plain.indices)
    for value in range(len(members.positive)):
        if value > 0:
            rule_out(frozen, views.column)
        for h in queue:
            place = _place_of(frozen, members, h)
            if place >= 0:
                frozen_vote(frozen, place, views.column if value > 0 else -1, out)
                members.negative[value, h], members.positive[value, h] = out[0], out[1]
                members.clock[h] = clock


@subkernel
def _ask(trees: Trees, members: Members, batch: Batch, row: int, count: int, frozen_too: bool, work: Work) -> None:
    """Let the first `count` members of the queue vote on a row; `frozen_too`: some may be frozen."""
    if count == 0:
        return
    views, frozen = _open(trees, batch.rows, row, len(members.positive), work.dense), trees.frozen
    quick = frozen_too and frozen.sizes[TREES] > 0 and not views.plain.missing
    if quick:
        _ask_frozen(frozen, members, work.queue[:count], views, batch.clock + row, trees.space.votes)
    for first in range(0, count, GROUP):
        group = work.queue[first : min(first + GROUP, count)]
        for step in range(4):
            for h in group:
                if quick and _place_of(frozen, members, h) >= 0:
                    continue
                if step == 0:
                    _enter(trees.forest, members, h)
                elif step == 1:
                    _approach(trees.forest, members, h, views)
                elif step == 2:
                    _look(trees, members, h, views, work.notes)
                else:
                    _ask_one(trees, members, h, views, batch.clock + row, True, work)
    close_row(batch.rows, row, work.dense)


@inlined
def _note(members: Members, value: int, h: int, node: int, branch: int, bayes: int, votes: Floats) -> None:
    members.node[value, h] = node
    members.branch[value, h] = branch
    members.bayes[value, h] = bayes
    members.negative[value, h] = votes[0]
    members.positive[value, h] = votes[1]


@inlined
def _given_column(rows: Rows, row: int, place: int) -> int:
    """Return the one column that a row has in its second form and not in its first."""
    first, second = rows.starts[row], rows.starts[place]
    for j in range(rows.starts[row + 1] - first):
        if rows.indices[first + j] != rows.indices[second + j]:
            return int(rows.indices[second + j])
    return int(rows.indices[rows.starts[place + 1] - 1])


@subkernel
def _has_room(forest: Forest, members: Members, work: Work, batch: Batch, row: int) -> bool:
    """Tell whether the forest has room for everything the jobs can bring; write into `shortage` what that takes."""
    rows, jobs, count, shortage = batch.rows, work.jobs, batch.position[state.JOBS], work.shortage
    values = len(members.positive)
    place = len(rows.starts) - 1 - ((len(rows.starts) - 1) // values - row)  # with the most that can be stored
    stored = slice(rows.starts[place], rows.starts[place + 1])
    indices, values_stored = rows.indices[stored], rows.values[stored]
    numeric_stored, others = count_numeric(forest.kind, indices, values_stored)
    example = Example(indices, values_stored, work.dense, True, numeric_stored, others, indices, 0)
    presence = 0
    numeric = 0
    for j in range(count):
        h, value = jobs.member[j], jobs.value[j]
        node = members.node[value, h]
        leaf = leaf_at(forest, node, members.branch[value, h])
        if leaf < 0 or forest.inherit or not surely_fits(forest, leaf, example):
            more_presence, more_numeric = entries_needed(forest, leaf, example)
            presence += more_presence
            numeric += more_numeric
    shortage[0], shortage[1], shortage[2] = count, presence, numeric
    return has_room(forest, count, presence, numeric)


@subkernel
def _train(trees: Trees, members: Members, batch: Batch, row: int, expected: bool, work: Work) -> None:
    """Train the members of the jobs on a row, each given its value; they vote again if everyone votes."""
    jobs, dense, notes = work.jobs, work.dense, work.notes
    views = _open(trees, batch.rows, row, len(members.positive), dense)
    for j in range(batch.position[state.JOBS]):
        h, value = jobs.member[j], jobs.value[j]
        if state.offer_job(members, jobs, j, expected) == 0:
            continue
        example = views.plain
        if value > 0:
            example = views.given
            dense[views.column] = 1.0
        if members.node[value, h] == members.node[0, h]:
            if value > 0 and not views.prefix:
                notes[h, 0] = 0
            example = _noted(example, notes, h)
        arrival = Arrival(
            members.classifier[h], members.node[value, h], members.branch[value, h], members.bayes[value, h]
        )
        learn(trees.forest, trees.settings, arrival, example, jobs.truth[j], jobs.weight[j], trees.space)
        if value > 0:
            dense[views.column] = 0.0
        members.clock[h] = -1
        if batch.everyone:
            begun = arrival.node >= 0 and arrival.branch < 0  # no leaf was made
            _ask_one(trees, members, h, views, batch.clock + row, begun, work)
    close_row(batch.rows, row, dense)


@subkernel
def _learn(
    trees: Trees, members: Members, tasks: Tasks, batch: Batch, row: int, truth: Labels, expected: bool, work: Work
) -> bool:
    """Train on a row, and let changed members vote again if everyone votes; False if the forest is too small."""
    batch.position[state.JOBS] = state.collect_jobs(tasks, truth, work.jobs)
    waiting = _those_without(members, work.jobs, batch.position[state.JOBS], batch.clock + row, work.queue)
    _ask(trees, members, batch, row, waiting, False, work)
    if not _has_room(trees.forest, members, work, batch, row):
        return False
    _train(trees, members, batch, row, expected, work)
    return True


@inlined
def _queue_voters(voters: Voters, tasks: Tasks, everyone: bool, queue: Ints) -> int:
    """Write who votes on a new example; return how many."""
    if not everyone:
        for task in range(len(tasks.latest)):
            queue[task] = tasks.latest[task]
        return len(tasks.latest)
    waiting = 0
    for h in range(voters.used):
        if voters.members.active[h] > 0.0:
            queue[waiting] = h
            waiting += 1
    return waiting


@inlined
def _those_without(members: Members, jobs: Jobs, n_jobs: int, now: int, queue: Ints) -> int:
    """Write the members of the jobs that have not voted on this example, or changed since; return how many."""
    waiting = 0
    for j in range(n_jobs):
        if members.clock[jobs.member[j]] != now:
            queue[waiting] = jobs.member[j]
            waiting += 1
    return waiting


@inlined
def _announce(voters: Voters, tasks: Tasks, batch: Batch, row: int, work: Work) -> None:
    """Write P(label) of every task if wanted, and keep the votes of members that know a given label."""
    members = voters.members
    if batch.probabilities.shape[1] > 0:
        votes = Votes(members.positive[0], members.negative[0], members.active)
        bar = Bar(members.proving, tasks.latest)
        predict_tasks(voters.records, votes, bar, voters.used, work.scratch, batch.probabilities[row])
    if len(members.positive) > 1 and batch.everyone:
        state.hear_vote(work.heard, members, voters.used)


@borrower
def advance_forest(table: Ints, used: int, batch: Batch, expected: bool) -> int:
    """Vote on rows, watch, learn and judge, from `batch.position` on, until the caller is needed; return why.

    Parameters
    ----------
    table
        That of a `Scene`.
    used
        How many places of the members are in use.
    batch
        The rows.
    expected
        Whether an example's weight is the nearest whole number to its expectation, not drawn.
    """
    scene = held(table, Scene)
    trees, members, tasks, watch, work = scene.trees, scene.members, scene.tasks, scene.watch, scene.work
    voters, position, truth = Voters(members, used, scene.records), batch.position, batch.truth
    pairs = len(members.positive) > 1
    n = (len(batch.rows.starts) - 1) // len(members.positive)
    while position[state.ROW] < n:
        row = position[state.ROW]
        if position[state.PHASE] == state.VOTE:
            waiting = _queue_voters(voters, tasks, batch.everyone, work.queue)
            _ask(trees, members, batch, row, waiting, True, work)
            _announce(voters, tasks, batch, row, work)
            position[state.PHASE] = state.WATCH
        if len(truth) > 0:
            status = state.watch_row(members, tasks, truth[row], watch, position)
            if status != state.DONE:
                return status
            if not _learn(trees, members, tasks, batch, row, truth[row], expected, work):
                return state.GROW
            if batch.everyone and len(voters.records) > 0:
                votes = Votes(members.positive[0], members.negative[0], members.active)
                update_tasks(voters.records, votes, truth[row], voters.used, work.scratch)
        position[state.PHASE] = state.VOTE
        position[state.ROW] += 1
        if pairs and batch.everyone and state.hear_judgement(work.heard, members, voters.used):
            return state.JUDGE
    return state.DONE
