"""kill -9 at random moments: nothing is lost, nothing is learnt twice, and the model is the same to the bit."""

import os
import subprocess
import sys

from marlene.live import Checkpoints
from tests.cli.commands import environment
from tests.live.killed import messages, worker
from tests.live.messages import said, same_state

KILLS = int(os.environ.get("MARLENE_KILLS", "6"))
"""How many workers are killed over every transport."""


def kill_over(transport, folder, seed=1):
    """Let workers be killed; return the model of the last one."""
    command = [sys.executable, "-m", "tests.live.killed", str(folder), transport, str(KILLS), str(seed)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int((folder / "killed.txt").read_text()) == KILLS, done.stderr
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
