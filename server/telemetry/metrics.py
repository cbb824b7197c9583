"""Counters for the operator, on a listener of their own (loopback by default).

Nothing here depends on raw rows, and nothing is a duration. What a request did counts
once its reply has left; readings of the ledger are read at most every ten seconds, so
that polling cannot time what happens before a reply's slot (PRIVACY 6). The registry is
our
own: it has no series of the process's memory, CPU or start.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from prometheus_client import (
    CollectorRegistry,
    Counter,
    disable_created_metrics,
    start_http_server,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from privacy.errors import CuratorError

READINGS_SECONDS = 10.0
QUESTIONS = ("answered", "free", "replayed", "failed", "unavailable")


@dataclass(frozen=True, slots=True)
class Readings:
    """What is read off the ledger and the work tables.

    Attributes:
        failed: Charges that ended without an answer: each is an incident.
        incidents: Executions that failed since the start (deadline, memory, bugs).
        limit_incidents: Of them, those that met the memory limit or the deadline, which
            no accepted plan may.
        late: Replies that missed their slot since the start.
        entries: Of the ledger.
        anchor_lag: Entries that the anchor has not seen; more than 0 for long is an
            incident.
        spent: Of each population, epsilon; of one with blocks the most of any.
        caps: Of each population, epsilon.
        block_spent: Of each population's blocks, epsilon.
        block_caps: Of each population's blocks, epsilon.
        jobs: By state.
        late_releases: Releases that missed their public time, ever.
    """

    failed: int
    incidents: int
    limit_incidents: int
    late: int
    entries: int
    anchor_lag: int
    spent: Mapping[str, Decimal]
    caps: Mapping[str, Decimal]
    jobs: Mapping[str, int]
    late_releases: int
    block_spent: Mapping[tuple[str, str], Decimal] = field(default_factory=dict)
    block_caps: Mapping[tuple[str, str], Decimal] = field(default_factory=dict)


class MetricsListenError(CuratorError):
    """The metrics listener cannot have its address."""

    code = "metrics_listener"


class Metrics:
    """The registry, what counts into it, and its listener.

    Each server process has its own. Several on one machine need a port each: Prometheus
    adds them up, which is sounder than files that processes share.
    """

    def __init__(
        self,
        readings: Callable[[], Readings | None],
        permits: int,
        in_use: Callable[[], int],
        unready: Callable[[], Mapping[str, int]],
    ) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # they would tell when a label was first seen
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "curator_requests_total",
            "Replies that left, by route template and status.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._refusals = Counter(
            "curator_refusals_total",
            "Refusals that left, by code.",
            ["code"],
            registry=self.registry,
        )
        self._questions = Counter(
            "curator_questions_total",
            "Questions whose reply left, by what became of them.",
            ["outcome"],
            registry=self.registry,
        )
        for outcome in QUESTIONS:
            self._questions.labels(outcome)
        self.registry.register(_ReadingCollector(readings, permits, in_use, unready))

    def observe(self, request: Mapping[str, object]) -> None:
        """Count one request, after its reply has left; facts as in its log line."""
        self._requests.labels(
            str(request["method"]), str(request["route"]), str(request["status"])
        ).inc()
        if "code" in request:
            self._refusals.labels(str(request["code"])).inc()
        if "outcome" in request:
            self._questions.labels(str(request["outcome"])).inc()

    def listen(self, host: str, port: int) -> Callable[[], None]:
        """Serve the counters until the returned function is called.

        Raises:
            MetricsListenError: The address is taken.
        """
        try:
            listener, thread = start_http_server(port, host, self.registry)
        except OSError as error:
            message = (
                f"nothing can listen on {host}:{port} for metrics "
                f"({error.strerror}): set another CURATOR_METRICS_PORT"
            )
            raise MetricsListenError(message) from None

        def stop() -> None:
            listener.shutdown()
            listener.server_close()
            thread.join()

        return stop


class _ReadingCollector(Collector):
    """Reads the ledger's readings now and then, and the permits at each scrape."""

    def __init__(
        self,
        readings: Callable[[], Readings | None],
        permits: int,
        in_use: Callable[[], int],
        unready: Callable[[], Mapping[str, int]],
    ) -> None:
        self._facts = readings
        self._permits = permits
        self._in_use = in_use
        self._unready = unready
        self._known: Readings | None = None
        self._read_at = -READINGS_SECONDS
        self._lock = threading.Lock()

    def describe(self) -> list[GaugeMetricFamily]:
        """Say nothing beforehand: the readings would have to be read for it."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges."""
        yield _gauge("curator_permits", "Replies that may be under way.", self._permits)
        yield _gauge("curator_in_flight", "Replies under way.", self._in_use())
        yield _labelled(
            "curator_unready", "1: why /readyz refuses.", "code", self._unready()
        )
        with self._lock:
            if time.monotonic() - self._read_at >= READINGS_SECONDS:
                self._known, self._read_at = self._facts(), time.monotonic()
            readings = self._known
        yield _gauge("curator_ledger_readable", "1: it is.", int(readings is not None))
        if readings is not None:
            yield from _reading_gauges(readings)


def _reading_gauges(readings: Readings) -> Iterator[GaugeMetricFamily]:
    yield _gauge("curator_failed_queries", "Charged, never answered.", readings.failed)
    yield _gauge("curator_incidents", "Executions that failed.", readings.incidents)
    yield _gauge(
        "curator_limit_incidents",
        "Executions that met the memory limit or the deadline.",
        readings.limit_incidents,
    )
    yield _gauge("curator_late_replies", "Replies that missed a slot.", readings.late)
    yield _gauge(
        "curator_late_releases",
        "Releases that missed their time.",
        readings.late_releases,
    )
    yield _gauge("curator_ledger_entries", "Entries of the ledger.", readings.entries)
    yield _gauge("curator_anchor_lag", "Entries not anchored.", readings.anchor_lag)
    yield _labelled(
        "curator_population_spent_epsilon", "Spent.", "population", readings.spent
    )
    yield _labelled(
        "curator_population_cap_epsilon", "Cap.", "population", readings.caps
    )
    yield _of_blocks("curator_block_spent_epsilon", "Spent.", readings.block_spent)
    yield _of_blocks("curator_block_cap_epsilon", "Cap.", readings.block_caps)
    yield _labelled("curator_jobs", "Jobs, by state.", "state", readings.jobs)


def _gauge(name: str, words: str, value: int) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, words, value=value)


def _labelled(
    name: str, words: str, label: str, values: Mapping[str, Decimal | int]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, words, labels=[label])
    for key, value in sorted(values.items()):
        family.add_metric([key], float(value))
    return family


def _of_blocks(
    name: str, words: str, values: Mapping[tuple[str, str], Decimal]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, words, labels=["population", "block"])
    for key, value in sorted(values.items()):
        family.add_metric(list(key), float(value))
    return family
