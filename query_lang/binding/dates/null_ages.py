"""A warning where an age is NULL here and below nothing in other systems.

Nobody is treated before birth, so ages of people have none. Of two events either may
be the first: ``EXTRACT(YEAR FROM AGE(diagnosed, delivered))``.
"""

from typing import Final

from query_lang.binding.dates import parts
from query_lang.binding.environment import Environment
from query_lang.plans import intervals
from query_lang.plans.expressions import Expression

NULL_AGES: Final = "null_ages"
_YOUNGEST: Final = 20
"""Years before the first day asked about from which a first day may be of a birth."""


def warn_of_null_ages(
    birth: Expression, at: Expression, environment: Environment
) -> None:
    """Note that completed years or months of two events are NULL where one is later."""
    ends = parts.ends_of(birth, at)
    if ends is None or not parts.may_come_before(at, birth):
        return
    since, asked = (intervals.day(low) for low, _ in ends)
    if asked.year - since.year >= _YOUNGEST:
        return
    environment.warn(
        NULL_AGES,
        "an age is NULL here where its first date comes before the second, negative "
        "in PostgreSQL and MySQL: such rows meet no condition; AGE(a, b) < INTERVAL "
        "'1 year' is true of them, as there, and a - b are days, negative ones too",
    )
