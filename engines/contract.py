"""What every engine does: run a rendered plan and seal what it counts."""

from typing import Protocol

from privacy.sealed import Exact
from query_lang.compiled import RenderedPlan


class Engine(Protocol):
    """Runs rendered plans over immutable snapshots. Knows no epsilon."""

    def execute(
        self, snapshot: str, plan: RenderedPlan
    ) -> tuple[Exact[tuple[int, ...]], ...]:
        """Return one sealed vector per measure, aligned with the plan's cells.

        Raises:
            ExecutionError: Whatever went wrong; carries no cause.
        """
        ...

    def close(self) -> None:
        """Close every snapshot."""
        ...
