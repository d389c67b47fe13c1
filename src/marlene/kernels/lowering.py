"""From statements to LLVM's instructions: fewer of them than Numba makes, so that there is less to optimise.

Numba puts nearly every variable into memory, and takes arrays apart and puts them together around every access, all of
which LLVM then has to remove. Here a variable that is assigned once stays a value, a part of a value that was just put
together is taken from what it was put together from, and what nobody needs is left out.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba import types
from numba.core import analysis as untyped_analysis
from numba.core import cgutils as untyped_utilities
from numba.core import ir as untyped_ir
from numba.core import lowering as untyped_lowering
from numba.extending import intrinsic

from marlene._common.lazy import Later

if TYPE_CHECKING:
    from collections.abc import Iterable

analysis: Any = untyped_analysis
builtins: Any = Later("numba.cpython.builtins")
cgutils: Any = untyped_utilities
ir: Any = untyped_ir
lowering: Any = untyped_lowering
InsertValue = llvm.instructions.InsertValue

RANGES = (types.range_state64_type, types.range_iter64_type)
NAMES = (
    "add alloca and bitcast extractvalue fadd fcmp fdiv fmul fneg fpext fptrunc fsub getelementptr icmp insertvalue "
    "inttoptr load lshr mul or ptrtoint sdiv select sext shl sitofp srem sub trunc udiv uitofp urem xor zext"
)
PURE = frozenset(NAMES.split())
"""Instructions that do nothing but give a value."""


class OwnLower(lowering.Lower):  # type: ignore[misc]
    """Lowers a function of ours. One that counts references has its variables in memory, as Numba wants it."""

    def _find_singly_assigned_variable(self) -> None:
        """Find the variables that need no memory: assigned by one statement, which comes before all uses."""
        super()._find_singly_assigned_variable()
        if not self.flags.nrt:
            self._singly_assigned_vars = _single(self.func_ir.blocks)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:  # noqa: ANN401
        """Keep the value of a variable."""
        if self.flags.nrt or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """Forget a variable: nothing needs to be done, but for references."""
        if self.flags.nrt:
            super().delvar(name)

    def lower_expr(self, kind: Any, statement: Any) -> Any:  # noqa: ANN401
        """Lower an expression; loops over ranges in fewer steps."""
        if statement.op in ("getiter", "iternext"):
            value = self.loadvar(statement.value.name)
            if self.typeof(statement.value.name) in RANGES and _counts(self.builder, value):
                return (self._begin_range if statement.op == "getiter" else self._continue_range)(kind, value)
        return super().lower_expr(kind, statement)

    def _lower_call_normal(self, function: Any, statement: Any, signature: Any) -> Any:  # noqa: ANN401
        function = simpler(self.context.typing_context, function, signature.args)
        if getattr(function, "typing_key", None) is not range:
            return super()._lower_call_normal(function, statement, signature)
        given = self.fold_call_args(function, signature, statement.args, statement.vararg, statement.kws)
        number = given[0].type
        start, stop, *step = given if len(given) > 1 else (number(0), *given)
        return self._put_together(signature.return_type, start, stop, *(step or [number(1)]))

    def _put_together(self, kind: Any, *parts: Any) -> Any:  # noqa: ANN401
        """Return a value of some parts."""
        value = llvm.Constant(self.context.get_value_type(kind), llvm.Undefined)
        for place, part in enumerate(parts):
            value = self.builder.insert_value(value, part, place)
        return value

    def _begin_range(self, kind: Any, numbers: Any) -> Any:  # noqa: ANN401
        """Return an iterator, as Numba has it: place of the next number, end, step, and place of the count."""
        start, stop, step = (extract_value(self.builder, numbers, part) for part in range(3))
        place, count = (cgutils.alloca_once(self.builder, start.type) for _ in range(2))
        self.builder.store(start, place)
        self.builder.store(self.builder.sub(stop, start), count)
        return self._put_together(kind, place, stop, step, count)

    def _continue_range(self, kind: Any, iterator: Any) -> Any:  # noqa: ANN401
        """Return the next number of a range, and whether it is one."""
        place, stop, step = (extract_value(self.builder, iterator, part) for part in range(3))
        number = self.builder.load(place)
        self.builder.store(self.builder.add(number, step), place)
        return self._put_together(kind, number, self.builder.icmp_signed("<", number, stop))

    def lower_block(self, block: Any) -> None:  # noqa: ANN401
        """Lower the statements of a block; users never see an error here."""
        self.pre_block(block)
        for statement in block.body:
            self.loc = statement.loc
            self.lower_inst(statement)
        self.post_block(block)


def _counts(builder: Any, numbers: Any) -> bool:  # noqa: ANN401
    """Tell whether a range, or an iterator over it, is known to count one by one; the latter, if it has no memory."""
    step = extract_value(builder, numbers, 2)
    return isinstance(step, llvm.Constant) and step.constant == 1


def simpler(typing: Any, function: Any, kinds: Any) -> Any:  # noqa: ANN401 (types of the compiler)
    """Return what stands in for a function that Numba compiles anew for each sort of numbers."""
    key = getattr(function, "typing_key", None)
    if key is int and len(kinds) == 1:
        return typing.resolve_value_type(builtins.cast_int)
    if key in (min, max) and len(kinds) == 2 and all(isinstance(kind, types.Number) for kind in kinds):
        return typing.resolve_value_type(_least if key is min else _greatest)
    return function


def _choice(name: str, compare: Any) -> Any:  # noqa: ANN401
    def choose(typing: Any, x: Any, y: Any) -> Any:  # noqa: ANN401
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
            return builtins.do_minmax(context, builder, signature.args, values, compare)

        return typing.unify_types(x, y)(x, y), generate

    choose.__name__ = name
    return intrinsic(choose)


_least = _choice("least", operator.lt)
_greatest = _choice("greatest", operator.gt)


def _single(blocks: dict[int, Any]) -> set[str]:
    """Return the variables with one assignment, from which all ways to their uses come."""
    homes: dict[str, int] = {}
    several: set[str] = set()
    for offset, block in blocks.items():
        for statement in block.find_insts(ir.Assign):
            name = statement.target.name
            if name in homes:
                several.add(name)
            homes[name] = offset
    before = analysis.compute_cfg_from_blocks(blocks).dominators()
    for offset, block in blocks.items():
        defined = set()
        for statement in block.body:
            for name in _used(statement):
                home = homes.get(name, offset)
                if home > offset or home not in before[offset] or (home == offset and name not in defined):
                    several.add(name)
            if type(statement) is ir.Assign:
                defined.add(statement.target.name)
    return set(homes) - several


def _used(statement: Any) -> Iterable[str]:  # noqa: ANN401
    """Return the names of the variables that a statement reads."""
    if type(statement) is ir.Del:
        return ()
    if type(statement) is not ir.Assign:
        return (variable.name for variable in statement.list_vars())
    value = statement.value
    if isinstance(value, ir.Var):
        return (value.name,)
    return (variable.name for variable in value.list_vars()) if isinstance(value, ir.Inst) else ()


class PartsOfValue:
    """The parts of a value, such as the descriptor of an array; Numba's are in memory, for LLVM to take out again."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any = None) -> None:  # noqa: ANN401
        self._context, self._builder, self._fe_type = context, builder, kind
        self._datamodel = context.data_model_manager[kind]
        self._value = llvm.Constant(self._datamodel.get_value_type(), llvm.Undefined) if value is None else value

    def __getattr__(self, field: str) -> Any:  # noqa: ANN401
        """Return a field."""
        return self._builder.extract_value(self._value, self._datamodel.get_field_position(field))

    def __setattr__(self, field: str, value: Any) -> None:  # noqa: ANN401
        """Replace a field."""
        if field.startswith("_"):
            object.__setattr__(self, field, value)
        else:
            place = self._datamodel.get_field_position(field)
            self._value = self._builder.insert_value(self._value, value, place)

    def _getvalue(self) -> Any:  # noqa: ANN401
        return self._value


_extract = llvm.IRBuilder.extract_value


def extract_value(builder: Any, whole: Any, place: Any, name: str = "") -> Any:  # noqa: ANN401
    """Return a part of a value; if it was put there just before, the part itself."""
    path = [place] if isinstance(place, int) else list(place)
    while type(whole) is InsertValue and list(whole.indices) != path and whole.indices[0] != path[0]:
        whole = whole.aggregate
    if type(whole) is InsertValue and list(whole.indices) == path:
        return whole.value
    return _extract(builder, whole, path, name)


def drop_unused(module: Any) -> None:  # noqa: ANN401
    """Remove the instructions that only give values which nobody needs, or keep them where nobody looks."""
    for function in module.functions:
        stores: dict[int, list[Any]] = {}
        found: list[Any] = []
        for block in function.blocks:
            for each in block.instructions:
                if each.opname == "store" and type(each.operands[1]) is llvm.AllocaInstr:
                    stores.setdefault(id(each.operands[1]), []).append(each)
                elif each.opname not in PURE:
                    found.append(each)
        needed = {id(each) for each in found}
        while found:
            each = found.pop()
            values = [value for value, _ in each.incomings] if type(each) is llvm.PhiInstr else each.operands
            for value in (*values, *stores.pop(id(each), ())):
                if id(value) not in needed and isinstance(value, llvm.Instruction):
                    needed.add(id(value))
                    found.append(value)
        for block in function.blocks:
            block.instructions = [each for each in block.instructions if id(each) in needed]
