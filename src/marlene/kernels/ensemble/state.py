"""Sub-classifiers, tasks and what is learnt of an example: the arrays of an ensemble.

A *sub-classifier* is a tree, the numbers of positive and negative examples it was offered, and the key of its random
numbers. Those that do not vote (background classifiers) are not active. A task is a label, or a label given the value
of another; sub-classifiers of the latter sort see that value as one more feature, and vote for each value it can have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.drift.detectors import DRIFT, IN_CONTROL, WARNING, ddm_oci_step
from marlene.kernels.ensemble.resampling import learning_weight

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from marlene._common.arrays import Bools, Codes, Floats, Ints, Labels
    from marlene.kernels.drift.detectors import DDMOCIArrays, DDMOCIParameters


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
    classifier
        The base classifier of each, by its id in the bank.
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

    classifier: Ints
    offered: Ints
    key: npt.NDArray[np.uint64]
    active: Floats
    learns: Bools
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
    signal: Codes


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
        Three numbers for each member.
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
def known_task(tasks: Tasks, task: int, truth: Labels) -> bool:
    """Tell whether the truth about a task, and the value it depends on, are known."""
    given = tasks.given[task]
    return bool(truth[tasks.label[task]] >= 0 and (given < 0 or truth[given] >= 0))


@inlined
def value_of(tasks: Tasks, task: int, labels: Labels) -> int:
    """Return the value a task depends on, 0 if it depends on none."""
    given = tasks.given[task]
    return int(labels[given]) if given >= 0 else 0


@inlined
def changes(tasks: Tasks, task: int) -> bool:
    """Tell whether what a detector said takes more than training: a background classifier comes, goes or takes over."""
    signal, alone = tasks.signal[task], tasks.background[task] < 0
    return bool(signal == DRIFT or (signal == WARNING and alone) or (signal == IN_CONTROL and not alone))


@subkernel
def collect_jobs(tasks: Tasks, truth: Labels, jobs: Jobs) -> int:
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
def offer(members: Members, tasks: Tasks, truth: Labels, jobs: Jobs, expected: bool) -> int:
    """Write what is to be learnt from an example, and with which weights; return how much."""
    count = collect_jobs(tasks, truth, jobs)
    for j in range(count):
        offer_job(members, jobs, j, expected)
    return count


@subkernel
def watch(
    members: Members,
    tasks: Tasks,
    truth: Labels,
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
