"""`marlene serve`."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from marlene._common.checks import one_of
from marlene._common.errors import MarleneError
from marlene.cli._interrupts import leaving_at_once
from marlene.cli._options import kind_choices
from marlene.cli._run import parsed_settings
from marlene.evaluation._prequential import load_kernels
from marlene.learners import METHODS, create
from marlene.learners._methods import DEFAULT_METHOD
from marlene.live import Checkpoints, Stop, Worker, WorkerSettings
from marlene.live import WorkerSettings as Defaults
from marlene.live import serve as run_worker
from marlene.live._http import Http
from marlene.live._metrics import Metrics
from marlene.live._open import Route, host_and_port, open_kafka, open_transport
from marlene.live._serve import BLOCK_SECONDS
from marlene.live._web import Web

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from marlene.live import KafkaWorkers, Output, Record, Transport

    Watch = Callable[[Sequence[Record], Sequence[Output], float], None]

UNKNOWN = "unknown"
WHERE = "`-`, a file of JSON lines, http://HOST:PORT, redis://HOST:PORT/DATABASE/STREAM, or kafka://BROKER:PORT/TOPIC."


def serve(
    source: Annotated[str, typer.Argument(help=WHERE)] = "-",
    output: Annotated[str | None, typer.Option(help="Where answers go; default standard output.")] = None,
    events: Annotated[str | None, typer.Option(help="Where events go; default: with the answers.")] = None,
    dead: Annotated[str | None, typer.Option(help="Where unusable messages go; default: with the answers.")] = None,
    state: Annotated[str | None, typer.Option(help="Folder or address of checkpoints; default: none are kept.")] = None,
    keep: Annotated[int, typer.Option(min=1, help="How many checkpoints are kept.")] = 3,
    seconds: Annotated[float, typer.Option(min=0.0, help="Time between checkpoints.")] = 10.0,
    every: Annotated[int | None, typer.Option(min=1, help="Messages between checkpoints, instead of a time.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="At the end of a file, wait for more.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="After a restart, standard input begins anew: pass over what was read.")
    ] = False,
    group: Annotated[str, typer.Option(help="Name of the consumer group.")] = "marlene",
    monitor: Annotated[
        str | None, typer.Option(help="HOST:PORT for /healthz, /readyz and /metrics; with HTTP they are there already.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the bearer token that clients must send over HTTP.")
    ] = None,
    method: Annotated[str, typer.Option(help="See `marlene methods`.")] = DEFAULT_METHOD,
    seed: Annotated[int, typer.Option(help="Seed of the method's random numbers.")] = 1,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the method, such as objective=micro-f1.")
    ] = None,
    kinds: Annotated[str | None, typer.Option(help="Kinds of features, such as subject=text,created=date.")] = None,
    absent: Annotated[str, typer.Option(help="A label that is not told is `unknown` or `false`.")] = UNKNOWN,
    key: Annotated[str | None, typer.Option(help="Field that says which model is meant; one model for each.")] = None,
    teach: Annotated[str | None, typer.Option(help="from=KEY: new models learn the latest examples of KEY.")] = None,
    max_waiting: Annotated[int, typer.Option(min=1, help="Examples that wait for labels.")] = Defaults.max_waiting,
    max_age: Annotated[float | None, typer.Option(help="Seconds that an example waits; default: any.")] = None,
    never: Annotated[str, typer.Option(help="Examples without labels: `drop`, or learn as `unknown`.")] = "drop",
    max_labels: Annotated[int, typer.Option(min=1, help="Labels of a model.")] = Defaults.max_labels,
    max_features: Annotated[int, typer.Option(min=1, help="Features of a model.")] = Defaults.max_features,
    max_keys: Annotated[int, typer.Option(min=1, help="Models, with --key.")] = Defaults.max_keys,
    block_seconds: Annotated[
        float, typer.Option(help="Longest time that a prediction waits for messages taken with it.")
    ] = BLOCK_SECONDS,
) -> None:
    """Answer requests, and learn labels when they arrive, until the input ends or SIGTERM comes."""
    with leaving_at_once():
        learner = _learner(method, seed, parsed_settings(settings or []), kind_choices(kinds), absent)
        load_kernels(learner)
        chosen = WorkerSettings(
            key=key,
            teach=_teacher(teach, key),
            max_waiting=max_waiting,
            max_age=max_age,
            never=never,
            max_labels=max_labels,
            max_features=max_features,
            max_keys=max_keys,
        )
        worker = Worker(learner, chosen)
    route = Route(source, output, events, dead, state, follow, again, group, chosen.longest)
    often: dict[str, Any] = {"keep": keep, "seconds": seconds, "every": every}
    stop, watched = Stop(), ServeParts(route, monitor, token_file)
    if route.scheme == "kafka":
        workers = open_kafka(route, lambda: Worker(learner, chosen), often)
        with stop.listening(), _serving(watched, workers, workers, workers) as watch:
            workers.run(stop, watch, block_seconds)
        return
    checkpoints = Checkpoints(state, **often) if state is not None else None
    try:
        transport = open_transport(route)
        with stop.listening(), _serving(watched, worker, transport, checkpoints) as watch:
            run_worker(worker, transport, checkpoints, stop, watch, block_seconds)
    finally:
        if checkpoints is not None:
            checkpoints.close()
    told = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in worker.counts.items() if value)
    print(f"marlene: {told or 'no messages'}", file=sys.stderr)


class ServeParts(NamedTuple):
    """What is served over HTTP, and to whom."""

    route: Route
    monitor: str | None
    token_file: Path | None


@contextlib.contextmanager
def _serving(
    watched: ServeParts,
    worker: Worker | KafkaWorkers,
    transport: Transport | KafkaWorkers,
    checkpoints: Checkpoints | KafkaWorkers | None,
) -> Iterator[Watch | None]:
    """Serve requests, health and metrics, as far as they are wanted."""
    route, monitor, token_file = watched
    http = transport if isinstance(transport, Http) else None
    address = route.source if http is not None else monitor
    if address is None:
        yield None
        return
    metrics = Metrics(worker, transport, checkpoints, lots=http is None)
    token = token_file.read_text(encoding="utf-8").strip() if token_file is not None else None
    if token == "":
        raise MarleneError(f"--token-file {token_file}: empty")
    web = Web(*host_and_port(address), metrics.health, metrics.text, http, token, route.longest, metrics.observe)
    sys.setswitchinterval(0.0005)  # or a thread may wait ten times as long for its turn
    web.start()
    print(f"marlene: listening at {web.address}", file=sys.stderr, flush=True)
    try:
        yield metrics.watch
    finally:
        web.close()


def _learner(method: str, seed: int, given: dict[str, Any], kinds: dict[str, str], absent: str) -> Any:  # noqa: ANN401
    """Return an untrained learner; it may be given any of its parameters, not only those of all commands."""
    one_of(absent, "--absent", (UNKNOWN, "false"))
    options = METHODS[method].options if method in METHODS else tuple(given)
    plain = create(method, seed)
    extra = {name: value for name, value in given.items() if name not in options and name in plain._get_params()}  # noqa: SLF001
    learner: Any = create(method, seed, **{name: value for name, value in given.items() if name not in extra})
    if not hasattr(learner, "from_state"):
        raise MarleneError(f"{method} cannot be saved, so it cannot serve")
    extra |= ({"absent": absent} if absent != UNKNOWN else {}) | ({"features": kinds} if kinds else {})
    for name in extra:
        if name not in learner._get_params():  # noqa: SLF001
            raise MarleneError(f"{method} has no parameter {name!r}")
    return learner.clone(extra)


def _teacher(teach: str | None, key: str | None) -> str | None:
    if teach is None:
        return None
    if key is None or not teach.startswith("from=") or teach == "from=":
        raise MarleneError(f"--teach {teach!r}: expected from=KEY, together with --key FIELD")
    return teach.removeprefix("from=")
