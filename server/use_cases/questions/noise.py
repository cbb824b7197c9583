"""What an answer says of its noise: strings in the column's unit, never fractions."""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from mechanisms.scales.noises import Noise as NoiseKind
from mechanisms.scales.noises import noise_of_measure
from privacy.events import MeasuredVector, PriceEvent
from query_lang.plans.compiled import (
    AverageShown,
    CompiledQuery,
    ComputedShown,
    DependentShown,
    GroupingShown,
    KeyShown,
    LiteralShown,
    Measure,
    NamedTotal,
    NumberShown,
    QuantileShown,
    Shown,
    WindowShown,
    leaves,
)
from query_lang.showing.confidence import intervals_of, total_half_widths
from query_lang.showing.decimals import decimal_text
from query_lang.showing.expected_errors import (
    ROUND_COUNTS,
    expected_errors,
    expected_totals,
)
from server.use_cases.questions.noise_law import noise_law
from server.use_cases.questions.plan_replies import (
    ExpectedErrors,
    SetOfTotals,
)
from server.use_cases.questions.questions import Question
from server.use_cases.questions.replies import (
    Noise,
    NoisePart,
    NoiseScale,
)
from server.use_cases.releases.replies import HalfWidths, Intervals

NINETY_FIVE_PERCENT = Fraction(95, 100)


def noise_of(
    compiled: CompiledQuery,
    event: PriceEvent,
    confidence: Fraction = NINETY_FIVE_PERCENT,
) -> list[Noise]:
    """Describe the noise of every measured column, in output order.

    One entry a column, in its unit; an average has two, of its sum and of its count; a
    quantile's is of the count of each bin, in rows.

    Args:
        compiled: The query.
        event: Its price.
        confidence: Of each half-width; more than 95 % where 95 % of chosen rows are to
            lie inside.
    """
    kind = noise_of_measure(event.measure)
    described = [
        _noise_of_vector(kind, vector, measure.scale, confidence)
        for vector, measure in zip(event.vectors, compiled.measures, strict=True)
    ]
    return [
        {"column": column.name, **part, **described[vector]}
        for column in compiled.columns
        for part, vector in _parts_of(column.shown, compiled.measures)
    ]


def intervals_of_answer(
    question: Question,
    noisy_vectors: Sequence[Sequence[int]],
    confidence: Fraction = NINETY_FIVE_PERCENT,
) -> list[Intervals]:
    """Describe the intervals of averages and quantiles, a pair of texts a row.

    Args:
        question: Whose answer.
        noisy_vectors: One a measure.
        confidence: As in ``noise_of``.
    """
    law = noise_law(question.event)
    found = intervals_of(question.compiled, noisy_vectors, law, confidence)
    return [
        {
            "column": each.column,
            "confidence": "0.95",
            "rows": [None if ends is None else list(ends) for ends in each.rows],
        }
        for each in found
    ]


def expected_errors_of_plan(
    compiled: CompiledQuery, event: PriceEvent
) -> list[ExpectedErrors]:
    """Return the largest errors of averages and quantiles at round numbers of rows."""
    found = expected_errors(compiled, noise_law(event), NINETY_FIVE_PERCENT)
    return [
        {
            "column": each.column,
            "of": each.of,
            "confidence": "0.95",
            "counted": list(ROUND_COUNTS),
            "half_widths": list(each.half_widths),
        }
        for each in found
    ]


def half_widths_of_totals(
    question: Question,
    noisy_vectors: Sequence[Sequence[int]],
    confidence: Fraction,
) -> list[HalfWidths]:
    """Describe the half-widths of an answer with totals, a text a row; else nothing."""
    law = noise_law(question.event)
    found = total_half_widths(question.compiled, noisy_vectors, law, confidence)
    return [
        {"column": column, "confidence": "0.95", "rows": rows}
        for column, rows in found.items()
    ]


def totals_of_plan(compiled: CompiledQuery, event: PriceEvent) -> list[SetOfTotals]:
    """Describe how noisy each grouping set is; of an answer without totals nothing."""
    found = expected_totals(compiled, noise_law(event), NINETY_FIVE_PERCENT)
    return [
        {
            "keys": list(each.keys),
            "added": each.added,
            "half_widths": [
                {"column": column, "half_width_95": width}
                for column, width in each.half_widths.items()
            ],
        }
        for each in found
    ]


def _parts_of(  # noqa: PLR0911 - an arm a form
    shown: Shown, measures: Sequence[Measure]
) -> list[tuple[NoisePart, int]]:
    """Return the vectors that a column reads, and what each is to it."""
    match shown:
        case ComputedShown() | WindowShown():
            return _parts_of_computed(shown, measures)
        case AverageShown(sum_vector, count_vector):
            return [({"part": "sum"}, sum_vector), ({"part": "count"}, count_vector)]
        case NumberShown(vector):
            return [({}, vector)]
        case QuantileShown(vector):
            return [({"per": "bin"}, vector)]
        case (
            KeyShown()
            | GroupingShown()
            | NamedTotal()
            | DependentShown()
            | LiteralShown()
        ):
            return []


def _parts_of_computed(
    shown: ComputedShown | WindowShown, measures: Sequence[Measure]
) -> list[tuple[NoisePart, int]]:
    """Return each vector once, in the order of the text."""
    found: dict[int, NoisePart] = {}
    for leaf in leaves(shown):
        for part, vector in _parts_of(leaf, measures):
            plain: NoisePart = {"part": measures[vector].part}
            found.setdefault(vector, part or plain)
    return [(part, vector) for vector, part in found.items()]


def _noise_of_vector(
    kind: NoiseKind, vector: MeasuredVector, decimals: int, confidence: Fraction
) -> NoiseScale:
    width, moves = kind.half_width(vector.scale, confidence), vector.sensitivity
    told: NoiseScale = {
        "mechanism": kind.mechanism,
        "scale": _point_moved(vector.scale, decimals),
        "l1_sensitivity": decimal_text(math.ceil(moves.l1), decimals),
        "half_width_95": decimal_text(width, decimals),
    }
    if kind.has_l2:
        told["l2_sensitivity"] = _root_text(moves.l2_squared, decimals)
    return told


def _root_text(squared: Fraction, decimals: int) -> str:
    """Return a root in the column's unit, rounded up to six digits of a grid step."""
    steps = math.isqrt(math.ceil(squared * 10**12) - 1) + 1
    text = f"{Decimal(steps).scaleb(-6 - decimals):f}"
    return text.rstrip("0").rstrip(".")


def _point_moved(noise_scale: float, decimals: int) -> str:
    """Return Python's repr of a float64 with its point moved, digit by digit.

    Args:
        noise_scale: In grid steps.
        decimals: Of the column's grid; the text is in the column's unit.
    """
    if decimals == 0:
        return repr(noise_scale)
    return f"{Decimal(repr(noise_scale)).scaleb(-decimals):f}"
