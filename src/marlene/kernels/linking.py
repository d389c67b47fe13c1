"""How the parts of a kernel become machine code: once, when the kernel is whole.

Numba optimises every function together with all it calls, and makes machine code of it, though nobody calls a part
from Python: what lies deep is optimised again at each level. Here parts stay as they are until the kernel that calls
them is linked; this halves the time to compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba.core import codegen as untyped_codegen
from numba.core import compiler as untyped_compiler
from numba.core import typed_passes as untyped_passes
from numba.core.compiler_machinery import register_pass

if TYPE_CHECKING:
    from collections.abc import Iterable

codegen: Any = untyped_codegen
compiler: Any = untyped_compiler
passes: Any = untyped_passes


class PartLibrary(codegen.JITCodeLibrary):  # type: ignore[misc, no-any-unimported]
    """The code of a function that only kernels call, not yet optimised."""

    def finalize(self) -> None:
        """Leave the code as it is."""
        self._raise_if_finalized()
        self._finalized = True


class KernelLibrary(codegen.JITCodeLibrary):  # type: ignore[misc, no-any-unimported]
    """The code of a kernel, linked with all its parts."""

    def finalize(self) -> None:
        """Link all parts, optimise them together, and make machine code."""
        self._linking_libraries = _with_parts(self._linking_libraries)
        super().finalize()


def _with_parts(libraries: Iterable[Any]) -> list[Any]:
    """Return libraries and all that parts among them need, each once."""
    found: dict[int, Any] = {}
    waiting = list(libraries)
    while waiting:
        library = waiting.pop()
        if id(library) not in found:
            found[id(library)] = library
            if isinstance(library, PartLibrary):
                waiting += library._linking_libraries  # noqa: SLF001 (numba offers no public way)
    return [*found.values()]


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerPart(passes.NativeLowering):  # type: ignore[misc, no-any-unimported]
    """Lower a part, and let kernels find it."""

    _name = "lower_part"

    def run_pass(self, state: Any) -> bool:  # noqa: ANN401 (the compiler's own object)
        """Make no machine code."""
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        key = [].append  # any method of an object of its own: by it callers find the part
        state.targetctx.insert_user_function(key, state.cr.fndesc, [state.library])
        state["cr"] = state.cr._replace(cfunc=key)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerKernel(passes.NativeLowering):  # type: ignore[misc, no-any-unimported]
    """Lower a kernel."""

    _name = "lower_kernel"

    def run_pass(self, state: Any) -> bool:  # noqa: ANN401
        """Link all parts."""
        state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class PartCompiler(compiler.CompilerBase):  # type: ignore[misc, no-any-unimported]
    """The compiler of functions that only kernels call."""

    lowering: Any = LowerPart

    def define_pipelines(self) -> list[Any]:
        """Return Numba's own passes but for the last."""
        manager = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        place = next(n for n, (each, _) in enumerate(manager.passes) if each is passes.NativeLowering)
        manager.passes[place] = (self.lowering, "code of a part")
        manager.finalize()
        return [manager]


class KernelCompiler(PartCompiler):
    """The compiler of kernels."""

    lowering = LowerKernel
