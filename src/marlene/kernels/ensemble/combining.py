"""What pairs of labels add to the votes of BR-MARLENE, and the probabilities that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, kernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels


@inlined
def _contribute(
    said: Floats, assumed: Labels, votes: Floats, given: Ints, both: bool, own: Floats, added: Floats
) -> None:
    for i in range(len(said)):
        known = said[i] == said[i]
        own[i, 0], own[i, 1] = (1.0 - said[i], said[i]) if known else (0.0, 0.0)
    for t in range(len(given)):
        a = given[t]
        for y in range(2):
            value = assumed[a]
            added[t, y] = own[a, value] * votes[t, value, y]
            if both:
                added[t, y] = own[a, 0] * votes[t, 0, y] + own[a, 1] * votes[t, 1, y]


@kernel
def contribute(
    said: Floats, assumed: Labels, votes: Floats, given: Ints, both: bool, own: Floats, added: Floats
) -> None:
    """Write the votes of BR-MARLENE on one example, and what every pair adds to its label; see `contributions`."""
    _contribute(said, assumed, votes, given, both, own, added)


@kernel
def combine(
    probabilities: Floats, assumed: Labels, votes: Floats, label: Ints, given: Ints, both: bool, mean: bool
) -> None:
    """Replace P(label) of BR-MARLENE by that of labels and pairs together; NaN without evidence.

    Parameters
    ----------
    probabilities
        P(label) for every example.
    assumed, votes, given, both
        As for `contributions`, but for all examples.
    label
        The label that every pair votes on.
    mean
        Whether the votes of all pairs on a label are averaged, not added up.
    """
    n_labels = probabilities.shape[1]
    own, added, total = np.empty((n_labels, 2)), np.empty((len(given), 2)), np.empty((n_labels, 2))
    counts = np.zeros(n_labels, np.int64)
    for t in range(len(label)):
        counts[label[t]] += 1
    for row in range(len(probabilities)):
        said = probabilities[row]
        _contribute(said, assumed[row], votes[row], given, both, own, added)
        total[:] = 0.0
        for t in range(len(label)):
            total[label[t], 0] += added[t, 0]
            total[label[t], 1] += added[t, 1]
        for i in range(n_labels):
            voters = max(counts[i], 1) if mean else 1
            no, yes = total[i, 0] / voters + own[i, 0], total[i, 1] / voters + own[i, 1]
            said[i] = yes / (no + yes) if no + yes > 0.0 else np.nan
