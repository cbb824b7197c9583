"""How much of the disk and of the server one principal's free answers may take.

A public rate of bytes. A charge pays for what it stores; a free answer does not, and is
kept as long as the ledger. Little is stored of one that repeats a paid answer, but all
of one that a release gave, and the text of each question. Requests alone determine it.
"""

import math
from collections.abc import Callable
from typing import Final

from server.use_cases.identity.limits import MICROSECONDS, monotonic_microseconds
from server.use_cases.identity.shares import Shares

FREE_BYTES_AN_HOUR: Final = 32 << 20
"""Of one principal, in each server process: some 10,000 repeats of a short question."""
SHOWING_BYTES_A_SECOND: Final = 8 << 20
"""What a second of computing shown numbers counts for, which others wait for: four of
them are an hour's share."""
ROW_BYTES: Final = 1_500
"""Of an entry, its row and their indexes, beside the body and twice the question."""
_HOUR: Final = 3_600 * MICROSECONDS


class FreeAnswerLimit:
    """Counts the bytes that free answers store, as a bucket that holds an hour's.

    Whoever has room left may store one answer, however large, and waits for it
    afterwards.

    Args:
        bytes_an_hour: Of one principal, in each server process.
        clock: Microseconds.
    """

    def __init__(
        self,
        bytes_an_hour: int = FREE_BYTES_AN_HOUR,
        clock: Callable[[], int] = monotonic_microseconds,
    ) -> None:
        self._bytes_an_hour = bytes_an_hour
        self._clock = clock
        self._shares = Shares(_HOUR)

    def check(self, principal: str) -> None:
        """Refuse a free answer to whoever has stored an hour's bytes and more.

        Raises:
            RateLimitedError: Nothing was asked, stored or spent.
        """
        self._shares.check(
            principal,
            self._clock(),
            "your free answers have stored, or taken the server, as much as they may "
            "in an hour: wait as Retry-After says; asking a release itself stores "
            "nothing",
        )

    def take_showing(self, principal: str, steps: int) -> None:
        """Count what computing a free answer's numbers takes the server.

        Args:
            principal: Who asks.
            steps: By the plan's public bound; nanoseconds.
        """
        self.take(principal, steps * SHOWING_BYTES_A_SECOND // 10**9)

    def take(self, principal: str, stored: int) -> None:
        """Count the bytes that a free answer has stored."""
        filling = math.ceil(stored * _HOUR / self._bytes_an_hour)
        self._shares.take(principal, self._clock(), filling)
