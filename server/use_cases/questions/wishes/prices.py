"""What an accuracy that is wished for costs: of public facts, and of noisy ones.

Noisy numbers that the project was shown before may say how large a cell is, and so how
far noise may move it. The price then follows them; never exact numbers (PRIVACY 4).
Proof: docs/proofs/accuracy.md.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal

from mechanisms.scales.noises import noise_of_measure
from mechanisms.scales.pricing import price, solve_accuracy, solve_share
from privacy.errors import InvalidLossError
from privacy.losses import ZERO_LOSS, Loss
from query_lang.plans.compiled import CompiledQuery
from query_lang.showing.decimals import decimal_of
from server.use_cases.questions.requests import Accuracy, loss_of
from server.use_cases.questions.wishes.averages import loss_for_averages
from server.use_cases.questions.wishes.ranges import (
    LossRange,
    needs_more,
    vectors_of,
)
from server.use_cases.questions.wishes.refusals import check_wish

_OF_KNOWN: Final = Fraction(1, 20)
"""The part of the chance of a miss that numbers known with noise may take.

It is kept for them where nothing is known too, so that to know a number never makes an
accuracy dearer.
"""

_MOST_MISS: Final = Fraction(1, 20)
"""Of a wish, as far as its part for what is known goes."""


@dataclass(frozen=True, slots=True)
class KnownNumbers:
    """Noisy numbers of a question that its project was shown before.

    Attributes:
        least: Of each measure, of each cell: what its size is at least, in steps.
        most: The same at most, as far as is likely: wrong in a fifth of cases at most.
        queries: Of the paid questions that say so.
        release: Whether a release says so, and no paid question.
        only_most: Whether paid numbers of other questions say how large these are at
            most, and nothing more.
    """

    least: Sequence[Sequence[int]]
    most: Sequence[Sequence[int]]
    queries: Sequence[str]
    release: bool = False
    only_most: bool = False

    def and_by(self, other: "KnownNumbers") -> "KnownNumbers":
        """Return what both say together; they miss as often as both do."""
        least, most = (
            [
                [choose(pair) for pair in zip(*cells, strict=True)]
                for cells in zip(one, another, strict=True)
            ]
            for choose, one, another in (
                (max, self.least, other.least),
                (min, self.most, other.most),
            )
        )
        most = [list(map(max, *each)) for each in zip(least, most, strict=True)]
        return KnownNumbers(
            least,
            most,
            self.queries,
            release=self.only_most and other.release,
            only_most=self.only_most and other.only_most,
        )

    @property
    def facts(self) -> Literal["public", "paid", "release"]:
        """Return what a price follows from, as plans name it."""
        if self.only_most:
            return "public"
        return "release" if self.release else "paid"


Known = Callable[[Fraction], KnownNumbers | None]
"""Returns what is known, where each bound misses with at most a given chance."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How a wish was priced.

    Attributes:
        loss: What it costs.
        known: What it follows from beside public facts.
        probe: A loss at which the same question would say more of how large cells are,
            and so make the wish cheaper, or show that it will not be; None where it
            would not pay.
        at_best: What it would cost if all cells were as large as they may be by what is
            known; None where nothing is.
    """

    loss: Loss
    known: KnownNumbers | None = None
    probe: Loss | None = None
    at_best: Loss | None = None


def priced_wish(
    compiled: CompiledQuery,
    losses: LossRange,
    wish: Accuracy,
    known: Known,
    paid: Callable[[], Loss] = lambda: Loss(0),
) -> Wish:
    """Return the least loss that brings an accuracy.

    Args:
        compiled: The question.
        losses: That one query may spend.
        wish: The accuracy.
        known: Finds what the project was shown before; asked where the wish depends
            on how large numbers are.
        paid: Returns what was paid for it before, as far as that makes it cheaper.

    Raises:
        InvalidLossError: More than may be spent; says what that can bring.
        InvalidOptionError: The question has no half-widths before its answer.
    """
    check_wish(compiled, wish)
    if wish.at_most is not None:
        most = _most_of(wish.at_most, losses) + paid()
        losses = replace(losses, maximum=min(losses.maximum, most))
    if wish.rows is not None:
        return Wish(loss_for_averages(compiled, losses, wish, wish.rows))
    if wish.relative is None:
        return Wish(_solved(compiled, losses, wish, _alike(compiled, wish.within)))
    found = known(_miss_of_known(compiled, wish))
    noise = of_noise(wish)
    if found is not None:
        return _of_known(compiled, losses, noise, found, paid())
    return _of_public_facts(compiled, losses, noise)


def _most_of(written: str | int | Decimal, losses: LossRange) -> Loss:
    """Return ``at_most``, if one query may spend it.

    Raises:
        InvalidLossError: It may not.
    """
    try:
        return losses.check(loss_of(written))
    except InvalidLossError as error:
        reason = f"accuracy.at_most: {error.reason}"
        raise InvalidLossError(text=error.text, reason=reason) from None


_FIRST: Final = 128
"""Of a first probe: its half-width over that which small numbers need."""

LEAST_GAIN: Final = Fraction(11, 10)
"""Of what is paid in all over what was, where a question is asked again for more."""

_LESS_NOISE: Final = Fraction(5, 4)
"""How many times less noise a further probe brings at least: steps take requests."""

_UNSURE: Final = Fraction(4, 5)
"""Of a price at best over the price: above it a probe says little."""


class BetterKnownError(InvalidLossError):
    """An accuracy costs too much, unless numbers are as large as they may be.

    Attributes:
        probe: A loss at which the same question would say more of that.
        paid: How much of that was paid already.
    """

    def __init__(
        self,
        error: InvalidLossError,
        word: str,
        probe: Loss,
        paid: Loss = ZERO_LOSS,
    ) -> None:
        self.probe, self.paid = probe, paid
        hint = (
            f"ask the same question for {word} {probe} first, and its noisy numbers "
            "will be reckoned with"
        )
        super().__init__(text=error.text, reason=f"{error.reason}; {hint}")


def _of_known(
    compiled: CompiledQuery,
    losses: LossRange,
    wish: Accuracy,
    known: KnownNumbers,
    paid: Loss,
) -> Wish:
    """Price a wish by what is known, and say whether it pays to know more."""
    at_best = _solved(compiled, losses, wish, _tolerances(compiled, wish, known.most))
    again = _next_probe(paid, at_best, losses)
    if known.only_most:  # what was paid for the question itself tells nothing
        fresh = paid == ZERO_LOSS
        first = _first_probe(compiled, losses, wish) if fresh else None
        again = None if first is None else min(first, at_best)
    try:
        loss = _solved(compiled, losses, wish, _tolerances(compiled, wish, known.least))
    except InvalidLossError as error:
        if again is None:
            raise
        raise BetterKnownError(error, losses.measure.word, again, paid) from None
    unsure = at_best.nano_epsilon <= _UNSURE * loss.nano_epsilon
    pays = again is not None and again < loss
    return Wish(loss, known, again if unsure and pays else None, at_best)


def _next_probe(paid: Loss, at_best: Loss, losses: LossRange) -> Loss | None:
    """Return what brings half the noise, or what may be the price itself, if less.

    Half the noise takes twice the epsilon, and four times the rho.
    """
    if paid == ZERO_LOSS:
        return None
    power = 1 if losses.measure.is_pure else 2
    least = Loss(math.ceil(paid.nano_epsilon * _LESS_NOISE**power))
    found = max(min(Loss(2**power * paid.nano_epsilon), at_best), least)
    return found if found <= losses.maximum else None


def _of_public_facts(
    compiled: CompiledQuery, losses: LossRange, wish: Accuracy
) -> Wish:
    """Price a wish as if every number were small; a probe may say that they are not."""
    probe = _first_probe(compiled, losses, wish)
    try:
        loss = _solved(compiled, losses, wish, _alike(compiled, wish.within))
    except InvalidLossError as error:
        if probe is None:
            raise
        raise BetterKnownError(error, losses.measure.word, probe) from None
    pays = probe is not None and 2 * probe.nano_epsilon <= loss.nano_epsilon
    return Wish(loss, probe=probe if pays else None)


def _first_probe(
    compiled: CompiledQuery, losses: LossRange, wish: Accuracy
) -> Loss | None:
    """Return a loss that says first how large numbers are; None where none may."""
    probing = _alike(compiled, _FIRST * wish.within)
    try:
        return _solved(compiled, losses, replace(wish, cells=None), probing)
    except InvalidLossError:
        return None


def _miss_of_known(compiled: CompiledQuery, wish: Accuracy) -> Fraction:
    """Return how often one bound of what is known may be wrong.

    Seldom of a low confidence, too: a chain of probes asks it again and again.
    """
    miss = min(1 - wish.confidence, _MOST_MISS) * _OF_KNOWN
    return miss if wish.cells is None else miss / len(compiled.rendered.cells)


def of_noise(wish: Accuracy) -> Accuracy:
    """Return the wish with the chance of a miss that noise itself may take."""
    miss = (1 - wish.confidence) * (1 - _OF_KNOWN)
    return replace(wish, confidence=1 - miss)


Tolerances = Sequence[Mapping[int, int]]
"""Of each measure: how far a cell may be moved, in steps, and how many may so far."""


def _alike(compiled: CompiledQuery, within: Fraction) -> Tolerances:
    cells = len(compiled.rendered.cells)
    return [
        {math.floor(within * 10**measure.scale): cells * measure.size}
        for measure in compiled.measures
    ]


def _tolerances(
    compiled: CompiledQuery, wish: Accuracy, least: Sequence[Sequence[int]]
) -> Tolerances:
    relative = wish.relative or Fraction(0)
    return [
        Counter(
            max(
                math.floor(wish.within * 10**measure.scale),
                math.floor(relative * size),
            )
            for size in sizes
        )
        for measure, sizes in zip(compiled.measures, least, strict=True)
    ]


def _solved(
    compiled: CompiledQuery, losses: LossRange, wish: Accuracy, widths: Tolerances
) -> Loss:
    """Return the least loss whose noise keeps to tolerances.

    Raises:
        InvalidLossError: It is more than may be spent; says what that can bring.
    """
    try:
        if wish.cells is None:
            return solve_accuracy(
                *vectors_of(compiled),
                withins=[Fraction(min(each)) for each in widths],
                confidence=wish.confidence,
                minimum=losses.minimum,
                maximum=losses.maximum,
                measure=losses.measure,
            )
        return solve_share(
            *vectors_of(compiled),
            tolerances=widths,
            share=wish.cells,
            confidence=wish.confidence,
            minimum=losses.minimum,
            maximum=losses.maximum,
            measure=losses.measure,
        )
    except InvalidLossError:
        nearest = _nearest(compiled, losses, wish.confidence)
        raise needs_more(losses, wish, nearest) from None


def _nearest(compiled: CompiledQuery, losses: LossRange, confidence: Fraction) -> str:
    """Say how accurate the most is that one query may spend."""
    event = price(*vectors_of(compiled), losses.maximum, losses.measure)
    noise = noise_of_measure(losses.measure)
    widths = (
        decimal_of(noise.half_width(vector.scale, confidence), measure.scale)
        for vector, measure in zip(event.vectors, compiled.measures, strict=True)
    )
    return (
        f"that brings ± {max(widths):f} at this confidence; lower bounds, coarser "
        "groups or fewer aggregates make it smaller"
    )
