"""The documents that people write: width, links, files and options they name, and examples."""

import doctest
import importlib.util
import re
import shlex
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from marlene._common.layouts import Layout
from marlene.cli._app import app
from marlene.experiments.reproduce import TARGETS

ROOT = Path(__file__).parents[1]
# Programs write docs/results and benchmarks/README.md.
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
WIDTH = 120

OPTIONS = {
    name: {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
    for name, command in get_command(app).commands.items()
}

each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())


def anchors(document):
    """Return the anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_document
def test_no_line_is_too_long(document):
    lines = document.read_text(encoding="utf-8").splitlines()
    wide = [number for number, line in enumerate(lines, 1) if len(line) > WIDTH and not line.startswith("| ")]
    assert wide == []


@pytest.mark.parametrize(
    "page", [*(ROOT / "docs" / "results").glob("*.md"), ROOT / "benchmarks" / "README.md"], ids=lambda path: path.name
)
def test_only_tables_and_pictures_of_generated_pages_are_wide(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > WIDTH and not line.startswith(("|", "!["))] == []


def test_the_index_of_results_says_what_the_pages_say():
    folder = ROOT / "docs" / "results"
    text = (folder / "index.md").read_text(encoding="utf-8")
    pages = [page for page in folder.glob("*.md") if page.name != "index.md"]
    assert len(pages) == len(TARGETS)
    for page in pages:
        title, _, findings = page.read_text(encoding="utf-8").partition("\n## ")[0].partition("\n")
        assert f"#{title}\n\n{findings.strip()}\n\nEverything: [{page.name}]({page.name})\n" in text


@each_document
def test_every_link_leads_somewhere(document):
    for link in re.findall(r"\]\(([^)]+)\)", document.read_text(encoding="utf-8")):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_file_that_is_named_exists(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_]+/[a-z_/*.]*)`", text)
    assert len(named) > 10
    for path in (path for path in named if not path.startswith("build/")):  # made, not kept
        assert any(list(base.glob(path)) for base in (ROOT, ROOT / "src" / "marlene")), path


def test_every_package_is_on_the_map():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "marlene"
    folders = [path.parent.relative_to(source).as_posix() for path in source.rglob("__init__.py")]
    assert [folder for folder in folders if folder not in {".", "_common"} and f"`{folder}/" not in text] == []


@each_document
def test_examples_print_what_they_say(document):
    failed, _ = doctest.testfile(str(document), module_relative=False, encoding="utf-8")
    assert failed == 0


@each_document
def test_every_command_and_option_exists(document):
    for line in re.findall(r"^ {4}marlene (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE):
        command, *words = shlex.split(line, comments=True)
        assert {word for word in words if word.startswith("--")} <= OPTIONS[command], line


def test_every_option_of_run_is_explained():
    text = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    assert {option for option in OPTIONS["run"] if f"`{option}" not in text} == set()


def test_every_reproduce_target_is_explained():
    text = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    assert [target for target in TARGETS if f"`{target}`" not in text] == []


def test_the_page_of_formats_says_what_is_checked():
    spec = importlib.util.spec_from_file_location("formats", ROOT / "tools" / "formats.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.page() == tool.PAGE.read_text(encoding="utf-8"), "python tools/formats.py writes it"
    everywhere = [vars(module) for name, module in sys.modules.items() if name.startswith("marlene.")]
    found = {value.whose for names in everywhere for value in names.values() if isinstance(value, Layout)}
    assert len(found) > 40
    assert found <= {layout.whose for layout in tool.LAYOUTS}
