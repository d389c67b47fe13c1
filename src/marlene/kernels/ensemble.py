"""An ensemble of Hoeffding trees over tasks, row by row: vote, watch for drift, learn, judge.

A *sub-classifier* is a tree, the numbers of positive and negative examples it was offered, and the key of its random
numbers. Those that do not vote (background classifiers) are not active. A task is a label, or a label given the value
of another; sub-classifiers of the latter sort see that value as one more feature, and vote for each value it can have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.detectors import DRIFT, IN_CONTROL, WARNING, ddm_oci_step
from marlene.kernels.forest import Example, close_row, learn, open_row, route
from marlene.kernels.forest_state import LEAF
from marlene.kernels.leaves import BY_MAJORITY, add_one_present, decide, is_simple, rule_of, score
from marlene.kernels.observers import entries_needed, surely_fits
from marlene.kernels.performance import predict_tasks, update_tasks
from marlene.kernels.resampling import learning_weight
from marlene.kernels.splits import new_space
from marlene.kernels.tables import order_for

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from marlene.kernels.detectors import DDMOCIArrays, DDMOCIParameters
    from marlene.kernels.forest import Rows
    from marlene.kernels.forest_state import Floats, Forest, Ints, Settings
    from marlene.kernels.splits import Space

VOTE, WATCH, LEARN = range(3)
"""What is to be done with a row next."""
DONE, ASK_DETECTORS, REACT, GROW, JUDGE = range(5)
"""Why `run` returns: all is done; it cannot ask these detectors itself; a task changes; the forest is too small; a row
is done, and the records of pairs are kept elsewhere."""
UNWATCHED, WATCHED, ASKED = range(3)
"""Which detectors watch: none, those `run` is given, or those its caller asks."""
UNSEEN = 3
"""In place of a detector's answer: the truth was not known."""
ROW, PHASE, JOBS = range(3)
"""Places of `Work.position`."""


class Members(NamedTuple):
    """The sub-classifiers of an ensemble.

    Attributes
    ----------
    tree
        The tree of each in the forest.
    offered
        How many negative and positive examples each was offered.
    key
        What its random numbers depend on.
    active
        1 for those that vote, else 0.
    learns
        Whether it is trained any more.
    positive, negative
        Their votes on the example at hand (values of the given label × sub-classifiers).
    node, branch, bayes
        Where that example comes to in their trees, and naive Bayes' class there.
    clock
        The number of the example these last five are about.
    """

    tree: Ints
    offered: Ints
    key: npt.NDArray[np.uint64]
    active: Floats
    learns: npt.NDArray[np.bool_]
    positive: Floats
    negative: Floats
    node: Ints
    branch: Ints
    bayes: Ints
    clock: Ints


class Tasks(NamedTuple):
    """The tasks of a stream.

    Attributes
    ----------
    latest, background
        The sub-classifier that learns each task, and the one that is trained beside it, -1 if there is none.
    detector
        The detector that watches it.
    label, given
        The columns of its label and of the label it depends on, -1 if on none.
    signal
        What its detector said of the example at hand.
    """

    latest: Ints
    background: Ints
    detector: Ints
    label: Ints
    given: Ints
    signal: npt.NDArray[np.uint8]


class Jobs(NamedTuple):
    """What is learnt from an example: which members, of which class, given which value, and with which weight."""

    member: Ints
    truth: Ints
    value: Ints
    weight: Ints


class Work(NamedTuple):
    """What `run` works with beside the ensemble.

    Attributes
    ----------
    position
        Row and phase of it, and the number of jobs.
    jobs
        What is learnt from the row.
    queue
        Members that are to vote.
    before
        Votes for and against of members that know a given label, as they were before training (2 × values × members).
    scratch
        Two numbers for each member.
    dense
        A row's values, all zero between rows.
    shortage
        How many jobs, and entries of the presence and the numeric table, the forest lacks room for.
    """

    position: Ints
    jobs: Jobs
    queue: Ints
    before: Floats
    scratch: Floats
    dense: Floats
    shortage: Ints


@inlined
def known_task(tasks: Tasks, task: int, truth: npt.NDArray[np.int8]) -> bool:
    """Tell whether the truth about a task, and the value it depends on, are known."""
    given = tasks.given[task]
    return bool(truth[tasks.label[task]] >= 0 and (given < 0 or truth[given] >= 0))


@inlined
def value_of(tasks: Tasks, task: int, labels: npt.NDArray[np.int8]) -> int:
    """Return the value a task depends on, 0 if it depends on none."""
    given = tasks.given[task]
    return int(labels[given]) if given >= 0 else 0


@inlined
def changes(tasks: Tasks, task: int) -> bool:
    """Tell whether what a detector said takes more than training: a background classifier comes, goes or takes over."""
    signal, alone = tasks.signal[task], tasks.background[task] < 0
    return bool(signal == DRIFT or (signal == WARNING and alone) or (signal == IN_CONTROL and not alone))


@subkernel
def collect_jobs(tasks: Tasks, truth: npt.NDArray[np.int8], jobs: Jobs) -> int:
    """Write what is to be learnt from an example, the latest first; return how much."""
    count = 0
    for background in range(2):
        for task in range(len(tasks.latest)):
            signal = tasks.signal[task]
            if signal == UNSEEN or (background and signal != WARNING):
                continue
            jobs.member[count] = tasks.background[task] if background else tasks.latest[task]
            jobs.truth[count] = truth[tasks.label[task]]
            jobs.value[count] = value_of(tasks, task, truth)
            count += 1
    return count


@inlined
def offer_job(members: Members, jobs: Jobs, j: int, expected: bool) -> int:
    """Count the example of a job as offered, and return the weight it is learnt with."""
    h, y = jobs.member[j], jobs.truth[j]
    members.offered[h, y] += 1
    weight = learning_weight(members.key[h], members.offered[h, 1], members.offered[h, 0], y, expected)
    jobs.weight[j] = weight
    return weight


@kernel
def offer(members: Members, tasks: Tasks, truth: npt.NDArray[np.int8], jobs: Jobs, expected: bool) -> int:
    """Write what is to be learnt from an example, and with which weights; return how much."""
    count = collect_jobs(tasks, truth, jobs)
    for j in range(count):
        offer_job(members, jobs, j, expected)
    return count


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
    space: Space,
) -> None:
    """Let the first `count` members of the queue vote on a row, for each value it comes with."""
    out, raw = space.votes, work.scratch
    values = len(members.positive)
    n = (len(rows.starts) - 1) // values
    for value in range(values):
        place = value * n + row
        missing = open_row(rows, place, work.dense)
        stored = slice(rows.starts[place], rows.starts[place + 1])
        example = Example(rows.indices[stored], rows.values[stored], work.dense, missing)
        given = _given_column(rows, row, place) if value > 0 else -1
        for i in range(count):
            h = work.queue[i]
            node, branch = route(forest, members.tree[h], work.dense)
            at_leaf = node >= 0 and branch < 0
            rule = rule_of(forest, settings, node, members.learns[h]) if at_leaf else BY_MAJORITY
            leaf = forest.node[node, LEAF] if at_leaf else -1
            if rule != BY_MAJORITY and value > 0 and node == members.node[0, h] and is_simple(forest, leaf, example):
                # All but one feature said the same when it was 0.
                out[0], out[1] = raw[0, h], raw[1, h]
                add_one_present(forest, leaf, given, out)
            elif rule != BY_MAJORITY:
                score(forest, settings, node, example, space.scores, out)
                raw[0, h], raw[1, h] = out[0], out[1]
            members.bayes[value, h] = decide(forest, node, rule, out)
            members.node[value, h] = node
            members.branch[value, h] = branch
            members.negative[value, h] = out[0]
            members.positive[value, h] = out[1]
            members.clock[h] = clock
        close_row(rows, place, work.dense)


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
    example = Example(rows.indices[stored], rows.values[stored], work.dense, True)
    presence = 0
    numeric = 0
    for j in range(count):
        h, value = jobs.member[j], jobs.value[j]
        node = members.node[value, h]
        leaf = forest.node[node, LEAF] if node >= 0 and members.branch[value, h] < 0 else -1
        if leaf < 0 or not surely_fits(forest, leaf, example):
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
    space: Space,
) -> None:
    """Train the members of the jobs on a row, each given its value."""
    jobs, dense = work.jobs, work.dense
    values = len(members.positive)
    n = (len(rows.starts) - 1) // values
    for value in range(values):
        place = value * n + row
        missing = open_row(rows, place, dense)
        stored = slice(rows.starts[place], rows.starts[place + 1])
        example = Example(rows.indices[stored], rows.values[stored], dense, missing)
        for j in range(work.position[JOBS]):
            h = jobs.member[j]
            if jobs.value[j] == value and offer_job(members, jobs, j, expected) > 0:
                learn(
                    forest,
                    settings,
                    members.tree[h],
                    members.node[value, h],
                    members.branch[value, h],
                    members.bayes[value, h],
                    example,
                    jobs.truth[j],
                    jobs.weight[j],
                    space,
                )
                members.clock[h] = -1
        close_row(rows, place, dense)


@subkernel
def _watch(
    members: Members,
    tasks: Tasks,
    truth: npt.NDArray[np.int8],
    detectors: DDMOCIArrays,
    parameters: DDMOCIParameters,
    quiet: bool,
) -> bool:
    """Tell every detector how the latest sub-classifier of its task did; return whether a task changes."""
    change = False
    for task in range(len(tasks.latest)):
        if not known_task(tasks, task, truth):
            tasks.signal[task] = UNSEEN
            continue
        h, value, y = tasks.latest[task], value_of(tasks, task, truth), truth[tasks.label[task]]
        correct = (members.positive[value, h] > members.negative[value, h]) == (y == 1)
        tasks.signal[task] = (
            IN_CONTROL if quiet else ddm_oci_step(detectors, parameters, tasks.detector[task], correct, y)
        )
        change = change or changes(tasks, task)
    return change


@subkernel
def _learn(
    forest: Forest,
    settings: Settings,
    members: Members,
    tasks: Tasks,
    rows: Rows,
    row: int,
    truth: npt.NDArray[np.int8],
    expected: bool,
    everyone: bool,
    now: int,
    work: Work,
    space: Space,
) -> bool:
    """Train on a row, and let those that changed vote again if everyone is to; False if the forest is too small."""
    work.position[JOBS] = collect_jobs(tasks, truth, work.jobs)
    waiting = _those_without(members, work.jobs, work.position[JOBS], now, work.queue)
    _ask(forest, settings, members, rows, row, waiting, now, work, space)
    if not _has_room(forest, members, work, rows, row):
        return False
    _train(forest, settings, members, rows, row, work, expected, space)
    if everyone:
        waiting = _those_without(members, work.jobs, work.position[JOBS], now, work.queue)
        _ask(forest, settings, members, rows, row, waiting, now, work, space)
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
    truth: npt.NDArray[np.int8],
    everyone: bool,
    probabilities: Floats,
    detectors: DDMOCIArrays,
    parameters: DDMOCIParameters,
    watching: int,
    expected: bool,
    clock: int,
    work: Work,
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
    """
    space = new_space(forest.widest, forest.node_count.shape[1])
    position = work.position
    pairs = len(members.positive) > 1
    n = (len(rows.starts) - 1) // len(members.positive)
    while position[ROW] < n:
        row = position[ROW]
        now = clock + row
        if position[PHASE] == VOTE:
            waiting = _voters(members, count, tasks, everyone, work.queue)
            _ask(forest, settings, members, rows, row, waiting, now, work, space)
            _announce(members, count, records, probabilities[row : row + 1], work)
            position[PHASE] = WATCH
        if len(truth) > 0:
            if position[PHASE] == WATCH:
                if watching == ASKED:
                    return ASK_DETECTORS
                position[PHASE] = LEARN
                if _watch(members, tasks, truth[row], detectors, parameters, watching == UNWATCHED):
                    return REACT
            if not _learn(
                forest, settings, members, tasks, rows, row, truth[row], expected, everyone, now, work, space
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
