"""The arrays of an ensemble's sub-classifiers, where each comes from, and the buffers of its kernels."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.ensemble.performance import LANES
from marlene.kernels.ensemble.resampling import mix_many
from marlene.kernels.ensemble.state import AFTER, BLOCK, HEARD, NO_VOTE, Heard, Jobs, Members, Work

if TYPE_CHECKING:
    from collections.abc import Hashable

    from marlene._common.arrays import Arrays

ROWS = 8
"""How many rows are heard before records are swept: they come from memory once, while the votes stay in the cache."""
NOTED = 63
"""Up to this many values of an example are looked up once, and not again for every step."""
TRAINED = ("classifier", "offered", "key", "active", "learns")
"""Fields of `Members` that were learnt; the others are about the current example."""
SAID = ("positive", "negative", "node", "branch", "bayes")
"""Fields with a row for each value of the given label."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a sub-classifier comes from: stream (None: the target), label and number of the concept, from 0."""

    stream: str | None
    label: Hashable
    number: int


def stable_hash(value: Hashable) -> int:
    """Return a hash that is the same in every process, and for NumPy's numbers and texts the same as for Python's."""
    return int.from_bytes(hashlib.blake2b(_text(value).encode(), digest_size=8).digest(), "little")


def _text(value: Hashable) -> str:
    if isinstance(value, tuple):
        return repr([_text(part) for part in value])
    value = value.item() if isinstance(value, np.generic) else value
    return f"{type(value).__name__}:{value}"


def member_key(seed: int, stream: str | None, label: Hashable, number: int) -> np.uint64:
    """Return what the random numbers of the `number`-th sub-classifier of a task depend on."""
    parts = (int(seed) & (2**64 - 1), stable_hash(stream), stable_hash(label), number)
    return np.uint64(mix_many(np.array(parts, np.uint64)))


def whole_lanes(count: int) -> int:
    """Return the number of places that whole lanes of `count` sub-classifiers take."""
    return (count + LANES - 1) // LANES * LANES


def empty_members(capacity: int, values: int = 1) -> Members:
    """Return room for sub-classifiers that vote on examples which come with so many values of a given label."""
    said = (values, capacity)
    return Members(
        classifier=np.zeros(capacity, np.int64),
        offered=np.zeros((capacity, 2), np.int64),
        key=np.zeros(capacity, np.uint64),
        active=np.zeros(capacity),
        learns=np.zeros(capacity, np.bool_),
        positive=np.zeros(said),
        negative=np.zeros(said),
        node=np.zeros(said, np.int64),
        branch=np.zeros(said, np.int64),
        bayes=np.zeros(said, np.int64),
        clock=np.full(capacity, -1, np.int64),
        proving=np.zeros(capacity),
    )


def grown_members(members: Members, capacity: int) -> Members:
    """Return a copy with more room."""
    larger = empty_members(capacity, len(members.positive))
    for name, theirs in members._asdict().items():
        mine = getattr(larger, name)
        if name in SAID:
            mine[:, : theirs.shape[1]] = theirs
        else:
            mine[: len(theirs)] = theirs
    return larger


def clear_member(members: Members, h: int) -> None:
    """Leave nothing of a sub-classifier that is gone."""
    fresh = empty_members(1)._asdict()
    for name, array in members._asdict().items():
        array[(slice(None), h) if name in SAID else h] = fresh[name][0]


def saved_fields(members: Members, count: int) -> Arrays:
    """Return copies of the fields that are part of what was learnt."""
    return {name: getattr(members, name)[:count].copy() for name in TRAINED}


def with_own_votes(members: Members) -> Members:
    """Copy with separate vote buffers."""
    return members._replace(
        learns=np.zeros_like(members.learns),
        clock=members.clock.copy(),
        **{name: np.zeros_like(getattr(members, name)) for name in SAID},
    )


def new_work(capacity: int, n_tasks: int, n_features: int, values: int) -> Work:
    """Return buffers for so many members, tasks, features, and values of the given label."""
    return Work(
        jobs=Jobs(*(np.zeros(2 * n_tasks, np.int64) for _ in range(4))),
        queue=np.zeros(max(capacity, 2 * n_tasks), np.int64),
        heard=_new_heard(ROWS if values > 1 else 0, values, capacity),
        scratch=np.zeros((3, capacity)),
        dense=np.zeros(n_features),
        notes=np.zeros((capacity, 1 + NOTED), np.int64),
        shortage=np.zeros(3, np.int64),
    )


def _new_heard(rows: int, values: int, capacity: int) -> Heard:
    blocks = (capacity + BLOCK - 1) // BLOCK
    said = np.zeros((rows, values, blocks * BLOCK * HEARD))
    if rows:
        said.reshape(rows, values, blocks, HEARD, BLOCK)[:, :, :, AFTER:] = NO_VOTE  # nobody is there yet
    return Heard(said, steps=np.zeros(1, np.int64))


def larger_work(old: Work, sizes: tuple[int, ...]) -> Work:
    """Return larger buffers, in which what was heard stays."""
    new = new_work(*sizes)
    for mine, theirs in zip(new.heard, old.heard, strict=True):
        mine[tuple(map(slice, theirs.shape))] = theirs
    return new
