"""What every engine offers: sealed aggregates of a snapshot, and nothing else."""

from typing import Protocol

from privacy.sealed import Exact
from query_lang.compiled import RenderedPlan

SealedVector = Exact[tuple[int, ...]]
"""One value a cell (a histogram: one a bin of each cell), in declared order.

On the grid of its column, saturated at 2**62 in both directions.
"""


class Engine(Protocol):
    """Runs rendered plans on snapshots. Knows no epsilon, and adds no noise."""

    @property
    def incidents(self) -> int:
        """Executions that failed since the start; for the operator alone."""
        ...

    def execute(self, snapshot: str, plan: RenderedPlan) -> tuple[SealedVector, ...]:
        """Return one sealed vector a measure, aligned with its statement's places.

        All statements read one state of the snapshot, within one deadline together.

        Args:
            snapshot: The id of a snapshot that was loaded.
            plan: SQL of our own rendering, and the places that its rows fill.

        Raises:
            ExecutionError: Execution failed; which way is not said.
        """
        ...

    def can_open(self, snapshot: str) -> bool:
        """Whether a snapshot can be read at all; for ``curator doctor``."""
        ...

    def close_removed(self) -> None:
        """Let go of snapshots whose file was removed, once nobody reads them."""
        ...

    def close(self) -> None:
        """Open nothing more, and let go of every snapshot that is not in use."""
        ...
