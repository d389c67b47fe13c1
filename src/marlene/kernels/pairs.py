"""The performance table of pairs of labels: one sweep through it votes on an example and judges it.

The records of a task lie together and stay in the processor's cache while both is done, and a task knows of no other:
tasks may be shared out among threads in any way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.kernels.compile import inlined, kernel
from marlene.kernels.performance import combined_vote, in_lanes, update_task

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from marlene.kernels.forest_state import Ints
    from marlene.kernels.performance import Reals

    Labels = npt.NDArray[np.int8]


@inlined
def _keep_own(values: Reals, owner: Ints, task: int, out: Reals) -> None:
    """Write the values of the members trained on a task, 0 for all others."""
    for h in range(len(values)):
        out[h] = values[h] if owner[h] == task else values[h] * 0


@kernel
def sweep(
    records: Reals,
    label: Ints,
    given: Ints,
    first: int,
    last: int,
    before: Reals,
    assumed: Labels,
    both: bool,
    votes: npt.NDArray[np.float64],
    after: Reals,
    truth: Labels,
    condition: Labels,
    active: Reals,
    owner: Ints,
    count: int,
    scratch: Reals,
) -> None:
    """Vote on an example and judge it, for the tasks from `first` to `last`.

    Parameters
    ----------
    label, given
        The columns of every task's label and of the label it depends on.
    before, after
        Votes for and against before and after training (2 × values × members).
    assumed
        The values of labels the votes depend on; if empty, nothing is voted on.
    both
        Whether the votes for both values are wanted.
    votes
        Where P(0) and P(1) go (tasks × values × 2); both are 0 without evidence.
    truth, condition
        True labels, and the values that the votes judged depend on; if empty, nothing is judged.
    owner
        The task each member was trained on, where only those vote; else empty.
    scratch
        Work space (5 × members).
    """
    stop = in_lanes(count)
    alone = len(owner) > 0
    for task in range(first, last):
        if len(assumed) > 0:
            for value in range(2):
                if both or value == assumed[given[task]]:
                    yes, no = before[0, value], before[1, value]
                    if alone:
                        _keep_own(yes, owner, task, scratch[2])
                        _keep_own(no, owner, task, scratch[3])
                        yes, no = scratch[2], scratch[3]
                    for_it, against = combined_vote(records[task], yes, no, scratch, stop)
                    total = for_it + against
                    votes[task, value, 0] = against / total if total > 0.0 else 0.0
                    votes[task, value, 1] = for_it / total if total > 0.0 else 0.0
        if len(truth) > 0 and truth[label[task]] >= 0 and condition[given[task]] >= 0:
            value = condition[given[task]]
            yes, no, voters = after[0, value], after[1, value], active
            if alone:
                _keep_own(yes, owner, task, scratch[2])
                _keep_own(no, owner, task, scratch[3])
                _keep_own(active, owner, task, scratch[4])
                yes, no, voters = scratch[2], scratch[3], scratch[4]
            update_task(records[task], yes, no, truth[label[task]], voters, scratch, stop)
