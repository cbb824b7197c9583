"""Comparisons of dates, phone numbers, ids, codes and amounts."""

from upstream.linkage.comparing.levels import Comparison, Level, Sides, different
from upstream.linkage.comparing.similarities import edited_sql
from upstream.linkage.normalising.numbers import PHONE_DIGITS

_SHORTEST = 3  # signs of a code in which one may differ
_NEAR = 0.01  # part by which two amounts that are close differ


def edits(sides: Sides, most: int) -> str:
    """Return whether so many edits at most make one value the other."""
    return (
        f"({sides.similarity} * {sides.longer} >= {sides.longer} - {most}.001::DOUBLE)"
    )


def date_comparison(field: str) -> Comparison:
    """Return how dates of eight digits are compared."""
    sides = Sides(field)
    left, right = sides.left, sides.right
    year, month, day = ((1, 4), (5, 2), (7, 2))

    def same(one: tuple[int, int], other: tuple[int, int]) -> str:
        return (
            f"substr({left}, {one[0]}, {one[1]}) = "
            f"substr({right}, {other[0]}, {other[1]})"
        )

    swapped = " AND ".join((same(year, year), same(month, day), same(day, month)))
    pairs = ((year, month), (year, day), (month, day))
    parts = " OR ".join(f"({same(a, a)} AND {same(b, b)})" for a, b in pairs)
    levels = (
        Level("exact", sides.is_same()),
        Level("one digit differs", edits(sides, 1)),
        Level("day and month swapped", f"({swapped})", 0.9),
        Level("day, month or year differs", f"({parts})"),
        Level("two digits differ", edits(sides, 2)),
        different(),
    )
    return Comparison(field, edited_sql(left, right), levels)


def id_comparison(field: str) -> Comparison:
    """Return how ids are compared."""
    sides = Sides(field)
    levels = (
        Level("exact", sides.is_same()),
        Level(
            "one sign differs", f"({sides.longer} > {_SHORTEST} AND {edits(sides, 1)})"
        ),
        Level("two signs differ", f"({sides.longer} > 2 * 3 AND {edits(sides, 2)})"),
        different(),
    )
    alike = edited_sql(sides.left, sides.right)
    return Comparison(field, alike, levels, is_unique=True)


def code_comparison(field: str) -> Comparison:
    """Return how codes, such as postcodes, are compared."""
    sides = Sides(field)
    alike = f"({sides.longer} >= {_SHORTEST} AND {edits(sides, 1)})"
    begins = (
        f"({sides.shorter} > {_SHORTEST} AND "
        f"left({sides.left}, 3) = left({sides.right}, 3))"
    )
    levels = (
        Level("exact", sides.is_same()),
        Level("one sign differs", alike),
        Level("begins alike", begins),
        different(),
    )
    return Comparison(field, edited_sql(sides.left, sides.right), levels)


def phone_comparison(field: str) -> Comparison:
    """Return how phone numbers are compared: from the end, as far as both go."""
    sides = Sides(field)
    ends = [f"right({each}, {sides.shorter})" for each in (sides.left, sides.right)]
    one = (
        f"({sides.shorter} >= {PHONE_DIGITS} "
        f"AND {sides.similarity} * {sides.shorter} >= {sides.shorter} - 1.001::DOUBLE)"
    )
    levels = (
        Level("exact", f"{ends[0]} = {ends[1]}"),
        Level("one digit differs", one),
        different(),
    )
    return Comparison(field, edited_sql(*ends), levels, near=2)


def amount_comparison(field: str) -> Comparison:
    """Return how numbers are compared: by their difference as a part of the larger."""
    sides = Sides(field)
    left, right = (f"{each}::DOUBLE" for each in (sides.left, sides.right))
    larger = f"greatest(abs({left}), abs({right}))"
    apart = f"(abs({left} / {larger} - {right} / {larger}))"
    similarity = (
        f"CASE WHEN {sides.is_same()} THEN 1.0::DOUBLE "
        f"ELSE greatest(0.0::DOUBLE, 1.0::DOUBLE - {apart}) END"
    )
    levels = (
        Level("exact", sides.is_same()),
        Level("close", sides.is_at_least(1 - _NEAR)),
        different(),
    )
    return Comparison(field, similarity, levels)
