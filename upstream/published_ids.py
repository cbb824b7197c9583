"""Unit ids among what everybody may read: public tables, lists, hierarchies.

Whoever can read a table of patients reads them without noise, whatever its columns are
called. So no public table, list or hierarchy may hold more than a handful of unit ids,
in all its columns together: of this load and, by the keyed hashes of the overlap files,
of what was loaded before; however they are written (``upstream.loose_ids``).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
from upstream.embedded_hits import EmbeddedIds
from upstream.errors import Problem
from upstream.loose_ids import forms_sql, number_sql
from upstream.reading_sql import quoted
from upstream.row_hash import POPULATION_ID_BYTES, population_id_sql

HANDFUL = 5
"""The most units whose ids a public table, list or hierarchy may hold."""

_LOOKED_AT = "published"
_NAMED = 3  # places that a refusal names
_AT_ONCE = 100_000  # hashes handed to DuckDB in one statement


@dataclass(frozen=True, slots=True)
class KnownUnits:
    """The overlap file of a population: its digests in a row."""

    digests: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts that everybody may read: a column, a list, a level.

    Attributes:
        place: What they are, in words.
        rows: The query of them, column ``t``, as text.
        numbers_coincide: Whether numbers among them were declared to be no unit ids.
        is_free: Whether they are texts as somebody wrote them, and no typed values.
    """

    place: str
    rows: str
    numbers_coincide: bool = False
    is_free: bool = True


Published = tuple[Texts, ...]
"""What is compared as one: the columns of a table, a list, a hierarchy's levels."""


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
                yield (Texts(f"the list of {name}", rows, name in coinciding),)
    for hierarchy in schema.hierarchies.values():
        yield tuple(_levels(hierarchy, coinciding))


def _levels(hierarchy: Hierarchy, coinciding: frozenset[str]) -> Iterator[Texts]:
    name = f"hierarchy {hierarchy.name}"
    columns = {"codes": list(hierarchy.codes)}
    for index, level in enumerate(hierarchy.levels):
        values = [row[index] for row in hierarchy.codes.values()]
        columns[f"level {level}"] = [value for value in values if value is not None]
    for what, texts in columns.items():
        place = f"the {what} of {name}"
        yield Texts(place, _literal_rows(texts), name in coinciding)


def stored(table: Table, database: str, coinciding: frozenset[str]) -> Published:
    """Return the columns of a public table, as a database holds it."""
    return tuple(_columns(table, database, coinciding))


def _columns(
    table: Table, database: str, coinciding: frozenset[str]
) -> Iterator[Texts]:
    for column in table.columns:
        name = f"{table.name}.{column.name}"
        text = _stored_text(column)
        if text is not None:
            rows = f'SELECT {text} AS t FROM {database}."{table.name}"'  # noqa: S608 - declared identifiers
            is_free = column.type is ColumnType.TEXT
            yield Texts(f"the column {name}", rows, name in coinciding, is_free)


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
    """The search for unit ids; ``temp.forms`` holds those of the load."""

    connection: duckdb.DuckDBPyConnection

    @contextmanager
    def looking_at(self, published: Published) -> Iterator[None]:
        """Have the digests of what the texts may be meant as in ``temp.published``.

        And of what they may hold, among other characters, in ``temp.embedded``.
        """
        self.connection.execute(
            f"CREATE TEMP TABLE {_LOOKED_AT} (part INTEGER, digest BLOB)"
        )
        embedded = EmbeddedIds(self.connection)
        with embedded.collected():
            try:
                for part, texts in enumerate(published):
                    self._collect(part, texts)
                    if texts.is_free:
                        embedded.collect(
                            part, texts.rows, letters_only=texts.numbers_coincide
                        )
                yield
            finally:
                self.connection.execute(f"DROP TABLE temp.{_LOOKED_AT}")

    def _collect(self, part: int, texts: Texts) -> None:
        self.connection.execute(
            f"INSERT INTO temp.{_LOOKED_AT} SELECT {part}, "  # noqa: S608 - our own query
            f"{population_id_sql('form')} FROM ({_forms(texts)})"
        )

    def of_this_load(self) -> tuple[int, ...]:
        """Return the parts by which more than a handful of the load's units are named.

        None where it is a handful at most.
        """
        return self._more_than_a_handful("count(DISTINCT unit_key)", "forms")

    def of_known(self, known: KnownUnits, name: str) -> tuple[int, ...]:
        """Return the parts by which more than a handful of known units are named.

        A unit is counted once for each form that is named.

        Args:
            known: The population's overlap file.
            name: A table for it, made at the first call.
        """
        if not known.digests:
            return ()
        self._hand_over(known.digests, name)
        return self._more_than_a_handful("count(DISTINCT digest)", name)

    def holds_numbers_of_ids(self, texts: Texts) -> bool:
        """Whether most numbers of a column are the load's ids without their letters."""
        number = number_sql("t")
        found = self.connection.execute(
            f"SELECT count(DISTINCT {number}), count(DISTINCT {number}) "  # noqa: S608 - our own names
            f"FILTER (WHERE hash({number}) IN (SELECT number FROM temp.numbers)) "
            f"FROM ({texts.rows}) WHERE regexp_full_match(trim(t), '[0-9]+')"
        ).fetchone()
        total, named = found or (0, 0)
        return not texts.numbers_coincide and named > max(HANDFUL, total // 2)

    def units_beyond(self, known: KnownUnits | None, name: str) -> int:
        """Return how many units of the load have a form that is not known."""
        apart = ""
        if known is not None:
            self._hand_over(known.digests, name)
            apart = f"ANTI JOIN temp.{name} USING (digest)"
        found = self.connection.execute(
            f"SELECT count(DISTINCT unit_key) FROM temp.forms {apart}"  # noqa: S608 - our own names
        ).fetchone()
        return int(found[0]) if found else 0

    def _more_than_a_handful(self, units: str, name: str) -> tuple[int, ...]:
        embedded = EmbeddedIds(self.connection).on_purpose(name)
        counts = dict(
            self.connection.execute(
                f"SELECT part, {units} FROM (SELECT * FROM temp.{_LOOKED_AT} "  # noqa: S608 - our own names
                f"UNION ALL {embedded}) JOIN temp.{name} "
                "USING (digest) GROUP BY GROUPING SETS ((part), ())"
            ).fetchall()
        )
        if counts.pop(None, 0) <= HANDFUL:
            return ()
        alone = sorted(part for part, count in counts.items() if count > HANDFUL)
        return tuple(alone or sorted(counts))

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


def _forms(texts: Texts) -> str:
    """Return the query of the distinct forms that are looked for."""
    apart = " AND NOT regexp_full_match(form, '[0-9]+')"
    return (
        f"SELECT DISTINCT form FROM (SELECT unnest({forms_sql('t', 'certain_forms')}) "  # noqa: S608 - our own names
        f"AS form FROM (SELECT DISTINCT t FROM ({texts.rows}) WHERE t IS NOT NULL)) "
        f"WHERE form <> ''{apart if texts.numbers_coincide else ''}"
    )


def refusal(places: Sequence[str], whose: str, unit: str) -> Problem:
    """Return the refusal of something public that names units."""
    named = " and ".join(places[:_NAMED])
    holds = "holds" if len(places) == 1 else "hold, together,"
    sentence = (
        f"{named} {holds} ids of {whose}, more than {HANDFUL} of them, and "
        "cannot be public: whoever reads it reads about single people. Declare a "
        "table's unit_column, or leave the column out; write codes that are nobody's "
        f"id, such as w7 for ward 7. Where numbers are {unit} ids by coincidence "
        "alone, two persons may declare not_unit_ids: true, with its source"
    )
    return Problem("manifest", None, None, sentence)
