"""An ensemble of Hoeffding trees over tasks, row by row: vote, watch for drift, learn, judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.ensemble.performance import predict_tasks, update_tasks
from marlene.kernels.ensemble.state import (
    ASK_DETECTORS,
    ASKED,
    DONE,
    GROW,
    JOBS,
    JUDGE,
    LEARN,
    PHASE,
    REACT,
    ROW,
    UNWATCHED,
    VOTE,
    WATCH,
    collect_jobs,
    offer_job,
    watch,
)
from marlene.kernels.forest.branches import new_space
from marlene.kernels.forest.frozen import frozen_vote, sum_up
from marlene.kernels.forest.leaves import BY_MAJORITY, add_one_present, decide, is_simple, rule_of, score
from marlene.kernels.forest.observers import entries_needed, surely_fits
from marlene.kernels.forest.state import LEAF
from marlene.kernels.forest.tables import order_for
from marlene.kernels.forest.trees import Example, close_row, count_numeric, learn, open_row, route

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.drift.detectors import DDMOCIArrays, DDMOCIParameters
    from marlene.kernels.ensemble.state import Jobs, Members, Tasks, Work
    from marlene.kernels.forest.branches import Space
    from marlene.kernels.forest.frozen import Frozen
    from marlene.kernels.forest.state import Forest, Settings
    from marlene.kernels.rows import Rows


class Views(NamedTuple):
    """An example as the members see it: as it is, or with the given label 0 and 1.

    Attributes
    ----------
    plain, given
        The example in its first and its second form; the same if there is only one. Both share one dense array, which
        holds the first.
    column
        The one feature in which the second form differs; -1 if there is none.
    """

    plain: Example
    given: Example
    column: int


@inlined
def _open(forest: Forest, rows: Rows, row: int, values: int, dense: Floats) -> Views:
    """Return the views of a row, whose values are written into `dense`; `close_row` clears it."""
    last = (values - 1) * ((len(rows.starts) - 1) // values) + row
    missing = open_row(rows, row, dense)
    plain = slice(rows.starts[row], rows.starts[row + 1])
    given = slice(rows.starts[last], rows.starts[last + 1])
    # The given label is no number, and stands where in the first form there is nothing: one count serves both.
    numeric, others = count_numeric(forest.kind, rows.indices[given], rows.values[given])
    return Views(
        Example(rows.indices[plain], rows.values[plain], dense, missing, numeric, others),
        Example(rows.indices[given], rows.values[given], dense, missing, numeric, others),
        _given_column(rows, row, last) if values > 1 else -1,
    )


@inlined
def _ask_one(
    forest: Forest,
    settings: Settings,
    members: Members,
    h: int,
    views: Views,
    clock: int,
    raw: Floats,
    frozen: Frozen,
    space: Space,
) -> None:
    """Let a member vote on an example, for each value it comes with."""
    out, dense = space.votes, views.plain.dense
    for value in range(len(members.positive)):
        example = views.plain
        if value > 0:
            example = views.given
            dense[views.column] = 1.0
        node, branch = route(forest, members.classifier[h], dense)
        at_leaf = node >= 0 and branch < 0
        rule = rule_of(forest, settings, node, members.learns[h]) if at_leaf else BY_MAJORITY
        leaf = forest.node[node, LEAF] if at_leaf else -1
        if 0 <= leaf < len(frozen.slot) and frozen.slot[leaf] > 0 and not example.missing:
            frozen_vote(frozen, leaf, views.column if value > 0 else -1, out)
            _note(members, value, h, node, branch, 0, out)
            continue
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


@subkernel
def _ask(
    forest: Forest,
    settings: Settings,
    members: Members,
    rows: Rows,
    row: int,
    count: int,
    clock: int,
    work: Work,
    frozen: Frozen,
    space: Space,
) -> None:
    """Let the first `count` members of the queue vote on a row."""
    if count == 0:
        return
    views = _open(forest, rows, row, len(members.positive), work.dense)
    if not views.plain.missing:
        sum_up(frozen, views.plain.indices)
    for i in range(count):
        _ask_one(forest, settings, members, work.queue[i], views, clock, work.scratch, frozen, space)
    close_row(rows, row, work.dense)


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
def _has_room(forest: Forest, members: Members, work: Work, rows: Rows, row: int) -> bool:
    """Tell whether the forest has room for everything the jobs can bring; if not, leave in `shortage` what it takes."""
    jobs, count, shortage = work.jobs, work.position[JOBS], work.shortage
    values = len(members.positive)
    place = len(rows.starts) - 1 - ((len(rows.starts) - 1) // values - row)  # with the most that can be stored
    stored = slice(rows.starts[place], rows.starts[place + 1])
    indices, values_stored = rows.indices[stored], rows.values[stored]
    numeric_stored, others = count_numeric(forest.kind, indices, values_stored)
    example = Example(indices, values_stored, work.dense, True, numeric_stored, others)
    presence = 0
    numeric = 0
    for j in range(count):
        h, value = jobs.member[j], jobs.value[j]
        node = members.node[value, h]
        leaf = forest.node[node, LEAF] if node >= 0 and members.branch[value, h] < 0 else -1
        if leaf < 0 or forest.inherit or not surely_fits(forest, leaf, example):
            more_presence, more_numeric = entries_needed(forest, leaf, example)
            presence += more_presence
            numeric += more_numeric
    shortage[0], shortage[1], shortage[2] = count, presence, numeric
    return bool(
        forest.node_top[0] + count * (2 << order_for(forest.widest)) <= len(forest.node_link)
        and forest.leaf_top[0] + count * (forest.widest + 1) <= len(forest.leaf_link)
        and forest.presence.top[0] + presence <= len(forest.presence.key)
        and forest.numeric.top[0] + numeric <= len(forest.numeric.key)
    )


@subkernel
def _train(
    forest: Forest,
    settings: Settings,
    members: Members,
    rows: Rows,
    row: int,
    work: Work,
    expected: bool,
    everyone: bool,
    clock: int,
    frozen: Frozen,
    space: Space,
) -> None:
    """Train the members of the jobs on a row, each given its value; if everyone is to vote, they do so again."""
    jobs, dense = work.jobs, work.dense
    views = _open(forest, rows, row, len(members.positive), dense)
    for j in range(work.position[JOBS]):
        h, value = jobs.member[j], jobs.value[j]
        if offer_job(members, jobs, j, expected) == 0:
            continue
        example = views.plain
        if value > 0:
            example = views.given
            dense[views.column] = 1.0
        learn(
            forest,
            settings,
            members.classifier[h],
            members.node[value, h],
            members.branch[value, h],
            members.bayes[value, h],
            example,
            jobs.truth[j],
            jobs.weight[j],
            space,
        )
        if value > 0:
            dense[views.column] = 0.0
        members.clock[h] = -1
        if everyone:
            _ask_one(forest, settings, members, h, views, clock, work.scratch, frozen, space)
    close_row(rows, row, dense)


@subkernel
def _learn(
    forest: Forest,
    settings: Settings,
    members: Members,
    tasks: Tasks,
    rows: Rows,
    row: int,
    truth: Labels,
    expected: bool,
    everyone: bool,
    now: int,
    work: Work,
    frozen: Frozen,
    space: Space,
) -> bool:
    """Train on a row, and let those that changed vote again if everyone is to; False if the forest is too small."""
    work.position[JOBS] = collect_jobs(tasks, truth, work.jobs)
    waiting = _those_without(members, work.jobs, work.position[JOBS], now, work.queue)
    _ask(forest, settings, members, rows, row, waiting, now, work, frozen, space)
    if not _has_room(forest, members, work, rows, row):
        return False
    _train(forest, settings, members, rows, row, work, expected, everyone, now, frozen, space)
    return True


@inlined
def _voters(members: Members, count: int, tasks: Tasks, everyone: bool, queue: Ints) -> int:
    """Write who votes on a new example; return how many."""
    if not everyone:
        for task in range(len(tasks.latest)):
            queue[task] = tasks.latest[task]
        return len(tasks.latest)
    waiting = 0
    for h in range(count):
        if members.active[h] > 0.0:
            queue[waiting] = h
            waiting += 1
    return waiting


@inlined
def _those_without(members: Members, jobs: Jobs, n_jobs: int, now: int, queue: Ints) -> int:
    """Write the members of the jobs whose votes are not about the example at hand, or outdated; return how many."""
    waiting = 0
    for j in range(n_jobs):
        if members.clock[jobs.member[j]] != now:
            queue[waiting] = jobs.member[j]
            waiting += 1
    return waiting


@inlined
def _announce(members: Members, count: int, records: Floats, probabilities: Floats, work: Work) -> None:
    """Write P(label) of every task if it is wanted, and what members that know a given label said."""
    if probabilities.shape[1] > 0:
        votes = members.positive[0], members.negative[0]
        predict_tasks(records, votes[0], votes[1], count, work.scratch, probabilities[0])
    if len(members.positive) > 1:
        for value in range(len(members.positive)):
            for h in range(count):
                work.before[0, value, h] = members.positive[value, h]
                work.before[1, value, h] = members.negative[value, h]


@kernel
def run(
    forest: Forest,
    settings: Settings,
    members: Members,
    count: int,
    records: Floats,
    tasks: Tasks,
    rows: Rows,
    truth: Labels,
    everyone: bool,
    probabilities: Floats,
    detectors: DDMOCIArrays,
    parameters: DDMOCIParameters,
    watching: int,
    expected: bool,
    clock: int,
    work: Work,
    frozen: Frozen,
) -> int:
    """Vote on rows, watch, learn and judge, from `work.position` on, as far as that goes without the caller.

    Parameters
    ----------
    count
        How many places of the members are in use.
    truth
        Labels of the rows; without a row of it, nothing is learnt.
    everyone
        Whether all members vote, and the records of the tasks are kept; else only the latest of the tasks vote.
    probabilities
        Where P(label) of every task goes, if it has columns.
    watching
        Whether no detectors are asked, those given, or others, by the caller.
    clock
        The number of the first row's example.
    frozen
        What is written down of trees that learn no more.
    """
    space = new_space(forest.widest, forest.node_count.shape[1], len(forest.kind))
    position = work.position
    pairs = len(members.positive) > 1
    n = (len(rows.starts) - 1) // len(members.positive)
    while position[ROW] < n:
        row = position[ROW]
        now = clock + row
        if position[PHASE] == VOTE:
            waiting = _voters(members, count, tasks, everyone, work.queue)
            _ask(forest, settings, members, rows, row, waiting, now, work, frozen, space)
            _announce(members, count, records, probabilities[row : row + 1], work)
            position[PHASE] = WATCH
        if len(truth) > 0:
            if position[PHASE] == WATCH:
                if watching == ASKED:
                    return ASK_DETECTORS
                position[PHASE] = LEARN
                if watch(members, tasks, truth[row], detectors, parameters, watching == UNWATCHED):
                    return REACT
            if not _learn(
                forest, settings, members, tasks, rows, row, truth[row], expected, everyone, now, work, frozen, space
            ):
                return GROW
            if everyone:
                votes = members.positive[0], members.negative[0]
                update_tasks(records, votes[0], votes[1], truth[row], members.active, count, work.scratch)
        position[PHASE] = VOTE
        position[ROW] += 1
        if pairs and everyone:
            return JUDGE
    return DONE
