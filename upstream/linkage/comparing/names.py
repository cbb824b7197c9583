"""Comparisons of names, also with given name and surname swapped."""

from collections.abc import Sequence

from upstream.linkage.comparing.levels import Comparison, Level, Sides, different
from upstream.linkage.comparing.similarities import alike_sql, if_sql, one_edit_sql

_SHORTEST = 4  # letters of a name in which one may differ
_SWAPPED = 0.9  # similarity that stands for a name in another's field
_ALIKE = 0.92  # how similar a swapped name has to be


def name_comparison(
    field: str, before: Sequence[str], after: Sequence[str]
) -> Comparison:
    """Return how a given name or a surname is compared.

    Args:
        field: The field.
        before: Fields of the kind with which a swap was counted at these already.
        after: Fields of the kind with which a swap is counted here.
    """
    sides = Sides(field)
    one_edit = one_edit_sql(sides.left, sides.right, sides.similarity, _SHORTEST)
    levels = (
        Level("exact", sides.is_same()),
        Level("one letter differs", one_edit),
        Level("nearly the same", sides.is_at_least(0.92)),
        *swapped_levels(field, before, after),
        Level("begins alike", _begins(sides)),
        Level("similar", sides.is_at_least(0.8)),
        different(),
    )
    return Comparison(field, alike_sql(sides.left, sides.right), levels, near=3)


def _begins(sides: Sides) -> str:
    """Return whether one name, of three letters or more, begins the other."""
    left, right = sides.left, sides.right
    either = f"starts_with({left}, {right}) OR starts_with({right}, {left})"
    return f"({sides.shorter} >= 3 AND ({either}))"


def swapped_levels(
    field: str, before: Sequence[str], after: Sequence[str]
) -> list[Level]:
    """Return the levels of values that stand in each other's field."""
    levels = []
    if after:
        swapped = " OR ".join(_swap(field, other) for other in after)
        name = f"swapped with {' or '.join(after)}"
        levels.append(Level(name, f"({swapped})", _SWAPPED))
    if before:
        swapped = " OR ".join(_swap(other, field) for other in before)
        name = f"swapped with {' or '.join(before)}, counted there"
        levels.append(Level(name, f"({swapped})", _SWAPPED, is_weighed=False))
    return levels


def _swap(one: str, other: str) -> str:
    """Return whether the values of two fields are swapped between two records."""
    mine, its = Sides(one), Sides(other)
    across = (alike_sql(mine.left, its.right), alike_sql(its.left, mine.right))
    first, second = (f"({each}) >= {_ALIKE}::DOUBLE" for each in across)
    kept = " OR ".join(f"({each.left} = {each.right})" for each in (mine, its))
    known = " AND ".join(
        f"{value} IS NOT NULL" for value in (mine.left, mine.right, its.left, its.right)
    )
    return if_sql(known, if_sql(first, f"{second} AND NOT ({kept})"))


def full_name_comparison(field: str) -> Comparison:
    """Return how a whole name is compared, whatever the order of its words."""
    sides = Sides(field)
    words = [f"string_split({each}, ' ')" for each in (sides.left, sides.right)]
    several = " AND ".join(f"contains({e}, ' ')" for e in (sides.left, sides.right))
    either = (
        f"list_has_all({words[0]}, {words[1]}) OR list_has_all({words[1]}, {words[0]})"
    )
    within = if_sql(several, f"({either})")
    bare = [f"replace({each}, ' ', '')" for each in (sides.left, sides.right)]
    one_edit = if_sql(
        sides.is_at_least(0.7), f"damerau_levenshtein({', '.join(bare)}) <= 1"
    )
    levels = (
        Level("exact", sides.is_same()),
        Level("one letter differs", one_edit),
        Level("a name left out", within),
        Level("nearly the same", sides.is_at_least(0.92)),
        Level("similar", sides.is_at_least(0.8)),
        different(),
    )
    return Comparison(field, alike_sql(sides.left, sides.right), levels, near=3)
