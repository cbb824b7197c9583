"""Columns that have one value for each unit, and one unit for each value: other ids."""

from privacy.schema import ColumnType
from upstream.manifests.proposals import is_identifier, names_people

LEAST_UNITS = 20  # of fewer, values differ by accident
_NAMES_ALONE = 100_000  # from which on whole numbers rather name than count
_NEARLY = 0.9


def is_one_to_one_sql(unit: str, value: str) -> str:
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


def may_be_one_to_one_sql(unit: str, value: str) -> str:
    """Return the aggregate that is true wherever the exact one is, and cheap."""
    units, values = f"approx_count_distinct({unit})", f"approx_count_distinct({value})"
    return f"{values} BETWEEN {units} / 2 AND {units} * 2 AND {values} > 9"


def names_sql(name: str, kind: ColumnType, value: str) -> str:
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
