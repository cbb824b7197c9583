"""Comparisons of addresses, places, e-mail addresses and categories."""

from collections.abc import Sequence

from upstream.linkage.comparing.levels import Comparison, Level, Sides, different
from upstream.linkage.comparing.names import swapped_levels
from upstream.linkage.comparing.similarities import alike_sql, one_edit_sql

_SHORTEST = 4  # letters of a text in which one may differ


def _one_edit(sides: Sides) -> str:
    return one_edit_sql(sides.left, sides.right, sides.similarity, _SHORTEST)


def address_comparison(
    field: str, before: Sequence[str], after: Sequence[str]
) -> Comparison:
    """Return how a line of an address is compared; see ``name_comparison``."""
    sides = Sides(field)
    levels = (
        Level("exact", sides.is_same()),
        Level("one letter differs", _one_edit(sides)),
        Level("nearly the same", sides.is_at_least(0.92)),
        *swapped_levels(field, before, after),
        Level("similar", sides.is_at_least(0.85)),
        different(),
    )
    return Comparison(field, alike_sql(sides.left, sides.right), levels, near=3)


def place_comparison(field: str) -> Comparison:
    """Return how names of places are compared."""
    sides = Sides(field)
    levels = (
        Level("exact", sides.is_same()),
        Level("one letter differs", _one_edit(sides)),
        Level("nearly the same", sides.is_at_least(0.92)),
        Level("similar", sides.is_at_least(0.85)),
        different(),
    )
    return Comparison(field, alike_sql(sides.left, sides.right), levels, near=3)


def email_comparison(field: str) -> Comparison:
    """Return how e-mail addresses are compared."""
    sides = Sides(field)
    names = [f"string_split({each}, '@')[1]" for each in (sides.left, sides.right)]
    levels = (
        Level("exact", sides.is_same()),
        Level("one letter differs", _one_edit(sides)),
        Level("same name, other domain", f"{names[0]} = {names[1]}", 0.9),
        Level("nearly the same", sides.is_at_least(0.92)),
        different(),
    )
    return Comparison(field, alike_sql(sides.left, sides.right), levels, near=3)


def category_comparison(field: str) -> Comparison:
    """Return how categories are compared: they are one or they are not."""
    sides = Sides(field)
    similarity = f"CASE WHEN {sides.is_same()} THEN 1.0::DOUBLE ELSE 0.0::DOUBLE END"
    return Comparison(field, similarity, (Level("exact", sides.is_same()), different()))
