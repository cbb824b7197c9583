"""How large a question's numbers are at least, by a release that its asker may read."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction

from query_lang.plans.compiled import CompiledQuery, NumberShown, Presentation
from release.contract.answers import Ends, ReleaseAnswer


def confidence_text(miss: Fraction) -> str | None:
    """Return the confidence of intervals that miss with such a probability at most.

    None where no release tells any that sure.

    >>> confidence_text(Fraction(1, 400)), confidence_text(Fraction(1, 10**10))
    ('0.9975', None)
    """
    places = Decimal(1).scaleb(-9)
    exact = Decimal(miss.numerator) / Decimal(miss.denominator)
    if exact < places:
        return None
    return format(1 - exact.quantize(places, ROUND_FLOOR).normalize(), "f")


def sizes_told(
    compiled: CompiledQuery, answer: ReleaseAnswer
) -> tuple[list[list[int]], list[list[int]]] | None:
    """Return the least and the greatest size of each measure's cells, in grid steps.

    By the ends of each interval that lie nearest to 0 and farthest from it. None where
    the answer does not show every measure of every cell.

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
    told = [
        [_size(ends, measure.scale) for ends in intervals[shown[place]]]
        for place, measure in enumerate(compiled.measures)
    ]
    least, most = ([[cell[n] for cell in each] for each in told] for n in (0, 1))
    return least, most


def _size(ends: Ends | None, scale: int) -> tuple[int, int]:
    if ends is None:
        return 0, 0
    low, high = (Decimal(end).scaleb(scale) for end in ends)
    least = max(0, int(max(low, -high).to_integral_value(ROUND_FLOOR)))
    return least, int(max(abs(low), abs(high)).to_integral_value(ROUND_CEILING))
