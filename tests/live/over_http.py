"""A worker behind HTTP that is killed again and again: `python -m tests.live.over_http FOLDER KILLS`.

A client sends one message after the other, and again until there is a reply. The folder then holds all replies.
"""

import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import httpx

from marlene.live import Checkpoints, Http, Journal, Metrics, Outlets, Stop, Web, serve
from tests.live.killed import forked, messages, worker
from tests.live.messages import said
from tests.live.servers import free_port


def run(folder, port):
    checkpoints = Checkpoints(str(folder / "state"), keep=2, every=40)
    mine, stop = worker(), Stop()
    paths = {"event": str(folder / "events"), "dead": str(folder / "dead"), "answer": str(folder / "answers")}
    transport = Http(Journal(str(folder / "journal"), segment=20_000), Outlets(paths))
    metrics = Metrics(mine, transport, checkpoints, lots=False)
    web = Web("127.0.0.1", port, metrics.health, metrics.text, transport)
    web.start()
    with stop.listening():
        serve(mine, transport, checkpoints, stop, metrics.watch)
    web.close()
    checkpoints.close()


class Killer(threading.Thread):
    """Kills the worker now and then, and starts another."""

    def __init__(self, folder, port, kills):
        super().__init__()
        self.folder, self.port, self.kills = folder, port, kills
        self.pid = forked(run, folder, port)
        self.killed, self.over = 0, False

    def run(self):
        rng = random.Random(3)
        while self.killed < self.kills and not self.over:
            time.sleep(rng.uniform(0.1, 0.5))
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.killed += 1
            self.pid = forked(run, self.folder, self.port)


def reply(client, address, message):
    """Send a message until there is a reply."""
    path = "/learn" if b'"x"' not in message else "/predict"
    while True:
        try:
            found = client.post(address + path, content=message, timeout=5.0)
        except httpx.HTTPError:
            time.sleep(0.01)
        else:
            if found.status_code != 503:
                return [found.status_code, found.json()]
            time.sleep(0.01)


def main(folder, kills):
    said(worker(), messages(30))  # loads the kernels
    wanted = [message for message in messages(500 + 600 * kills) if message.startswith(b'{"id"')]
    port = free_port()
    killer = Killer(folder, port, kills)
    killer.start()
    replies, sent = [], 0
    with httpx.Client() as client:
        while killer.killed < kills or sent < 50:
            replies.append(reply(client, f"http://127.0.0.1:{port}", wanted[sent]))
            sent += 1
        killer.join()
        ready = reply(client, f"http://127.0.0.1:{port}", wanted[sent])
        replies.append(ready)
    os.kill(killer.pid, signal.SIGTERM)
    code = os.waitstatus_to_exitcode(os.waitpid(killer.pid, 0)[1])
    (folder / "replies.json").write_text(json.dumps(replies))
    (folder / "sent.jsonl").write_bytes(b"\n".join(wanted[: sent + 1]))
    sys.exit(code)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
