"""The arrays of an ensemble: sub-classifiers, tasks, and the work on an example.

A *sub-classifier* is a base classifier, the numbers of positive and negative examples it was offered, and the key of
its random numbers. Background classifiers learn but do not vote: they are not active. A *task* is to predict a label,
or a label given the value of another one. Sub-classifiers of the latter see that value as one more feature, and vote
once for each value it can have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.drift.detectors import DRIFT, IN_CONTROL, WARNING, balanced_step, ddm_oci_step
from marlene.kernels.ensemble.resampling import learning_weight

if TYPE_CHECKING:
    from marlene._common.arrays import Bools, Codes, Floats, Ints, Labels, Words
    from marlene.kernels.drift.detectors import BalancedArrays, BalancedParameters, DDMOCIArrays, DDMOCIParameters
    from marlene.kernels.rows import Rows

VOTE, WATCH, LEARN = range(3)
"""The next phase of a row."""
DONE, ASK_DETECTORS, REACT, GROW, JUDGE = range(5)
"""Why an `advance` kernel returns:

- DONE: all rows are done.
- ASK_DETECTORS: the caller must ask the detectors about this row.
- REACT: a background classifier starts, is dropped or takes over.
- GROW: the forest's arrays are too small; nothing of the row was learnt.
- JUDGE: what was heard fills its room, and the caller keeps the records (pairs of labels).
"""
UNWATCHED, BY_DDM_OCI, BY_BALANCED, ASKED = range(4)
"""Who watches for drift: nobody; detectors given to the kernel; other detectors, asked by the caller."""
UNSEEN = 3
"""Signal of a task whose label is not known for this example."""
ROW, PHASE, JOBS = range(3)
"""Places of `Batch.position`."""
BLOCK = 128
"""How many members stand together in what is heard of pairs, and in the tables of their records."""
BEFORE, AFTER, HEARD = 0, 2, 4
"""Columns of what is heard, and their number."""
NO_VOTE = -1e-30
"""Less than any vote, and nothing in a sum."""


class Members(NamedTuple):
    """The sub-classifiers of an ensemble.

    Attributes
    ----------
    classifier
        The base classifier of each, by its id in the bank.
    offered
        How many negative and positive examples each was offered.
    key
        The key of its random numbers.
    active
        1 for those that vote, else 0.
    learns
        Whether it still learns.
    positive, negative
        Votes for and against on the current example (values of the given label × sub-classifiers).
    node, branch, bayes
        Where the current example falls in each tree, and the class of naive Bayes there.
    clock
        The number of the example that the last five are about.
    proving
        1 for those that vote on a target task only while they have more weight than its latest member, else 0.
    """

    classifier: Ints
    offered: Ints
    key: Words
    active: Floats
    learns: Bools
    positive: Floats
    negative: Floats
    node: Ints
    branch: Ints
    bayes: Ints
    clock: Ints
    proving: Floats


class Voters(NamedTuple):
    """The sub-classifiers, and how well each serves every target task.

    Attributes
    ----------
    members
        The sub-classifiers.
    used
        How many places of the members are in use.
    records
        Performance records (target tasks × columns × members).
    """

    members: Members
    used: int
    records: Floats


class Tasks(NamedTuple):
    """The tasks of a stream.

    Attributes
    ----------
    latest, background
        The sub-classifier that learns each task, and its background classifier, -1 if there is none.
    detector
        The detector that watches it.
    label, given
        The columns of its label and of the given label, -1 if there is none.
    signal
        What its detector said of the current example.
    """

    latest: Ints
    background: Ints
    detector: Ints
    label: Ints
    given: Ints
    signal: Codes


class Batch(NamedTuple):
    """Rows on their way through an ensemble.

    Attributes
    ----------
    rows, truth
        Examples and their labels; without labels the rows are only voted on.
    probabilities
        Where P(label) of every target task goes, before a row is learnt; without columns it goes nowhere.
    everyone
        Whether all members vote and are judged, or only the latest of each task.
    clock
        The number of the first row's example.
    position
        The current row, its phase, and the number of its jobs.
    """

    rows: Rows
    truth: Labels
    probabilities: Floats
    everyone: bool
    clock: int
    position: Ints


class Watch(NamedTuple):
    """How drift is watched for: `mode` says by which of these detectors, if any."""

    ddm_oci: DDMOCIArrays
    ddm_oci_parameters: DDMOCIParameters
    balanced: BalancedArrays
    balanced_parameters: BalancedParameters
    mode: int


class Jobs(NamedTuple):
    """What is learnt from an example: which members, of which class, given which value, and with which weight."""

    member: Ints
    truth: Ints
    value: Ints
    weight: Ints


class Heard(NamedTuple):
    """What was said of consecutive rows whose records the caller keeps: pairs of labels.

    Attributes
    ----------
    said
        What the members said (rows × values × numbers). They come in blocks of `BLOCK`; a block has `HEARD` columns of
        as many numbers: votes for and against before training, from `BEFORE` on, and after it, from `AFTER` on.
        The latter are `NO_VOTE` of members that do not vote.
    steps
        How many steps were heard (an array of one); a row takes two, a vote and a judgement.
    """

    said: Floats
    steps: Ints


class Work(NamedTuple):
    """Buffers of the `advance` kernels.

    Attributes
    ----------
    jobs
        What is learnt from the row.
    queue
        Members that are to vote.
    heard
        What members that know a given label said of the latest rows.
    scratch
        Three numbers for each member.
    dense
        A row's values, all zero between rows.
    notes
        For every member how many values of the row were looked up in the leaf it reaches, and then their places there.
    shortage
        How many jobs, and entries of the presence and the numeric arena, the forest lacks room for.
    """

    jobs: Jobs
    queue: Ints
    heard: Heard
    scratch: Floats
    dense: Floats
    notes: Ints
    shortage: Ints


@inlined
def known_task(tasks: Tasks, task: int, truth: Labels) -> bool:
    """Tell whether a task's label, and the value of its given label, are known."""
    given = tasks.given[task]
    return bool(truth[tasks.label[task]] >= 0 and (given < 0 or truth[given] >= 0))


@inlined
def value_of(tasks: Tasks, task: int, labels: Labels) -> int:
    """Return the value of a task's given label, 0 if it has none."""
    given = tasks.given[task]
    return int(labels[given]) if given >= 0 else 0


@inlined
def changes(tasks: Tasks, task: int) -> bool:
    """Tell whether a background classifier starts, is dropped or takes over."""
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


@inlined
def _tell_detectors(members: Members, tasks: Tasks, truth: Labels, watch: Watch) -> bool:
    """Tell every detector how the latest sub-classifier of its task did; return whether a task changes."""
    change = False
    for task in range(len(tasks.latest)):
        if not known_task(tasks, task, truth):
            tasks.signal[task] = UNSEEN
            continue
        h, value, y = tasks.latest[task], value_of(tasks, task, truth), truth[tasks.label[task]]
        correct = (members.positive[value, h] > members.negative[value, h]) == (y == 1)
        i, signal = tasks.detector[task], IN_CONTROL
        if watch.mode == BY_DDM_OCI:
            signal = ddm_oci_step(watch.ddm_oci, watch.ddm_oci_parameters, i, correct, y)
        elif watch.mode == BY_BALANCED:
            signal = balanced_step(watch.balanced, watch.balanced_parameters, i, correct, y)
        tasks.signal[task] = signal
        change = change or changes(tasks, task)
    return change


@inlined
def _write_votes(members: Members, used: int, heard: Heard, column: int, silence: bool) -> None:
    """Write the votes of all members, and `NO_VOTE` for those that do not vote, if there is to be silence."""
    said = heard.said[heard.steps[0] // 2]
    for value in range(len(members.positive)):
        for first in range(0, used, BLOCK):
            positive = said[value, (first * HEARD + column * BLOCK) :]
            negative = positive[BLOCK:]
            for i in range(min(BLOCK, used - first)):
                silent = silence and members.active[first + i] == 0.0
                positive[i] = NO_VOTE if silent else members.positive[value, first + i]
                negative[i] = NO_VOTE if silent else members.negative[value, first + i]
    heard.steps[0] += 1


@kernel
def hear_vote(heard: Heard, members: Members, used: int) -> None:
    """Note the votes of all members on a row before training."""
    _write_votes(members, used, heard, BEFORE, False)


@kernel
def hear_judgement(heard: Heard, members: Members, used: int) -> bool:
    """Note the votes on a row after training, if any; return whether there is room for no further row."""
    _write_votes(members, used, heard, AFTER, True)
    return bool(heard.steps[0] == 2 * len(heard.said))


@subkernel
def watch_row(members: Members, tasks: Tasks, truth: Labels, watch: Watch, position: Ints) -> int:
    """Watch for drift on a row, if that is its phase; return `DONE`, or why the caller is needed."""
    if position[PHASE] != WATCH:
        return DONE
    if watch.mode == ASKED:
        return ASK_DETECTORS
    position[PHASE] = LEARN
    return REACT if _tell_detectors(members, tasks, truth, watch) else DONE
