"""What one principal may take of something shared, as a bucket that fills again."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from server.use_cases.identity.limits import MICROSECONDS, monotonic_microseconds
from server.use_cases.services.errors import RateLimitedError


@dataclass(slots=True)
class Shares:
    """A bucket for each principal, in each server process.

    Of each one instant is kept, when the bucket would be full again. Whoever has room
    left may take as much as they like once, and waits for it afterwards. Requests and
    public costs alone determine it (PRIVACY 6).

    Attributes:
        held: Microseconds that an empty bucket takes to fill.
        clock: Microseconds.
    """

    held: int
    clock: Callable[[], int] = monotonic_microseconds
    _full_at: dict[str, int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def check(self, principal: str, message: str) -> None:
        """Refuse whoever has taken more than a bucket holds.

        Raises:
            RateLimitedError: Nothing was asked, stored or spent.
        """
        with self._lock:
            early = self._full_at.get(principal, 0) - self.clock() - self.held
        if early > 0:
            raise RateLimitedError(message, math.ceil(early / MICROSECONDS))

    def take(self, principal: str, filling: int) -> None:
        """Take what fills again in so many microseconds."""
        with self._lock:
            full_at = max(self._full_at.get(principal, 0), self.clock())
            self._full_at[principal] = full_at + filling


FREE_SECONDS = 20
"""Seconds of the server that one principal's free requests may take at once, ..."""
FREE_SHARE = 4
"""... and one in so many seconds from then on."""


class FreeWorkLimit:
    """Counts what plans, refusals and free answers of one principal take the server.

    Everybody waits for what is ahead of them, and nobody pays for these. Their public
    cost is counted, as their replies' slots are; a charge pays for what it takes.

    Args:
        is_limited: False: requests are not limited by rate, and so are these not.
        clock: Microseconds.
    """

    def __init__(
        self,
        *,
        is_limited: bool = True,
        clock: Callable[[], int] = monotonic_microseconds,
    ) -> None:
        self._is_limited = is_limited
        self._shares = Shares(FREE_SECONDS * FREE_SHARE * MICROSECONDS, clock)

    def check(self, principal: str) -> None:
        """Refuse whoever has taken too much of the server for nothing.

        Raises:
            RateLimitedError: Nothing was asked, stored or spent.
        """
        self._shares.check(
            principal,
            "your plans, refused questions and free answers have taken the server "
            f"{FREE_SECONDS} seconds and more: wait as Retry-After says; then a "
            "quarter of the time is yours",
        )

    def take(self, principal: str, seconds: float) -> None:
        """Count so many seconds of the server, by public facts."""
        if self._is_limited:
            self._shares.take(principal, round(seconds * FREE_SHARE * MICROSECONDS))
