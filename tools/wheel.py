"""Build a wheel that carries compiled kernels: `python tools/wheel.py [folder]`, by default into dist/.

It is for this version of Python and Numba, this operating system, and all processors of the baseline
(`marlene.kernels.compile.BASELINES`). Run it where the package's dependencies and its `dev` extra are installed. A
plain build knows nothing of this: Hatchling calls the class below only where it is asked for.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parents[1]
PARTS = "import sys; sys.path.insert(0, '.'); from benchmarks._load_kernels import PARTS, main; main([*PARTS])"


def compile_kernels(folder: Path) -> None:
    """Compile all kernels for the baseline into an empty folder."""
    sys.path.insert(0, str(ROOT / "src"))
    from marlene.kernels.compile import baseline  # noqa: PLC0415 (only to build)

    wanted = baseline()
    if wanted is None:
        raise SystemExit("there is no baseline for this machine")
    environment = os.environ | {
        "MARLENE_CACHE": str(folder),
        "NUMBA_CPU_NAME": wanted.name,
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_DISABLE_INTEL_SVML": "1",  # it may be absent elsewhere
        "PYTHONPATH": str(ROOT / "src"),
    }
    subprocess.run([sys.executable, "-c", PARTS], cwd=ROOT, env=environment, check=True)


class CompiledKernels(BuildHookInterface[Any]):
    """What Hatchling calls to build the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 (Hatchling's interface)
        """Add compiled kernels, and say what they are for."""
        folder = ROOT / "build" / "kernels"
        shutil.rmtree(folder, ignore_errors=True)
        compile_kernels(folder)
        build_data["force_include"][str(folder / "kernels")] = "marlene/kernels/compiled"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True


def main(arguments: list[str]) -> None:
    """Build the wheel."""
    folder = arguments[0] if arguments else "dist"
    environment = os.environ | {"HATCH_BUILD_HOOK_ENABLE_CUSTOM": "true"}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(Path(folder).resolve())]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
