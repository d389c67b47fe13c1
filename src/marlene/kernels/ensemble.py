"""One step of an ensemble of Hoeffding trees over tasks: vote, learn, judge.

A *sub-classifier* is a tree, the numbers of positive and negative examples it was offered, and the key of its random
numbers. Those that do not vote (background classifiers) are not active.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.forest import Example, close_row, learn, open_row, route, vote
from marlene.kernels.forest_state import LEAF
from marlene.kernels.observers import entries_needed
from marlene.kernels.performance import combined_vote, probability, update_task
from marlene.kernels.resampling import learning_weight
from marlene.kernels.splits import new_space
from marlene.kernels.tables import order_for

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from marlene.kernels.forest import Rows
    from marlene.kernels.forest_state import Floats, Forest, Ints, Settings
    from marlene.kernels.splits import Space


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
        Their votes on the example at hand.
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


class Jobs(NamedTuple):
    """What is to be learnt from an example: which members, of which class, and, filled in, with which weight."""

    member: Ints
    truth: Ints
    weight: Ints


@subkernel
def _ask(forest: Forest, settings: Settings, members: Members, h: int, example: Example, space: Space) -> None:
    """Let a member vote."""
    node, branch = route(forest, members.tree[h], example.dense)
    out = space.votes
    members.bayes[h] = vote(forest, settings, node, branch, example, members.learns[h], space.scores, out)
    members.node[h] = node
    members.branch[h] = branch
    members.negative[h] = out[0]
    members.positive[h] = out[1]


@subkernel
def _has_room(forest: Forest, members: Members, jobs: Jobs, example: Example, shortage: Ints) -> bool:
    """Tell whether the forest has room for everything the jobs can bring; if not, leave in `shortage` what it takes."""
    n = len(jobs.member)
    presence = 0
    numeric = 0
    for j in range(n):
        h = jobs.member[j]
        leaf = forest.node[members.node[h], LEAF] if members.node[h] >= 0 and members.branch[h] < 0 else -1
        more_presence, more_numeric = entries_needed(forest, leaf, example)
        presence += more_presence
        numeric += more_numeric
    shortage[0], shortage[1], shortage[2] = n, presence, numeric
    return bool(
        forest.node_top[0] + n * (2 << order_for(forest.widest)) <= len(forest.node_link)
        and forest.leaf_top[0] + n * (forest.widest + 1) <= len(forest.leaf_link)
        and forest.presence.top[0] + presence <= len(forest.presence.key)
        and forest.numeric.top[0] + numeric <= len(forest.numeric.key)
    )


@inlined
def _offer(members: Members, jobs: Jobs, j: int, expected: bool) -> int:
    """Count the example of a job as offered, and return the weight it is learnt with."""
    h, y = jobs.member[j], jobs.truth[j]
    members.offered[h, y] += 1
    weight = learning_weight(members.key[h], members.offered[h, 1], members.offered[h, 0], y, expected)
    jobs.weight[j] = weight
    return weight


@kernel
def offer(members: Members, jobs: Jobs, expected: bool) -> None:
    """Fill in the weight of every job."""
    for j in range(len(jobs.member)):
        _offer(members, jobs, j, expected)


@subkernel
def _learn_row(
    forest: Forest,
    settings: Settings,
    members: Members,
    records: Floats,
    jobs: Jobs,
    truth: npt.NDArray[np.int8],
    expected: bool,
    example: Example,
    clock: int,
    space: Space,
) -> None:
    """Train the members of the jobs, and then, where `truth` is given, judge all of them by their votes after that."""
    for j in range(len(jobs.member)):
        h, y = jobs.member[j], jobs.truth[j]
        weight = _offer(members, jobs, j, expected)
        if weight > 0:
            learn(
                forest,
                settings,
                members.tree[h],
                members.node[h],
                members.branch[h],
                members.bayes[h],
                example,
                y,
                weight,
                space,
            )
            members.clock[h] = -1
    if len(truth) == 0:
        return
    for h in range(len(members.tree)):
        if members.active[h] > 0.0 and members.clock[h] != clock:
            _ask(forest, settings, members, h, example, space)
    for task in range(len(truth)):
        if truth[task] >= 0:
            update_task(records, task, members.positive, members.negative, truth[task], members.active)


@kernel
def step(
    forest: Forest,
    settings: Settings,
    members: Members,
    records: Floats,
    rows: Rows,
    finish: int,
    jobs: Jobs,
    truth: npt.NDArray[np.int8],
    expected: bool,
    start: int,
    voters: Ints,
    probabilities: Floats,
    clock: int,
    dense: Floats,
    shortage: Ints,
) -> bool:
    """Finish one row and start another (-1: none).

    Finishing trains the members of `jobs` and, if `truth` is not empty, updates the records of the tasks. Starting lets
    the `voters` vote and, if `probabilities` has columns, writes P(label) of every task there. `clock` is the number of
    the example that is finished. Return False, having changed nothing, if the forest is too small; `shortage` then
    says what it takes.
    """
    space = new_space(forest.widest, forest.node_count.shape[1])
    if finish >= 0:
        missing = open_row(rows, finish, dense)
        stored = slice(rows.starts[finish], rows.starts[finish + 1])
        example = Example(rows.indices[stored], rows.values[stored], dense, missing)
        for h in jobs.member:
            if members.clock[h] != clock:
                _ask(forest, settings, members, h, example, space)
                members.clock[h] = clock
        if not _has_room(forest, members, jobs, example, shortage):
            close_row(rows, finish, dense)
            return False
        _learn_row(forest, settings, members, records, jobs, truth, expected, example, clock, space)
        close_row(rows, finish, dense)
    if start >= 0:
        missing = open_row(rows, start, dense)
        stored = slice(rows.starts[start], rows.starts[start + 1])
        example = Example(rows.indices[stored], rows.values[stored], dense, missing)
        for h in voters:
            _ask(forest, settings, members, h, example, space)
            members.clock[h] = clock + 1
        for task in range(probabilities.shape[1]):
            total_positive, total_negative = combined_vote(records, task, members.positive, members.negative)
            probabilities[start, task] = probability(total_positive, total_negative)
        close_row(rows, start, dense)
    return True
