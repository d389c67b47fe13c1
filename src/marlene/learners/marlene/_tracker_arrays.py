"""The arrays of a tracker: made, moved and copied."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.banks._bank import no_row
from marlene.kernels.banks.naive_bayes import WORK
from marlene.kernels.banks.neighbours import WindowSpace
from marlene.kernels.decisions.calibration import LINE
from marlene.kernels.decisions.cuts import BINS, FIRST, SUMS
from marlene.kernels.tracking.state import (
    ABSENT,
    KINDS,
    LEADERS,
    MARKS,
    NO_STEP,
    OFFERS,
    RECORDS,
    SCOUTS,
    VOICES,
    Growth,
    RoomScales,
    Streams,
    Weights,
    WorkSpace,
)
from marlene.kernels.tracking.touched import LONGEST, UNKNOWN, Touched
from marlene.learners.marlene._decisions import FIRST_ERROR

if TYPE_CHECKING:
    from marlene._common.arrays import Ints

LANES = 8
"""Labels have room for groups of so many, which a processor learns at once; some left over would take longer."""


def with_slack(needed: int, room: int) -> int:
    """Return room for so many inputs, with some to spare if there was too little."""
    return room if room >= needed else max(needed, 2 * room)


def grown(before: int, needed: int) -> int:
    """Return room for so many labels, in whole `LANES`; further ones get a quarter more, as moving takes time."""
    return before if needed <= before else -(-max(needed, before + before // 4) // LANES) * LANES


def is_room(room: int, labels: int) -> bool:
    """Tell whether there may be so much room for so many labels."""
    return labels <= room <= 2 * labels + LANES


def no_scales(rooms: int, inputs: int, numbers: int) -> RoomScales:
    """Return the scales of rooms that have met nothing."""
    shape = (rooms, numbers)
    return RoomScales(
        met=np.zeros((rooms, inputs), np.bool_),
        known=np.zeros((rooms, inputs), np.bool_),
        seen=np.zeros((rooms, 2), np.int64),
        times=np.zeros(shape),
        mean=np.zeros(shape),
        squares=np.zeros(shape),
        origin=np.zeros(shape),
        missing=np.zeros(shape),
    )


def no_streams(streams: int, labels: int, block: int, searched: int) -> Streams:
    """Return streams of which nothing is known; a target label may search among so many labels."""
    return Streams(
        labels=np.zeros(streams, np.int64),
        seen=np.zeros(streams, np.int64),
        examples=np.zeros((streams, labels, 2)),
        lent=np.zeros((streams, labels, 2)),
        errors=np.full((streams, RECORDS, labels, 2), FIRST_ERROR),
        counted=np.ones((streams, RECORDS, labels, 2)),
        counts=np.zeros((streams, labels, 2, BINS)),
        shares=np.zeros((streams, labels, 2, BINS)),
        cut=np.full((streams, labels), BINS // 2),
        rows=np.zeros((streams, 3)),
        judged=np.zeros((streams, 1), np.int64),
        lines=np.zeros((streams, labels, LINE)),
        same=np.full((streams, block), -1),
        trust=np.zeros((streams, labels)),
        learnt=np.zeros(streams, np.bool_),
        searched=np.zeros((block, searched, 2), np.int64),
        search=np.full((block, searched), ABSENT),
        alone=np.full(block, ABSENT),
    )


def no_weights(labels: int, places: int, columns: int) -> Weights:
    """Return empty lists of candidates."""
    return Weights(
        log=np.full((KINDS, labels, places), ABSENT),
        candidate=np.zeros((KINDS, labels, places), np.int64),
        size=np.zeros((KINDS, labels), np.int64),
        floor=np.full(columns, ABSENT),
        pool=np.zeros(columns, np.int64),
        total=np.zeros((KINDS, labels)),
        leaders=np.zeros((KINDS, labels), np.int64),
        leader=np.zeros((KINDS, labels, LEADERS), np.int64),
        share=np.zeros((KINDS, labels, LEADERS)),
        began=np.zeros(labels, np.int64),
        silent=np.full((KINDS, labels, 2), ABSENT),
        least=np.full(1, ABSENT),
    )


def no_growth(labels: int, slots: int) -> Growth:
    """Return labels without snapshots."""
    return Growth(
        young=np.zeros((labels, 2), np.int64),
        since=np.zeros((labels, 2), np.int64),
        taken=np.zeros(labels, np.int64),
        alive=np.zeros((slots, labels), np.bool_),
    )


def put_weights(before: Weights, after: Weights, moved: Ints, guest: int, shift: int) -> None:
    """Copy lists into larger, empty ones; column h is now `moved[h]`, and guests are shifted, from place `guest` on."""
    known, places = len(before.began), before.log.shape[2]
    for name in ("size", "total", "leaders", "leader", "share", "silent"):
        getattr(after, name)[:, :known] = getattr(before, name)
    after.leader[:, :known] = moved[before.leader]
    after.began[:known] = before.began
    after.least[0] = before.least[0]
    after.pool[: len(before.pool)] = moved[before.pool]
    after.floor[moved] = before.floor
    for start, stop, to in ((0, guest, 0), (guest, places, guest + shift)):
        after.log[:, :known, to : to + stop - start] = before.log[:, :, start:stop]
        after.candidate[:, :known, to : to + stop - start] = moved[before.candidate[:, :, start:stop]]
    after.size[after.size > 0] += shift


def new_scratch(
    inputs: int, met: int, columns: int, streams: int, labels: int, places: int, window: int, slots: int
) -> WorkSpace:
    """Return work space; there is room for so many inputs, and for so many that were met."""
    return WorkSpace(
        full=no_row(inputs),
        score=np.zeros((KINDS, columns)),
        chance=np.zeros((KINDS, columns)),
        logs=np.zeros((KINDS, 2, columns)),
        said=np.zeros((VOICES, labels)),
        scores=np.zeros(labels),
        odds=np.zeros(labels),
        probabilities=np.zeros(labels),
        choice=np.zeros((FIRST + SUMS * labels, BINS + 1)),
        work=np.zeros((WORK, 2 * labels)),
        slopes=np.zeros(2 * labels),
        lesson=np.zeros(2 * labels, np.int8),
        scouts=np.zeros(SCOUTS, np.int64),
        guests=np.zeros((3, places)),
        importance=np.ones(1),
        offers=np.zeros((OFFERS, streams, labels)),
        scored=np.full(MARKS, NO_STEP),
        window=WindowSpace(
            similar=np.zeros(window, np.float32),
            highest=np.zeros(1 + math.isqrt(window), np.float32),
            chosen=np.zeros(window, np.float32),
            listed=np.zeros(window, np.int64),
            votes=np.zeros((2, labels)),
        ),
        touched=Touched(
            ring=np.zeros(LONGEST, np.int64),
            listed=np.zeros(met, np.int64),
            clock=np.array([0, UNKNOWN]),
            young=np.full(labels, UNKNOWN),
            frozen=np.full((slots, labels), UNKNOWN),
        ),
    )


def copied(part: Any) -> Any:  # noqa: ANN401 (NamedTuples of arrays, or what is in them)
    """Return a copy with copies of all arrays."""
    if isinstance(part, np.ndarray):
        return part.copy()
    return type(part)(*map(copied, part)) if isinstance(part, tuple) else part


def put(larger: Any, smaller: Any) -> None:  # noqa: ANN401 (NamedTuples of arrays)
    """Copy arrays into the beginning of larger ones."""
    for mine, theirs in zip(larger, smaller, strict=True):
        mine[tuple(slice(0, length) for length in theirs.shape)] = theirs
