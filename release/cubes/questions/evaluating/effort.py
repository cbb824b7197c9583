"""How much one question may cost to answer: public limits on cells and on steps.

Everything here is a function of the text and of public facts, so a refusal says
nothing; without limits one text could hold a server up for as long as it likes. No
clock is read: load decides neither whether there is an answer nor whether there is an
offer (PRIVACY 6).
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse
from release.cubes.questions.binding import rules

MAX_EVALUATED: Final = 250_000
"""The most combinations of several dimensions' values on which an expression that
reads them together is evaluated."""

MAX_WORK: Final = 200_000_000
"""Cells that all rolls of one question may pass over together."""

MAX_STEPS: Final = 1_500_000_000
"""What a question to a release may take: steps as ``steps.py`` beside it counts them,
each a nanosecond at the most (``python -m benchmarks.releases.steps``)."""


@dataclass(slots=True)
class Effort:
    """What one question may cost, and what it has cost so far; for one thread.

    What was evaluated before is counted like what is new: what others have asked
    decides nothing.

    Attributes:
        position: Where the question begins, for refusals.
        steps: The most that may be spent.
        evaluated: The most combinations on which one expression is evaluated.
        axis: The most values of a single dimension on which one is evaluated.
        spent: Steps so far.
    """

    position: Position
    steps: int = MAX_STEPS
    evaluated: int = MAX_EVALUATED
    axis: int | None = None
    spent: int = 0
    _counted: set[Hashable] = field(default_factory=set)

    def spend(self, steps: int) -> None:
        """Count steps before they are taken.

        Raises:
            SqlNotAllowedError: Rule ``too_long``; so many are not left.
        """
        self.spent += steps
        if self.spent > self.steps:
            raise refuse(rules.TOO_LONG, self.position)

    def spend_once(self, what: Hashable, steps: int) -> None:
        """Count the steps of what a question needs once, however often it reads it.

        Raises:
            SqlNotAllowedError: Rule ``too_long``; so many are not left.
        """
        if what not in self._counted:
            self._counted.add(what)
            self.spend(steps)

    def check_further(self, steps: int) -> None:
        """Refuse what would take too many steps after what is spent.

        Raises:
            SqlNotAllowedError: Rule ``too_long``.
        """
        if self.spent + steps > MAX_STEPS:
            raise refuse(rules.TOO_LONG, self.position)

    def check_evaluated(self, combinations: int, *, axes: int) -> None:
        """Refuse an expression before it is evaluated on too many combinations.

        Raises:
            SqlNotAllowedError: Rule ``many_combinations``.
        """
        most = self.evaluated if axes > 1 else self.axis
        if most is not None and combinations > most:
            raise refuse(rules.MANY_COMBINATIONS, self.position)
