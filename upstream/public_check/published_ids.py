"""Unit ids among what everybody may read: public tables, lists, hierarchies.

Whoever can read a table of patients reads them without noise, whatever its columns are
called. So no public table, list or hierarchy may hold more than a handful of unit ids,
in all its columns together, nor may the names of what is declared: of this load and, by
the keyed hashes of the overlap files, of what was loaded before; however they are
written (``upstream.id_forms.loose_ids``). ``upstream.public_check.whole_datasets``
counts all of it as one.
"""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
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
from upstream.errors import Problem
from upstream.files.reading_sql import quoted
from upstream.id_forms.loose_ids import forms_sql, number_sql
from upstream.public_check.embedded_hits import EmbeddedIds
from upstream.staging.row_hash import POPULATION_ID_BYTES, population_id_sql
from upstream.staging.units import digests_of

HANDFUL = 5
"""The most units whose ids a public table, list or hierarchy may hold."""

LOOKED_AT = "published"
"""The table of what is looked at: each part's forms, their digests, their texts."""

_NEW = "new_units"  # the table of the keys of units that the population never had
_NAMED = 3  # places that a refusal names
_WIDE = (
    "Turn a table that has a column for each person into one that has a row for each, "
    "with a unit column; names are public, so choose others. "
)
_AT_ONCE = 100_000  # hashes handed to DuckDB in one statement

_LITERAL = re.compile(r"'(?:[^']|'')*'|\d+(?:\.\d+)?")
"""A text or a number of an expression of the language."""


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
        are_names: Whether they are names, and no values.
        column: What the column is called, if it is one of a table.
        is_exact: Whether they are days or decimals, which hit ids by accident: they
            count as they stand alone, where more are ids than accident would hit.
    """

    place: str
    rows: str
    numbers_coincide: bool = False
    is_free: bool = True
    are_names: bool = False
    column: str = ""
    is_exact: bool = False

    @property
    def are_many(self) -> bool:
        """Whether the place is a plural: names, or a hierarchy's codes."""
        return self.are_names or self.place.startswith("the codes of ")


@dataclass(frozen=True, slots=True)
class NewUnits:
    """Units of a load that the population never had, however they are written.

    A known person under another spelling is none of them: to compare that one digest
    would tell of a single person.

    Attributes:
        count: How many there are.
        digests: Theirs that the overlap file lacks, in a row.
    """

    count: int = 0
    digests: bytes = field(default=b"", repr=False)


Published = tuple[Texts, ...]
"""What is compared as one: the columns of a table, a list, a hierarchy's levels."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a manifest declares, as far as it is compared with unit ids.

    Attributes:
        schema: Its public schema.
        coinciding: Places whose numbers were declared to be no unit ids.
        headers: What files call columns, by ``table.column``, where that differs.
    """

    schema: Dataset
    coinciding: frozenset[str]
    headers: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EarlierSnapshot:
    """What another dataset has published.

    Attributes:
        path: The file with its tables.
        declared: What it declares.
    """

    path: Path
    declared: Declared


def listed(declared: Declared) -> Iterator[Published]:
    """Yield the lists, literals of expressions and hierarchies that a schema shows."""
    schema, coinciding = declared.schema, declared.coinciding
    for table in schema.tables.values():
        for column in table.columns:
            if isinstance(column.domain, ValuesDomain):
                name = f"{table.name}.{column.name}"
                rows = literal_rows([_text(v) for v in column.domain.values])
                yield (Texts(f"the list of {name}", rows, name in coinciding),)
    yield from _literals(declared)
    for hierarchy in schema.hierarchies.values():
        yield tuple(_levels(hierarchy, coinciding))


def _literals(declared: Declared) -> Iterator[Published]:
    """Yield the numbers and texts that each derived column's expression holds."""
    for table in declared.schema.tables.values():
        for column in table.columns:
            held = _LITERAL.findall(column.expression or "")
            if held:
                name = f"{table.name}.{column.name}"
                rows = literal_rows([text.strip("'") for text in held])
                is_exempt = name in declared.coinciding
                yield (Texts(f"the expression of {name}", rows, is_exempt),)


def _levels(hierarchy: Hierarchy, coinciding: frozenset[str]) -> Iterator[Texts]:
    name = f"hierarchy {hierarchy.name}"
    columns = {"codes": list(hierarchy.codes)}
    for index, level in enumerate(hierarchy.levels):
        values = [row[index] for row in hierarchy.codes.values()]
        columns[f"level {level}"] = [value for value in values if value is not None]
    for what, texts in columns.items():
        place = f"the {what} of {name}"
        yield Texts(place, literal_rows(texts), name in coinciding)


def stored(table: Table, database: str, coinciding: frozenset[str]) -> Published:
    """Return the columns of a public table, as a database holds it."""
    return tuple(_columns(table, database, coinciding))


def _columns(
    table: Table, database: str, coinciding: frozenset[str]
) -> Iterator[Texts]:
    for column in table.columns:
        name = f"{table.name}.{column.name}"
        place, is_exempt = f"the column {name}", name in coinciding
        text = _stored_text(column)
        if text is not None:
            rows = f'SELECT {text} AS t FROM {database}."{table.name}"'  # noqa: S608 - declared identifiers
            is_free = column.type is ColumnType.TEXT
            yield Texts(place, rows, is_exempt, is_free, column=column.name)
        if column.scale:
            rows = f'SELECT {_digits(column)} AS t FROM {database}."{table.name}"'  # noqa: S608 - as above
            yield Texts(
                place,
                rows,
                is_exempt,
                is_free=False,
                column=column.name,
                is_exact=True,
            )


def _stored_text(column: Column) -> str | None:
    name = f'"{column.name}"'
    if column.type is ColumnType.BOOLEAN:
        return None
    if column.scale:
        one = 10**column.scale
        return f"CASE WHEN {name} % {one} = 0 THEN CAST({name} // {one} AS VARCHAR) END"
    return f"CAST({name} AS VARCHAR)"


def _digits(column: Column) -> str:
    """Return the texts of a decimal, with all digits of its scale and without zeros."""
    name = f'abs("{column.name}"::HUGEINT)'
    one = 10 ** (column.scale or 0)
    places = f"lpad(CAST({name} % {one} AS VARCHAR), {column.scale}, '0')"
    text = f"concat({name} // {one}, '.', {places})"
    return (
        f'unnest(CASE WHEN "{column.name}" % {one} <> 0 '
        f"THEN [{text}, rtrim({text}, '0')] END)"
    )


def _text(value: Scalar) -> str:
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return str(int(value))
    return str(value)


def literal_rows(texts: Sequence[str]) -> str:
    """Return the query of some texts, column ``t``."""
    return f"SELECT unnest([{', '.join(map(quoted, texts))}]::VARCHAR[]) AS t"


def distinct_texts(connection: duckdb.DuckDBPyConnection, texts: Texts) -> bytes:
    """Return the SHA-256 of a place and of the distinct texts that it has."""
    digest = hashlib.sha256(texts.place.encode())
    found = connection.execute(
        "SELECT DISTINCT sha256(t) AS one "  # noqa: S608 - our own query
        f"FROM ({texts.rows}) WHERE t IS NOT NULL ORDER BY one"
    )
    while rows := found.fetchmany(_AT_ONCE):
        digest.update("".join(row[0] for row in rows).encode())
    return digest.digest()


class UnitSearch(ABC):
    """A search for unit ids in parts of what everybody may read."""

    __slots__ = ()
    connection: duckdb.DuckDBPyConnection

    def of_this_load(self) -> tuple[int, ...]:
        """Return the parts by which more than a handful of the load's units are named.

        None where it is a handful at most.
        """
        return self.parts_naming("count(DISTINCT unit_key)", "forms")

    def of_known(self, known: KnownUnits, name: str) -> tuple[int, ...]:
        """Return the parts by which more than a handful of known units are named.

        A unit is counted once for each form that is named.

        Args:
            known: The population's overlap file.
            name: A table for it, made at the first call.
        """
        if not known.digests:
            return ()
        hand_over(self.connection, known, name)
        return self.parts_naming("count(DISTINCT digest)", name)

    @abstractmethod
    def parts_naming(self, units: str, name: str) -> tuple[int, ...]:
        """Return the parts by which more than a handful of units are named; else none.

        Args:
            units: What counts the units.
            name: The table of their digests.
        """


@dataclass(frozen=True, slots=True)
class PublishedIds(UnitSearch):
    """The search for unit ids; ``temp.forms`` holds those of the load."""

    connection: duckdb.DuckDBPyConnection

    @contextmanager
    def looking_at(self, published: Published) -> Iterator[None]:
        """Have the digests of what the texts may be meant as in ``temp.published``.

        And of what they may hold, among other characters, in ``temp.embedded``.
        """
        self.connection.execute(
            f"CREATE TEMP TABLE {LOOKED_AT} (part INTEGER, digest BLOB, form VARCHAR, "
            "written VARCHAR)"
        )
        embedded = EmbeddedIds(self.connection)
        with embedded.collected():
            try:
                for part, texts in enumerate(published):
                    if texts.is_exact:
                        embedded.collect_whole(part, self._whole(texts))
                        continue
                    self._collect(part, texts)
                    if texts.is_free:
                        embedded.collect(
                            part, texts.rows, letters_only=texts.numbers_coincide
                        )
                yield
            finally:
                self.connection.execute(f"DROP TABLE temp.{LOOKED_AT}")

    def _collect(self, part: int, texts: Texts) -> None:
        self.connection.execute(
            f"INSERT INTO temp.{LOOKED_AT} SELECT {part}, "  # noqa: S608 - our own query
            f"{population_id_sql('form')}, form, t FROM ({_forms(texts)})"
        )

    @staticmethod
    def _whole(texts: Texts) -> str:
        """Return the query of the one form that each text has as it stands."""
        some = "t IS NOT NULL" if not texts.numbers_coincide else "false"
        form = f"{forms_sql('t', 'certain_forms')}[1]"
        return (
            f"SELECT DISTINCT {form} AS form FROM "  # noqa: S608 - our own names
            f"(SELECT DISTINCT t FROM ({texts.rows}) WHERE {some})"
        )

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

    def units_beyond(self, known: KnownUnits | None, name: str) -> NewUnits:
        """Return the units of the load that have a form that is not known."""
        apart = ""
        if known is not None:
            hand_over(self.connection, known, name)
            apart = f"ANTI JOIN temp.{name} USING (digest)"
        self.connection.execute(
            f"CREATE TEMP TABLE {_NEW} AS "  # noqa: S608 - our own names
            f"SELECT DISTINCT unit_key FROM temp.forms {apart}"
        )
        try:
            found = self.connection.execute(
                f"SELECT count(*) FROM temp.{_NEW}"  # noqa: S608 - as above
            ).fetchone()
            digests = digests_of(
                self.connection, f"SEMI JOIN temp.{_NEW} USING (unit_key)", apart
            )
        finally:
            self.connection.execute(f"DROP TABLE temp.{_NEW}")
        return NewUnits(int(found[0]) if found else 0, digests)

    def parts_naming(self, units: str, name: str) -> tuple[int, ...]:
        """Return the parts, as ``UnitSearch`` says."""
        embedded = EmbeddedIds(self.connection).on_purpose(name)
        hits = f"SELECT part, digest FROM temp.{LOOKED_AT} UNION ALL {embedded}"  # noqa: S608 - our own names
        return parts_naming(self.connection, hits, units, name)


def parts_naming(
    connection: duckdb.DuckDBPyConnection, hits: str, units: str, name: str
) -> tuple[int, ...]:
    """Return the parts by which more than a handful of units are named; else none.

    Args:
        connection: It has the table.
        hits: The query of parts and digests.
        units: What counts the units.
        name: The table of the units' digests.
    """
    counts = dict(
        connection.execute(
            f"SELECT part, {units} FROM ({hits}) JOIN temp.{name} "  # noqa: S608 - our own names
            "USING (digest) GROUP BY GROUPING SETS ((part), ())"
        ).fetchall()
    )
    if counts.pop(None, 0) <= HANDFUL:
        return ()
    alone = sorted(part for part, count in counts.items() if count > HANDFUL)
    return tuple(alone or sorted(counts))


def hand_over(
    connection: duckdb.DuckDBPyConnection, known: KnownUnits, name: str
) -> None:
    """Make a table of known units, unless it is there."""
    if connection.execute(
        "SELECT 1 FROM duckdb_tables() WHERE table_name = ?", [name]
    ).fetchone():
        return
    connection.execute(f"CREATE TEMP TABLE {name} (digest BLOB)")
    step = _AT_ONCE * POPULATION_ID_BYTES
    for start in range(0, len(known.digests), step):
        part = known.digests[start : start + step]
        each = range(0, len(part), POPULATION_ID_BYTES)
        connection.execute(
            f"INSERT INTO temp.{name} SELECT unnest(?::BLOB[])",
            [[part[at : at + POPULATION_ID_BYTES] for at in each]],
        )


def _forms(texts: Texts) -> str:
    """Return the query of the distinct forms that are looked for."""
    apart = " AND NOT regexp_full_match(form, '[0-9]+')"
    return (
        f"SELECT form, min(t) AS t FROM (SELECT t, unnest("  # noqa: S608 - our own names
        f"{forms_sql('t', 'certain_forms')}) AS form FROM "
        f"(SELECT DISTINCT t FROM ({texts.rows}) WHERE t IS NOT NULL)) "
        f"WHERE form <> ''{apart if texts.numbers_coincide else ''} GROUP BY form"
    )


def refusal(found: Sequence[Texts], whose: str, unit: str) -> Problem:
    """Return the refusal of something public that names units."""
    places = list(dict.fromkeys(texts.place for texts in found))
    named = " and ".join(places[:_NAMED])
    one = "hold" if found[0].are_many else "holds"
    holds = one if len(places) == 1 else "hold, together,"
    wide = _WIDE if any(texts.are_names for texts in found) else ""
    sentence = (
        f"{named} {holds} ids of {whose}, more than {HANDFUL} of them, and "
        "cannot be public: whoever reads it reads about single people. "
        f"{_advice(found, unit)} may be written anew "
        "without the ids, or with codes that are nobody's, such as w7 for ward 7. "
        f"{wide}"
        f"Where numbers are {unit} ids by coincidence alone, declare their column and "
        "two persons may agree on not_unit_ids: true, with its source"
    )
    return Problem("manifest", None, None, sentence)


def _advice(found: Sequence[Texts], unit: str) -> str:
    """Say what to do with what is public, up to what may be written anew.

    A list and a hierarchy have no rows that could be somebody's.
    """
    if not any(texts.column or texts.are_names for texts in found):
        return "Leave it out, so that only its column's type is declared; or it"
    return (
        f"A table with rows of single {unit}s stays private, whichever columns are "
        "declared: declare its unit_column. One that is of something else"
    )
