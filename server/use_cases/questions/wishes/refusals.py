"""Accuracies that are refused: what a question shows has none before its answer."""

import math
from collections.abc import Iterator
from typing import Final

from privacy.errors import InvalidOptionError
from query_lang.plans.compiled import (
    AverageShown,
    CompiledQuery,
    ComputedShown,
    LiteralShown,
    Operation,
    QuantileShown,
    Shown,
    WindowShown,
    leaves,
)
from query_lang.showing.noisy_conditions import all_shown
from server.use_cases.questions.requests import Accuracy

MOST_NUMBERS: Final = 32
"""In a group, where a price is searched: everybody behind waits for that."""


def is_searched(compiled: CompiledQuery, wish: Accuracy) -> bool:
    """Whether a price is searched for, which takes long, and not refused before."""
    return _wants_search(wish) and len(compiled.measures) <= MOST_NUMBERS


def _wants_search(wish: Accuracy) -> bool:
    return wish.rows is not None or wish.cells is not None


def check_wish(compiled: CompiledQuery, wish: Accuracy) -> None:
    """Refuse an accuracy that does not fit what a question shows.

    Raises:
        InvalidOptionError: It has no half-width before its answer; a ratio's counts
            would have to be exact; or a price would be searched for too many numbers.
    """
    if compiled.presentation.sets:
        message = (
            "accuracy is for groups of one kind; ask for ROLLUP, CUBE and GROUPING "
            "SETS with epsilon: a plan tells the half-width of each set"
        )
        raise InvalidOptionError(message)
    _check_has_no_quantile(compiled)
    if _wants_search(wish) and len(compiled.measures) > MOST_NUMBERS:
        message = (
            "an accuracy of averages, or of a share of the cells, is of at most "
            f"{MOST_NUMBERS} numbers in a group, an average counting as two: this has "
            f"{len(compiled.measures)}; ask in several questions, or say what to spend "
            "(epsilon, or rho)"
        )
        raise InvalidOptionError(message)
    if wish.rows is None:
        _check_has_no_average(compiled)
        _check_is_of_parts(compiled, wish)
    else:
        _check_is_of_averages(compiled)


def averages_of(compiled: CompiledQuery) -> list[AverageShown]:
    """Return each average that is shown, or that anything shown is computed of."""
    return list(
        dict.fromkeys(
            leaf for leaf in _leaves_of(compiled) if isinstance(leaf, AverageShown)
        )
    )


def _leaves_of(compiled: CompiledQuery) -> Iterator[Shown]:
    for shown in all_shown(compiled):
        yield from leaves(shown)


def _check_has_no_quantile(compiled: CompiledQuery) -> None:
    if any(isinstance(leaf, QuantileShown) for leaf in _leaves_of(compiled)):
        message = (
            "accuracy is for counts, sums and averages; say what to spend (epsilon, or "
            "rho) for a quantile: its plan tells how far it may be off"
        )
        raise InvalidOptionError(message)


def _check_has_no_average(compiled: CompiledQuery) -> None:
    if averages_of(compiled):
        message = (
            "how far noise moves an average depends on how many values a cell has: say "
            'for how many it has to hold, {"within": 0.5, "rows": 100} (within in the '
            "average's unit), or say what to spend (epsilon, or rho)"
        )
        raise InvalidOptionError(message)


def _check_is_of_averages(compiled: CompiledQuery) -> None:
    if _divides(compiled):
        message = (
            "accuracy.rows is of averages, not of ratios, STDDEV and the like: say "
            "what to spend (epsilon, or rho) for these"
        )
        raise InvalidOptionError(message)
    if not averages_of(compiled):
        message = (
            "accuracy.rows is of averages, and the question has none: leave it out, or "
            "write AVG(x)"
        )
        raise InvalidOptionError(message)


def _divides(compiled: CompiledQuery) -> bool:
    """Whether something is divided by what has noise; a literal scales alone."""
    return any(
        isinstance(part, ComputedShown)
        and part.operation is Operation.DIVIDE
        and not isinstance(part.operands[1], LiteralShown)
        for shown in all_shown(compiled)
        for part in _computed_in(shown)
    )


def _check_is_of_parts(compiled: CompiledQuery, wish: Accuracy) -> None:
    """Refuse a wish that means a ratio: an accuracy is of what it is computed of."""
    steps = [math.floor(wish.within * 10**m.scale) for m in compiled.measures]
    if _divides(compiled) and 0 in steps:
        name = "within" if wish.relative is None else "at_least"
        message = (
            f"accuracy is of the counts and sums that a ratio is computed of, not of "
            f"the ratio: accuracy.{name} says how far these may be off, such as 20"
        )
        raise InvalidOptionError(message)


def _computed_in(shown: Shown) -> Iterator[Shown]:
    yield shown
    parts: tuple[Shown, ...] = ()
    if isinstance(shown, ComputedShown):
        parts = shown.operands
    elif isinstance(shown, WindowShown) and shown.operand is not None:
        parts = (shown.operand,)
    for part in parts:
        yield from _computed_in(part)
