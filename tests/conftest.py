"""Tests that need the paper's data sets or the recorded traces run where a variable says where those are."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

NEEDS = {"data": "MARLENE_DATA", "golden": "MARLENE_GOLDEN"}

settings.register_profile("marlene", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("marlene")


def pytest_collection_modifyitems(config, items):
    kept, dropped = [], []
    for item in items:
        absent = [name for name in NEEDS if item.get_closest_marker(name) and not os.environ.get(NEEDS[name])]
        (dropped if absent else kept).append(item)
    config.marlene_needs = {name: sum(1 for i in kept if i.get_closest_marker(name)) for name in NEEDS}
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def pytest_terminal_summary(terminalreporter, config):
    absent = [variable for variable in NEEDS.values() if not os.environ.get(variable)]
    if absent:
        terminalreporter.write_line(f"tests that need {' and '.join(absent)} were deselected: the variable is not set")
    counts = ", ".join(f"{count} need {NEEDS[name]}" for name, count in config.marlene_needs.items())
    terminalreporter.write_line(f"of the tests that ran, {counts}")


@pytest.fixture(scope="session")
def data_folder():
    return Path(os.environ["MARLENE_DATA"])


@pytest.fixture(scope="session")
def golden_folder():
    return Path(os.environ["MARLENE_GOLDEN"])
