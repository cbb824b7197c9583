"""What one principal may take of something shared, as a bucket that fills again."""

import math
from dataclasses import dataclass, field
from threading import Lock

from server.use_cases.identity.limits import MICROSECONDS
from server.use_cases.services.errors import RateLimitedError


@dataclass(slots=True)
class Shares:
    """A bucket for each principal, in each server process.

    Of each one instant is kept, when the bucket would be full again. Whoever has room
    left may take as much as they like once, and waits for it afterwards. Requests and
    public costs alone determine it (PRIVACY 6).

    Attributes:
        held: Microseconds that an empty bucket takes to fill.
    """

    held: int
    _full_at: dict[str, int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def check(self, principal: str, now: int, message: str) -> None:
        """Refuse whoever has taken more than a bucket holds.

        Args:
            principal: Who asks.
            now: Microseconds.
            message: Of the refusal.

        Raises:
            RateLimitedError: Nothing was asked, stored or spent.
        """
        with self._lock:
            early = self._full_at.get(principal, 0) - now - self.held
        if early > 0:
            raise RateLimitedError(message, math.ceil(early / MICROSECONDS))

    def take(self, principal: str, now: int, filling: int) -> None:
        """Take what fills again in so many microseconds."""
        with self._lock:
            full_at = max(self._full_at.get(principal, 0), now)
            self._full_at[principal] = full_at + filling


FREE_SECONDS = 10
"""Seconds of the server that one principal's free requests may take at once, ..."""
FREE_SHARE = 4
"""... and one in so many seconds from then on."""


class FreeWorkLimit:
    """Counts what plans, refusals and free answers of one principal take the server.

    Everybody waits for what is ahead of them, and nobody pays for these. Their public
    cost is counted, as their replies' slots are, when the reply leaves: whoever asks
    knows by then. A charge pays for what it takes.

    Args:
        is_limited: False: requests are not limited by rate, and so are these not.
    """

    def __init__(self, *, is_limited: bool = True) -> None:
        self._is_limited = is_limited
        self._shares = Shares(FREE_SECONDS * FREE_SHARE * MICROSECONDS)

    def check(self, principal: str, arrival: float) -> None:
        """Refuse whoever has taken too much of the server for nothing.

        Args:
            principal: Who asks.
            arrival: Of the request, in seconds.

        Raises:
            RateLimitedError: Nothing was asked, stored or spent.
        """
        self._shares.check(
            principal,
            round(arrival * MICROSECONDS),
            "your plans, refused questions and free answers have taken the server "
            f"{FREE_SECONDS} seconds and more: wait as Retry-After says; then a "
            "quarter of the time is yours",
        )

    def take(self, principal: str, left: float, seconds: float) -> None:
        """Count so many seconds of the server, by public facts.

        Args:
            principal: Who asked.
            left: When the reply leaves, by its slot, in seconds.
            seconds: Its public cost.
        """
        if self._is_limited:
            filling = round(seconds * FREE_SHARE * MICROSECONDS)
            self._shares.take(principal, round(left * MICROSECONDS), filling)
