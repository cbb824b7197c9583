"""What every use case works with; bootstrap fills it with concrete parts."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING, Final, Protocol

from budget.ledger import Ledger
from budget.storage.databases import Databases
from engines.incidents import Incidents
from privacy.charges import Charge
from privacy.errors import LedgerUnavailableError
from server.configuration.settings import Settings
from server.use_cases.services.remembered import CatalogueMemory
from server.use_cases.services.unreadable import UnreadableSnapshots

if TYPE_CHECKING:  # read where questions are answered: most commands answer none
    from engines.contract import Capacity, Engine
    from mechanisms.samplers.laplace import Sampler
    from mechanisms.samplers.vectors import VectorSampler
    from query_lang.rendering.dialect import Dialect
    from query_lang.syntax.nodes import Query


class Parser(Protocol):
    """Reads texts; ``sequences`` lets the functions of sequences be words."""

    def __call__(self, sql: str, *, sequences: bool = False) -> "Query":
        """Return the tree of a text, or raise a QueryError."""
        ...


@dataclass(slots=True)
class Unreleased:
    """Answers that are stored but whose reply has not left: in flight to everyone."""

    _query_ids: set[str] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def hold(self, query_id: str) -> None:
        """Hide an answer until its reply's slot."""
        with self._lock:
            self._query_ids.add(query_id)

    def release(self, query_id: str) -> None:
        """Show an answer: its reply leaves now."""
        with self._lock:
            self._query_ids.discard(query_id)

    def all(self) -> frozenset[str]:
        """Return what is hidden."""
        with self._lock:
            return frozenset(self._query_ids)

    def is_released(self, query_id: str) -> bool:
        """Whether others may know of the answer."""
        with self._lock:
            return query_id not in self._query_ids


@dataclass(slots=True)
class OneEach:
    """Names of what is done for one caller at a time, each by itself."""

    _names: set[str] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def alone(self, name: str) -> Iterator[bool]:
        """Hold a name, and yield whether nobody did."""
        with self._lock:
            is_alone = name not in self._names
            self._names.add(name)
        try:
            yield is_alone
        finally:
            if is_alone:
                with self._lock:
                    self._names.discard(name)


@dataclass(slots=True)
class GivenUp:
    """Charges that were not executed to a draw; recovery takes them from here."""

    _query_ids: set[str] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def add(self, query_id: str) -> None:
        """Note that this process gives up its lease."""
        with self._lock:
            self._query_ids.add(query_id)

    def take_all(self) -> set[str]:
        """Return what was noted, and forget it."""
        with self._lock:
            taken, self._query_ids = self._query_ids, set()
            return taken


MOST_KEPT: Final = 64
"""Answers that wait to be stored; as many more may be under way (the permits)."""
MOST_KEPT_BYTES: Final = 64 << 20
"""Of those that wait: five of the largest."""


@dataclass(frozen=True, slots=True)
class DrawnAnswer:
    """What was drawn for a charge: its answer, and the vectors behind it, encoded."""

    body: bytes = field(repr=False)
    measured: bytes = field(repr=False)


@dataclass(slots=True)
class KeptAnswers:
    """Answers that were drawn and could not be stored: kept, never drawn again.

    None stands for a charge that is to end as failed after its draw.
    """

    _drawn: dict[str, tuple[Charge, DrawnAnswer | None]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def keep(self, charge: Charge, drawn: DrawnAnswer | None) -> None:
        """Keep what was drawn for a charge until it is stored."""
        with self._lock:
            self._drawn[charge.query_id] = (charge, drawn)

    def find(self, query_id: str) -> tuple[Charge, DrawnAnswer | None] | None:
        """Return what is kept for a question; None where nothing is."""
        with self._lock:
            return self._drawn.get(query_id)

    def drop(self, query_id: str) -> None:
        """Forget what has been stored, or has ended."""
        with self._lock:
            self._drawn.pop(query_id, None)

    def all(self) -> frozenset[str]:
        """Return the questions whose answers are kept."""
        with self._lock:
            return frozenset(self._drawn)

    def is_full(self) -> bool:
        """Whether nothing more should be drawn before some of it is stored."""
        with self._lock:
            kept = [drawn for _, drawn in self._drawn.values() if drawn is not None]
            size = sum(len(one.body) + len(one.measured) for one in kept)
            return len(self._drawn) >= MOST_KEPT or size >= MOST_KEPT_BYTES


@dataclass(frozen=True, slots=True)
class Answering:
    """What reads, executes and answers questions."""

    engine: "Engine"
    capacity: "Capacity"  # the engine's
    dialect: "Dialect"  # the engine's
    sampler: "Sampler"
    vector_sampler: "VectorSampler"
    parser: Parser


@dataclass(frozen=True, slots=True)
class Services:
    """The parts that use cases are made of."""

    settings: Settings
    worker_id: str  # names this process in leases
    databases: Databases
    ledger: Ledger
    unreleased: Unreleased
    given_up: GivenUp
    kept: KeptAnswers
    answering: Callable[[], Answering]  # made when it is first asked for
    executors: BoundedSemaphore
    catalogue: CatalogueMemory
    unreadable: UnreadableSnapshots
    row_processors: frozenset[int] = frozenset()  # none: row work shares the others
    activating: OneEach = field(default_factory=OneEach)  # populations
    release_incidents: Incidents = field(default_factory=Incidents)

    @property
    def engine(self) -> "Engine":
        """What counts rows."""
        return self.answering().engine

    @property
    def capacity(self) -> "Capacity":
        """What the engine gives one execution."""
        return self.answering().capacity

    @property
    def dialect(self) -> "Dialect":
        """What the engine's statements are written in."""
        return self.answering().dialect

    @property
    def sampler(self) -> "Sampler":
        """The noise of questions."""
        return self.answering().sampler

    @property
    def vector_sampler(self) -> "VectorSampler":
        """The noise of releases."""
        return self.answering().vector_sampler

    @property
    def parser(self) -> Parser:
        """What reads the texts of questions."""
        return self.answering().parser

    def release(self, query_ids: Sequence[str]) -> None:
        """Show answers to everybody: their replies leave now.

        Where other processes cannot be told now, recovery tells them.
        """
        for query_id in query_ids:
            self.unreleased.release(query_id)
        try:
            self.ledger.release(query_ids)
        except LedgerUnavailableError:
            for query_id in query_ids:
                self.given_up.add(query_id)


def now_text() -> str:
    """Return the time as stored: UTC, ISO 8601, microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def today() -> date:
    """Return the date by which projects expire (UTC)."""
    return datetime.now(UTC).date()


def random_id(prefix: str) -> str:
    """Return a fresh random id, never derived from content."""
    return f"{prefix}_{secrets.token_hex(12)}"
