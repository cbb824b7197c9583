"""What a question may cost the engine, from its plan and public sizes alone."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

CostPart = Literal[
    "unit_steps",
    "startup_steps",
    "unit_memory_bytes",
    "startup_memory_bytes",
    "steps",
    "memory_bytes",
]


@dataclass(frozen=True, slots=True)
class PlanCost:
    """Upper bounds on what executing one plan takes, whatever the data (PRIVACY 6).

    Each is a function of the text, the declared sizes and the request's bounds. A step
    is what the slowest calibrated operation does in one nanosecond on the machine that
    ``python -m benchmarks.costs.plans`` names.

    Attributes:
        steps: Of the whole plan, at the declared number of units and rows.
        memory_bytes: That the whole plan holds at once, likewise.
        unit_steps: That the rows of any one unit can add.
        unit_memory_bytes: That the rows of any one unit can add.
        startup_steps: That the first rows to reach each part of the plan begin there,
            whoever's they are and however many; ``steps`` holds them too.
        startup_memory_bytes: Likewise; ``memory_bytes`` holds them too.
    """

    steps: int
    memory_bytes: int
    unit_steps: int
    unit_memory_bytes: int
    startup_steps: int = 0
    startup_memory_bytes: int = 0


SLOT_SHARE: Final = 4
"""A unit's extra steps, met by every question ahead of a reply, fill at most one part
in so many of a slot: what each reply keeps free (``server/api/routing/backlog.py``)."""

STARTUP_SHARE: Final = 4
"""What one question starts up fills at most one part in so many of a slot; replies
behind it count it once more than the whole does, as a unit's steps."""

UNIT_MEMORY_SHARE: Final = 64
"""One unit's extra bytes fill at most one part in so many of an executor's memory."""

STARTUP_MEMORY_SHARE: Final = 8
"""What one question starts up fills at most one part in so many of that memory."""

MEMORY_SHARE: Final = 2
"""The whole fills at most one part in so many of an executor's memory."""

DEADLINE_SHARE: Final = 10
"""The whole takes at most one part in so many of the deadline."""

MAX_NUMBERS: Final = 100_000
"""Shown, and measured, of one answer: some 8 MB when written."""

MAX_SHOWING_STEPS: Final = 3_000_000_000
"""Of the server, to show what is computed of an answer's numbers: three seconds."""

NUMBER_BYTES: Final = 80
"""Of a number that an answer shows, with its interval, at most."""

_EVERYTHING: Final = 2**200
_DEFAULT_SLOT_MS: Final = 100  # what is measured by where slots are off
_STEPS_A_MS: Final = 1_000_000
_STEPS_A_SECOND: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class CostLimits:
    """What a plan may cost; functions of public settings alone.

    ``answer_numbers`` is how many numbers its answer may show, or measure;
    ``showing_steps``, what the server may take to show what is computed of them.
    """

    steps: int
    memory_bytes: int
    unit_steps: int
    unit_memory_bytes: int
    startup_steps: int = _EVERYTHING
    startup_memory_bytes: int = _EVERYTHING
    answer_numbers: int = MAX_NUMBERS
    showing_steps: int = _EVERYTHING

    def passed(self, cost: PlanCost) -> Iterator[CostPart]:
        """Yield the parts of a cost that are beyond the limit."""
        parts: tuple[CostPart, ...] = get_args(CostPart)
        return (part for part in parts if getattr(cost, part) > getattr(self, part))

    def allow(self, cost: PlanCost) -> bool:
        """Whether every part of a cost is within its limit."""
        return not any(self.passed(cost))


UNLIMITED: Final = CostLimits(_EVERYTHING, _EVERYTHING, _EVERYTHING, _EVERYTHING)
"""For what is not executed, or was refused by its cost before."""

PAID: Final = replace(UNLIMITED, answer_numbers=_EVERYTHING)
"""For what was charged before, perhaps by a version that had no limit."""


@dataclass(frozen=True, slots=True)
class EngineSize:
    """Public facts about an engine that limits rest on.

    Attributes:
        permits: Replies that may be under way at once.
        executors: Questions that are executed at once.
        slot_ms: How long a slot is; 0 where slots are off.
        memory_bytes: Of one executor.
        deadline_seconds: Of one execution.
    """

    permits: int
    executors: int
    slot_ms: int
    memory_bytes: int
    deadline_seconds: float


def cost_limits(size: EngineSize) -> CostLimits:
    """Return the limits of a question.

    Every permit may hold a question that reads the same unit, and an executor takes its
    share of them one after the other: so a unit's extra steps count that often.

    >>> cost_limits(EngineSize(64, 2, 100, 2**30, 60.0)).unit_steps
    781250
    """
    slot = (size.slot_ms or _DEFAULT_SLOT_MS) * _STEPS_A_MS
    ahead = math.ceil(size.permits / size.executors)
    return CostLimits(
        steps=int(size.deadline_seconds * _STEPS_A_SECOND) // DEADLINE_SHARE,
        memory_bytes=size.memory_bytes // MEMORY_SHARE,
        unit_steps=slot // SLOT_SHARE // ahead,
        unit_memory_bytes=size.memory_bytes // UNIT_MEMORY_SHARE,
        startup_steps=slot // STARTUP_SHARE,
        startup_memory_bytes=size.memory_bytes // STARTUP_MEMORY_SHARE,
        showing_steps=MAX_SHOWING_STEPS,
    )


def job_limits(size: EngineSize) -> CostLimits:
    """Return the limits of a statement that a job runs, which no reply waits for.

    One unit's extra steps stay below a slot, since jobs show their end in whole slots.
    """
    slot = (size.slot_ms or _DEFAULT_SLOT_MS) * _STEPS_A_MS
    return replace(cost_limits(size), unit_steps=slot // SLOT_SHARE)
