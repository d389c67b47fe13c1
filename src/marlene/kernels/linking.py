"""How the parts of a kernel become machine code: once, when the kernel is whole.

Numba optimises every function together with all it calls, and makes machine code of it, though nobody calls a part
from Python: what lies deep is optimised again at each level. Here parts stay as they are until the kernel that calls
them is linked, which takes much less time.
"""

from __future__ import annotations

import functools
import gc
import logging
import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from numba.core import codegen as untyped_codegen
from numba.core import compiler as untyped_compiler
from numba.core import typed_passes as untyped_passes
from numba.core.compiler_machinery import register_pass as untyped_register

from marlene._common.lazy import Later
from marlene.kernels.lowering import OwnLower, drop_unused
from marlene.kernels.pipeline import pipeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

codegen: Any = untyped_codegen
compiler: Any = untyped_compiler
passes: Any = untyped_passes
register_pass: Any = untyped_register
shorter: Any = Later("marlene.kernels.shortcuts")

PATIENCE = 1.0
"""Seconds of compiling before the user is told."""
MESSAGE = "compiling kernels, once per version"


class Compiling:
    """The time that this process has spent compiling. Numba compiles one function at a time."""

    def __init__(self) -> None:
        self.start, self.before, self.depth, self.told = 0.0, 0.0, 0, False

    def tell(self) -> None:
        """Say once what takes so long. By default a warning goes to standard error; users may silence the logger."""
        if not self.told and self.before + time.perf_counter() - self.start > PATIENCE:
            self.told = True
            logging.getLogger("marlene").warning(MESSAGE)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Measure what is done within, and collect no garbage: there is none, and looking for it takes time."""
        collecting = gc.isenabled()
        gc.disable()
        if self.depth == 0:
            self.start = time.perf_counter()
        self.depth += 1
        try:
            self.tell()
            with shorter.shortcuts() if self.depth == 1 else nullcontext():
                yield
        finally:
            self.depth -= 1
            if self.depth == 0:
                self.before += time.perf_counter() - self.start
            if collecting:
                if gc.get_freeze_count() == 0:  # what there is now is old: the next collections need not look at it
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()


COMPILING = Compiling()


class QuickFlags(compiler.Flags):  # type: ignore[misc]
    """Numba's options of a function, compared without asking for each of them.

    They are part of the key by which Numba finds the code of every operator, and so are compared very often.
    """

    defaults: Any = {name: option.default for name, option in compiler.Flags.options.items()}  # noqa: RUF012 (not ours)

    @functools.cached_property
    def key(self) -> tuple[tuple[str, str], ...]:
        """What tells these options from others. They change no more once it was asked for."""
        return tuple(sorted((name, str(value)) for name, value in self._values.items()))

    hash: int = hash(compiler.Flags())  # that of the names of all options

    def values(self) -> dict[str, Any]:
        """Return the values of all options."""
        return dict(self.defaults | self._values)

    def __eq__(self, other: object) -> bool:
        return bool(super().__eq__(other))

    def __hash__(self) -> int:
        return self.hash


class OwnLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of a function of ours."""

    _codegen: Any

    def add_ir_module(self, ir_module: Any) -> None:  # noqa: ANN401
        """Take a module, without what nobody needs."""
        drop_unused(ir_module)
        super().add_ir_module(ir_module)

    def _optimize_functions(self, ll_module: Any) -> None:  # noqa: ANN401
        """Simplify each function, as Numba does, but with one builder, quickly, and no declarations."""
        passes_of_function, builder = self._codegen._function_pass_manager(opt=1)  # noqa: SLF001
        ll_module.data_layout = self._codegen._data_layout  # noqa: SLF001
        for function in ll_module.functions:
            if not function.is_declaration:
                passes_of_function.run(function, builder)


class PartLibrary(OwnLibrary):
    """The code of a function that only kernels call, not yet optimised."""

    def finalize(self) -> None:
        """Leave the code as it is."""
        self._raise_if_finalized()
        self._finalized = True


class KernelLibrary(OwnLibrary):
    """The code of a kernel, linked with all its parts."""

    _linking_libraries: list[Any]

    def finalize(self) -> None:
        """Link all parts, optimise them together, and make machine code."""
        self._linking_libraries = _with_parts(self._linking_libraries)
        super().finalize()


def _with_parts(libraries: Iterable[Any]) -> list[Any]:
    """Return libraries and all that parts among them need, each once and before what it needs.

    The order matters: the linker leaves out functions that nobody has asked for yet.
    """
    seen: set[int] = set()
    found: list[Any] = []

    def visit(library: Any) -> None:  # noqa: ANN401 (the compiler's own object)
        if id(library) not in seen:
            seen.add(id(library))
            for needed in library._linking_libraries if isinstance(library, PartLibrary) else ():  # noqa: SLF001
                visit(needed)
            found.append(library)

    for library in libraries:
        visit(library)
    return found[::-1]


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerPart(passes.NativeLowering):  # type: ignore[misc]
    """Lower a part, and let kernels find it."""

    _name = "lower_part"
    lowering_class = OwnLower

    def run_pass(self, state: Any) -> bool:  # noqa: ANN401
        """Make no machine code."""
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        # By it callers find the part: a function in C as Numba wants it, of an object of its own. From Python it fails.
        key = [].clear
        state.targetctx.insert_user_function(key, state.cr.fndesc, [state.library])
        state["cr"] = state.cr._replace(cfunc=key)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerKernel(passes.NativeLowering):  # type: ignore[misc]
    """Lower a kernel."""

    _name = "lower_kernel"
    lowering_class = OwnLower

    def run_pass(self, state: Any) -> bool:  # noqa: ANN401
        """Link all parts."""
        COMPILING.tell()  # what follows is one long step
        state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class PartCompiler(compiler.CompilerBase):  # type: ignore[misc]
    """The compiler of functions that only kernels call."""

    lowering: Any = LowerPart

    def compile_extra(self, func: Any) -> Any:  # noqa: ANN401
        """Compile a function."""
        self.state.flags = QuickFlags(self.state.flags)
        with COMPILING.going_on():
            return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        """Return the passes for a function."""
        return [pipeline(self.state, self.lowering)]


class KernelCompiler(PartCompiler):
    """The compiler of kernels."""

    lowering = LowerKernel
