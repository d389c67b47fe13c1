"""The documentation site: `make docs` writes it, and it fails at a warning; here it is opened in a real browser."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WIDE, NARROW = 1280, 390
PAGES = ("index.html", "api/marlene.learners.Marlene.html", "method.html", "migration.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the site that `make docs` wrote; if there is none, write one."""
    made = ROOT / "build" / "site" / "html"
    if made.joinpath("index.html").exists():
        return made
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, ROOT / "tools" / "site.py", folder]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return folder / "html"


def opened(chromium, path, width):
    """Open a page; return what it asked the network for and what it complained of on the console."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    chromium.get_log("performance")
    chromium.get(path.as_uri())
    events = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    return asked, [entry for entry in chromium.get_log("browser") if entry["level"] != "INFO"]


@pytest.mark.browser
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_pages_open_without_a_complaint_and_without_the_network(chromium, site, width):
    for name in PAGES:
        asked, said = opened(chromium, site / name, width)
        assert said == [], name
        assert {url.partition(":")[0] for url in asked} <= {"file", "data"}, name
        overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert chromium.execute_script(overflow) <= 0, name
    assert chromium.execute_script("return document.querySelectorAll('.beside').length") == 3


@pytest.mark.browser
def test_formulas_are_drawn(chromium, site):
    opened(chromium, site / "method.html", WIDE)
    heights = "return [...document.querySelectorAll('.formula math')].map(e => e.getBoundingClientRect().height)"
    drawn = chromium.execute_script(heights)
    assert len(drawn) > 5
    assert min(drawn) > 15


def test_links_lead_to_the_same_files_on_the_site():
    spec = importlib.util.spec_from_file_location("site_tool", ROOT / "tools" / "site.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert "(project/contributing.md#add-an-input-format)" in tool.relinked(ROOT / "docs" / "streams.md")
    assert "(../docs/" not in (turned := tool.relinked(ROOT / "ARCHITECTURE.md"))
    assert "\n\n```\n" not in turned
    assert "(../report.md)" in tool.relinked(ROOT / "CHANGELOG.md")


def test_every_page_is_told_to_machines():
    text = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([^)]+)\.html\)", text))
    lists = {"index", "guide", "learners", "project"}
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} - lists <= linked
    outside = {"api/index", "results/index", "project/benchmarks", "project/architecture"}
    assert {name for name in linked if not (ROOT / "docs" / f"{name}.md").exists()} <= outside


def test_every_public_package_has_a_page():
    listed = set(re.findall(r"^marlene[\w.]*$", (ROOT / "docs" / "api" / "index.md").read_text(), re.MULTILINE))
    source = ROOT / "src" / "marlene"
    public = {path.name for path in source.iterdir() if (path / "__init__.py").exists()} - {"_common", "cli", "kernels"}
    assert {f"marlene.{name}" for name in public} <= listed
    written = set(re.findall(r'"(marlene[\w.]*)"', (ROOT / "tools" / "site.py").read_text(encoding="utf-8")))
    assert written == listed
