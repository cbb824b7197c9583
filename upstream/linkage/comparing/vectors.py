"""Pairs of records as codes of levels: what scoring and learning see of them."""

from collections.abc import Sequence

from upstream.linkage.comparing.levels import MISSING, Comparison, Sides
from upstream.linkage.tables import name_sql


def code_name(field: str) -> str:
    """Return the column of the code of a field's level."""
    return name_sql(f"{field}:c")


def count_name(field: str) -> str:
    """Return the column of how many records have a value; of a pair the larger."""
    return name_sql(f"{field}:n")


def codes_sql(
    comparisons: Sequence[Comparison], pairs: str, also: Sequence[str] = ()
) -> str:
    """Return a query of pairs: ``left``, ``right``, and of each field three columns.

    These are the level's code, the similarity (NULL where a value is missing), and the
    count of the value.

    Args:
        comparisons: Of the fields.
        pairs: What follows FROM: tables ``l`` and ``r``, both like ``compared``.
        also: Further columns, of ``l`` and ``r``.
    """
    inner = ", ".join(
        [
            'l.number AS "left", r.number AS "right"',
            *(f"{expression} AS {name}" for name, expression in _sides(comparisons)),
            *also,
        ]
    )
    similar = ", ".join(similarity_sql(each) for each in comparisons)
    codes = ", ".join(
        f"{code_sql(each)} AS {code_name(each.field)}" for each in comparisons
    )
    return (
        f"SELECT *, {codes} FROM (SELECT *, {similar} FROM "  # noqa: S608 - names are quoted
        f"(SELECT {inner} FROM {pairs}))"
    )


def _sides(comparisons: Sequence[Comparison]) -> list[tuple[str, str]]:
    """Return what the two records bring: names in the query, and columns."""
    found = []
    for each in comparisons:
        sides, column, count = (
            Sides(each.field),
            name_sql(each.field),
            count_name(each.field),
        )
        found += [
            (sides.left, f"l.{column}"),
            (sides.right, f"r.{column}"),
            (count, f"greatest(l.{count}, r.{count})"),
        ]
    return found


def similarity_sql(comparison: Comparison) -> str:
    """Return the similarity with its name, NULL where a value is missing."""
    sides = Sides(comparison.field)
    return (
        f"CASE WHEN {sides.left} IS NOT NULL AND {sides.right} IS NOT NULL "
        f"THEN {comparison.similarity} END AS {sides.similarity}"
    )


def code_sql(comparison: Comparison) -> str:
    """Return the code of the first level whose condition holds."""
    sides = Sides(comparison.field)
    cases = [f"WHEN {sides.left} IS NULL OR {sides.right} IS NULL THEN {MISSING}"]
    last = len(comparison.levels)
    for code, level in enumerate(comparison.levels[:-1], 1):
        cases.append(f"WHEN {level.condition} THEN {code}")
    return f"CAST(CASE {' '.join(cases)} ELSE {last} END AS UTINYINT)"
