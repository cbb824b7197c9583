"""Which arithmetic 64 bits hold: all else is computed wide, and clamped."""

from collections.abc import Iterator

from query_lang.plans.expressions import Call, Facts, Function
from query_lang.plans.intervals import Interval, interval_of

_SMALL = 2**40


def fits(call: Call) -> bool:
    """Whether 64 bits hold the result, however an engine regroups the constants.

    DuckDB 2.0.0 makes ``K + (x + 90)`` into ``x + (K + 90)`` and raises where that sum
    of constants overflows, though no result does. Sums of small numbers cannot, and
    products are not nested.
    """
    known = [interval_of(facts) for facts in (call.facts, *_facts_of(call))]
    if any(bounds is None or not is_small(bounds) for bounds in known):
        return False
    nested = any(isinstance(operand, Call) for operand in call.operands)
    return call.function is not Function.MULTIPLY or not nested


def _facts_of(call: Call) -> Iterator[Facts]:
    return (operand.facts for operand in call.operands)


def is_small(bounds: Interval) -> bool:
    """Whether thousands of such numbers add up within 64 bits."""
    return bounds[0] >= -_SMALL and bounds[1] <= _SMALL
