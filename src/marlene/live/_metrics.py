"""Metrics of a worker, as Prometheus reads them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from marlene._common.extras import optional
from marlene._common.resources import memory_mb

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from marlene.live._checkpoints import Checkpoints
    from marlene.live._kafka import KafkaWorkers
    from marlene.live._messages import Output, Record
    from marlene.live._transport import Transport
    from marlene.live._worker import Worker

SCORES = ("macro_gmean", "micro_gmean", "macro_f1", "micro_f1")
BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
REFRESH = 0.5
DEAD_AFTER = 30.0
"""A worker whose loop did not turn for so many seconds does not live."""


class Metrics:
    """What is measured of a worker, looked up now and then by the worker itself.

    Parameters
    ----------
    worker, transport, checkpoints
        What is looked at.
    lots
        Whether the latency of a prediction is the time that its lot of messages took; else the web server tells it.
    """

    def __init__(
        self,
        worker: Worker | KafkaWorkers,
        transport: Transport | KafkaWorkers,
        checkpoints: Checkpoints | KafkaWorkers | None = None,
        lots: bool = True,
    ) -> None:
        self._prometheus = optional("prometheus_client", "live", "metrics")
        self._worker, self._transport, self._checkpoints, self._lots = worker, transport, checkpoints, lots
        self._registry = self._prometheus.CollectorRegistry()
        self._latency = self._prometheus.Histogram(
            "marlene_prediction_seconds",
            "Time from a request to its answer.",
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._turned = self._looked = time.monotonic()
        self._found: list[tuple[str, str, list[tuple[dict[str, str], float]]]] = []
        self._registry.register(self)

    def watch(self, records: Sequence[Record], outputs: Sequence[Output], seconds: float) -> None:
        """Take note of a turn of the worker's loop."""
        self._turned = time.monotonic()
        if self._lots and records:
            for output in outputs:
                if output.channel == "answer":
                    self._latency.observe(seconds)
        if not self._found or self._turned - self._looked > REFRESH:
            self._looked, self._found = self._turned, list(self._look())

    def observe(self, seconds: float) -> None:
        """Take note of how long a request took."""
        self._latency.observe(seconds)

    def health(self) -> tuple[bool, bool]:
        """Return whether the worker lives, and whether it takes requests."""
        alive = time.monotonic() - self._turned < DEAD_AFTER
        return alive, bool(self._found) and bool(getattr(self._transport, "ready", True))

    def text(self) -> tuple[bytes, str]:
        """Return all metrics as a text, and its type."""
        return self._prometheus.generate_latest(self._registry), self._prometheus.CONTENT_TYPE_LATEST

    def collect(self) -> Iterator[Any]:
        """Yield what was found when the worker last looked."""
        core = optional("prometheus_client.core", "live", "metrics")
        for name, said, values in self._found:
            make = core.CounterMetricFamily if name.endswith("_total") else core.GaugeMetricFamily
            family = make(name, said, labels=list(values[0][0]) if values else [])
            for labels, value in values:
                family.add_metric(list(labels.values()), value)
            yield family
        if self._checkpoints is not None and self._checkpoints.written_at is not None:
            age = time.time() - self._checkpoints.written_at
            yield core.GaugeMetricFamily("marlene_checkpoint_age_seconds", "Age of the last checkpoint.", age)

    def _look(self) -> Iterator[tuple[str, str, list[tuple[dict[str, str], float]]]]:
        worker, checkpoints = self._worker, self._checkpoints
        for name, count in worker.counts.items():
            yield f"marlene_{name}_total", f"{name.replace('_', ' ').capitalize()}.", [({}, count)]
        desks = [({"key": key or ""}, desk) for key, desk in worker.desks.items()]
        yield "marlene_models", "Models.", [({}, len(desks))]
        waiting = [(label, float(len(desk.waiting.examples))) for label, desk in desks]
        yield "marlene_waiting", "Examples that wait for labels.", waiting
        yield "marlene_labels", "Labels known.", [(label, len(desk.blocks.labels())) for label, desk in desks]
        yield "marlene_features", "Features known.", [(label, desk.blocks.features) for label, desk in desks]
        for name in SCORES:
            values = [(label, float(getattr(desk.scores, name))) for label, desk in desks if desk.scores is not None]
            yield f"marlene_{name}", f"{name} of the latest labelled examples.", values
        for name, said in (("drift", "Drifts"), ("inherited", "Inheritances")):
            by_label = [
                ({**about, "label": label}, float(count))
                for about, desk in desks
                for label, count in desk.changes[name].items()
            ]
            yield f"marlene_{name}_changes_total", f"{said} of a label.", by_label
        lag = self._transport.lag()
        if lag is not None:
            yield "marlene_lag_messages", "Messages that wait to be taken.", [({}, float(lag))]
        yield "marlene_memory_bytes", "Resident memory.", [({}, memory_mb() * 1e6)]
        if checkpoints is not None:
            yield "marlene_checkpoints_total", "Checkpoints written.", [({}, checkpoints.written)]
            yield "marlene_checkpoints_failed_total", "Checkpoints not written.", [({}, checkpoints.failed)]
            yield "marlene_checkpoint_pause_seconds", "Longest pause for one.", [({}, checkpoints.longest_pause)]
