"""Make a virtual environment with marlene in it: `python3 tools/venv.py FOLDER EXTRA`.

EXTRA is a name of pyproject.toml's optional dependencies, or `core` for none. Uses nothing but the standard
library, and syntax old enough that an outdated Python reaches the check of its version.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)


def create(folder: str) -> None:
    """Create an empty environment, with the virtualenv package where this Python has no ensurepip."""
    if subprocess.call([sys.executable, "-c", "import ensurepip, venv"], stderr=subprocess.DEVNULL) == 0:
        subprocess.check_call([sys.executable, "-m", "venv", "--clear", folder])
        return
    tool = f"{folder}-virtualenv"
    subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", "--target", tool, "virtualenv"])
    environment = dict(os.environ, PYTHONPATH=tool)
    subprocess.check_call([sys.executable, "-m", "virtualenv", "--quiet", "--clear", folder], env=environment)
    shutil.rmtree(tool)


def main(folder: str, extra: str) -> None:
    """Create the environment and install the package against the tested versions."""
    if sys.version_info < OLDEST:
        sys.exit(f"marlene needs Python {OLDEST[0]}.{OLDEST[1]} or newer; this is {sys.version.split()[0]}")
    create(folder)
    print(f"installing marlene ({extra}) into {folder}", flush=True)
    package = "." if extra == "core" else f".[{extra}]"
    python = Path(folder, "Scripts" if os.name == "nt" else "bin", "python")
    tested = str(Path("constraints.txt").resolve())
    environment = dict(os.environ, PIP_CONSTRAINT=tested, PIP_DISABLE_PIP_VERSION_CHECK="1")
    subprocess.check_call([str(python), "-m", "pip", "install", "--quiet", "--editable", package], env=environment)


if __name__ == "__main__":
    main(*sys.argv[1:])
