"""How often and how many at once: the limits of each principal, before any question.

They depend on requests alone, never on rows (PRIVACY 6), and protect the service, not
the patients: those are protected by the ledger's limits.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol

from server.use_cases.services.errors import RateLimitedError

MICROSECONDS = 1_000_000
MINUTE = 60 * MICROSECONDS


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one principal may do; 0 is no limit."""

    requests_per_minute: int
    requests_in_flight: int

    @property
    def interval(self) -> int:
        """Microseconds after which one more request may come; whole, so exact."""
        return max(1, MINUTE // self.requests_per_minute)

    @property
    def bucket(self) -> int:
        """Microseconds that an empty bucket takes to fill: about a minute."""
        return self.interval * self.requests_per_minute


class Limiter(Protocol):
    """Counts requests by principal; raises ``LedgerUnavailableError`` if it cannot."""

    @property
    def blocks(self) -> bool:
        """Whether it may wait for a database."""

    def count(self, principal: str) -> None:
        """Let one request in.

        Raises:
            RateLimitedError: Too many came in the last minute.
        """

    def enter(self, principal: str) -> None:
        """Take a permit for one request in flight.

        Raises:
            RateLimitedError: All permits are taken.
        """

    def leave(self, principal: str) -> None:
        """Give a permit back; never fails."""


def too_often(early: int) -> RateLimitedError:
    """Return the refusal of a request that came this many microseconds early."""
    message = "too many requests in a minute: wait as Retry-After says"
    return RateLimitedError(message, max(1, math.ceil(early / MICROSECONDS)))


def too_many(permits: int) -> RateLimitedError:
    """Return the refusal of a question while all permits are taken."""
    message = f"{permits} of your questions are under way: wait for one of them to end"
    return RateLimitedError(message, 1)


def monotonic_microseconds() -> int:
    """Return a clock that is never set back."""
    return time.monotonic_ns() // 1000


@dataclass(slots=True)
class MemoryLimiter:
    """Limits of one process, kept in memory.

    The rate is a bucket that holds a minute's requests and fills evenly (the generic
    cell rate algorithm: of each principal one instant is kept, when the bucket would
    be full again).
    """

    allowance: Allowance
    clock: Callable[[], int] = monotonic_microseconds
    _full_at: dict[str, int] = field(default_factory=dict)
    _in_flight: dict[str, int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @property
    def blocks(self) -> bool:
        """It never waits."""
        return False

    def count(self, principal: str) -> None:
        """Let one request in, or refuse it."""
        if self.allowance.requests_per_minute == 0:
            return
        with self._lock:
            now = self.clock()
            full_at = max(self._full_at.get(principal, now), now)
            full_at += self.allowance.interval
            early = full_at - now - self.allowance.bucket
            if early > 0:
                raise too_often(early)
            self._full_at[principal] = full_at

    def enter(self, principal: str) -> None:
        """Take a permit, or refuse."""
        permits = self.allowance.requests_in_flight
        with self._lock:
            taken = self._in_flight.get(principal, 0)
            if permits and taken >= permits:
                raise too_many(permits)
            self._in_flight[principal] = taken + 1

    def leave(self, principal: str) -> None:
        """Give a permit back."""
        with self._lock:
            self._in_flight[principal] -= 1
            if self._in_flight[principal] == 0:
                del self._in_flight[principal]
