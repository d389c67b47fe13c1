"""Known drifts of labels, made in any stream: labels change places, examples and features stay as they are.

A change is a sequence of parts of the stream. In a part, every label has the values of one label of the original. The
stream that comes of it knows its true drifts: when a part begins, and which labels change then. docs/streams.md
describes every change.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene._common.checks import one_of, whole_number
from marlene._common.errors import MarleneError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from marlene._common.arrays import Ints, Labels
    from marlene.streams._stream import Drifts, Stream


class Part(NamedTuple):
    """A part of a changed stream.

    Parameters
    ----------
    first
        Number (from 0) of its first example.
    columns
        For every label the column of the original `Y` that it shows.
    length
        Over so many examples the chance that an example belongs to the part rises linearly from 0 to 1; if it is 0, all
        do from the first on.
    """

    first: int
    columns: Ints
    length: int = 0


class Change(NamedTuple):
    """A way to change a stream.

    Parameters
    ----------
    parts
        Returns the parts, for a number of examples, a number of labels and random numbers.
    labels, examples
        The smallest numbers of them that can be changed.
    random
        Whether the result depends on the seed.
    """

    parts: Callable[[int, int, np.random.Generator], list[Part]]
    labels: int = 2
    examples: int = 2
    random: bool = True


def _rotated(examples: int, labels: int, _: np.random.Generator) -> list[Part]:
    return [Part(0, np.arange(labels)), Part(examples // 2, _turned(np.arange(labels)))]


def _swapped(examples: int, labels: int, rng: np.random.Generator) -> list[Part]:
    last = Part(2 * examples // 3, rng.permutation(labels))
    return [Part(0, np.arange(labels)), Part(examples // 3, _turned(np.arange(labels))), last]


def _recurring(examples: int, labels: int, _: np.random.Generator) -> list[Part]:
    same = np.arange(labels)
    return [Part(0, same), Part(examples // 3, _turned(same)), Part(2 * examples // 3, same)]


def _gradual(examples: int, labels: int, _: np.random.Generator) -> list[Part]:
    length = examples // 10
    first = examples // 2 - length // 2
    return [Part(0, np.arange(labels)), Part(first, _turned(np.arange(labels)), length)]


def _few(examples: int, labels: int, rng: np.random.Generator) -> list[Part]:
    columns = np.arange(labels)
    chosen = np.sort(rng.choice(labels, 3, replace=False))
    columns[chosen] = _turned(chosen)
    return [Part(0, np.arange(labels)), Part(examples // 2, columns)]


def _replaced(examples: int, labels: int, rng: np.random.Generator) -> list[Part]:
    half = labels // 2
    drawn = rng.permutation(labels)
    return [Part(0, np.sort(drawn[:half])), Part(examples // 2, np.sort(drawn[half : 2 * half]))]


def _turned(columns: Ints) -> Ints:
    """Give every label the column of the one before it, and the first that of the last."""
    return np.roll(columns, 1)


CHANGES = {
    "rotated": Change(_rotated, random=False),
    "swapped": Change(_swapped, examples=3),
    "recurring": Change(_recurring, examples=3, random=False),
    "gradual": Change(_gradual, examples=10),
    "few": Change(_few, labels=3),
    "replaced": Change(_replaced),
}
"""All changes by name; each is also a method of `Stream`."""


def changed(stream: Stream, change: str, seed: int = 1) -> Stream:
    """Return a stream whose labels change places as a name of `CHANGES` says.

    Parameters
    ----------
    stream
        The original. If it knows drifts of its own, they are kept, each under the label that shows it then.
    change
        A name of `CHANGES`.
    seed
        Seed of the random numbers of those that need some.

    Examples
    --------
    >>> from marlene.streams import load
    >>> few = changed(load("yeast", limit=100), "few", seed=3)
    >>> few
    <Stream yeast, few (seed 3): 100 examples, 103 features (dense), 14 labels>
    >>> {label: times for label, times in few.drifts.items() if times}
    {'Class2': (50,), 'Class3': (50,), 'Class10': (50,)}
    """
    one_of(change, "change", CHANGES)
    whole_number(seed, "seed", 0)
    made = CHANGES[change]
    for what, least, there in (("labels", made.labels, len(stream.labels)), ("examples", made.examples, len(stream))):
        if there < least:
            raise MarleneError(f"{stream.name}: the change {change!r} needs at least {least} {what}, not {there}")
    rng = np.random.default_rng(seed)
    parts = made.parts(len(stream), len(stream.labels), rng)
    labels = tuple(stream.labels[column] for column in parts[0].columns)
    name = f"{stream.name}, {in_words(change, seed)}"
    return replace(stream, Y=_truth(stream.Y, parts, rng), labels=labels, name=name, drifts=_drifts(stream, parts))


def in_words(change: str, seed: int) -> str:
    """Return a change as the name of a stream tells it.

    Examples
    --------
    >>> in_words("recurring", 3), in_words("swapped", 3)
    ('recurring', 'swapped (seed 3)')
    """
    return f"{change} (seed {seed})" if CHANGES[change].random else change


def _truth(Y: Labels, parts: Sequence[Part], rng: np.random.Generator) -> Labels:
    truth = np.empty((len(Y), len(parts[0].columns)), Y.dtype)
    for part in parts:
        since = np.arange(len(Y)) - part.first
        chance = np.clip(since / part.length, 0, 1) if part.length else since >= 0
        rows = rng.random(len(Y)) < chance
        truth[rows] = Y[rows][:, part.columns]
    return truth


def _drifts(stream: Stream, parts: Sequence[Part]) -> Drifts:
    """Return the beginnings of the parts for the labels that change then, and the drifts of what a label shows."""
    times: list[set[int]] = [set() for _ in parts[0].columns]
    for before, part in pairwise(parts):
        for label in np.flatnonzero(before.columns != part.columns).tolist():
            times[label].add(part.first)
    ends = [part.first for part in parts[1:]] + [len(stream)]
    for part, end in zip(parts, ends, strict=True):
        for label, column in enumerate(part.columns.tolist()):
            known = stream.drifts.get(stream.labels[column], ())
            times[label].update(time for time in known if part.first <= time < end)
    return {stream.labels[column]: tuple(sorted(times[label])) for label, column in enumerate(parts[0].columns)}
