"""What a question may cost the engine, from its plan and public sizes alone."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanCost:
    """Upper bounds on what executing one plan takes, whatever the data (PRIVACY 6).

    Each is a function of the text, the declared sizes and the request's bounds. A step
    is what the slowest calibrated operation does in one nanosecond on the machine that
    ``python -m benchmarks.costs`` names.

    Attributes:
        steps: Of the whole plan, at the declared number of units and rows.
        memory_bytes: That the whole plan holds at once, likewise.
        unit_steps: That the rows of any one unit can add.
        unit_memory_bytes: That the rows of any one unit can add.
    """

    steps: int
    memory_bytes: int
    unit_steps: int
    unit_memory_bytes: int
