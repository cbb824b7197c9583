"""What a request costs, and what a wished-for accuracy costs."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache

from mechanisms.scales.misses import probability_of_more
from mechanisms.scales.noises import Noise, noise_of_measure
from privacy.errors import InvalidLossError
from privacy.events import MeasuredVector, PriceEvent, VectorSensitivity
from privacy.losses import MAX_NANO, NANO, Loss
from privacy.measures import PURE, Measure


def price(
    sensitivities: Sequence[VectorSensitivity],
    weights: Sequence[Fraction],
    loss: Loss,
    measure: Measure = PURE,
) -> PriceEvent:
    """Divide a loss over the vectors of a request and calibrate their noise.

    Args:
        sensitivities: One a vector, in grid steps.
        weights: One a vector, positive; a vector's part is its share of their sum,
            rounded down in nano-units.
        loss: What the whole request is charged, whatever rounding leaves unspent.
        measure: What the loss counts; it says of which kind the noise is.

    Raises:
        InvalidLossError: A part is zero, or too small for noise of at most 2**40.
        ValueError: No vectors, or weights that do not fit them.

    Neighbouring relation: add or remove all rows of one unit.
    Source: PRIVACY, section 4.
    """
    parts = _parts_floor(weights, loss)
    noise = noise_of_measure(measure)
    vectors = tuple(
        MeasuredVector(sensitivity, part, noise.scale(sensitivity, part))
        for sensitivity, part in zip(sensitivities, parts, strict=True)
    )
    return PriceEvent(loss, vectors, measure)


def solve_accuracy(  # noqa: PLR0913 - the wish and the range are the request's own words
    sensitivities: Sequence[VectorSensitivity],
    weights: Sequence[Fraction],
    *,
    withins: Sequence[Fraction],
    confidence: Fraction,
    minimum: Loss,
    maximum: Loss,
    measure: Measure = PURE,
) -> Loss:
    """Return the least loss that makes every vector as accurate as wished.

    Args:
        sensitivities: One a vector, in grid steps.
        weights: One a vector, positive.
        withins: One a vector: the largest half-width of any of its cells, in steps of
            its own grid, positive.
        confidence: Of the half-width, strictly between 0 and 1.
        minimum: Least loss that a query may spend; the answer is never below it.
        maximum: Greatest loss that a query may spend.
        measure: What losses count; it says of which kind the noise is.

    Raises:
        InvalidLossError: Even ``maximum`` is not accurate enough.
        ValueError: No vectors, weights or half-widths that do not fit them, or no such
            confidence.

    Neighbouring relation: add or remove all rows of one unit.
    Source: half-widths never grow with the loss, docs/proofs/discrete_laplace.md.
    """
    demands = _demands(sensitivities, weights, withins)
    noise = noise_of_measure(measure)

    def suffices(nano: int) -> bool:
        return all(_is_accurate(noise, demand, nano, confidence) for demand in demands)

    if min(withins) < 0 or not suffices(maximum.nano_epsilon):
        raise _needs_more(maximum)
    guess = _guess_nano(noise, demands, confidence)
    return Loss(
        _least(suffices, minimum.nano_epsilon, maximum.nano_epsilon, start=guess)
    )


def solve_share(  # noqa: PLR0913 - the wish and the range are the request's own words
    sensitivities: Sequence[VectorSensitivity],
    weights: Sequence[Fraction],
    *,
    tolerances: Sequence[Mapping[int, int]],
    share: Fraction,
    confidence: Fraction,
    minimum: Loss,
    maximum: Loss,
    measure: Measure = PURE,
) -> Loss:
    """Return the least loss at which most cells of each vector are near enough.

    Args:
        sensitivities: One a vector, in grid steps.
        weights: One a vector, positive.
        tolerances: One a vector: how far noise may move a cell, in whole steps of its
            grid, with the number of cells that may be moved so far.
        share: Of a vector's cells, that are to be moved no further, above 0, at most 1.
        confidence: That so many are not, strictly between 0 and 1.
        minimum: Least loss that a query may spend; the answer is never below it.
        maximum: Greatest loss that a query may spend.
        measure: What losses count; it says of which kind the noise is.

    Raises:
        InvalidLossError: Even ``maximum`` is not accurate enough.

    Neighbouring relation: add or remove all rows of one unit.
    Source: Hoeffding 1956, Theorem 4; docs/proofs/accuracy.md.
    """
    tolerated = list(tolerances)
    noise = noise_of_measure(measure)

    def suffices(scale: Callable[[int], float]) -> bool:
        return all(
            _is_mostly_near(noise, scale(place), near, share, 1 - confidence)
            for place, near in zip(range(len(weights)), tolerated, strict=True)
        )

    return solve_scales(
        sensitivities,
        weights,
        suffices,
        minimum=minimum,
        maximum=maximum,
        measure=measure,
    )


def solve_scales(  # noqa: PLR0913 - as of an accuracy
    sensitivities: Sequence[VectorSensitivity],
    weights: Sequence[Fraction],
    suffices: Callable[[Callable[[int], float]], bool],
    *,
    minimum: Loss,
    maximum: Loss,
    measure: Measure = PURE,
) -> Loss:
    """Return the least loss at whose scales something holds.

    Args:
        sensitivities: One a vector, in grid steps.
        weights: One a vector, positive.
        suffices: Whether it holds, told the scale of a vector by its place; what holds
            must go on holding where all are less. A scale is made when it is asked for:
            the first that does not suffice ends most steps of the search.
        minimum: Least loss that a query may spend; the answer is never below it.
        maximum: Greatest loss that a query may spend.
        measure: What losses count; it says of which kind the noise is.

    Raises:
        InvalidLossError: It does not hold at ``maximum`` either.

    Neighbouring relation: add or remove all rows of one unit.
    """
    total = _checked_total(weights)
    vectors = list(zip(sensitivities, weights, strict=True))
    noise = noise_of_measure(measure)

    def holds(nano: int) -> bool:
        @cache
        def scale(place: int) -> float:
            vector, weight = vectors[place]
            found = _scale(noise, vector, weight / total, nano)
            if found is None:
                raise _NoScaleError
            return found

        try:
            return suffices(scale) and all(map(scale, range(len(vectors))))
        except _NoScaleError:
            return False

    if not holds(maximum.nano_epsilon):
        raise _needs_more(maximum)
    low, high = minimum.nano_epsilon, maximum.nano_epsilon
    return Loss(_least(holds, low, high, start=low))


class _NoScaleError(Exception):
    """A share of a loss pays for no noise of a vector."""


def _needs_more(maximum: Loss) -> InvalidLossError:
    reason = (
        f"this accuracy needs more than {maximum}, the most that one query may spend"
    )
    return InvalidLossError(text=str(maximum), reason=reason)


def _scale(
    noise: Noise, vector: VectorSensitivity, share: Fraction, nano: int
) -> float | None:
    """Return the scale that a share of a loss pays for; None where it pays for none."""
    try:
        return noise.scale(vector, Loss(_part_floor(share, nano)))
    except InvalidLossError:
        return None


def _is_mostly_near(
    noise: Noise,
    scale: float,
    tolerances: Mapping[int, int],
    share: Fraction,
    miss: Fraction,
) -> bool:
    """Whether too many cells are moved too far with a chance of at most miss."""
    cells = sum(tolerances.values())
    allowed = math.floor((1 - share) * cells)
    mean = sum(n * noise.beyond(scale, width) for width, n in tolerances.items())
    return probability_of_more(cells, mean / cells, allowed) <= float(miss)


_Demand = tuple[VectorSensitivity, Fraction, Fraction]
"""Sensitivity in steps, share of the loss, largest half-width in steps."""


def _parts_floor(weights: Sequence[Fraction], loss: Loss) -> list[Loss]:
    total = _checked_total(weights)
    return [Loss(_part_floor(weight / total, loss.nano_epsilon)) for weight in weights]


def _part_floor(share: Fraction, nano: int) -> int:
    return math.floor(share * nano)


def _checked_total(weights: Sequence[Fraction]) -> Fraction:
    if not weights or any(weight <= 0 for weight in weights):
        message = "a request has at least one vector, and its weights are positive"
        raise ValueError(message)
    return sum(weights, Fraction(0))


def _demands(
    sensitivities: Sequence[VectorSensitivity],
    weights: Sequence[Fraction],
    withins: Sequence[Fraction],
) -> list[_Demand]:
    """Return what has to be accurate enough, equal demands once."""
    total = _checked_total(weights)
    vectors = zip(sensitivities, weights, withins, strict=True)
    return list(
        {(vector, weight / total, within): None for vector, weight, within in vectors}
    )


def _is_accurate(
    noise: Noise, demand: _Demand, nano: int, confidence: Fraction
) -> bool:
    vector, share, within = demand
    scale = _scale(noise, vector, share, nano)
    return scale is not None and noise.half_width(scale, confidence) <= within


def _guess_nano(noise: Noise, demands: Sequence[_Demand], confidence: Fraction) -> int:
    """Return about the answer: a start for the search, no more."""
    nano = max(
        math.ceil(
            noise.loss_guess(vector, math.floor(within), confidence) / share * NANO
        )
        for vector, share, within in demands
    )
    return min(nano, MAX_NANO)


def _least(suffices: Callable[[int], bool], low: int, high: int, *, start: int) -> int:
    """Return the least number in low..high that suffices; ``high`` is known to.

    Whatever suffices must go on sufficing. Reaches out from ``start`` both ways, then
    halves what lies between.
    """
    start = max(low, min(start, high))
    reach = 1
    while not suffices(min(high, start + reach)):
        reach *= 2
    high = min(high, start + reach)
    reach = 1
    while start - reach > low and suffices(start - reach):
        reach *= 2
    low = max(low, start - reach)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle + 1, high)
    return low
