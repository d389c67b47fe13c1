"""Vowpal Wabbit's one-against-all for multi-label data, through its Python package; needs the extra `vw`."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from marlene._common.checks import checked, one_of, whole_number
from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene.learners.baselines._inputs import Inputs
from marlene.learners.baselines._one_stream import OneStreamLearner

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from marlene._common.arrays import Floats, Labels
    from marlene.kernels.rows import Rows

SQUARED, LOGISTIC = LOSSES = ("squared", "logistic")
MOST_BITS = 28
"""A gigabyte of weights."""
LARGEST_VALUE = 1e15
"""Larger values are cut to this: Vowpal Wabbit squares them with single precision."""
UNSAVED = (
    "VowpalWabbit can be neither saved nor copied: a model that Vowpal Wabbit has saved and loaded does not go on "
    "learning as the original does"
)


class Group(NamedTuple):
    """Labels that appeared together: a workspace has a fixed number of them, and one that is always true."""

    workspace: Any
    labels: slice


@dataclass(eq=False, repr=False)
class VowpalWabbit(OneStreamLearner):
    """Vowpal Wabbit's `--multilabel_oaa`: one linear model per label, learnt by adaptive, normalised gradient steps.

    The defaults are Vowpal Wabbit's own. Labels that appear later get a workspace of their own. An example teaches a
    workspace nothing if one of its labels is unknown: to Vowpal Wabbit a label that is not named is false. It learns
    nothing at all from an example without labels, so a further label is added that is always true. A nominal feature
    becomes one input, 0 or 1, for each value but the first. A missing value counts as zero.

    Once it has learnt, it can be neither saved nor copied. Each label has a running mean of the size of its inputs, and
    Vowpal Wabbit saves only that of the first label.

    Parameters
    ----------
    loss
        - "squared": P(label) is the prediction, from -1 to 1, moved to 0 to 1;
        - "logistic": P(label) is the logistic function of the prediction.
    learning_rate
        How far a step goes.
    bits
        There is room for 2^`bits` weights. If there are more than 2^`bits` inputs × labels, some share a weight.
    features
        "auto", "numeric", "binary" or a mapping, as of `BRMarlene`.
    seed
        As of all learners. Nothing here is random.
    absent
        "unknown" or "false", as of `BRMarlene`.

    Examples
    --------
    >>> model = VowpalWabbit()
    >>> for i in range(100):
    ...     model.learn_one({"x": i % 10}, {"big": i % 10 > 4, "small": i % 10 < 5})
    >>> model.predict_one({"x": 9})
    {'big': True, 'small': False}
    """

    loss: str = SQUARED
    learning_rate: float = 0.5
    bits: int = 18
    features: str | Mapping[Hashable, str] = "auto"
    seed: int = 1
    absent: str = "unknown"
    max_labels: int | None = field(default=None, kw_only=True)
    max_features: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        one_of(self.loss, "loss", LOSSES)
        checked(self.learning_rate, "learning_rate", (float, lambda r: 0 < r <= 1000, "above 0 and at most 1000"))
        whole_number(self.bits, "bits", 1, MOST_BITS)
        whole_number(self.seed, "seed")
        self._package = optional("vowpalwabbit", "vw", "the method vw")
        self._begin()
        self._inputs = Inputs()
        self._groups: list[Group] = []

    def _unit_test_skips(self) -> set[str]:
        return {"check_pickling", "check_no_state_aliasing_with_input"}

    def _add_features(self, widened: Mapping[int, int], kinds: Sequence[int]) -> None:
        for column, n_values in widened.items():
            self._inputs.widen(column, n_values)
        self._inputs.add_features(kinds)

    def _add_labels(self, count: int) -> None:
        settings = f"--loss_function {self.loss} --learning_rate {float(self.learning_rate)!r} -b {self.bits}"
        workspace = self._package.Workspace(f"--multilabel_oaa {count + 1} --probabilities {settings} --quiet")
        self._groups.append(Group(workspace, slice(len(self._names) - count, len(self._names))))

    def _examples(self, group: Group, rows: Rows) -> Iterator[Any]:
        """Make examples of numbers, not of text, one at a time: one takes tens of kilobytes."""
        given = self._inputs.rows(rows, LARGEST_VALUE)
        pairs = list(zip(given.indices.tolist(), given.values.tolist(), strict=True))
        for begin, end in pairwise(given.starts.tolist()):
            yield self._package.Example(group.workspace, {"x": pairs[begin:end]})

    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:  # noqa: ARG002
        wanted = probabilities if probabilities.shape[1] else np.empty(truth.shape)
        for group in self._groups:
            asked: Labels = truth[:, group.labels]
            known = np.all(asked >= 0, axis=1)
            always = asked.shape[1]
            true = [",".join(map(str, [*np.flatnonzero(row == 1), always])) for row in asked]
            for row, example in enumerate(self._examples(group, rows)):
                example.set_label_string(true[row])
                example.setup_example()
                (group.workspace.learn if known[row] else group.workspace.predict)(example)
                wanted[row, group.labels] = example.get_prediction()[:-1]  # before learning
        self._as_probabilities(wanted)

    def _predict(self, rows: Rows, scores: Floats) -> None:
        for group in self._groups:
            for row, example in enumerate(self._examples(group, rows)):
                example.setup_example()
                scores[row, group.labels] = group.workspace.predict(example)[:-1]
        self._as_probabilities(scores)

    def _as_probabilities(self, found: Floats) -> None:
        """Vowpal Wabbit gives the logistic function of a prediction, whatever the loss; take it back if squared."""
        if self.loss == SQUARED:
            with np.errstate(divide="ignore"):
                found[...] = np.clip(0.5 + 0.5 * (np.log(found) - np.log1p(-found)), 0.0, 1.0)

    def counts(self) -> dict[str, int]:
        """Return the number of linear models; it has no detector of drifts."""
        return {"models": len(self._names), "drifts": 0}

    def save(self, path: str | os.PathLike[str]) -> NoReturn:  # noqa: ARG002 (it is never written)
        """Refuse to save it."""
        raise MarleneError(UNSAVED)

    def __getstate__(self) -> dict[str, Any]:
        """Return the parameters, as long as nothing was learnt; a pickle or a copy of more is refused."""
        if self._names or len(self._space):
            raise MarleneError(UNSAVED)
        return self._get_params()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore what `__getstate__` gave."""
        self.__dict__ = type(self)(**state).__dict__

    def _load_rare_kernels(self) -> None:
        """Do nothing: it has no kernels."""
