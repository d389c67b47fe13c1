"""What all tests stand on.

Tests that need the paper's data sets or the recorded traces run where a variable says where those are, and tests that
look at pages where there is a browser. Terminal and colours are the same wherever the tests run.
"""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

NEEDS = {"data": "MARLENE_DATA", "golden": "MARLENE_GOLDEN", "browser": "chromium"}
"""What marked tests need: a variable, or Chromium with its driver and selenium."""
RAN = dict.fromkeys(NEEDS, 0)
# What rich, typer and click read to learn of a terminal and its colours, and what they are told instead.
OF_TERMINALS = (
    *("FORCE_COLOR", "NO_COLOR", "PY_COLORS", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE"),
    *("TERMINAL_WIDTH", "JUPYTER_COLUMNS", "JUPYTER_LINES", "DATABRICKS_RUNTIME_VERSION", "GITHUB_ACTIONS"),
)
TERMINAL = {"COLUMNS": "80", "LINES": "25", "TERM": "xterm"}

settings.register_profile("marlene", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("marlene")


def is_there(name):
    if name == "browser":
        programs = all(shutil.which(program) for program in ("chromium", "chromedriver"))
        return programs and importlib.util.find_spec("selenium") is not None
    return bool(os.environ.get(NEEDS[name]))


def pytest_collection_modifyitems(config, items):
    absent = {name for name in NEEDS if not is_there(name)}
    dropped = [item for item in items if any(item.get_closest_marker(name) for name in absent)]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item not in dropped]


def pytest_runtest_logreport(report):
    if report.when == "call" and not report.skipped:
        for name in NEEDS:
            RAN[name] += name in report.keywords


def pytest_terminal_summary(terminalreporter):
    absent = [needed for name, needed in NEEDS.items() if not is_there(name)]
    if absent:
        terminalreporter.write_line(f"deselected the tests that need {' or '.join(absent)}: not here, or not set")
    terminalreporter.write_line(", ".join(f"{RAN[name]} tests used {NEEDS[name]}" for name in NEEDS))


def pytest_sessionfinish(session):
    if os.environ.get("MARLENE_REQUIRE_ALL") and not all(RAN.values()):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session", autouse=True)
def _surroundings():
    """Make output the same on every machine; a test about width or colour says itself which."""
    with pytest.MonkeyPatch.context() as patch:
        for name in OF_TERMINALS:
            patch.delenv(name, raising=False)
        for name, value in TERMINAL.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session")
def data_folder():
    return Path(os.environ["MARLENE_DATA"])


@pytest.fixture(scope="session")
def golden_folder():
    return Path(os.environ["MARLENE_GOLDEN"])


@pytest.fixture(scope="module")
def chromium():
    """Return a real browser without a window, which records what pages ask for and say."""
    from selenium import webdriver  # noqa: PLC0415 (an extra)
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    yield driver
    driver.quit()
