"""A learner that takes dictionaries in blocks: to the bit what it would do one by one, but faster."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marlene._common.errors import MarleneError
from marlene.learners._block_learner import _without_gaps
from marlene.learners._saved import SavedLearner
from marlene.learners.input._additions import Additions
from marlene.learners.input._labels import labels_of_example
from marlene.learners.input._rows import joined

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from marlene._common.arrays import Floats, Labels
    from marlene.kernels.rows import Rows

BOOLS = {bool}


class Lesson(NamedTuple):
    """An example that was checked: its row, its truth, and what it brings that the learner does not know."""

    row: Rows
    truth: Labels
    weight: float
    stream: str | None
    labels: list[Hashable]
    additions: Additions
    new: bool
    x: dict[Any, Any]


class Blocks:
    """A learner, and how blocks of examples reach it.

    Parameters
    ----------
    learner
        The learner.
    max_features, max_labels
        These parameters of the learner from now on, unless it has lower ones.
    max_streams
        How many sources it may know; messages of others are refused.
    """

    def __init__(self, learner: Any, max_features: int, max_labels: int, max_streams: int) -> None:  # noqa: ANN401
        if not isinstance(learner, SavedLearner):
            raise MarleneError(f"{type(learner).__name__} cannot be saved, so it cannot serve")
        self.learner = learner
        learner.max_features = min(max_features, learner.max_features or max_features)
        learner.max_labels = min(max_labels, learner.max_labels or max_labels)
        self._max_streams = max_streams
        self.streams: set[str] = set()

    @property
    def features(self) -> int:
        """How many features there are, and values of nominal ones."""
        return self.learner._space.size()  # noqa: SLF001 (learners have no public face for blocks of dictionaries)

    def labels(self, stream: str | None = None) -> list[Hashable]:
        """Return the labels that are known."""
        return self.learner._labels(stream)  # noqa: SLF001

    def row(self, x: dict[Any, Any], new: bool = False) -> tuple[Rows, bool]:
        """Return an example as a row, and whether that is all of it: what the learner does not know is left out.

        `new`: it is known already that this is not all of it.
        """
        with _refusing():
            space = self.learner._space  # noqa: SLF001
            if not new:
                row, additions = space.rows_of_dicts([x], learning=True)
                if not additions:
                    return row, True
            return space.rows_of_dicts([x], learning=False)[0], False

    def lesson(
        self,
        x: dict[Any, Any],
        y: Any,  # noqa: ANN401 (what JSON gives)
        weight: float,
        stream: str | None,
        row: Rows | None = None,
    ) -> Lesson:
        """Check an example and its labels; nothing is changed.

        No labels (None): all are unknown. If the learner knows all of the example, its row may be given.
        """
        with _refusing():
            made = (row, Additions(learning=True)) if row is not None else self._made(x)
            return self._lesson(*made, y, weight, stream, x)

    def _made(self, x: dict[Any, Any]) -> tuple[Rows, Additions]:
        learner = self.learner
        row, additions = learner._space.rows_of_dicts([x], learning=True)  # noqa: SLF001
        if learner._lacks_room(additions) and not learner._forgets:  # noqa: SLF001
            return self._with_room(x, additions)
        return row, additions

    def _with_room(self, x: dict[Any, Any], additions: Additions) -> tuple[Rows, Additions]:
        learner = self.learner
        return learner._with_room(additions, lambda room: learner._space.rows_of_dicts([x], True, room))  # noqa: SLF001

    def _lesson(
        self,
        row: Rows,
        additions: Additions,
        y: Any,  # noqa: ANN401
        weight: float,
        stream: str | None,
        x: dict[Any, Any],
    ) -> Lesson:
        learner = self.learner
        known = self.labels(stream)  # refuses sources
        if stream is not None and stream not in self.streams and len(self.streams) >= self._max_streams:
            raise MarleneError(f"stream {stream!r}: there are {self._max_streams} sources already, no more are taken")
        if weight != 1.0:
            learner._checked_weights(weight, 1)  # noqa: SLF001
        if y is None:
            labels, truth = known, np.full((1, len(known)), -1, np.int8)
        elif isinstance(y, dict) and [*y] == known and BOOLS.issuperset(map(type, y.values())):
            labels, truth = known, np.array([[*y.values()]], np.int8)
        else:
            labels, truth = labels_of_example(known, y, learner.absent)
        learner._refuse_labels(labels, known)  # noqa: SLF001
        new = bool(additions) or len(labels) > len(known) or not known
        return Lesson(row, truth, weight, stream, labels, additions, new, x)

    def admit(self, lesson: Lesson) -> Lesson:
        """Add what an example brings; return it as it is then, as features may have been forgotten to make room."""
        if self.learner._lacks_room(lesson.additions):  # noqa: SLF001
            row, additions = self._with_room(lesson.x, lesson.additions)
            lesson = lesson._replace(row=row, additions=additions)
        self.learner._admit(lesson.stream, lesson.additions, lesson.labels)  # noqa: SLF001
        self.learner._keep_additions()  # noqa: SLF001
        if lesson.stream is not None:
            self.streams.add(lesson.stream)
        return lesson

    def learn(self, lessons: Sequence[Lesson]) -> None:
        """Learn examples of one stream that bring nothing new."""
        rows, truth = _stacked(lessons)
        stream = lessons[0].stream
        self.learner._never_false.see(stream, self.labels(stream), truth)  # noqa: SLF001
        weights = np.array([lesson.weight for lesson in lessons])
        self.learner._learn_weighted(stream, rows, truth, weights)  # noqa: SLF001

    def test(self, lessons: Sequence[Lesson]) -> tuple[Floats, Labels]:
        """Predict, then learn, one after the other; return P(label) and the predictions, both before learning."""
        rows, truth = _stacked(lessons)
        probabilities = np.full(truth.shape, 0.5)
        self.learner._never_false.see(None, self.labels(), truth)  # noqa: SLF001
        predictions = self.learner._test(rows, truth, probabilities)  # noqa: SLF001
        self.learner._count_features(rows)  # noqa: SLF001
        return _without_gaps(probabilities), predictions

    def decide(self, rows: Sequence[Rows]) -> tuple[Floats, Labels]:
        """Return P(label) and the predictions."""
        probabilities, predictions = self.learner._decisions(joined(rows))  # noqa: SLF001
        return _without_gaps(probabilities), predictions


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    """Let whatever is wrong with an example be an error of one line: nothing hostile may end a worker."""
    try:
        yield
    except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError, AttributeError) as error:
        if isinstance(error, MarleneError):
            raise
        raise MarleneError(f"the example cannot be used ({error!r})") from error


def _stacked(lessons: Sequence[Lesson]) -> tuple[Rows, Labels]:
    return joined([lesson.row for lesson in lessons]), np.concatenate([lesson.truth for lesson in lessons])
