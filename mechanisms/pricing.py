"""What an answer costs and how noisy it is, before any data is touched."""

from collections.abc import Sequence
from fractions import Fraction

from mechanisms.calibration import MAX_SCALE, laplace_scale
from mechanisms.half_width import half_width
from privacy.errors import InvalidLossError
from privacy.events import MeasuredVector, PriceEvent, VectorSensitivity
from privacy.losses import Loss

__all__ = ["half_width", "price", "solve_accuracy", "split"]


def split(weights: Sequence[Fraction], loss: Loss) -> list[Loss]:
    """Divide a loss by weights; parts round down, the charge is the whole.

    >>> [str(part) for part in split([Fraction(1), Fraction(2)], Loss.parse("0.1"))]
    ['0.033333333', '0.066666666']
    """
    total = sum(weights, Fraction(0))
    return [Loss(int(weight * loss.nano_epsilon / total)) for weight in weights]


def price(
    sensitivities: Sequence[VectorSensitivity],
    weights: Sequence[Fraction],
    loss: Loss,
) -> PriceEvent:
    """Return the vectors that ``loss`` buys, each with its part and its scale.

    Raises:
        InvalidLossError: A part is too small to buy noise of at most 2**40.

    Neighbouring relation: add or remove all rows of one unit.
    """
    parts = split(weights, loss)
    vectors = tuple(
        MeasuredVector(sensitivity, part, laplace_scale(sensitivity.l1, part))
        for sensitivity, part in zip(sensitivities, parts, strict=True)
    )
    return PriceEvent(loss, vectors)


def solve_accuracy(
    sensitivities: Sequence[VectorSensitivity],
    weights: Sequence[Fraction],
    *,
    within: Fraction,
    confidence: Fraction,
    losses: tuple[Loss, Loss],
) -> Loss:
    """Return the least loss whose half-widths are all at most ``within``.

    Half-widths never grow with the loss, so that halving the range finds the least on
    the grid of 1e-9.

    Args:
        sensitivities: Of each measured vector.
        weights: How the loss is divided.
        within: In the unit of the columns.
        confidence: In (0, 1), per cell.
        losses: The least and the most that one query may spend.

    Raises:
        InvalidLossError: Not even the most is enough.
    """
    minimum, maximum = losses

    def serves(nano: int) -> bool:
        return _serves(sensitivities, weights, Loss(nano), (within, confidence))

    if not serves(maximum.nano_epsilon):
        raise InvalidLossError(
            text=str(within),
            reason=(
                f"that accuracy needs more than {maximum}, the most that one query may "
                "spend; ask for less, or bound contributions"
            ),
        )
    low, high = minimum.nano_epsilon - 1, maximum.nano_epsilon
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if serves(middle) else (middle, high)
    return Loss(high)


def _serves(
    sensitivities: Sequence[VectorSensitivity],
    weights: Sequence[Fraction],
    loss: Loss,
    wish: tuple[Fraction, Fraction],
) -> bool:
    within, confidence = wish
    for sensitivity, part in zip(sensitivities, split(weights, loss), strict=True):
        if part.nano_epsilon == 0 or sensitivity.l1 / part.epsilon > MAX_SCALE:
            return False
        if half_width(laplace_scale(sensitivity.l1, part), confidence) > within:
            return False
    return True
