"""The command as a process: terminals, pipes and signals."""

import json
import os
import pty
import signal
import subprocess
import sys

import pytest

from tests.cli.commands import COMMAND, environment
from tests.evaluation.test_result import DETAILED_KEYS

FAST = ["run", "yeast", "--method", "majority"]
SLOW = ["run", "yeast", "--method", "river:naive_bayes.GaussianNB"]
# A process started in the background of a shell without jobs would ignore SIGINT.
LISTENING = [
    *(sys.executable, "-c"),
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from marlene.cli import main; main()",
]


def run(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE):
    command = [*COMMAND, *arguments]
    return subprocess.run(command, env=environment(), stdout=stdout, stderr=stderr, text=True, check=False)


def on_a_terminal(*arguments):
    """Return what the command shows on a terminal, and its exit code."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments], env=environment(PYTHONIOENCODING="utf-8"), stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    try:
        while data := os.read(ours, 1 << 16):
            shown += data
    except OSError:  # what a terminal says when the other side has closed it
        pass
    os.close(ours)
    return shown.decode(), process.wait()


def test_a_pipe_gets_the_result_and_nothing_else():
    done = run(*FAST, "--json")
    assert done.returncode == 0
    assert list(json.loads(done.stdout)) == DETAILED_KEYS
    assert done.stdout.count("\n") == 1
    lines = done.stderr.splitlines()
    assert "2417/2417" in lines[-1]
    assert all(line.startswith("majority on yeast ") and "examples/s, G-Means macro " in line for line in lines)
    assert "\x1b" not in done.stderr


def test_a_terminal_gets_a_bar_and_then_a_table():
    shown, code = on_a_terminal(*FAST)
    assert code == 0
    for words in ("majority on yeast", "━", "examples/s", "G-Means macro 0.0", "micro 0.", "label-set 0.", "left"):
        assert words in shown
    assert shown.rindex("2417/2417") < shown.index("Macro-G-Mean") < shown.index("peak memory")
    assert "Traceback" not in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compare", "yeast", "--methods", "majority", "--limit", "60", "--seeds", "2"], " ? 0.0"),
        (["methods"], "brpw-marlene"),
    ],
    ids=lambda given: given[0],
)
def test_an_encoding_that_lacks_what_is_to_be_said(arguments, said):
    variables = environment(PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    done = subprocess.run([*COMMAND, *arguments], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("options", [["--json"], []], ids=["json", "table"])
def test_ctrl_c_prints_what_was_reached(tmp_path, options):
    out = tmp_path / "out.npz"
    process = subprocess.Popen(
        [*LISTENING, *SLOW, "--predictions", str(out), *options],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    first = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    printed, errors = process.communicate()
    assert process.returncode == 130, errors
    assert first.startswith("river:naive_bayes.GaussianNB on yeast ")
    assert "Traceback" not in errors
    if options:
        found = json.loads(printed)
        assert found["stopped"] == "interrupted"
        assert 0 < found["examples"] < 2417
        assert 0 < found["macro_gmean"] < 1
    else:
        assert printed.startswith("stopped after ")
        assert "of 2417 examples; the scores are of those" in printed
        assert "Macro-G-Mean" in printed
    assert out.exists()


@pytest.mark.parametrize("arguments", [[*FAST, "--json"], FAST], ids=" ".join)
def test_a_reader_that_has_gone(arguments):
    ours, theirs = os.pipe()
    os.close(ours)
    done = run(*arguments, stdout=theirs)
    os.close(theirs)
    assert done.returncode == 1
    assert all(line.startswith("majority on yeast ") for line in done.stderr.splitlines())


def test_a_reader_of_everything_that_has_gone():
    ours, theirs = os.pipe()
    os.close(ours)
    done = run(*FAST, stderr=theirs)
    os.close(theirs)
    assert (done.returncode, done.stdout) == (1, "")


def test_output_that_cannot_be_written():
    with open("/dev/full", "w") as full:  # noqa: PTH123 (a device)
        done = run(*FAST, "--json", stdout=full)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "marlene: the output cannot be written (No space left on device)"


DURING_IMPORTS = """
class Finder:
    def find_spec(self, name, *_):
        if name == "numba":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""
SWALLOWED_BY_A_COMPILER = """
import marlene.cli._run
def interrupted(model):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(9)
    except KeyboardInterrupt:
        pass
marlene.cli._run.load_kernels = interrupted
"""
IN_A_FILE = """
import marlene.cli._run
def interrupted(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(9)
marlene.cli._run.open_stream = interrupted
"""


@pytest.mark.parametrize("when", [DURING_IMPORTS, SWALLOWED_BY_A_COMPILER, IN_A_FILE])
def test_an_interrupt_before_the_run_ends_in_one_line(when):
    listening = "import os, signal, sys, time; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{listening}\n{when}\nfrom marlene.cli import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", code, *FAST], env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "marlene: interrupted\n")
