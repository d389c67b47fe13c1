"""Check that this tree can be released: `python tools/release.py [TEST…]`, or `make release-check`.

Builds the sdist and both wheels, the plain one and the one with compiled kernels. Installs each into an empty
environment and runs the demo there; unpacks the sdist and runs the tests in it, all of them or those named. Nothing is
uploaded.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = "Scripts" if os.name == "nt" else "bin"


def run(*command: str | Path, folder: Path = ROOT, **variables: str) -> None:
    """Run a command; end with its code if it fails."""
    print("+", *command, flush=True)
    code = subprocess.call([str(part) for part in command], cwd=folder, env=os.environ | variables)
    if code:
        sys.exit(code)


def check_metadata(wheel: Path) -> None:
    """End with a line if the metadata lack something."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        found = Parser().parsestr(archive.read(name).decode())
    urls = dict(each.split(", ", 1) for each in found.get_all("Project-URL") or ())
    lacking = [name for name in ("Source", "Issues", "Changelog", "Documentation") if name not in urls]
    if lacking:
        sys.exit(f"{wheel.name}: the metadata have no URL for {', '.join(lacking)}")
    if "](docs/" in found.get_payload():
        sys.exit(f"{wheel.name}: a link of the long description is not absolute")
    if "dev" in found["Version"]:
        sys.exit(f"{wheel.name}: {found['Version']} is not the version of a release")


def main(tests: list[str]) -> None:
    """Build everything and try it."""
    with tempfile.TemporaryDirectory(prefix="marlene-release-") as name:
        folder = Path(name)
        plain, compiled = folder / "plain", folder / "compiled"
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", plain, ROOT)
        run(sys.executable, "tools/wheel.py", compiled)
        built = [*plain.glob("*.tar.gz"), *plain.glob("*.whl"), *compiled.glob("*.whl")]
        for wheel in built[1:]:
            check_metadata(wheel)
        constraints = str(ROOT / "constraints.txt")
        for number, file in enumerate(built):
            environment = folder / f"environment-{number}"
            run(sys.executable, "-m", "venv", environment)
            python = environment / BIN / "python"
            run(python, "-m", "pip", "install", "--quiet", file, PIP_CONSTRAINT=constraints)
            run(environment / BIN / "marlene", "demo", folder=folder, MARLENE_CACHE=str(folder / f"cache-{number}"))
        with tarfile.open(built[0]) as archive:
            archive.extractall(folder / "sdist", filter="data")
        (unpacked,) = (folder / "sdist").iterdir()
        if tests:
            run("make", ".venv-test/ready", folder=unpacked)
            run(unpacked / ".venv-test" / BIN / "python", "-m", "pytest", "-n", "2", *tests, folder=unpacked)
        else:
            run("make", "test", folder=unpacked)
        shutil.rmtree(ROOT / "dist", ignore_errors=True)
        (ROOT / "dist").mkdir()
        for file in built:
            shutil.copy2(file, ROOT / "dist")
            print(f"dist/{file.name}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
