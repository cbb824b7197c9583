"""Accuracies that are refused: what a question shows has none before its answer."""

import math
from collections.abc import Iterator

from privacy.errors import InvalidOptionError
from query_lang.plans.compiled import (
    AverageShown,
    CompiledQuery,
    ComputedShown,
    Operation,
    QuantileShown,
    Shown,
    leaves,
)
from query_lang.showing.noisy_conditions import all_shown
from server.use_cases.questions.requests import Accuracy


def check_is_of_parts(compiled: CompiledQuery, wish: Accuracy) -> None:
    """Refuse a wish that means a ratio: an accuracy is of what it is computed of.

    Raises:
        InvalidOptionError: A ratio's counts would have to be exact.
    """
    divides = any(
        isinstance(part, ComputedShown) and part.operation is Operation.DIVIDE
        for shown in all_shown(compiled)
        for part in _computed_in(shown)
    )
    steps = [math.floor(wish.within * 10**m.scale) for m in compiled.measures]
    if divides and 0 in steps:
        name = "within" if wish.relative is None else "at_least"
        message = (
            f"accuracy is of the counts and sums that a ratio is computed of, not of "
            f"the ratio: accuracy.{name} says how far these may be off, such as 20"
        )
        raise InvalidOptionError(message)


def _computed_in(shown: Shown) -> Iterator[Shown]:
    yield shown
    if isinstance(shown, ComputedShown):
        for part in shown.operands:
            yield from _computed_in(part)


def check_has_half_widths(compiled: CompiledQuery) -> None:
    """Refuse an accuracy for what has no half-width before its answer is drawn.

    Raises:
        InvalidOptionError: The query speaks of an average or a quantile.
    """
    if compiled.presentation.sets:
        message = (
            "accuracy is for groups of one kind; ask for ROLLUP, CUBE and GROUPING "
            "SETS with epsilon: a plan tells the half-width of each set"
        )
        raise InvalidOptionError(message)
    read = (leaf for shown in all_shown(compiled) for leaf in leaves(shown))
    if any(isinstance(leaf, AverageShown | QuantileShown) for leaf in read):
        message = (
            "accuracy is for counts and sums; say what to spend (epsilon, or rho) for "
            "an average or a quantile"
        )
        raise InvalidOptionError(message)
