"""How much work a normal form may take, counted in steps: never a clock's.

Terms share parts, so that a short text can make a large form: each step of a chain of
derived tables may use the one before it several times. What takes too many steps is
left as it is written. The count follows from the plan alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

MOST_STEPS: Final = 30_000
"""Of one question: a step is a part of a term that is made, or looked at."""


class TooManyStepsError(Exception):
    """A normal form would take more steps than it may."""


_LEFT: ContextVar[list[int] | None] = ContextVar("steps left", default=None)


@contextmanager
def counted_steps(most: int = MOST_STEPS) -> Iterator[list[int]]:
    """Count the steps within; what stands around it has a count of its own.

    Yields:
        How many are left.

    Raises:
        TooManyStepsError: There are more than ``most``.
    """
    left = [most]
    token = _LEFT.set(left)
    try:
        yield left
    finally:
        _LEFT.reset(token)


_VALUES_A_STEP: Final = 4  # of lists that are sorted, met or written


def take_steps_of(values: int) -> None:
    """Count the steps that walking a list of values takes.

    Raises:
        TooManyStepsError: There are none left.
    """
    take_steps(values // _VALUES_A_STEP)


def take_steps(number: int = 1) -> None:
    """Count steps, if anybody counts them.

    Raises:
        TooManyStepsError: There are none left.
    """
    left = _LEFT.get()
    if left is None:
        return
    left[0] -= number
    if left[0] < 0:
        raise TooManyStepsError
