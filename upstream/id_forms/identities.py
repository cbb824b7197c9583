"""Columns that have one value for each unit, and one unit for each value: other ids."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from privacy.schema import ColumnType
from upstream.manifests.proposals import is_identifier, names_people

LEAST_UNITS = 20  # of fewer, values differ by accident
_NAMES_ALONE = 100_000  # from which on whole numbers rather name than count
_NEARLY = 0.9


class Described(NamedTuple):
    """A column, for which it is asked whether it tells units apart.

    Attributes:
        name: As a manifest has it.
        kind: Its type.
        value: The expression of its value; NULL: none.
    """

    name: str
    kind: ColumnType
    value: str


def second_identities(
    unit: str,
    columns: Sequence[Described],
    ask: Callable[[Sequence[str]], Sequence[object]],
) -> list[str]:
    """Return the names of the columns that tell units apart as their ids do.

    A cheap pass finds which it may be; these alone are looked at exactly.

    Args:
        unit: The expression of the unit.
        columns: Others than it.
        ask: Returns what aggregates are over all rows.
    """
    may_be = ask(
        [
            f"{_may_be_one_to_one_sql(unit, each.value)} AND {_names_sql(*each)}"
            for each in columns
        ]
    )
    looked_at = [each for each, so in zip(columns, may_be, strict=True) if so]
    are = ask([_is_one_to_one_sql(unit, each.value) for each in looked_at])
    return [each.name for each, so in zip(looked_at, are, strict=True) if so]


def _is_one_to_one_sql(unit: str, value: str) -> str:
    """Return the aggregate of a table: whether a column tells its units apart.

    Nearly all units have a value, each has one, and nobody shares it.

    Args:
        unit: The expression of the unit.
        value: The expression of the column's value; NULL: none.
    """
    units = f"count(DISTINCT {unit})"
    with_value = f"count(DISTINCT {unit}) FILTER ({value} IS NOT NULL)"
    pairs = f"count(DISTINCT ({unit}, {value})) FILTER ({value} IS NOT NULL)"
    values = f"count(DISTINCT {value})"
    return (
        f"{values} >= {LEAST_UNITS} AND {values} = {with_value} AND {values} = {pairs} "
        f"AND {values} >= {_NEARLY} * {units}"
    )


def _may_be_one_to_one_sql(unit: str, value: str) -> str:
    """Return the aggregate that is true wherever the exact one is, and cheap."""
    units, values = f"approx_count_distinct({unit})", f"approx_count_distinct({value})"
    return f"{values} BETWEEN {units} / 2 AND {units} * 2 AND {values} > 9"


def _names_sql(name: str, kind: ColumnType, value: str) -> str:
    """Return the aggregate: whether a column's values name things, by their size.

    Texts do, and numbers if their column's name says so, or none is small; days and
    decimals do not.
    """
    if kind is ColumnType.TEXT or is_identifier(name) or names_people(name):
        return "true" if kind in {ColumnType.TEXT, ColumnType.INTEGER} else "false"
    if kind is ColumnType.INTEGER:
        size = f"abs(CAST({value} AS HUGEINT))"  # the least number has no other sign
        return f"coalesce(min({size}) >= {_NAMES_ALONE}, false)"
    return "false"
