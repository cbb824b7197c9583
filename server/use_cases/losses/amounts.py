"""A loss as replies and pages tell it: in its measure, and as an epsilon."""

from typing import NotRequired

from typing_extensions import TypedDict

from mechanisms.scales.conversions.zcdp import epsilon_ceil
from privacy.losses import MAX_NANO, Loss
from privacy.measures import Measure
from server.use_cases.services.documents import LossText


class Priced(TypedDict):
    """A loss, whatever its population counts."""

    epsilon: LossText
    """The loss as epsilon; of a population that counts rho, what its rho amounts to by
    itself, rounded up, at the population's delta: such epsilons do not add up, their
    rhos do."""
    rho: NotRequired[LossText]
    """Of a population that counts rho: the loss itself."""


class Amount(Priced):
    """A loss with the delta at which it is an epsilon."""

    delta: LossText
    """At which the epsilon holds; 0 where losses are pure."""


def amount(measure: Measure, loss: Loss) -> Amount:
    """Return a loss as replies hold it."""
    return {**priced(measure, loss), "delta": str(measure.delta)}


def priced(measure: Measure, loss: Loss) -> Priced:
    """Return a loss as replies hold it that say elsewhere at which delta."""
    if measure.is_pure:
        return {"epsilon": str(loss)}
    return {"epsilon": str(as_epsilon(measure, loss)), "rho": str(loss)}


class Range(TypedDict):
    """The least and the most of something that is spent."""

    min: LossText
    """The least."""
    max: LossText
    """The most."""


class PerQuery(TypedDict):
    """What one query may spend, whatever its population counts."""

    epsilon_per_query: Range
    """What one query may spend; of a population that counts rho, what that amounts to
    at the population's delta, rounded up."""
    rho_per_query: NotRequired[Range]
    """Of a population that counts rho: what one query may spend."""


def per_query(measure: Measure, minimum: Loss, maximum: Loss) -> PerQuery:
    """Return the losses that one query may spend as replies hold them."""
    ends = [str(as_epsilon(measure, loss)) for loss in (minimum, maximum)]
    found: PerQuery = {"epsilon_per_query": {"min": ends[0], "max": ends[1]}}
    if not measure.is_pure:
        found["rho_per_query"] = {"min": str(minimum), "max": str(maximum)}
    return found


def as_epsilon(measure: Measure, loss: Loss) -> Loss:
    """Return the epsilon that a loss amounts to, at its measure's delta."""
    if measure.is_pure:
        return loss
    try:
        return epsilon_ceil(loss, measure.delta.epsilon)
    except ValueError:  # more than any ledger holds, and than anybody may call private
        return Loss(MAX_NANO)


def told(measure: Measure, loss: Loss) -> str:
    """Say a loss in words: what is counted, and for rho the epsilon that it means.

    >>> from privacy.measures import PURE
    >>> told(PURE, Loss.parse("0.3"))
    'epsilon 0.3'
    """
    if measure.is_pure or loss == Loss(0):
        return f"{measure.word} {loss}"
    means = f"epsilon {short(as_epsilon(measure, loss))} at delta {measure.delta}"
    return f"rho {loss} ({means})"


def short(loss: Loss) -> str:
    """Return an amount with three places at most, rounded up.

    >>> short(Loss.parse("0.61234"))
    '0.613'
    """
    step = 10**6
    return str(Loss(-(-loss.nano_epsilon // step) * step))
