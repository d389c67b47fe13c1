"""A target and its archive: the first half of a stream as a source for the second."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from marlene._common.checks import one_of, whole_number
from marlene._common.errors import MarleneError

if TYPE_CHECKING:
    from marlene.streams._stream import Stream

SAME, RENAMED, NOISE = ARCHIVES = ("same", "renamed", "noise")
"""What the labels of an archive are."""


def halves(stream: Stream, archive: str = SAME, seed: int = 1) -> tuple[Stream, Stream]:
    """Return the archive (the first half of a stream) and the target (the second half).

    Parameters
    ----------
    stream
        The stream. If it knows its drifts, each half knows its own, except for an archive of noise.
    archive
        What the labels of the archive are: "same"; "renamed", "old" before every name; or "noise", the same rows of
        labels in random order.
    seed
        Seed of that order.

    Examples
    --------
    >>> from marlene.streams import load
    >>> archive, target = halves(load("yeast", limit=101), "renamed")
    >>> archive, archive.labels[:2]
    (<Stream yeast, first half, renamed: 50 examples, 103 features (dense), 14 labels>, ('old Class1', 'old Class2'))
    >>> target
    <Stream yeast, second half: 51 examples, 103 features (dense), 14 labels>
    """
    one_of(archive, "archive", ARCHIVES)
    whole_number(seed, "seed", 0)
    middle = len(stream) // 2
    if not middle:
        raise MarleneError(f"{stream.name}: halves need at least 2 examples, not {len(stream)}")
    first = replace(stream.head(middle), name=f"{stream.name}, {in_words(archive, seed)}")
    if archive == RENAMED:
        first = _renamed(first)
    elif archive == NOISE:
        first = replace(first, Y=np.random.default_rng(seed).permutation(first.Y), drifts={})
    later = {label: tuple(time - middle for time in times if time > middle) for label, times in stream.drifts.items()}
    name = f"{stream.name}, second half"
    return first, replace(stream.rows(slice(middle, None)), name=name, drifts=later)


def in_words(archive: str, seed: int) -> str:
    """Return an archive as its name tells it.

    Examples
    --------
    >>> in_words("same", 3), in_words("noise", 3)
    ('first half', 'first half, noise (seed 3)')
    """
    return "first half" + {SAME: "", RENAMED: ", renamed", NOISE: f", noise (seed {seed})"}[archive]


def _renamed(stream: Stream) -> Stream:
    names = {label: f"old {label}" for label in stream.labels}
    known = names.keys() & names.values()
    if known:
        raise MarleneError(f"{stream.name}: the stream already has a label named {min(known)!r}")
    drifts = {names[label]: times for label, times in stream.drifts.items()}
    return replace(stream, labels=tuple(names.values()), drifts=drifts)
