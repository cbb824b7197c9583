"""How much one question may cost to answer: public limits on cells and on seconds.

Everything here is a function of the text and of public facts, so a refusal says
nothing; without limits one text could hold a server up for as long as it likes.
"""

import time
from dataclasses import dataclass
from threading import Lock
from typing import Final

from query_lang.refusals import refuse
from query_lang.syntax import Position
from release.questions import rules

MAX_EVALUATED: Final = 250_000
"""The most combinations of several dimensions' values on which an expression that
reads them together is evaluated."""

MAX_WORK: Final = 200_000_000
"""Cells that all rolls of one question may pass over together."""

SECONDS: Final = 2.0
"""How long a question to a release may be worked on."""


@dataclass(frozen=True, slots=True)
class Effort:
    """What is left of what one question may cost.

    Attributes:
        position: Where the question begins, for refusals.
        deadline: On the monotonic clock.
        evaluated: The most combinations on which one expression is evaluated.
        axis: The most values of a single dimension on which one is evaluated.
    """

    position: Position
    deadline: float
    evaluated: int = MAX_EVALUATED
    axis: int | None = None

    @classmethod
    def of(cls, position: Position, seconds: float = SECONDS) -> "Effort":
        """Return the effort that a question to a release may take from now on."""
        return cls(position, time.monotonic() + seconds)

    def left(self) -> float:
        """Return the seconds that are left.

        Raises:
            SqlNotAllowedError: Rule ``too_long``; none are.
        """
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise refuse(rules.TOO_LONG, self.position)
        return seconds

    def check_evaluated(self, combinations: int, *, axes: int) -> None:
        """Refuse an expression before it is evaluated on too many combinations.

        Raises:
            SqlNotAllowedError: Rule ``many_combinations``.
        """
        most = self.evaluated if axes > 1 else self.axis
        if most is not None and combinations > most:
            raise refuse(rules.MANY_COMBINATIONS, self.position)

    def hold(self, lock: Lock) -> None:
        """Take a lock within the time that is left.

        Raises:
            SqlNotAllowedError: Rule ``too_long``; others had it all the while.
        """
        if not lock.acquire(timeout=self.left()):
            raise refuse(rules.TOO_LONG, self.position)
