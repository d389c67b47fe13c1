"""Runs in processes of their own: one that fails, or is killed, leaves the others alone."""

from __future__ import annotations

import json
import multiprocessing
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene.evaluation import prequential
from marlene.evaluation._result import dump_json
from marlene.learners import create
from marlene.streams import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Job:
    """A method on a stream, with every seed.

    Parameters
    ----------
    stream, labels, features, limit
        The stream, as `marlene.streams.load` wants it.
    method, seeds
        What is run on it.
    """

    stream: str
    labels: str | int | None
    features: str
    limit: int | None
    method: str
    seeds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one run: the figures that `marlene run --json` prints, or an error."""

    job: Job
    seed: int
    report: dict[str, Any] | None
    error: str = ""


def run_job(job: Job, answers: Connection) -> None:
    """Run a job in this process; send a JSON text for every seed."""
    try:
        stream = load(job.stream, labels=job.labels, features=job.features, limit=job.limit)
        for seed in job.seeds:
            try:
                result = prequential(create(job.method, seed), stream, method=job.method, seed=seed)
                answers.send_bytes(dump_json(result.report()).encode())
            except Exception as error:  # noqa: BLE001 (whatever a method does, the next seed is run)
                answers.send_bytes(json.dumps({"error": _told(error)}).encode())
    except Exception as error:  # noqa: BLE001 (a stream that cannot be read is the error of all its runs)
        for _ in job.seeds:
            answers.send_bytes(json.dumps({"error": _told(error)}).encode())
    except KeyboardInterrupt:
        pass
    answers.close()


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, MarleneError) else f"{type(error).__name__}: {error}"


def run_jobs(jobs: Sequence[Job], processes: int) -> Iterator[Outcome]:
    """Run jobs, so many at a time, each in a fresh process; yield the outcome of every run as it comes."""
    context = multiprocessing.get_context("spawn")
    waiting = deque(jobs)
    running: dict[Connection, tuple[Job, list[int], Any]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                job = waiting.popleft()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=run_job, args=(job, theirs))
                process.start()
                theirs.close()
                running[ours] = (job, list(job.seeds), process)
            for ready in wait(list(running)):
                job, seeds, process = running[ready]  # type: ignore[index]  # there are no others
                try:
                    answer = json.loads(ready.recv_bytes())  # type: ignore[union-attr]
                    failed = answer.get("error", "")
                    yield Outcome(job, seeds.pop(0), None if failed else answer, failed)
                except EOFError:
                    process.join()
                    del running[ready]  # type: ignore[arg-type]
                    for seed in seeds:
                        yield Outcome(job, seed, None, f"its process ended with code {process.exitcode}")
    finally:
        for _, _, process in running.values():
            process.terminate()
            process.join()
