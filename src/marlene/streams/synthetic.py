"""The paper's synthetic streams (section VI-A): targets with their sources and true drifts.

`GaussianStream` goes beyond them. The formulas are in docs/synthetic.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene._common.checks import one_of, whole_number
from marlene.streams._stream import Feature, Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from marlene._common.arrays import Floats

DRIFT_TYPES = ("SS", "IS", "II", "IA", "AA", "AS")
"""How l1 and l2 drift: S is stable, I incremental, A abrupt."""

SIZES = (50, 500, 5000)
"""The paper's numbers of examples per Gaussian and concept."""

SOURCES = ("none", "similar", "non-similar", "one-non-similar")

LABELS = tuple(f"l{i + 1}" for i in range(5))
FEATURES = (Feature("x1"), Feature("x2"))
SWAP_BEFORE = 3
RADII = np.array([2.0, 2.0, 4.0, 4.0, 4.0])
STEP = np.pi / 6
CLOSE = 0.25
SQUARE = 6.0


class Concept(NamedTuple):
    """The distribution of a segment of a stream.

    Parameters
    ----------
    means
        The five means (Gaussians × features).
    positive
        For every label the number (from 0) of its positive Gaussian.
    """

    means: Floats
    positive: npt.NDArray[np.intp]


@dataclass(frozen=True)
class SyntheticExperiment:
    """A target stream, which knows its true drifts, with its sources.

    Parameters
    ----------
    target
        The stream to predict.
    sources
        Streams to learn whole before it; they do not drift.
    """

    target: Stream
    sources: tuple[Stream, ...]


def synthetic_experiment(
    drift: str = "SS", size: int = 500, sources: str = "none", *, source_size: int = 5000, seed: int = 1
) -> SyntheticExperiment:
    """Make one of the paper's synthetic experiments (section VI-A).

    Parameters
    ----------
    drift
        How l1 and l2 drift: one of `DRIFT_TYPES`.
    size
        Examples per Gaussian and concept in the target; the paper's are `SIZES`.
    sources
        "none"; "similar": a stream for every concept of the target, with means close to its; "non-similar": as
        many streams with other means; "one-non-similar": one such stream, as the authors' program has it.
    source_size
        Examples per Gaussian in a source.
    seed
        Seed of the examples. The target does not depend on the sources.

    Examples
    --------
    >>> made = synthetic_experiment("IA", size=50, sources="similar", source_size=100)
    >>> made.target
    <Stream IA-50: 1250 examples, 2 features (dense), 5 labels>
    >>> [source.name for source in made.sources]
    ['similar-1', 'similar-2', 'similar-3', 'similar-4', 'similar-5']
    >>> made.target.drifts
    {'l1': (250, 500, 750, 1000), 'l2': (750,), 'l3': (), 'l4': (), 'l5': ()}
    """
    concepts = synthetic_concepts(drift)
    whole_number(size, "size", 1)
    whole_number(source_size, "source_size", 1)
    whole_number(seed, "seed", 0)
    one_of(sources, "sources", SOURCES)
    key = [seed, DRIFT_TYPES.index(drift), size]
    target = _draw(concepts, size, np.random.default_rng([*key, 0]), f"{drift}-{size}")
    learnt = []
    number_of_sources = {"none": 0, "one-non-similar": 1}.get(sources, len(concepts))
    for number, concept in enumerate(concepts[:number_of_sources]):
        rng = np.random.default_rng([*key, SOURCES.index(sources), number])
        drawn = _close_to(concept, rng) if sources == "similar" else _unrelated(rng)
        learnt.append(_draw([drawn], source_size, rng, f"{sources}-{number + 1}"))
    segment = len(LABELS) * size
    drifts = {
        label: tuple(s * segment for s in range(1, len(concepts)) if _differs(concepts[s - 1], concepts[s], q))
        for q, label in enumerate(LABELS)
    }
    return SyntheticExperiment(replace(target, drifts=drifts), tuple(learnt))


def synthetic_concepts(drift: str) -> list[Concept]:
    """Return the concepts of a target stream, segment by segment.

    Gaussians 3, 4 and 5 stand still around Gaussians 1 and 2, which lie opposite each other. An incremental label's
    Gaussian turns about the origin by 30° a segment. An abrupt label gets another positive Gaussian: if both are
    abrupt, l1 and l2 swap theirs; if only one is, it gets Gaussian 3.

    Examples
    --------
    >>> before, after = synthetic_concepts("AA")
    >>> (before.positive + 1).tolist(), (after.positive + 1).tolist()
    ([1, 2, 3, 4, 5], [2, 1, 3, 4, 5])
    """
    one_of(drift, "the drift type", DRIFT_TYPES)
    segments = 5 if "I" in drift else 2 if "A" in drift else 1
    swap = SWAP_BEFORE if segments == 5 else 1
    concepts = []
    for segment in range(segments):
        angles = np.array([0, np.pi, np.pi / 2, np.pi * 7 / 6, np.pi * 11 / 6])
        positive = np.arange(len(LABELS))
        for q, letter in enumerate(drift):
            if letter == "I":
                angles[q] += segment * STEP
            elif letter == "A" and segment >= swap:
                positive[q] = 1 - q if drift == "AA" else 2
        concepts.append(Concept(RADII[:, None] * np.column_stack((np.cos(angles), np.sin(angles))), positive))
    return concepts


def _differs(one: Concept, other: Concept, label: int) -> bool:
    """Tell whether the label has another positive Gaussian, or the same at another place."""
    return not np.array_equal(one.means[one.positive[label]], other.means[other.positive[label]])


def _close_to(concept: Concept, rng: np.random.Generator) -> Concept:
    return Concept(concept.means + CLOSE * rng.standard_normal(concept.means.shape), concept.positive)


def _unrelated(rng: np.random.Generator) -> Concept:
    means = rng.uniform(-SQUARE, SQUARE, (len(LABELS), len(FEATURES)))
    return Concept(means, rng.permutation(len(LABELS)))


def _draw(concepts: Sequence[Concept], size: int, rng: np.random.Generator, name: str) -> Stream:
    """Draw `size` examples of every Gaussian, in random order, from one concept after the other."""
    X, Y = [], []
    for concept in concepts:
        gaussian = rng.permutation(np.repeat(np.arange(len(concept.means)), size))
        X.append(concept.means[gaussian] + rng.standard_normal((len(gaussian), len(FEATURES))))
        Y.append(gaussian[:, None] == concept.positive)
    return Stream(np.concatenate(X), np.concatenate(Y).astype(np.int8), FEATURES, LABELS, name)
