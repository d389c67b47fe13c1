"""Which inputs the target's learners have learnt since when: copying or clearing a column sweeps no others.

The inputs of the latest rows are kept in a ring. It is work space, not state: where it does not reach back far enough,
all inputs that were met are swept, with the same result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.banks.scales import list_met
from marlene.kernels.compile import inlined, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Ints
    from marlene.kernels.rows import Rows
    from marlene.kernels.tracking.state import Rooms

LOGGED, SEEN, CLOCKS = range(3)
"""Places of `Touched.clock`: how many inputs were written into the ring, and how many rows the target had then."""
UNKNOWN = -1
LONGEST = 1 << 15
"""How many inputs the ring holds."""


class Touched(NamedTuple):
    """Work space: inputs in the order in which they were learnt.

    Attributes
    ----------
    ring
        The latest of them.
    listed
        Room for a list of inputs.
    clock
        See `LOGGED`.
    young
        How many were written when each young learner was cleared; `UNKNOWN`: long ago.
    frozen
        How many were written when each snapshot was taken, if the label's own learner has only learnt since
        (slots × labels).
    """

    ring: Ints
    listed: Ints
    clock: Ints
    young: Ints
    frozen: Ints


@inlined
def keep_up(touched: Touched, seen: int) -> None:
    """Forget everything if rows were learnt with another work space; the target has had so many."""
    if touched.clock[SEEN] != seen:
        touched.clock[SEEN] = seen
        for q in range(len(touched.young)):
            touched.young[q] = UNKNOWN
        for slot in range(len(touched.frozen)):
            for q in range(len(touched.young)):
                touched.frozen[slot, q] = UNKNOWN


@inlined
def write_inputs(touched: Touched, rows: Rows) -> None:
    """Write the inputs of the first row, which is learnt now."""
    ring, logged = touched.ring, touched.clock[LOGGED]
    for j in range(rows.starts[1]):
        ring[(logged + j) % LONGEST] = rows.indices[j]
    touched.clock[LOGGED] = logged + rows.starts[1]


@subkernel
def list_since(touched: Touched, rooms: Rooms, since: int) -> int:
    """List the inputs that the target has learnt since then, or more; some may be listed twice. Return how many."""
    logged = touched.clock[LOGGED]
    if since == UNKNOWN or logged - since > min(LONGEST, rooms.scales.seen[0, 1]):
        return int(list_met(rooms.scales.met[0], touched.listed))
    for place in range(since, logged):
        touched.listed[place - since] = touched.ring[place % LONGEST]
    return int(logged - since)
