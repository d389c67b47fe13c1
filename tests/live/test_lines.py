"""JSON lines: positions, long lines, pipes, and the command at work."""

import json
import os
import signal
import subprocess
import time

import pytest

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.live import LineReader, Lines, LineWriter, Outlets, Worker, serve
from tests.cli.commands import COMMAND, caller, environment
from tests.live.messages import said, tickets


def all_of(reader):
    found = []
    while (lines := reader.poll(0.0)) is not None:
        found += lines
    reader.close()
    return found


@pytest.mark.parametrize("end", [b"\n", b""])
def test_positions_are_those_of_the_next_line(tmp_path, end):
    lines = [b"%d" % i * 300 for i in range(700)]
    (tmp_path / "in").write_bytes(b"\n\n".join(lines) + end)
    found = all_of(LineReader(str(tmp_path / "in")))
    assert [record.body for record in found] == lines
    reader = LineReader(str(tmp_path / "in"))
    reader.open(found[400].position)
    assert [record[1:3] for record in all_of(reader)] == [record[1:3] for record in found[401:]]


def test_of_a_long_line_only_the_beginning_is_kept(tmp_path):
    (tmp_path / "in").write_bytes(b"a" * 300_000 + b"\nshort\n")
    long, short = all_of(LineReader(str(tmp_path / "in"), longest=1000))
    assert 1000 < len(long.body) < 70_000
    assert (long.position, short.body, short.position) == (300_001, b"short", 300_007)


def test_a_file_that_grows_is_followed(tmp_path):
    path = tmp_path / "in"
    path.write_bytes(b"one\ntw")
    reader = LineReader(str(path), follow=True)
    assert [record.body for record in reader.poll(0.0)] == [b"one"]
    assert reader.poll(0.0) == []
    with path.open("ab") as file:
        file.write(b"o\n")
    assert [record.body for record in reader.poll(0.0)] == [b"two"]
    reader.close()


def test_a_file_that_is_not_the_same(tmp_path):
    (tmp_path / "in").write_bytes(b"one\n")
    reader = LineReader(str(tmp_path / "in"))
    with pytest.raises(MarleneError, match="not the same file"):
        reader.open(100)
    reader.close()
    with pytest.raises(MarleneError, match="No such file"):
        LineReader(str(tmp_path / "none"))
    with pytest.raises(MarleneError, match="Is a directory"):
        LineWriter(str(tmp_path))


def test_a_full_disk_ends_in_one_line(tmp_path):
    (tmp_path / "in").write_bytes(b"\n".join(tickets(5)))
    transport = Lines(LineReader(str(tmp_path / "in")), Outlets({"answer": "/dev/full"}))
    with pytest.raises(MarleneError, match="stopped: No space left on device"):
        serve(Worker(Marlene()), transport)


def test_a_slow_reader_slows_the_worker(tmp_path):
    messages = tickets(2000, garbage=0)
    (tmp_path / "in").write_bytes(b"\n".join(messages))
    reading, writing = os.pipe()
    transport = Lines(LineReader(str(tmp_path / "in")), Outlets({"answer": f"/dev/fd/{writing}"}))
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            serve(Worker(Marlene()), transport)
        finally:
            os._exit(0)
    os.close(writing)
    transport.close()
    time.sleep(0.3)
    assert os.waitpid(pid, os.WNOHANG) == (0, 0)  # it waits: a pipe holds less than all answers
    with os.fdopen(reading, "rb") as file:
        answers = file.read().splitlines()
    assert os.waitpid(pid, 0)[1] == 0
    whole = [body for channel, body in said(Worker(Marlene()), messages) if channel == "answer"]
    assert answers == whole


def test_the_command(tmp_path, capsys):
    call = caller(capsys)
    messages = tickets(60)
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(messages) + b"\n")
    options = ["--output", tmp_path / "out", "--dead", tmp_path / "dead", "--state", tmp_path / "state"]
    done = call("serve", tmp_path / "in.jsonl", *options, "--set", "objective=micro-f1", "--max-waiting", 9)
    assert done.code == 0, done.err
    assert done.err.startswith("marlene: ")
    assert " predictions, " in done.err
    lines = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert sum("proba" in line for line in lines) > 60
    assert all("error" in json.loads(line) for line in (tmp_path / "dead").read_text().splitlines())
    (latest,) = (tmp_path / "state").glob("checkpoint-*[1-9]*.npz")
    shown = call("inspect", latest)
    assert shown.code == 0, shown.err
    assert "4 labels; macro_gmean 0." in " ".join(shown.out.split())
    assert json.loads(call("inspect", latest, "--json").out)["models"][0]["waiting"] <= 9
    again = call("serve", tmp_path / "in.jsonl", *options)
    assert again.code == 2
    assert "the checkpoint of another worker, with parameters" in again.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--teach", "from=a"], "expected from=KEY, together with --key FIELD"),
        (["--method", "river:naive_bayes.GaussianNB"], "cannot be saved, so it cannot serve"),
        (["--method", "majority"], "cannot be saved, so it cannot serve"),
        (["--method", "coin", "--absent", "false"], "coin has no parameter 'absent'"),
        (["--absent", "never"], "--absent must be one of unknown, false"),
        (["--set", "depth=3"], "method marlene has no option 'depth'"),
    ],
)
def test_what_the_command_refuses(capsys, options, said):
    done = caller(capsys)("serve", os.devnull, *options)
    assert done.code == 2
    assert said in done.err


def test_sigterm_writes_a_checkpoint_and_ends_well(tmp_path):
    command = [*COMMAND, "serve", "--state", str(tmp_path / "state")]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment(), **streams) as process:
        process.stdin.write(b'{"id": 1, "x": {"a": 1}, "y": {"bill": true}}\n')
        process.stdin.flush()
        first = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=300) == 0
        assert first["id"] == 1
        assert b"marlene: 1 messages, 1 predictions, 1 learnt" in process.stderr.read()
    assert (tmp_path / "state" / "checkpoint-000000000000001.npz").exists()
