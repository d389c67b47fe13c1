"""Make the documentation site: `python tools/site.py FOLDER`.

Gathers the pages of `docs/`, the documents of the project and a page for every public package in `FOLDER/pages`, and
lets Sphinx write them to `FOLDER/html`. A warning, such as a link that leads nowhere, is an error.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "marlene.learners",
    "marlene.streams",
    "marlene.evaluation",
    "marlene.metrics",
    "marlene.experiments",
    "marlene.experiments.statistics",
    "marlene.experiments.paper",
    "marlene.report",
    "marlene.live",
    "marlene.drift",
    "marlene.banks",
    "marlene.trees",
    "marlene.encoders",
    "marlene.sklearn",
)
# Documents that lie outside of docs/, and their places on the site.
PROJECT = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "benchmarks/README.md": "project/benchmarks.md",
}
LINK = re.compile(r"(\]\()(?!https?:|#|/)([^)#\s]+)")


def place(path: Path) -> str:
    """Return where a file of the repository lies on the site."""
    name = path.relative_to(ROOT).as_posix()
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    return PROJECT.get(name, name)


def relinked(page: Path) -> str:
    """Return the text of a page whose links lead to the same files on the site."""
    here = Path(place(page)).parent

    def moved(match: re.Match[str]) -> str:
        target = (page.parent / match[2]).resolve()
        return match[1] + os.path.relpath(place(target), here).replace(os.sep, "/")

    text = page.read_text(encoding="utf-8").replace("\n\n```\n", "\n```\n")  # doctests end with an empty line
    return LINK.sub(moved, text)


def gather(pages: Path) -> None:
    """Copy the pages of `docs/`, and the documents of the project with their pictures."""
    shutil.copytree(ROOT / "docs", pages)
    for picture in (ROOT / "benchmarks").glob("*.png"):
        copy = pages / place(picture)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, copy)
    for page in [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in PROJECT)]:
        copy = pages / place(page)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(relinked(page), encoding="utf-8")


def describe(pages: Path) -> None:
    """Write a page for every public package, with a table of its names; Sphinx writes a page for each of them."""
    for name in PACKAGES:
        public = importlib.import_module(name)
        shown = [part for part in public.__all__ if inspect.isclass(value := getattr(public, part)) or callable(value)]
        rows = "".join(f"   {part}\n" for part in shown)
        text = f"{name}\n{'=' * len(name)}\n\n.. automodule:: {name}\n\n.. autosummary::\n   :toctree:\n\n{rows}"
        (pages / "api" / f"{name}.rst").write_text(text, encoding="utf-8")


def list_results(pages: Path) -> None:
    """Let the first page of the results, which a program writes, lead to the others."""
    index = pages / "results" / "index.md"
    toctree = "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"
    index.write_text(index.read_text(encoding="utf-8") + toctree, encoding="utf-8")


def main(folder: str) -> int:
    """Write the site, and return 0 if nothing was wrong."""
    out = Path(folder).resolve()
    pages = out / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    gather(pages)
    describe(pages)
    list_results(pages)
    return build_main(["-q", "-W", "--keep-going", "-d", str(out / "doctrees"), str(pages), str(out / "html")])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
