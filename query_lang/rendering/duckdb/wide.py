"""Integers beyond 64 bits: computed in 128, clamped by value, NULL kept by tests."""

from query_lang.plans.intervals import MAX_INTEGER, MIN_INTEGER
from query_lang.rendering.fragments import Fragment, listed

END = Fragment(" END)")


def wide(own: Fragment) -> Fragment:
    """Return a number in 128 bits."""
    return Fragment("CAST(") + own + Fragment(" AS HUGEINT)")


def clamped(value: Fragment) -> Fragment:
    """Return a 128-bit integer as the nearest 64-bit one."""
    held = Fragment("CAST(LEAST(GREATEST(") + value
    return held + Fragment(
        f", CAST({MIN_INTEGER} AS HUGEINT)), CAST({MAX_INTEGER} AS HUGEINT)) AS BIGINT)"
    )


def unless_any_null(
    operands: tuple[Fragment, ...],
    value: Fragment,
    first: Fragment = Fragment(""),  # noqa: B008 - it is frozen
) -> Fragment:
    """Return a value, NULL where an operand is or ``first OR`` holds."""
    tests = listed((own + Fragment(" IS NULL") for own in operands), " OR ")
    test = Fragment("(CASE WHEN ") + first + tests
    return test + Fragment(" THEN CAST(NULL AS BIGINT) ELSE ") + value + END
