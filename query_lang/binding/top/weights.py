"""How the noise of a question is shared out among its vectors."""

from collections.abc import Mapping
from fractions import Fraction

from query_lang.plans.compiled import (
    AverageShown,
    ComputedShown,
    NumberShown,
    QuantileShown,
    Shown,
    WindowShown,
    leaves,
)
from query_lang.plans.nodes import Aggregate
from query_lang.showing.noisy_conditions import shown_in_presentation


def weights_of(
    plan: Aggregate, columns: Mapping[str, Shown], weights: Mapping[str, Fraction]
) -> list[Fraction]:
    """Return each vector's weight (CONTRACT 3).

    Without weights all vectors weigh the same. With them, a column that none names
    weighs 1, and so does what HAVING and ORDER BY alone speak of; the two vectors of an
    average share its weight; a vector that several show takes the greatest.

    Args:
        plan: Whose vectors are weighed.
        columns: The measure columns, by name.
        weights: By name of a column; positive.
    """
    if not weights:
        return [Fraction(1)] * len(plan.measures)
    one = Fraction(1)
    shown = [(each, weights.get(name, one)) for name, each in columns.items()]
    named = set(columns.values())
    beside = shown_in_presentation(plan.presentation)
    shown += [(each, one) for each in beside if each not in named]
    shares: list[list[Fraction]] = [[] for _ in plan.measures]
    for each, weight in shown:
        vectors = vectors_of(each)
        for vector in vectors:
            shares[vector].append(weight / len(vectors))
    return [max(share) for share in shares]


def vectors_of(shown: Shown) -> tuple[int, ...]:
    """Return the vectors that a shown value needs."""
    match shown:
        case NumberShown(vector) | QuantileShown(vector):
            return (vector,)
        case AverageShown(total, number):
            return (total, number)
        case ComputedShown() | WindowShown():
            found = (vector for leaf in leaves(shown) for vector in vectors_of(leaf))
            return tuple(dict.fromkeys(found))
        case _:
            return ()
