"""Private columns whose own list names single units, or which hold the units' ids.

A list of values and an own hierarchy are public with the schema. Where each entry is
one unit's alone, the list is one of patients: of their names, say, which no comparison
of numbers finds. And a column that repeats the unit's id makes literals of it possible,
which the unit column does not allow.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import duckdb

from privacy.schema import (
    Column,
    ColumnType,
    Hierarchy,
    HierarchyDomain,
    Scalar,
    ValuesDomain,
)
from upstream.errors import Problem
from upstream.id_forms.loose_ids import forms_sql
from upstream.public_check.published_ids import HANDFUL, literal_rows
from upstream.public_check.row_evidence import Shared
from upstream.public_check.row_values import ONE_UNIT, PrivateColumn, PrivateRows
from upstream.staging.row_hash import population_id_sql

_LEAST_SHARE = 0.5  # of a list's values, and of rows that hold their unit's id
_DENSE = 0.5
_LOOKED_AT = 2_000  # rows that are compared with their unit's id
_COMPARED = frozenset(
    (ColumnType.INTEGER, ColumnType.TEXT, ColumnType.DATE, ColumnType.TIMESTAMP)
)


@dataclass(frozen=True, slots=True)
class ListOfUnits:
    """A public list each value of which is one unit's, most likely.

    Attributes:
        place: What it is, in words.
        column: The private column, in words.
        are_words: Whether the values have no digit: few words are anybody's then.
    """

    place: str
    column: str
    are_words: bool


def lists_of_units(
    connection: duckdb.DuckDBPyConnection,
    rows: PrivateRows,
    columns: Sequence[Column],
    hierarchies: Mapping[str, Hierarchy],
    coinciding: frozenset[str],
) -> Iterator[ListOfUnits]:
    """Yield the lists of a private table's columns that are lists of its units.

    Args:
        connection: Where the rows are.
        rows: As they are staged.
        columns: What the schema declares of them.
        hierarchies: The manifest's own.
        coinciding: Places whose values were declared to be anybody's.
    """
    for column in columns:
        name = f"{rows.table}.{column.name}"
        place, exempt, values = f"the list of {name}", name, _listed(column)
        if isinstance(column.domain, HierarchyDomain):
            own = hierarchies.get(column.domain.name)
            values = list(own.codes) if own else []
            exempt = f"hierarchy {column.domain.name}"
            place = f"hierarchy {column.domain.name}"
        if (
            len(values) > HANDFUL
            and rows.buckets
            and exempt not in coinciding
            and not _are_dense(values)
            and _is_of_units(connection, rows, column, values)
        ):
            texts = [str(value) for value in values]
            yield ListOfUnits(
                place, name, not any(map(re.compile("[0-9]").search, texts))
            )


def _listed(column: Column) -> list[Scalar]:
    domain = column.domain
    if column.type in _COMPARED and isinstance(domain, ValuesDomain):
        return list(domain.values)
    return []


def _are_dense(values: Sequence[Scalar]) -> bool:
    """Whether values fill their range: ages, days, beds B01 to B40."""
    numbers = {n for value in values if (n := _number(value)) is not None}
    if len(numbers) < _DENSE * len(values):
        return False
    return len(numbers) >= _DENSE * (max(numbers) - min(numbers) + 1)


def _number(value: Scalar) -> int | None:
    if isinstance(value, date):
        return value.toordinal()
    if isinstance(value, int | Decimal):
        return int(value)
    digits = re.sub("[^0-9]", "", value)
    return int(digits) if digits else None


def _is_of_units(
    connection: duckdb.DuckDBPyConnection,
    rows: PrivateRows,
    column: Column,
    values: Sequence[Scalar],
) -> bool:
    private = rows.query(f"CAST({rows.values[column.name]} AS VARCHAR) AS t")
    listed = literal_rows([str(value) for value in values])
    found = connection.execute(
        "SELECT count(*), count(*) FILTER (uses = 1), count(DISTINCT unit), "  # noqa: S608 - our own names
        "coalesce(CAST(sum(uses) AS BIGINT), 0), "
        "coalesce(CAST(sum(uses) FILTER (uses > 1) AS BIGINT), 0) FROM ("
        f"SELECT t, count(DISTINCT unit_key) AS uses, {ONE_UNIT} FROM ({private}) "
        f"WHERE t IN (SELECT t FROM ({listed})) GROUP BY t)"
    ).fetchone()
    cells, alone, units, uses, shared = found or (0, 0, 0, 0, 0)
    is_most = units > HANDFUL and alone >= _LEAST_SHARE * len(values)
    return is_most and not Shared(len(values), cells, uses, shared).is_catalogue


def list_refusal(found: ListOfUnits, unit: str) -> Problem:
    """Return the refusal of a list of units."""
    sentence = (
        f"most values of {found.place} stand in {found.column} with one {unit} alone, "
        f"and cannot be public: whoever reads the list reads about single {unit}s. "
        "Leave it out, so that only its column's type is declared; or declare a list "
        f"that was not made from the files. Where it names no {unit}, two persons may "
        "agree on not_unit_ids: true, with its source"
    )
    return Problem("manifest", None, None, sentence)


def list_warning(found: ListOfUnits, unit: str) -> str:
    """Return what is said of a list that may be one of units."""
    return (
        f"most values of {found.place} stand in {found.column} with one {unit} alone: "
        f"if they are numbers of {unit}s or of their records, leave the list out, "
        "since everybody may read it"
    )


def id_warnings(
    connection: duckdb.DuckDBPyConnection, column: PrivateColumn, unit: str
) -> Iterator[str]:
    """Yield a warning of a private column that holds the ids of its rows' units.

    Args:
        connection: It has the load's units in ``temp.forms``.
        column: Whose first rows are looked at.
        unit: What the units are called.
    """
    each = f"unnest({forms_sql('t', 'id_forms')})"
    found = connection.execute(
        "SELECT count(DISTINCT place), count(DISTINCT place) FILTER (is_own), "  # noqa: S608 - our own names
        "count(DISTINCT unit_key) FILTER (is_own) FROM (SELECT place, unit_key, "
        f"(unit_key, {population_id_sql('form')}) IN "
        "(SELECT (unit_key, digest) FROM temp.forms) AS is_own FROM ("
        f"SELECT row_number() OVER () AS place, unit_key, {each} AS form FROM ("
        f"SELECT * FROM ({column.rows}) WHERE t <> '' LIMIT {_LOOKED_AT})))"
    ).fetchone()
    values, own, units = found or (0, 0, 0)
    if units > HANDFUL and own >= _LEAST_SHARE * values:
        yield (
            f"{column.table}.{column.name} holds the ids of the {unit}s whose rows "
            f"these are: questions may compare its values with literals, which "
            f"{column.unit_column} does not allow. Leave it out of the manifest"
        )
