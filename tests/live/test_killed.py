"""kill -9 at random moments: nothing is lost, nothing is learnt twice, and the model is the same to the bit."""

import json
import os
import subprocess
import sys

from marlene.live import Checkpoints
from tests.cli.commands import environment
from tests.live.killed import messages, worker
from tests.live.messages import answers, said, same_state
from tests.live.over_redis import fill, outputs
from tests.live.servers import redis_server

KILLS = int(os.environ.get("MARLENE_KILLS", "6"))
"""How many workers are killed over every transport."""


def kill_over(transport, folder, seed=1):
    """Let workers be killed; return the model of the last one."""
    call("tests.live.killed", folder, transport, KILLS, seed)
    assert int((folder / "killed.txt").read_text()) == KILLS
    return resumed(folder)


def call(module, *arguments):
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr


def resumed(folder):
    last, checkpoints = worker(), Checkpoints(str(folder / "state"))
    assert checkpoints.resume(last)
    checkpoints.close()
    return last


def without_positions(mine):
    mine.positions = {}
    return mine


def test_over_files(tmp_path):
    wanted = [message for message in messages(120 * KILLS) if message]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(wanted) + b"\n")
    last = kill_over("over_lines", tmp_path)
    whole = worker()
    outputs = said(whole, wanted)
    assert last.counts == whole.counts
    same_state(without_positions(last), without_positions(whole))
    spoken = [body for channel, body in outputs if channel in {"answer", "event"}]
    assert (tmp_path / "out.jsonl").read_bytes().splitlines() == spoken
    assert len((tmp_path / "dead.jsonl").read_bytes().splitlines()) == whole.counts["dead"] > 0


def test_over_redis(tmp_path):
    wanted = messages(100 * KILLS)
    with redis_server(tmp_path) as address:
        (tmp_path / "address.txt").write_text(address)
        fill(address, wanted)
        last = kill_over("over_redis", tmp_path, seed=2)
        found, pending = outputs(address, "answers")
    whole = worker()
    expected = [body for channel, body in said(whole, wanted) if channel in {"answer", "event"}]
    assert last.counts == whole.counts
    same_state(without_positions(last), without_positions(whole))
    assert [*dict.fromkeys(found)] == [*dict.fromkeys(expected)]
    assert pending <= 80 * 3  # what the checkpoints that are kept may need


def test_over_http(tmp_path):
    call("tests.live.over_http", tmp_path, KILLS)
    sent = (tmp_path / "sent.jsonl").read_bytes().split(b"\n")
    replies = json.loads((tmp_path / "replies.json").read_text())
    last, whole = resumed(tmp_path), worker()
    expected = said(whole, sent)
    assert last.counts["learnt"] == whole.counts["learnt"]
    learners = (mine.desks[None].blocks.learner for mine in (last, whole))
    same_state(*learners)
    # A request gets the same answer, however often it was sent.
    given = {found["id"]: found for status, found in replies if status == 200 and "id" in found}
    assert given == {found["id"]: found for found in answers(expected)}
    assert len(replies) == len(sent) > 50
    assert len(list((tmp_path / "journal").iterdir())) < 10
