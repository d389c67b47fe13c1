"""The zeros of an example that count in any room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.kernels.banks.scales import GOOD_UNTIL, LISTED, PRESENCE, complete_row, good_for, may_be_dense
from marlene.kernels.compile import inlined, subkernel

if TYPE_CHECKING:
    from marlene.kernels.banks.neighbours import Window
    from marlene.kernels.banks.scales import FullRow
    from marlene.kernels.rows import Rows
    from marlene.kernels.tracking.state import Rooms


@subkernel
def _list_inputs(full: FullRow, rooms: Rooms) -> None:
    """List the inputs that may be dense in any room, for some examples ahead."""
    scales, n_rooms, count = rooms.scales, len(rooms.first) - 1, 0
    ahead = good_for(scales.seen[0, 0])
    for room in range(1, n_rooms):
        ahead = min(ahead, good_for(scales.seen[room, 0]))
    for slot in range(len(rooms.numeric)):
        i = rooms.numeric[slot]
        if i != PRESENCE:
            dense = False
            for room in range(n_rooms):
                dense = dense or may_be_dense(scales.times[room, i], scales.seen[room, 0], ahead)
            if dense:
                full.listed[count] = slot
                count += 1
    full.clock[LISTED], full.clock[GOOD_UNTIL] = count, _seen(rooms) + ahead


@inlined
def _seen(rooms: Rooms) -> int:
    """Return how many examples all rooms have seen; no room has seen more since than this has grown."""
    total = 0
    for room in range(len(rooms.first) - 1):
        total += rooms.scales.seen[room, 0]
    return total


@subkernel
def add_zeros(full: FullRow, rooms: Rooms, rows: Rows, row: int) -> None:
    """Write a row with its zeros."""
    if _seen(rooms) >= full.clock[GOOD_UNTIL]:
        _list_inputs(full, rooms)
    complete_row(full, rows, row)


@subkernel
def fits_window(window: Window, full: FullRow, rooms: Rooms, rows: Rows, row: int) -> bool:
    """Tell whether the window has room for a row with its zeros."""
    add_zeros(full, rooms, rows, row)
    return bool(full.rows.starts[1] <= window.where.shape[1])
