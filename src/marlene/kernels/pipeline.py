"""The passes that a function of ours goes through: those of Numba's that do something for it, and nothing between."""

from __future__ import annotations

from typing import Any

from numba.core import compiler as untyped_compiler
from numba.core import compiler_machinery as untyped_machinery
from numba.core import rewrites as untyped_rewrites
from numba.core import typed_passes as untyped_passes

compiler: Any = untyped_compiler
machinery: Any = untyped_machinery
passes: Any = untyped_passes
rewrites: Any = untyped_rewrites

IDLE = {
    "WithLifting",
    "InlineClosureLikes",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NopythonRewrites",
    "NoPythonSupportedFeatureValidation",
    "AnnotateTypes",
    "DumpParforDiagnostics",
}
"""For what kernels do not have: closures, comprehensions, `with`, expressions of whole arrays, mixed tuples."""


class OwnPass(passes.LoweringPass):  # type: ignore[misc]
    """A pass of ours."""

    def __init__(self) -> None:
        super().__init__()


@machinery.register_pass(mutates_CFG=True, analysis_only=False)
class RewriteConstants(OwnPass):
    """Let constants be constants in indices and errors, as `GenericRewrites` does; lifetimes are not needed yet."""

    _name = "rewrite_constants"

    def run_pass(self, state: Any) -> bool:  # noqa: ANN401
        """Apply each rewrite to each block until nothing more matches."""
        blocks = state.func_ir.blocks
        for kind in rewrites.rewrite_registry.rewrites["before-inference"]:
            rewrite, work = kind(state), list(blocks.items())
            while work:
                key, block = work.pop()
                if rewrite.match(state.func_ir, block, state.typemap, state.calltypes):
                    blocks[key] = rewrite.apply()
                    work.append((key, blocks[key]))
        return True


class Passes(machinery.PassManager):  # type: ignore[misc]
    """Runs passes, without events, times and checks."""

    def run(self, state: Any) -> None:  # noqa: ANN401
        """Run all passes."""
        for kind, _ in self.passes:
            each = machinery._pass_registry.get(kind).pass_inst  # noqa: SLF001
            each.analysis = self._analysis
            each.run_initialization(state)
            each.run_pass(state)
            each.run_finalizer(state)


def pipeline(state: Any, lowering: Any) -> Passes:  # noqa: ANN401
    """Return the passes for a function, the last but one of which lowers it."""
    instead = {"NativeLowering": lowering, "GenericRewrites": RewriteConstants}
    found, pruned = Passes("kernels"), False
    for kind, text in compiler.DefaultPassBuilder.define_nopython_pipeline(state).passes:
        name = kind.__name__
        again = name == "DeadBranchPrune" and pruned  # once is enough: nothing is inlined
        pruned = pruned or name == "DeadBranchPrune"
        if name not in IDLE and not again:
            found.passes.append((instead.get(name, kind), text))
    found.finalize()
    return found
