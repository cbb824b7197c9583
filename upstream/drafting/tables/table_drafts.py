"""Files, or a table of a database, on their way to one table of a manifest."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

import duckdb

from engines.regular_files import identity_of
from privacy.schema import ColumnType
from upstream.drafting.columns.column_guesses import (
    Guess,
    compact_guesses,
    counted_guesses,
    decimal_guesses,
)
from upstream.drafting.columns.column_names import Drafted, apart, identifier, type_of
from upstream.drafting.columns.column_questions import (
    flag_guesses,
    text_guesses,
    with_marks_of_files,
    with_shared_marks,
)
from upstream.drafting.columns.domains import Domains
from upstream.drafting.columns.end_values import EndValues
from upstream.drafting.rows import row_of
from upstream.drafting.sources.draft_sources import DraftSource
from upstream.drafting.tables.draft_joins import JoinColumn, join_to_units
from upstream.drafting.tables.table_questions import other_identities, rows_digest
from upstream.drafting.yaml_words import in_yaml
from upstream.errors import IngestionError, Problem
from upstream.files.reading_sql import quoted_name
from upstream.id_forms.loose_ids import forms_sql
from upstream.manifests.file_specs import kind_of
from upstream.manifests.proposals import (
    Proposal,
    is_age,
    is_identifier,
    names_things,
)
from upstream.public_check.published_ids import HANDFUL, literal_rows
from upstream.staging.raw_rows import unread_type

_JOINING = frozenset({ColumnType.INTEGER, ColumnType.TEXT})
_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL})
_INTEGER = "[+-]?0*[0-9]{1,18}"


@contextmanager
def readable(file: Path) -> Iterator[None]:
    """Refuse a file that cannot be read.

    Raises:
        IngestionError: It cannot, or is not there.
    """
    is_there = file.exists() or any(file.parent.glob(file.name))  # or a pattern's files
    if not is_there:
        sentence = f"there is no file {file.name}: check the path"
        raise IngestionError((Problem(str(file), None, None, sentence),))
    try:
        if file.exists():
            identity_of(file)  # DuckDB opens whatever is there
        yield
    except (duckdb.Error, OSError) as error:
        sentence = "cannot be read: export it again, as text, Parquet or a workbook"
        raise IngestionError((Problem(str(file), None, None, sentence),)) from error


class TableDraft:
    """Files on their way to one table."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        source: DraftSource,
        units: Sequence[str],
    ) -> None:
        self.connection = connection
        self.source = source
        self.file = source.file
        self._units = tuple(units)
        self.guesses: Mapping[str, Guess] = {}
        self.unread: list[tuple[str, str]] = []
        with readable(self.file):
            self.columns = self._columns()
        self.asks_unit = not units
        self.people: frozenset[str] = frozenset()
        self.joined: tuple[JoinColumn, JoinColumn] | None = None
        with readable(self.file):
            self.identities = self._find_identities()

    def has_column(self, source: str) -> bool:
        """Whether the file has a column of that name."""
        return any(column.source == source for column in self.columns)

    def forms(self, source: str, function: Literal["id_forms", "text_forms"]) -> str:
        """Return the query of a column's values ``t`` and hashes of their forms."""
        text = f"CAST({quoted_name(source)} AS VARCHAR)"
        rows = f"SELECT DISTINCT {text} AS t FROM {self.rows}"  # noqa: S608 - quoted names
        each = f"SELECT t, unnest({forms_sql('t', function)}) AS form FROM ({rows})"  # noqa: S608 - as above
        return f"SELECT t, hash(form) AS form FROM ({each}) WHERE form <> ''"  # noqa: S608 - as above

    def leave_out_people(self) -> None:
        """Leave out columns that ids of people name, if there are more than a handful.

        Their names would be public with the schema.
        """
        if self.asks_unit:
            return
        names = [c.source for c in self.columns if c.source != self.unit]
        each = f"SELECT t, unnest({forms_sql('t', 'text_forms')}) AS form "
        found = self.connection.execute(
            f"SELECT DISTINCT t FROM ({each} FROM ({literal_rows(names)})) "  # noqa: S608 - quoted names
            "WHERE form <> '' AND hash(form) IN (SELECT form FROM temp.unit_ids)"
        ).fetchall()
        if len(found) > HANDFUL:
            self.people = frozenset(str(name) for (name,) in found)

    def join_to(self, drafts: "Sequence[TableDraft]", names: Sequence[str]) -> None:
        """Find what joins the rows of a file without the unit to those of units."""
        if self.unit is not None or self.asks_unit:
            return
        pairs = zip(drafts, names, strict=True)
        others = [
            column
            for draft, name in pairs
            if draft.unit is not None
            for column in draft.join_columns(name)
        ]
        own = self.join_columns(self.file.name)
        self.joined = join_to_units(self.connection, own, others)

    def join_columns(self, table: str) -> list[JoinColumn]:
        """Return the columns that may join this file's rows to another's."""
        unit = quoted_name(self.unit) if self.unit is not None else "''"
        return [
            JoinColumn(
                table,
                in_yaml(self.file.name),
                self.unit,
                column.source,
                f"SELECT CAST({unit} AS VARCHAR) AS unit_key, "  # noqa: S608 - quoted names
                f"CAST({quoted_name(column.source)} AS VARCHAR) AS t "
                f"FROM {self.rows} WHERE {unit} IS NOT NULL",
            )
            for column in self.columns
            if column.source != self.unit and column.kind in _JOINING
        ]

    def unit_columns(self) -> list[Drafted]:
        """Return the unit's column, if the file has it."""
        return [column for column in self.columns if column.source == self.unit]

    def has_integer_units(self) -> bool:
        """Whether every id reads as an integer."""
        name = quoted_name(self.unit or "")
        text = f"nullif(trim(CAST({name} AS VARCHAR)), '')"
        with readable(self.file):
            (found,) = self.one(f"bool_and(regexp_full_match({text}, '{_INTEGER}'))")
        return found is not False

    def make_unit(self, kind: ColumnType) -> None:
        """Declare the unit's column of a type that other files settled."""
        self.columns = [
            replace(c, kind=kind) if c.source == self.unit else c for c in self.columns
        ]

    @property
    def rows(self) -> str:
        """The relation of the rows, each column of its type."""
        typed = [
            f"{guess.value} AS {quoted_name(name)}"
            for name, guess in self.guesses.items()
            if guess.kind is not ColumnType.BOOLEAN and name not in self._units
        ]
        if not typed:
            return self.source.rows
        return f"(SELECT * REPLACE ({', '.join(typed)}) FROM {self.source.rows})"  # noqa: S608 - quoted names

    def _columns(self) -> list[Drafted]:
        found = self.connection.execute(f"DESCRIBE SELECT * FROM {self.rows}")  # noqa: S608 - a quoted path
        types = [(str(row[0]), str(row[1])) for row in found.fetchall()]
        self.unread = [(name, type_) for name, type_ in types if unread_type(type_)]
        gone = {*self.unread, *self.source.left_out}
        kept = [(s, t) for s, t in types if s not in {name for name, _ in gone}]
        described = [(s, type_of(t)) for s, t in kept]
        texts = [source for source, kind in described if kind is ColumnType.TEXT]
        decimals = [name for name, kind in described if kind is ColumnType.DECIMAL]
        whole = [
            source
            for source, kind in described
            if kind is ColumnType.INTEGER
            and source not in self._units
            and not is_identifier(identifier(source))
        ]
        kind = kind_of(self.file.name)
        sources = {source for source, _ in described}
        self.unit = next((unit for unit in self._units if unit in sources), None)
        read = text_guesses(
            self.connection,
            self.rows,
            texts,
            has_cells=kind == "workbook",
            unit=self.unit,
        )
        read |= decimal_guesses(
            self.connection, self.source.texts, decimals, is_typed=kind == "parquet"
        )
        read |= compact_guesses(self.connection, self.source.texts, whole)
        times = [n for n in (*whole, *decimals) if not names_things(identifier(n))]
        read |= counted_guesses(self.connection, self.source.texts, times)
        copies = self.source.copies
        read = with_marks_of_files(self.connection, with_shared_marks(read), copies)
        marked = [s for s, _ in described if s not in self._units]
        if kind != "parquet":
            read |= flag_guesses(self.connection, self.source.texts, marked)
        names = apart([identifier(source) for source, _ in described])
        self.guesses = read
        read |= self._asked_ends(described, is_typed=kind == "parquet")
        return [
            Drafted(source, name, read[source].kind if source in read else kind)
            for (source, kind), name in zip(described, names, strict=True)
        ]

    def _asked_ends(
        self,
        described: Sequence[tuple[str, ColumnType]],
        *,
        is_typed: bool,
    ) -> dict[str, Guess]:
        """Return guesses of columns without end values that may stand for nothing."""
        ends = EndValues(
            self.connection, self.rows, self.source.texts, self.unit, is_typed
        )
        found: dict[str, Guess] = {}
        for source, kind in described:
            guess = self.guesses.get(source)
            meant = guess.kind if guess is not None else kind
            if self._is_measured(source, meant):
                aside = ends.set_aside(source, meant, guess)
                found |= {} if aside is None else {source: aside}
        return found

    def _is_measured(self, source: str, kind: ColumnType) -> bool:
        """Whether a column has numbers that neither name nor count years of life."""
        name = identifier(source)
        is_named = source in self._units or is_identifier(name) or is_age(name)
        return kind in _NUMBERS and not is_named

    def rows_digest(self) -> object:
        """Return what tables of the same rows have in common."""
        return rows_digest(self.connection, self.source.texts)

    def _find_identities(self) -> frozenset[str]:
        """Return the columns of which each unit has a value of its own."""
        if self.unit is None or self.asks_unit:
            return frozenset()
        others = [
            c
            for c in self.columns
            if c.source != self.unit and not self._is_amount(c.source)
        ]
        return other_identities(self.connection, self.rows, self.unit, others)

    def _is_amount(self, source: str) -> bool:
        """Whether texts seem to be numbers or days, with something beside them."""
        guess = self.guesses.get(source)
        return guess is not None and bool(guess.question) and not guess.is_padded

    def one(self, *wanted: str) -> tuple[object, ...]:
        """Return one row of what is computed of all rows."""
        return row_of(self.connection, self.rows, wanted)

    @property
    def domains(self) -> Domains:
        """What looks for the domains of its columns."""
        return Domains(self.connection, self.rows, self.guesses)

    def domain_of(self, column: Drafted) -> tuple[str | None, Proposal | None]:
        """Return what is said of a column's domain, and the proposal of one."""
        if column.source == self.unit:
            return None, None
        return self.domains.of(column)
