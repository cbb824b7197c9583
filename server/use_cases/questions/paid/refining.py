"""The same question at a higher precision, for the difference.

Where noise is Gaussian, precisions (1 / sigma squared) of independent draws add up, as
their rhos do: a draw that costs the difference, added to what was paid before by
precision, is as good as one bought at once (docs/proofs/refining.md). Laplace noise has
no such sum: there a higher precision costs its full price.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Final

from mechanisms.scales.noises import noise_of_measure
from mechanisms.scales.weighted_sums import sum_half_width
from privacy.events import PriceEvent
from privacy.losses import Loss
from server.use_cases.questions.paid.vectors import PaidVectors, loss_of_all

MOST_PARTS: Final = 15
"""Paid answers to one question that are added up, those that cost the most."""

_GRAIN: Final = 1_000_000
"""Weights are whole multiples of its inverse, so that they add up to 1 exactly."""
_MISS: Final = Fraction(5, 100)


@dataclass(frozen=True, slots=True)
class Refining:
    """What was paid for a question before, and what is left to pay.

    Attributes:
        taken: The paid answers, the most precise first.
        price: What more precision costs; 0 where they suffice.
    """

    taken: tuple[PaidVectors, ...]
    price: Loss


@dataclass(frozen=True, slots=True)
class Earlier:
    """Paid answers to one question, with their numbers in its order."""

    taken: tuple[PaidVectors, ...]
    vectors: tuple[Sequence[Sequence[int]], ...]

    @property
    def loss(self) -> Loss:
        """What was paid for all of these."""
        return loss_of_all(self.taken)

    def with_draw(
        self, event: PriceEvent, noisy_vectors: Sequence[Sequence[int]]
    ) -> "Refined":
        """Return all draws added up, and one of now beside."""
        return refined(self, (event, noisy_vectors))

    def alone(self) -> "Refined":
        """Return all draws added up."""
        return refined(self, None)


@dataclass(frozen=True, slots=True)
class Refined:
    """Numbers that are made of all draws for one question.

    Attributes:
        taken: The answers that were paid before.
        loss: What was paid for them.
        vectors: The noisy numbers, on the question's grids.
        half_widths: Of each measure, of each cell, in grid steps, at 95 %.
        price: Of the draw of its own; 0 where there is none.
    """

    taken: Sequence[PaidVectors]
    loss: Loss
    price: Loss
    vectors: list[list[int]]
    half_widths: list[list[int]]

    @property
    def words(self) -> str:
        """Say where the numbers come from."""
        names = ", ".join(paid.query_id for paid in self.taken)
        return (
            "each number is the mean, weighed by precision, of what was paid in "
            f"{names} and, where this has a price, of a draw of its own; rounded to "
            "the column's grid"
        )


def refining(
    paid: Sequence[PaidVectors], wanted: Loss, minimum: Loss
) -> Refining | None:
    """Return what a question costs of which some was paid.

    Args:
        paid: Answers to the same question.
        wanted: The loss that is asked for.
        minimum: The least that one query may spend.
    """
    taken = tuple(sorted(paid, key=lambda each: each.loss, reverse=True)[:MOST_PARTS])
    if not taken:
        return None
    left = wanted.minus_floor_zero(loss_of_all(taken))
    return Refining(taken, left if left == Loss(0) else max(left, minimum))


def refined(
    earlier: Earlier, fresh: tuple[PriceEvent, Sequence[Sequence[int]]] | None
) -> Refined:
    """Add draws up by their precision.

    Args:
        earlier: What was paid before.
        fresh: A draw of now, with its noise; None where nothing was drawn.
    """
    events = [paid.event for paid in earlier.taken]
    draws = list(zip(events, earlier.vectors, strict=True))
    draws += [] if fresh is None else [fresh]
    numbers, widths = [], []
    for measure in range(len(draws[0][1])):
        scales = [event.vectors[measure].scale for event, _ in draws]
        weights = weights_of(scales)
        cells = zip(*(vectors[measure] for _, vectors in draws), strict=True)
        means = [_mean(weights, cell) for cell in cells]
        numbers.append(means)
        width = _half_width(events[0], weights, scales, _MISS)
        widths.append([width] * len(means))
    price = Loss(0) if fresh is None else fresh[0].loss
    return Refined(earlier.taken, earlier.loss, price, numbers, widths)


def refined_widths(events: Sequence[PriceEvent], miss: Fraction) -> list[int]:
    """Return the half-width of a cell of each measure, before anything is drawn.

    Args:
        events: Of all draws for one question.
        miss: How often it may be passed.
    """
    widths = []
    for measure in range(len(events[0].vectors)):
        scales = [event.vectors[measure].scale for event in events]
        widths.append(_half_width(events[0], weights_of(scales), scales, miss))
    return widths


def _mean(weights: Sequence[Fraction], draws: Sequence[int]) -> int:
    pairs = zip(weights, draws, strict=True)
    return round(sum((weight * n for weight, n in pairs), start=Fraction(0)))


def weights_of(scales: Sequence[float]) -> list[Fraction]:
    """Return what each draw weighs in the least noisy mean: its precision's share.

    The most precise one takes what rounding leaves.

    >>> weights_of([10.0, 10.0])
    [Fraction(1, 2), Fraction(1, 2)]
    """
    precisions = [1 / Fraction(scale) ** 2 for scale in scales]
    whole = sum(precisions)
    weights = [Fraction(round(_GRAIN * each / whole), _GRAIN) for each in precisions]
    best = precisions.index(max(precisions))
    weights[best] += 1 - sum(weights, start=Fraction(0))
    return weights


def _half_width(
    event: PriceEvent,
    weights: Sequence[Fraction],
    scales: Sequence[float],
    miss: Fraction,
) -> int:
    """Return the half-width of a rounded mean: rounding moves it by half a step."""
    law = noise_of_measure(event.measure).sums
    draws = [(w, s, 1) for w, s in zip(weights, scales, strict=True) if w]
    return floor(sum_half_width(draws, miss, law) + Fraction(1, 2))
