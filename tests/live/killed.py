"""Workers that are killed again and again: `python -m tests.live.killed FOLDER TRANSPORT KILLS SEED`.

A worker is forked, so that kernels are loaded once, and killed after a random time, again and again, until KILLS were
killed; the last one is let live. The folder then holds what it wrote, and its model.
"""

import importlib
import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

from marlene import Marlene
from marlene.live import Checkpoints, Stop, Worker, WorkerSettings, serve
from tests.live.messages import said, tickets

SETTINGS = WorkerSettings(max_waiting=50)


def worker():
    return Worker(Marlene(base="naive-bayes"), SETTINGS)


def messages(count):
    return tickets(count, seed=11)


def run(folder, make_transport):
    """Serve to the end, slowly enough to be killed anywhere."""
    mine, stop = worker(), Stop()
    checkpoints = Checkpoints(str(folder / "state"), keep=2, every=40)
    with stop.listening():
        serve(mine, make_transport(folder), checkpoints, stop, watch=lambda *_: time.sleep(0.002))
    checkpoints.close()


def forked(call, *arguments):
    pid = os.fork()
    if pid == 0:
        try:
            call(*arguments)
        except BaseException:  # noqa: BLE001 (a child must end here)
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return pid


def ended(pid, seconds):
    """Wait for a process; return its status, or None if it still runs."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return True
        time.sleep(0.001)
    return False


def main(folder, transport, kills, seed):
    said(worker(), messages(30))  # loads the kernels
    make_transport = importlib.import_module(f"tests.live.{transport}").transport
    rng, killed = random.Random(seed), 0
    while killed < kills:
        pid = forked(run, folder, make_transport)
        if ended(pid, rng.uniform(0.0, 0.3)):
            break
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        killed += 1
    (folder / "killed.txt").write_text(str(killed))
    pid = forked(run, folder, make_transport)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
