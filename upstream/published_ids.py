"""Unit ids among what everybody may read: public tables, lists, hierarchies.

Whoever can read a table of patients reads them without noise, whatever its columns are
called. So nothing public may hold more than a handful of unit ids in one column: of
this load, spelled in any case, padding or leading zeros; and, by the keyed hashes of
the overlap files, of what was loaded before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import duckdb

from privacy.schema import (
    Column,
    ColumnType,
    Dataset,
    Hierarchy,
    Scalar,
    Table,
    ValuesDomain,
)
from upstream.canonical import UnitType
from upstream.errors import Problem
from upstream.loose_ids import candidates_sql, loose_sql
from upstream.reading_sql import quoted
from upstream.row_hash import POPULATION_ID_BYTES, population_id_sql

HANDFUL = 5
"""The most units whose ids a public column, list or level may hold."""

_NUMBER = "[+-]?[0-9]+"
_AT_ONCE = 100_000  # hashes handed to DuckDB in one statement


@dataclass(frozen=True, slots=True)
class KnownUnits:
    """The overlap file of a population: its type of ids, and its digests in a row."""

    unit_type: UnitType
    digests: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Published:
    """Texts that everybody may read.

    Attributes:
        place: What they are, in words.
        rows: The query of them, column ``t``, as text.
        numbers_coincide: Whether numbers among them were declared to be no unit ids.
    """

    place: str
    rows: str
    numbers_coincide: bool = False


@dataclass(frozen=True, slots=True)
class EarlierSnapshot:
    """What another dataset has published.

    Attributes:
        path: The file with its tables.
        schema: What it declares.
        coinciding: Places whose numbers were declared to be no unit ids.
    """

    path: Path
    schema: Dataset
    coinciding: frozenset[str]


def listed(schema: Dataset, coinciding: frozenset[str]) -> Iterator[Published]:
    """Yield the lists and own hierarchies that a schema shows."""
    for table in schema.tables.values():
        for column in table.columns:
            if isinstance(column.domain, ValuesDomain):
                name = f"{table.name}.{column.name}"
                rows = _literal_rows([_text(v) for v in column.domain.values])
                yield Published(f"the list of {name}", rows, name in coinciding)
    for hierarchy in schema.hierarchies.values():
        yield from _levels(hierarchy, coinciding)


def _levels(hierarchy: Hierarchy, coinciding: frozenset[str]) -> Iterator[Published]:
    name = f"hierarchy {hierarchy.name}"
    columns = {"codes": list(hierarchy.codes)}
    for index, level in enumerate(hierarchy.levels):
        values = [row[index] for row in hierarchy.codes.values()]
        columns[f"level {level}"] = [value for value in values if value is not None]
    for what, texts in columns.items():
        place = f"the {what} of {name}"
        yield Published(place, _literal_rows(texts), name in coinciding)


def stored(
    table: Table, database: str, coinciding: frozenset[str]
) -> Iterator[Published]:
    """Yield the columns of a public table, as a database holds it."""
    for column in table.columns:
        name = f"{table.name}.{column.name}"
        text = _stored_text(column)
        if text is not None:
            rows = f'SELECT {text} AS t FROM {database}."{table.name}"'  # noqa: S608 - declared identifiers
            yield Published(f"the column {name}", rows, name in coinciding)


def _stored_text(column: Column) -> str | None:
    name = f'"{column.name}"'
    if column.type is ColumnType.BOOLEAN:
        return None
    if column.scale:
        one = 10**column.scale
        return f"CASE WHEN {name} % {one} = 0 THEN CAST({name} // {one} AS VARCHAR) END"
    return f"CAST({name} AS VARCHAR)"


def _text(value: Scalar) -> str:
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return str(int(value))
    return str(value)


def _literal_rows(texts: Sequence[str]) -> str:
    return f"SELECT unnest([{', '.join(map(quoted, texts))}]::VARCHAR[]) AS t"


@dataclass(frozen=True, slots=True)
class PublishedIds:
    """The search for unit ids; ``temp.people`` holds the load's own."""

    connection: duckdb.DuckDBPyConnection

    def of_this_load(self, published: Published) -> bool:
        """Whether more than a handful of the load's units are named."""
        wanted = f"SELECT hash({loose_sql('t')}) FROM ({_compared(published)})"  # noqa: S608 - our own names
        return self._more_than_a_handful(
            "SELECT count(DISTINCT unit_key) FROM temp.people "  # noqa: S608 - as above
            f"WHERE loose IN ({wanted})"
        )

    def of_known(self, published: Published, known: KnownUnits, name: str) -> bool:
        """Whether more than a handful of a population's units are named.

        Args:
            published: What everybody may read.
            known: The population's overlap file.
            name: A table for it, made at the first call.
        """
        if not known.digests:
            return False
        self._hand_over(known.digests, name)
        spelled = candidates_sql(_compared(published), known.unit_type)
        digests = f"SELECT t, {population_id_sql('c')} AS digest FROM ({spelled})"  # noqa: S608 - our own query
        return self._more_than_a_handful(
            f"SELECT count(DISTINCT t) FROM ({digests}) SEMI JOIN temp.{name} "  # noqa: S608 - as above
            "USING (digest)"
        )

    def _more_than_a_handful(self, query: str) -> bool:
        found = self.connection.execute(query).fetchone()
        return found is not None and int(found[0]) > HANDFUL

    def _hand_over(self, digests: bytes, name: str) -> None:
        if self.connection.execute(
            "SELECT 1 FROM duckdb_tables() WHERE table_name = ?", [name]
        ).fetchone():
            return
        self.connection.execute(f"CREATE TEMP TABLE {name} (digest BLOB)")
        step = _AT_ONCE * POPULATION_ID_BYTES
        for start in range(0, len(digests), step):
            part = digests[start : start + step]
            each = range(0, len(part), POPULATION_ID_BYTES)
            self.connection.execute(
                f"INSERT INTO temp.{name} SELECT unnest(?::BLOB[])",
                [[part[at : at + POPULATION_ID_BYTES] for at in each]],
            )


def _compared(published: Published) -> str:
    """Return the query of the distinct texts that are looked at."""
    apart = f" AND NOT regexp_full_match(trim(t), '{_NUMBER}')"
    return (
        f"SELECT DISTINCT t FROM ({published.rows}) WHERE t IS NOT NULL"  # noqa: S608 - our own names
        f"{apart if published.numbers_coincide else ''}"
    )


def refusal(published: Published, whose: str, unit: str) -> Problem:
    """Return the refusal of something public that names units."""
    sentence = (
        f"{published.place} holds ids of {whose}, more than {HANDFUL} of them, and "
        "cannot be public: whoever reads it reads about single people. Declare a "
        "table's unit_column, or leave the column out; write codes that are nobody's "
        f"id, such as w7 for ward 7. Where numbers are {unit} ids by coincidence "
        "alone, two persons may declare not_unit_ids: true, with its source"
    )
    return Problem("manifest", None, None, sentence)
