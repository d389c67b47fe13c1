"""What `marlene run` shows beside the scores: the paper's, transfer, drifts, and what to try next."""

import io
import re

import pytest
from rich.console import Console

from marlene import BRMarlene
from marlene.cli._summary import MOST, print_insight, print_next
from tests.cli.commands import caller
from tests.cli.test_process import on_a_terminal

call = pytest.fixture(caller)


class Told:
    """A learner that says what it is given."""

    def __init__(self, matrix, concepts, of_source=None):
        self._matrix, self._concepts, self._of_source = matrix, concepts, of_source

    def transfer_matrix(self):
        return self._matrix

    def concepts(self, stream=None):
        return self._concepts if stream is None else self._of_source

    def aswr(self):
        return 0.25

    def counts(self):
        return {"models": 8, "drifts": 0}


def even(labels, sources=()):
    givers = [*((None, label) for label in labels), *sources]
    return {label: dict.fromkeys(givers, 1 / len(givers)) for label in labels}


def shown(*arguments, width=100, encoding="utf-8", **options):
    file = io.TextIOWrapper(io.BytesIO(), encoding)
    print_insight(Console(file=file, width=width), *arguments, **options)
    file.flush()
    return file.buffer.getvalue().decode()


def test_the_demo_fits_into_a_hundred_columns(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    outcome = call("run", "yeast", "--method", "br-marlene")
    assert outcome.code == 0
    for words in (
        "the paper's",
        "0.539",
        "0.644",
        "0.606",
        "which labels help which",
        "14 Class14",
        "when labels drifted (of 2417 examples)",
        "what to try next",
        "marlene run yeast --method br-resampled ",
        "marlene run yeast --method br-marlene --features numeric --drift none ",
    ):
        assert words in outcome.out
    assert "\x1b" not in outcome.out
    assert max(len(line) for line in outcome.out.splitlines()) <= 100


def test_the_default_is_compared_with_the_best_in_the_paper(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    outcome = call("run", "yeast")
    assert outcome.code == 0
    for words in (
        "marlene on yeast",
        "best in the paper",
        "0.567",
        "0.724",
        "0.697",
        "marlene run yeast --method br-marlene ",
        "marlene run yeast --method br-marlene --features numeric --drift none ",
    ):
        assert words in outcome.out
    assert re.search(
        r"^(no label changed|when labels changed, and from whom they inherited)", outcome.out, re.MULTILINE
    )
    assert max(len(line) for line in outcome.out.splitlines()) <= 100


def test_few_helpers_are_listed():
    matrix = {
        "spam": {(None, "spam"): 1.0, (None, "urgent"): 0.0, (None, "late"): 0.0},
        "urgent": {(None, "spam"): 0.1, (None, "urgent"): 0.6, (None, "late"): 0.3},
        "late": {(None, "spam"): 0.0, (None, "urgent"): 0.0, (None, "late"): 1.0},
    }
    lines = shown(Told(matrix, {"spam": [], "urgent": [], "late": []}), 10).splitlines()
    assert lines[3].split() == ["urgent", "late", "30%,", "spam", "10%"]
    assert lines[4] == "2 of 3 labels are voted on by their own sub-classifiers alone"


def test_on_a_terminal_the_shares_are_shaded():
    text, code = on_a_terminal("run", "yeast", "--method", "br-marlene")
    assert code == 0
    row = next(line for line in text.splitlines() if " 1 Class1 " in line)
    assert re.search(r"\x1b\[[\d;]*30;(46|106)m", row)


@pytest.mark.parametrize("options", [["--limit", 300], ["--window", 50], ["--delay", 1], ["--method", "br-resampled"]])
def test_the_papers_scores_are_shown_beside_comparable_ones_only(call, options):
    assert "paper" not in call("run", "yeast", *options).out.partition("what to try next")[0]


def test_learners_that_cannot_tell_show_scores_only(call):
    printed = call("run", "yeast", "--method", "majority").out
    assert "Macro-G-Mean" in printed
    assert not any(words in printed for words in ("which labels", "drifted", "try next"))


def test_ctrl_c_while_a_source_is_learnt(call, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(BRMarlene, "learn_many", interrupted)
    outcome = call("run", "yeast", "--method", "br-marlene", "--source", "yeast")
    assert outcome.code == 130
    assert outcome.out.startswith("stopped after 0 of 2417 examples")
    assert "try next" not in outcome.out


def test_json_has_nothing_else_beside_it(call):
    assert call("run", "yeast", "--limit", 100, "--json").out.count("\n") == 1


def test_a_matrix_of_labels_and_sources():
    matrix = {
        "spam": {(None, "spam"): 0.5, (None, "urgent"): 0.0, ("old", "a"): 0.25, ("old", "b"): 0.25},
        "urgent": {(None, "spam"): 0.1, (None, "urgent"): 0.9, ("old", "a"): 0.0, ("old", "b"): 0.0},
    }
    lines = shown(Told(matrix, {"spam": [], "urgent": []}, {"a": [3], "b": []}), 10, sources=["old"]).splitlines()
    table = [line.split() for line in lines[3:6]]
    assert table == [["1", "2", "source", "old"], ["1", "spam", "50", "-", "50"], ["2", "urgent", "10", "90", "-"]]
    assert "source old: 1 drifts, in 1 of 2 labels" in lines
    assert "no label drifted" in lines


@pytest.mark.parametrize("n", [MOST, MOST + 1])
def test_many_labels_are_shown_as_a_list_of_the_strongest(n):
    labels = [f"label {i}" for i in range(n)]
    printed = shown(Told(even(labels), dict.fromkeys(labels, ())), 10)
    assert ("mean share" in printed) == (n > MOST)
    assert (f"{n} label {n - 1}" in printed) == (n <= MOST)


@pytest.mark.parametrize(("width", "encoding"), [(100, "utf-8"), (100, "ascii"), (50, "ascii"), (20, "ascii")])
@pytest.mark.parametrize("n", [1, 5, 40])
def test_any_terminal_can_show_it(width, encoding, n):
    labels = [f"[bold]{'long ' * 9}{i}" for i in range(n)]
    concepts = {label: list(range(0, 1000, i + 90)) for i, label in enumerate(labels)}
    matrix = even(labels, [("a source of a long name", "x"), ("b" * 40, "y")])
    sources = ["a source of a long name"]
    printed = shown(Told(matrix, concepts, concepts), 1000, width=width, encoding=encoding, sources=sources)
    assert "[bold]" in printed
    assert ("▲" if encoding == "utf-8" else "^") in printed


def test_labels_without_any_weight():
    matrix = {"a": {(None, "a"): 0.0, (None, "b"): 0.0}, "b": {(None, "a"): 0.0, (None, "b"): 0.0}}
    printed = shown(Told(matrix, {"a": [0], "b": [9]}), 10)
    assert "which labels" not in printed
    assert "a  ▲" in printed


def test_whom_labels_inherited_from():
    concepts = {
        "spam": {10: (None, "urgent"), 20: None, 30: (None, "spam")},
        "urgent": {40: ("old", "is spam")},
        "late": {},
    }
    matrix = even(["spam", "urgent", "late"])
    printed = shown(Told(matrix, concepts, {label: {} for label in concepts}), 50, width=120, sources=["old", "new"])
    assert "when labels changed, and from whom they inherited (of 50 examples)" in printed
    assert "10 from urgent, 20 told, 30 from itself" in printed
    assert "40 from is spam of old" in printed
    assert "1 of 3 labels did not change" in printed
    assert "source old: 1 of 3 labels inherited from it while they were learnt" in printed
    assert "source new: 0 of 3 labels inherited from it while they were learnt" in printed
    assert "uniform share" not in printed


def test_no_label_changed():
    assert "no label changed" in shown(Told(even(["a", "b"]), {"a": {}, "b": {}}), 10)


@pytest.mark.parametrize("method", ["marlene", "br-marlene", "br-resampled"])
@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("width", [60, 200])
def test_what_to_try_next_can_be_typed(method, published, width):
    console = Console(file=io.StringIO(), width=width)
    print_next(console, method, ["marlene", "run", "my file.csv", "--labels", "is_*"], published)
    commands = [line.strip() for line in console.file.getvalue().splitlines() if line.strip().startswith("marlene ")]
    assert len(commands) == 3
    assert sum(line.startswith("marlene run 'my file.csv' --labels 'is_*' --") for line in commands) >= 2
    assert f"--method {method}" not in commands[0]
    assert not any("--drift" in line and "--method" not in line for line in commands)
    if not published:
        assert all((f"--method {method}" in line) == (method != "marlene") for line in commands[1:])
