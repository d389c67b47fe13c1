"""How fast a live worker is, how soon it answers, and how much memory it takes in the end.

`python -m benchmarks.live memory EVENTS…` prints the memory of this process after so many events.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

from benchmarks._measure import Bound, Table, absent_data, cpu_seconds, progress
from marlene import Marlene
from marlene._common.resources import memory_mb
from marlene.live import LineReader, Lines, Outlets, Record, Worker, WorkerSettings, serve
from marlene.streams import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RATE = 500
CLIENTS = 4
EVENTS = (100_000, 1_000_000)
QUICK_EVENTS = (2_000, 20_000)
SERVER = [sys.executable, "-m", "marlene", "serve"]


def messages(limit: int | None = None) -> list[bytes]:
    """Return for every example of Slashdot a request and its labels."""
    stream, found = load("slashdot", limit=limit), []
    for number in range(len(stream)):
        x = {name: int(value) for name, value in stream.example(number).items() if value}
        y = {label: bool(value) for label, value in zip(stream.labels, stream.Y[number], strict=True)}
        found += [json.dumps({"id": number, **part}).encode() for part in ({"x": x}, {"y": y})]
    return found


def lines_table(limit: int | None = None, rounds: int = 3) -> Table:
    """Measure JSON lines from a file to nowhere."""
    method = (
        "Slashdot as JSON lines, a request and then its labels for each example, from a file to /dev/null: CPU seconds "
        f"of reading, predicting, learning and writing, the least of {rounds} runs."
    )
    table = Table("A live worker over JSON lines", method, ("messages", "CPU s", "messages per s"))
    if absent_data():
        return Table(table.title, absent_data())
    wanted = messages(limit)
    with tempfile.TemporaryDirectory(prefix="marlene-live-") as folder:
        path = Path(folder) / "in.jsonl"
        path.write_bytes(b"\n".join(wanted))
        Marlene().load_kernels()
        seconds = min(cpu_seconds(lambda: _serve_file(path)) for _ in range(rounds))
    table.rows.append((len(wanted), seconds, len(wanted) / seconds))
    table.bounds.append(Bound("JSON lines", len(wanted) / seconds, 5000, "messages per s", at_least=True))
    return table


def _serve_file(path: Path) -> None:
    serve(Worker(Marlene()), Lines(LineReader(str(path)), Outlets({"answer": os.devnull})))


@contextlib.contextmanager
def served(*arguments: str) -> Iterator[str]:
    """Run the command; yield the address at which it listens."""
    with subprocess.Popen([*SERVER, *arguments], stderr=subprocess.PIPE, text=True) as process:
        try:
            told = process.stderr.readline() if process.stderr else ""
            yield told.split()[-1]
        finally:
            process.terminate()


def paced(wanted: list[bytes], send: Callable[[bytes, float], None], rate: float, offset: float) -> None:
    """Send messages at a rate, each with the time when it was due."""
    began = time.perf_counter() + offset
    for number, message in enumerate(wanted):
        due = began + number / rate
        time.sleep(max(0.0, due - time.perf_counter()))
        send(message, due)


def http_seconds(wanted: list[bytes]) -> list[float]:
    """Return how long predictions took over HTTP, from when they were due."""
    found: list[float] = []
    with tempfile.TemporaryDirectory(prefix="marlene-live-") as folder, served("http://:0", "--state", folder) as at:

        def client(own: list[bytes], offset: float) -> None:
            connection = http.client.HTTPConnection(urlsplit(at).netloc)

            def send(message: bytes, due: float) -> None:
                asks = b'"x"' in message
                connection.request("POST", "/predict" if asks else "/learn", message)
                connection.getresponse().read()
                if asks:
                    found.append(time.perf_counter() - due)

            with contextlib.closing(connection):
                paced(own, send, RATE / CLIENTS, offset)

        # A client sends the request and the labels of an example one after the other.
        pairs = [wanted[i : i + 2] for i in range(0, len(wanted), 2)]
        threads = [
            threading.Thread(target=client, args=([m for pair in pairs[k::CLIENTS] for m in pair], k / RATE))
            for k in range(CLIENTS)
        ]
        _wait_until_ready(at)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return found


def _wait_until_ready(address: str) -> None:
    while True:
        connection = http.client.HTTPConnection(urlsplit(address).netloc)
        with contextlib.suppress(OSError), contextlib.closing(connection):
            connection.request("GET", "/readyz")
            if connection.getresponse().status == http.client.OK:
                return
        time.sleep(0.1)


def redis_seconds(wanted: list[bytes]) -> list[float]:
    """Return how long predictions took over Redis Streams."""
    import redis  # noqa: PLC0415 (only here)

    from tests.live.servers import redis_server  # noqa: PLC0415

    found: list[float] = []
    with tempfile.TemporaryDirectory(prefix="marlene-live-") as folder, redis_server(folder) as address:
        state = str(Path(folder) / "state")
        with served(f"{address}/tickets", "--output", "answers", "--state", state, "--monitor", "127.0.0.1:0") as at:
            _wait_until_ready(at)
            sent: dict[int, float] = {}
            server, reader = redis.Redis.from_url(address), redis.Redis.from_url(address)

            def send(message: bytes, due: float) -> None:
                if b'"x"' in message:
                    sent[json.loads(message)["id"]] = due
                server.xadd("tickets", {"message": message})

            thread = threading.Thread(target=paced, args=(wanted, send, RATE, 0.0))
            thread.start()
            last = "0"
            while len(found) < len(wanted) // 2:
                for name, fields in _read(reader, last):
                    last, answer = name, json.loads(fields[b"message"])
                    if "proba" in answer:
                        found.append(time.perf_counter() - sent[answer["id"]])
            thread.join()
            server.close()
            reader.close()
    return found


def _read(server: object, last: str) -> list[tuple[str, dict[bytes, bytes]]]:
    """Return the entries after the last one."""
    entries = server.xrange("answers", min=f"({last}", count=100) if last != "0" else server.xrange("answers")  # type: ignore[attr-defined]
    if not entries:
        time.sleep(0.0005)
    return [(name.decode(), fields) for name, fields in entries]


def latency_table(limit: int | None = None) -> Table:
    """Measure how soon predictions are answered."""
    method = (
        f"Slashdot at {RATE} messages a second, a request and then its labels for each example, {CLIENTS} clients over "
        "HTTP, one over Redis Streams. The worker is a process of its own and writes checkpoints. Milliseconds from "
        "when a request was due to when its answer was read; client and worker share the machine."
    )
    table = Table("Time to answer", method, ("transport", "predictions", "median ms", "99 % ms", "longest ms"))
    if absent_data():
        return Table(table.title, absent_data())
    wanted = messages(limit)
    for name, measure in (("HTTP", http_seconds), ("Redis Streams", redis_seconds)):
        progress(f"latency over {name}")
        found = np.array(measure(wanted)) * 1000
        most = float(np.quantile(found, 0.99))
        table.rows.append((name, len(found), float(np.median(found)), most, float(found.max())))
        table.bounds.append(Bound(f"99 % of predictions over {name}", most, 10.0, "ms"))
    return table


def print_memory(points: tuple[int, ...]) -> None:
    """Take events with ten new words each; print the memory after so many."""
    worker, rng = Worker(Marlene(), WorkerSettings(max_features=10_000, max_waiting=10_000)), np.random.default_rng(1)
    number = 0
    for point in points:
        while number < point:
            lot = []
            for _ in range(200):
                x = {f"new{number}-{i}": 1 for i in range(10)} | {f"word{w}": 1 for w in rng.integers(0, 500, 3)}
                y = {f"label{i}": bool(rng.random() < 0.3) for i in range(5)}
                lot.append(Record("", number, json.dumps({"id": number, "x": x, "y": y}).encode()))
                number += 1
            worker.take(lot)
        print(memory_mb(), flush=True)


def memory_table(points: tuple[int, ...]) -> Table:
    """Measure memory after many events, in a process of its own."""
    progress(f"memory after {points[-1]:,} events")
    command = [sys.executable, "-m", "benchmarks.live", "memory", *map(str, points)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found = [float(line) for line in done.stdout.split()]
    method = (
        "Examples with 3 of 500 words, ten words that never came before, and 5 labels, with max_features=10000. "
        "Resident memory of the process in 10⁶ bytes."
    )
    rows = [(point, mb) for point, mb in zip(points, found, strict=True)]
    bound = Bound("memory after the last event over that after the first", found[-1] / found[0], 1.2, "×")
    return Table("Memory of a live worker", method, ("events", "MB"), list(rows), [bound])


def tables(*, quick: bool) -> Iterator[Table]:
    yield lines_table(300 if quick else None, 1 if quick else 3)
    yield latency_table(150 if quick else None)
    yield memory_table(QUICK_EVENTS if quick else EVENTS)


if __name__ == "__main__":
    if sys.argv[1:2] == ["memory"]:
        print_memory(tuple(map(int, sys.argv[2:])))
