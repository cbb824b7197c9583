"""What every engine offers: sealed aggregates of a snapshot, and nothing else."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from privacy.sealed import Exact

if TYPE_CHECKING:  # whoever asks an engine has them; most commands ask none
    from privacy.counts import SparseCounts
    from privacy.sequences import SequenceCounts
    from query_lang.plans.rendered import RenderedPlan
    from query_lang.specs.cubes import CubeStatement
    from query_lang.specs.sequences import SequenceStatement

SealedVector = Exact[tuple[int, ...]]
"""One value a cell (a histogram: one a bin of each cell), in declared order.

On the grid of its column, saturated at 2**62 in both directions.
"""


SealedCounts: TypeAlias = Exact["SparseCounts"]
"""The cells of a cube that are not empty."""

Interruptible = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""Holds what ends a long statement early, while the statement runs."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """What an engine gives one execution; public, and the same whatever the rows.

    Attributes:
        question_memory_bytes: Of a question: executors share the engine's memory.
        question_deadline_seconds: For a question.
        release_memory_bytes: Of the counting of a release, which is done alone.
        release_deadline_seconds: For it.
    """

    question_memory_bytes: int
    question_deadline_seconds: float
    release_memory_bytes: int
    release_deadline_seconds: float


class Filled(Protocol):
    """What an execution filled, not taken up yet."""

    def sealed(self) -> tuple[SealedVector, ...]:
        """Take it up: one sealed vector a measure, aligned with its statement's places.

        That may take as long as there are cells, and can be felt on other routes: so it
        is done at a public time, never when the execution happens to end (PRIVACY 6).

        Raises:
            ExecutionError: What was filled does not fit the plan.
        """
        ...


class Execution(Protocol):
    """One plan, written down for the engine: to begin it takes as long as any other."""

    def run(self) -> Filled:
        """Run the plan; once.

        All statements read one state of the snapshot, within one deadline together.

        Raises:
            ExecutionError: Execution failed; which way is not said.
        """
        ...


class Engine(Protocol):
    """Runs rendered plans on snapshots. Knows no epsilon, and adds no noise."""

    @property
    def version(self) -> str:
        """Its name and version: others may read a statement otherwise."""
        ...

    @property
    def incidents(self) -> int:
        """Executions that failed since the start; for the operator alone."""
        ...

    @property
    def limit_incidents(self) -> int:
        """Those of them that met the memory limit or the deadline."""
        ...

    def start(self, snapshots: Sequence[str] = ()) -> None:
        """Get ready, so that no plan waits for it.

        Args:
            snapshots: To be opened; each must have been loaded.

        Raises:
            ExecutionError: Nothing could be executed.
        """
        ...

    def check(self) -> None:
        """Look whether plans can be executed; delays none that runs.

        Raises:
            ExecutionError: They cannot.
        """
        ...

    def execution(self, snapshot: str, plan: "RenderedPlan") -> Execution:
        """Write a plan down, to be run later; touches no data.

        What that takes grows with the plan's cells: so it is done when a question is
        read, never when an executor happens to become free (PRIVACY 6).

        Args:
            snapshot: The id of a snapshot that was loaded.
            plan: SQL of our own rendering, and the places that its rows fill.

        Raises:
            ExecutionError: The plan cannot be written down.
        """
        ...

    def count_cube(
        self, snapshot: str, cube: "CubeStatement", interruptible: Interruptible
    ) -> SealedCounts:
        """Return the counts of a cube's cells, sealed.

        Args:
            snapshot: The id of a snapshot that was loaded.
            cube: SQL of our own rendering, and the values of its dimensions.
            interruptible: Told how to end the statement, for jobs that are cancelled.

        Raises:
            ExecutionError: Execution failed or was ended; which is not said.
        """
        ...

    def count_sequences(
        self,
        snapshot: str,
        sequences: "SequenceStatement",
        interruptible: Interruptible,
    ) -> Exact["SequenceCounts"]:
        """Return the units' distinct sequences and how many have each, sealed.

        Args:
            snapshot: The id of a snapshot that was loaded.
            sequences: SQL of our own rendering.
            interruptible: Told how to end the statement, for jobs that are cancelled.

        Raises:
            ExecutionError: Execution failed or was ended; which is not said.
        """
        ...

    def can_open(self, snapshot: str) -> bool:
        """Whether a snapshot can be read at all; it is closed again."""
        ...

    def close_removed(self) -> None:
        """Let go of snapshots whose file was removed, once nobody reads them."""
        ...

    def close(self) -> None:
        """Open nothing more, and let go of every snapshot that is not in use."""
        ...
