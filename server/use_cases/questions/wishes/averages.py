"""What an accuracy of averages costs: of public facts alone.

In cells of so many values noise moves an average by at most so much, whatever the
values are (docs/proofs/accuracy.md, claim 3).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from mechanisms.scales.averages import Draws, NearAverage, average_beyond
from mechanisms.scales.misses import probability_of_more
from mechanisms.scales.noises import noise_of_measure
from mechanisms.scales.pricing import price, solve_scales
from mechanisms.scales.sum_tails import SumLaw
from privacy.errors import InvalidLossError, InvalidOptionError
from privacy.losses import Loss
from privacy.wording import counted
from query_lang.plans.compiled import AverageShown, CompiledQuery
from query_lang.showing.decimals import decimal_of
from query_lang.showing.values import SHOWN_DIGITS
from server.use_cases.questions.requests import Accuracy
from server.use_cases.questions.wishes.ranges import LossRange, needs_more, vectors_of
from server.use_cases.questions.wishes.refusals import averages_of


@dataclass(frozen=True, slots=True)
class DrawnNoise:
    """The noise of vectors, each made of independent draws.

    Attributes:
        draws_of: Returns those of a vector.
        law: Of all of them.
        rounded: How far rounding moves a number beside, in steps.
    """

    draws_of: Callable[[int], Draws]
    law: SumLaw
    rounded: Fraction = Fraction(0)

    @classmethod
    def of_scales(cls, scale: Callable[[int], float], law: SumLaw) -> "DrawnNoise":
        """Return the noise of vectors of one draw each."""
        return cls(lambda vector: [(Fraction(1), scale(vector))], law)


_ROUNDED: Final = Fraction(1, 2 * 10**SHOWN_DIGITS)
"""How far rounding moves a shown average, in the column's unit."""


def loss_for_averages(
    compiled: CompiledQuery, losses: LossRange, wish: Accuracy, rows: int
) -> Loss:
    """Return the least loss at which noise moves averages no further than is wished.

    Args:
        compiled: The question.
        losses: That one query may spend.
        wish: The accuracy.
        rows: How many values a cell has at least.

    Raises:
        InvalidLossError: It is more than may be spent; says what that can bring.
        InvalidOptionError: No noise at all could be in so small a cell.
    """
    _check_is_possible(compiled, wish, rows)
    law = noise_of_measure(losses.measure).sums

    def suffices(scale: Callable[[int], float]) -> bool:
        return averages_keep_to(compiled, wish, rows, DrawnNoise.of_scales(scale, law))

    try:
        return solve_scales(
            *vectors_of(compiled),
            suffices,
            minimum=losses.minimum,
            maximum=losses.maximum,
            measure=losses.measure,
        )
    except InvalidLossError:
        nearest = _nearest(compiled, losses, wish, rows)
        raise needs_more(losses, wish, nearest) from None


def averages_keep_to(
    compiled: CompiledQuery, wish: Accuracy, rows: int, noise: DrawnNoise
) -> bool:
    """Whether noise moves each average no further than is wished for.

    Each cell by itself, or where a share of them is wished for, so many at once.

    Args:
        compiled: The question.
        wish: The accuracy.
        rows: How many values a cell has at least.
        noise: Of the question's vectors.
    """
    cells = len(compiled.rendered.cells)
    miss = 1 - wish.confidence
    for shown, near in _wished(compiled, wish, rows):
        found = average_beyond(
            near,
            (noise.draws_of(shown.sum_vector), noise.draws_of(shown.count_vector)),
            noise.law,
            miss=float(miss) / (1 if wish.cells is None else cells),
            rounded=noise.rounded,
        )
        if wish.cells is not None:
            allowed = math.floor((1 - wish.cells) * cells)
            found = probability_of_more(cells, found, allowed)
        if found > miss:
            return False
    return True


def _wished(
    compiled: CompiledQuery, wish: Accuracy, rows: int
) -> list[tuple[AverageShown, NearAverage]]:
    """Return how near each average is to be, before it is rounded to be shown."""
    return [
        (
            shown,
            NearAverage(
                greatest=max(abs(shown.lower), abs(shown.upper)),
                within=(wish.within - _ROUNDED) * 10 ** _scale(compiled, shown),
                rows=rows,
            ),
        )
        for shown in averages_of(compiled)
    ]


def _scale(compiled: CompiledQuery, shown: AverageShown) -> int:
    return compiled.measures[shown.sum_vector].scale


def _check_is_possible(compiled: CompiledQuery, wish: Accuracy, rows: int) -> None:
    """Refuse what one step of noise in the count alone would break.

    Raises:
        InvalidOptionError: It would; says how many values were enough.
    """
    if wish.within <= _ROUNDED:
        message = (
            f"accuracy.within of averages is more than 0.{'0' * SHOWN_DIGITS}5: they "
            f"are shown with {SHOWN_DIGITS} digits"
        )
        raise InvalidOptionError(message)
    impossible = [
        near for _, near in _wished(compiled, wish, rows) if not near.is_possible
    ]
    if impossible:
        least = max(near.fewest_rows for near in impossible)
        message = (
            "the least noise in its sum and its count already moves an average of "
            f"{counted(rows, 'value')} by more than {float(wish.within):g}: ask for "
            f"more rows ({least} at least) or a greater within, or narrow the values, "
            "AVG(LEAST(x, 100))"
        )
        raise InvalidOptionError(message)


def _nearest(
    compiled: CompiledQuery, losses: LossRange, wish: Accuracy, rows: int
) -> str:
    """Say how near the most that one query may spend brings averages."""
    cheaper = "more rows, fewer groups, lower bounds or AVG(LEAST(x, 100)) make it less"
    values = counted(rows, "value")
    found = _least_within(compiled, losses, wish, rows)
    if found is None:
        return f"cells of {values} are too small for any; {cheaper}"
    return f"that brings ± {found} in cells of {values} at this confidence; {cheaper}"


def _least_within(
    compiled: CompiledQuery, losses: LossRange, wish: Accuracy, rows: int
) -> str | None:
    """Return the least that could be wished for, up to the width of the values."""
    event = price(*vectors_of(compiled), losses.maximum, losses.measure)
    scales = [vector.scale for vector in event.vectors]
    noise = DrawnNoise.of_scales(
        scales.__getitem__, noise_of_measure(losses.measure).sums
    )

    def keeps(steps: int) -> bool:
        nearer = replace(wish, within=Fraction(steps, 10**SHOWN_DIGITS))
        return averages_keep_to(compiled, nearer, rows, noise)

    widest = max(
        Fraction(shown.upper - shown.lower, 10 ** _scale(compiled, shown))
        for shown in averages_of(compiled)
    )
    low, high = 1, math.ceil(widest * 10**SHOWN_DIGITS)
    if not keeps(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) else (middle + 1, high)
    return f"{decimal_of(_three_digits_up(high), SHOWN_DIGITS).normalize():f}"


def _three_digits_up(number: int) -> int:
    """Return a number of three digits that count, none of them rounded down.

    >>> _three_digits_up(123_456)
    124000
    """
    unit: int = 10 ** max(0, len(str(number)) - 3)
    return -(-number // unit) * unit
