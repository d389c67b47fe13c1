"""Texts: grids as TOML, delays, messages to a worker."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.evaluation._delays import as_delays, read_delays
from marlene.experiments import Grid
from marlene.live import Record, Worker
from marlene.live._http import bodies_of
from marlene.streams import Stream
from tests.fuzz._run import Target

if TYPE_CHECKING:
    from pathlib import Path

TOML = (
    b"""seeds = [1, 2]
[[streams]]
load = "yeast"
limit = 100
labels = "is_*"
kinds = {a = "text"}
change = "few"
change_seed = 3
[[methods]]
name = "br-marlene"
drift = ["none", "ddm"]
[evaluation]
window = 50
fading = 0.9
""",
    b"""seeds = 3
[[streams]]
synthetic = ["SS", "AA"]
size = 50
sources = "similar"
seed = "run"
[[methods]]
name = "br-marlene"
drift = "oracle"
[[methods]]
name = "marlene"
objective = "macro-f1"
[[methods]]
name = "majority"
""",
)
TOML_TOKENS = (
    *(b"9" * 5000, b"[" * 5000, b"= 1\n", b"= []\n", b"= {}\n", b'= "x"\n', b"seeds = ", b"load = ", b"1e400", b"nan"),
    *(
        b"[[methods]]\n",
        b"[evaluation]\n",
        b"alarms = 3\n",
        b"archive = ",
        b"10000000000",
        b'"none"',
        b"1979-05-27",
        b"a.b.c",
    ),
)
DELAYS = (b"0\n1\n2\nnever\n", b"3\n-1\n\n0\n")
MESSAGES = (
    (
        b'{"id": 1, "x": {"a": 1, "t": "red"}, "y": {"p": true, "q": false}}\n{"id": 2, "x": {"a": 0.5}}\n'
        b'{"id": 2, "y": ["p"], "time": 7}\n'
    ),
    (
        b'{"id": "k", "x": {"when": "2024-05-01", "s": "one two three four"}, "y": ["q"], "w": 2, "stream": "old"}\n'
        b'{"id": "m", "x": {"o": {"b": 1}}}\n'
    ),
)

REQUESTS = (MESSAGES[0].splitlines()[0], *(b"[" + b",".join(text.splitlines()) + b"]" for text in MESSAGES))


def _check_toml(case: bytes, folder: Path) -> None:
    path = folder / "grid.toml"
    path.write_bytes(case)
    runs = Grid.from_toml(path).runs()
    assert len({run.key for run in runs}) == len(runs) > 0
    assert all(run.title for run in runs)


def _check_delays(case: bytes, folder: Path) -> None:
    path = folder / "delays.txt"
    path.write_bytes(case)
    delays = read_delays(str(path))
    stream = Stream.from_arrays(np.zeros((4, 1)), np.ones((4, 1), int))
    made = as_delays(delays, stream)
    assert not isinstance(made, int)
    assert len(made.late()) <= 4


def _check_messages(case: bytes, folder: Path) -> None:  # noqa: ARG001
    worker = Worker(Marlene(base="naive-bayes"))
    lines = case.split(b"\n")
    said = worker.take([Record("fuzz", place, line) for place, line in enumerate(lines)])
    assert worker.counts["messages"] == len(lines)
    assert worker.positions == {"fuzz": len(lines) - 1}
    letters = [json.loads(output.body) for output in said]
    for letter in letters:
        for probability in letter.get("proba", {}).values():
            assert 0 <= probability <= 1
    dead = [letter["error"] for output, letter in zip(said, letters, strict=True) if output.channel == "dead"]
    assert all(MarleneError(error).args == (error,) and error for error in dead)
    assert len(dead) == worker.counts["dead"]
    if len(dead) == len([line for line in lines if line]):
        raise MarleneError(dead[0] if dead else "no message")


def _check_request(case: bytes, folder: Path) -> None:
    bodies, several = bodies_of(case, 5.0)
    assert several or len(bodies) == 1
    assert all("time" in json.loads(body) and b"\n" not in body for body in bodies)
    _check_messages(b"\n".join(bodies), folder)


TOML_TARGET = Target("toml", lambda: [*TOML], _check_toml, TOML_TOKENS)
DELAYS_TARGET = Target("delays", lambda: [*DELAYS], _check_delays)
MESSAGE_TOKENS = (b'"id": ', b'"x": {', b'"y": ', b'"w": ', b"[]", b"{}", b"\\ud800")
MESSAGES_TARGET = Target("messages", lambda: [*MESSAGES], _check_messages, MESSAGE_TOKENS)
REQUESTS_TARGET = Target("requests", lambda: [*REQUESTS], _check_request, MESSAGE_TOKENS)
