"""Reports in a real browser: every chart is drawn, choosers work, nothing leaves the page, no name does harm."""

import json
import time
from dataclasses import replace

import pytest

from marlene.experiments._report import compare_results
from marlene.report import run_page
from tests.report.runs import NASTY, result

pytestmark = pytest.mark.browser
WIDE, NARROW = 1280, 390
PATIENCE = 300.0
"""When a page is given up, in seconds; far more than it takes, on any machine."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    run_page(result()).write(folder / "run.html")
    compare_results([result(), replace(result(), method="other")]).write(folder / "compare.html")
    return folder


def opened(chromium, path, width=WIDE, theme="light"):
    """Open a page; return what it asked the network for and what it said on the console."""
    scheme = [{"name": "prefers-color-scheme", "value": theme}]
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": scheme})
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    chromium.get_log("performance")
    chromium.get(path.as_uri())
    wait_for(chromium, "return document.documentElement.dataset.ready", "yes")
    events = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    return asked, chromium.get_log("browser")


def wait_for(chromium, script, wanted):
    """Wait until a script says what is wanted."""
    deadline = time.monotonic() + PATIENCE
    while (said := chromium.execute_script(script)) != wanted:
        assert time.monotonic() < deadline, said
        time.sleep(0.02)


def drawn(chromium):
    """Return for every chart how many shapes it has."""
    return chromium.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('[data-chart]')].map(e => [e.dataset.chart,"
        " e.dataset.drawn === 'yes' ? e.querySelectorAll('svg .role-mark path, svg .role-mark line').length : -1]))"
    )


@pytest.mark.parametrize("name", ["run.html", "compare.html"])
@pytest.mark.parametrize(("width", "theme"), [(WIDE, "light"), (WIDE, "dark"), (NARROW, "light"), (NARROW, "dark")])
def test_every_chart_is_drawn_and_nothing_else_happens(chromium, pages, name, width, theme):
    asked, said = opened(chromium, pages / name, width, theme)
    assert asked == [(pages / name).as_uri()]
    assert said == []
    charts = drawn(chromium)
    assert len(charts) >= 4
    assert min(charts.values()) > 0, charts
    assert chromium.execute_script("return document.documentElement.dataset.theme") == theme
    assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
    assert chromium.execute_script("return document.querySelectorAll('img, main b > b').length") == 0


def test_a_report_shows_every_picture(chromium, pages):
    opened(chromium, pages / "run.html")
    wanted = {"scores", "changes", "labels", "label-scores", "label-share", "label-reliability", "label-voters"}
    wanted |= {"label-features", "help", "thresholds", "reliability", "predictions", "frequency", "pairs", "speed"}
    assert wanted | {"memory"} == set(drawn(chromium))
    ratio = chromium.execute_script("return document.querySelectorAll('section').length")
    sentences = chromium.execute_script(
        "return [...document.querySelectorAll('section > .says')].map(e => e.innerText)"
    )
    assert len(sentences) >= ratio >= 9
    assert all(len(sentence) > 20 for sentence in sentences)


def test_the_chooser_shows_another_label(chromium, pages):
    opened(chromium, pages / "run.html")
    seen = set()
    for label in NASTY:
        chromium.execute_script(
            "const e = document.querySelector('select[data-param=label]'); e.value = arguments[0];"
            "e.dispatchEvent(new Event('input'))",
            label,
        )
        wait_for(chromium, "return document.documentElement.dataset.chosen", f"label={label}")
        told = chromium.execute_script("return document.querySelector('[data-text=label]').textContent")
        assert told.startswith(f"{label} is true in ")
        seen.add(chromium.execute_script("return document.querySelector('#chart-label-scores svg').outerHTML"))
    assert len(seen) == len(NASTY)
    assert chromium.get_log("browser") == []


def test_the_slider_goes_back_in_time(chromium, pages):
    opened(chromium, pages / "run.html")
    picture = "return document.querySelector('#chart-help svg .mark-rect').outerHTML"
    text = "return document.querySelector('output[data-text=point]').textContent"
    before = chromium.execute_script(picture), chromium.execute_script(text)
    assert before[1].endswith(" of 700 examples")
    chromium.execute_script(
        "const e = document.querySelector('input[data-param=point]'); e.value = 0; e.dispatchEvent(new Event('input'))"
    )
    wait_for(chromium, "return document.documentElement.dataset.chosen", "point=0")
    assert chromium.execute_script(text) == "128 of 700 examples"
    assert chromium.execute_script(picture) != before[0]


def test_colours_change_with_the_button_and_on_paper(chromium, pages):
    opened(chromium, pages / "run.html")
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = chromium.execute_script(colour)
    chromium.execute_script("document.getElementById('theme').click()")
    assert chromium.execute_script("return document.documentElement.dataset.theme") == "dark"
    assert chromium.execute_script(colour) != light
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert chromium.execute_script(colour) == "rgb(255, 255, 255)"
    assert chromium.execute_script("return getComputedStyle(document.querySelector('nav')).display") == "none"
