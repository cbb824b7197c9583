"""A cap in words: what e to the epsilon means for one patient."""

import math
from fractions import Fraction

from mechanisms.scales.conversions.zcdp import odds_epsilon_ceil
from privacy.losses import MAX_NANO, Loss
from privacy.measures import PURE, Measure

LARGE_EPSILON = 20.0
"""Beyond it the factor is written as a power of ten."""
WEAK = Loss.parse("10")
"""From here on the promise is too weak to be called one without a second word."""


def odds_epsilon(measure: Measure, loss: Loss) -> Loss:
    """Return the epsilon of the factor by which a loss lets odds change.

    Of rho, but for events of the measure's delta: more than the epsilon of
    (epsilon, delta), which adds delta to a probability and bounds no odds
    (docs/proofs/zcdp.md).
    """
    if measure.is_pure:
        return loss
    try:
        return odds_epsilon_ceil(loss, measure.delta.epsilon)
    except ValueError:  # more than any ledger holds
        return Loss(MAX_NANO)


def odds_factor(loss: Loss) -> str:
    """Return e to the epsilon, rounded up to three digits, as people read numbers.

    >>> odds_factor(Loss.parse("1"))
    '2.72'
    >>> odds_factor(Loss.parse("10"))
    '22,100'
    """
    epsilon = float(loss.epsilon)
    if epsilon > LARGE_EPSILON:
        return f"10^{math.ceil(epsilon / math.log(10))}"
    factor = math.exp(epsilon)
    digits = 2 - math.floor(math.log10(factor))
    rounded = Fraction(math.ceil(Fraction(factor) * Fraction(10) ** digits)) / (
        Fraction(10) ** digits
    )
    if digits <= 0:
        return f"{int(rounded):,}"
    return f"{float(rounded):.{digits}f}".rstrip("0").rstrip(".")


def promise_in_words(unit: str, cap: Loss, spent: Loss, measure: Measure = PURE) -> str:
    """Say what a cap promises to each unit, and how weak it is where it is weak.

    A cap that was lowered takes back nothing: where more than it is spent, what is
    spent is what holds. Of rho the factor holds but for events of the measure's
    delta (docs/proofs/zcdp.md).
    """
    most = max(cap, spent)
    if most == Loss(0):
        return "The cap is 0: nothing was answered about this population, nor will be."
    bound = odds_epsilon(measure, most)
    promise = (
        f"Whatever all recipients of answers do together, and whatever else they know: "
        f"the odds that they can rightly give to one {unit} being in the data, against "
        "not being in it, change by a factor of at most "
        f"e^{bound} = {odds_factor(bound)}, in either direction, by all answers ever "
        f"given under this cap{_but_for(measure, most)}. Allotments of "
        "projects and principals ration the cap; they bound nobody's knowledge."
    )
    if spent > cap:
        promise += (
            f" The cap was lowered to {cap} when {spent} was spent: nothing more is "
            "answered, and what was told stays told."
        )
    if bound >= WEAK:
        promise += (
            " **This factor is so large that the cap promises little in the worst "
            "case.** Lower it where patients are to rely on it."
        )
    return promise


def _but_for(measure: Measure, most: Loss) -> str:
    """Say what rho leaves out, where losses are not pure."""
    return "" if measure.is_pure else f", which is rho {most}{but_for(measure)}"


def but_for(measure: Measure) -> str:
    """Say for which events a factor does not hold; nothing where losses are pure."""
    if measure.is_pure:
        return ""
    return f", but for events of a probability of at most {measure.delta}"
