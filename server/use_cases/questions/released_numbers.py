"""How large a question's numbers are at least, by a release that its asker may read."""

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Final

from query_lang.plans.compiled import CompiledQuery, NumberShown, Presentation
from release.contract.answers import Ends, ReleaseAnswer

ASKING_A_RELEASE: Final = (10, 0)
"""What answering from a release takes, in texts that are read anew."""


def confidence_text(miss: Fraction) -> str:
    """Return the confidence of intervals that miss with such a probability at most.

    >>> confidence_text(Fraction(1, 400))
    '0.9975'
    """
    places = Decimal(1).scaleb(-9)
    exact = Decimal(miss.numerator) / Decimal(miss.denominator)
    return format(1 - exact.quantize(places, ROUND_FLOOR).normalize(), "f")


def least_sizes(
    compiled: CompiledQuery, answer: ReleaseAnswer
) -> list[list[int]] | None:
    """Return the least size of each measure's cells, in grid steps.

    By the end of each interval that lies nearer to 0. None where the answer does not
    show every measure of every cell.

    Args:
        compiled: The question.
        answer: Of a release, to the same question.
    """
    shown = {
        column.shown.vector: column.name
        for column in compiled.columns
        if isinstance(column.shown, NumberShown)
    }
    cells = len(compiled.rendered.cells)
    is_whole = compiled.presentation == Presentation() and len(answer.rows) == cells
    if not is_whole or set(shown) != set(range(len(compiled.measures))):
        return None
    intervals = {each.column: each.rows for each in answer.intervals}
    if not set(shown.values()) <= set(intervals):
        return None
    return [
        _sizes(intervals[shown[place]], measure.scale)
        for place, measure in enumerate(compiled.measures)
    ]


def _sizes(intervals: Sequence[Ends | None], scale: int) -> list[int]:
    return [0 if ends is None else _size(ends, scale) for ends in intervals]


def _size(ends: Ends, scale: int) -> int:
    low, high = (Decimal(end).scaleb(scale) for end in ends)
    return max(0, int(max(low, -high).to_integral_value(ROUND_FLOOR)))
