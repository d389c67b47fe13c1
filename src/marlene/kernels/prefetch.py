"""Ask for memory before it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils as untyped_utilities
from numba.extending import intrinsic

from marlene._common.lazy import Later

if TYPE_CHECKING:
    from marlene._common.arrays import Array

    class Prefetch(Protocol):
        """What a kernel sees."""

        def __call__(self, array: Array, place: int) -> None:
            """Let a number of an array, counted from its beginning, come into the processor's cache."""
            ...


arrayobj: Any = Later("numba.np.arrayobj")
cgutils: Any = untyped_utilities
READ, KEEP, DATA = 0, 3, 1
AHEAD = 16
"""How many steps a loop over places that lie apart asks ahead."""


@intrinsic
def _prefetch(_typing: Any, array: Any, place: Any) -> Any:  # noqa: ANN401, ARG001 (the compiler's own objects)
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        vector = arrayobj.make_array(signature.args[0])(context, builder, values[0])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(vector.data, [values[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [address, *(ir.Constant(number, option) for option in (READ, KEEP, DATA))])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


prefetch = cast("Prefetch", _prefetch)
