"""A first manifest for given files: types guessed, domains proposed, sources left open.

A draft cannot be loaded: each ``TODO`` is refused until a custodian has said which
public fact stands behind it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from unicodedata import combining, normalize

import duckdb
from duckdb.func import SPECIAL
from duckdb.sqltypes import VARCHAR

from engines.regular_files import identity_of
from privacy.schema import (
    DEFAULT_MAX_LENGTH,
    DEFAULT_MAX_ROWS,
    DEFAULT_MAX_UNITS,
    ColumnType,
)
from query_lang.reading.writable import is_writable
from upstream.drafting.code_guesses import code_guess
from upstream.drafting.column_guesses import (
    Guess,
    compact_guesses,
    counted_guesses,
    decimal_guesses,
)
from upstream.drafting.column_questions import (
    flag_guesses,
    text_guesses,
    with_shared_marks,
)
from upstream.drafting.database_drafts import DraftDatabase, database_sources
from upstream.drafting.draft_joins import JoinColumn, join_to_units
from upstream.drafting.draft_sources import DraftSource, SourceReader
from upstream.drafting.table_questions import (
    LEFT_OUT,
    after_today,
    rows_digest,
    second_identities,
)
from upstream.drafting.vocabularies import vocabulary_proposal
from upstream.drafting.written_words import (
    Drafted,
    column_words,
    in_yaml,
    written_lines,
)
from upstream.errors import IngestionError, Problem
from upstream.files.reading_sql import quoted_name
from upstream.id_forms.loose_ids import FUNCTIONS, forms_sql
from upstream.manifests.file_specs import kind_of, unread
from upstream.manifests.proposals import (
    Proposal,
    age_proposal,
    date_proposal,
    is_age,
    is_identifier,
    names_people,
    number_proposal,
    rung_above,
)
from upstream.manifests.rules.manifest_rules import RESERVED, TODO
from upstream.public_check.published_ids import HANDFUL, literal_rows
from upstream.staging.raw_rows import unread_type

_DEFAULT_SCALE = 2  # of decimals that no text shows
_JOINING = frozenset({ColumnType.INTEGER, ColumnType.TEXT})
_INTEGER = "[+-]?0*[0-9]{1,18}"
_LEAST_ROWS = 10_000
"""That are proposed as ``max_rows`` of a small table."""

_SPELLED = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "o", "æ": "ae", "œ": "oe"}
    | {"ł": "l", "đ": "d", "ð": "d", "þ": "th", "\u0131": "i"}
)
_WIDE = """\
  # {count} columns are named by ids of people, and left out here: names of columns are
  # public, and so is who has which column. Turn the file into long form: one row for
  # each person and what is told of them, the id in a column of the unit.
"""

_JOINED = """\
  # Never public: {column} joins its rows to those of single people in {file}.
  # Write {own} anew with the column {unit} that {file} has for each
  # {other}, and declare that column below.
"""

_CONSTANT = (
    "one value in all rows of a unit, as far as was looked; where that is so by its "
    "nature, write constant_in_unit: true: "
)
_LATER = (
    "some days lie after today; planned, valid until then, or slips? If one such day "
    "stands for nothing, name it in null_values: "
)
_NO_UNIT = (
    "many rows have no {unit}, and a load leaves them out: if it stands in the first "
    "row of several alone, as in merged cells, fill it down before you export"
)
_COPY = (
    "the same rows as table {table}: is the file a copy? Then take this table out, or "
    "what is asked of both counts twice"
)
_FULL = (
    "never empty, as far as was looked; where the form requires a value, say so with "
    "nullable: "
)
_KINDS = (
    (re.compile(r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?"), ColumnType.INTEGER),
    (re.compile(r"DOUBLE|FLOAT|DECIMAL.*"), ColumnType.DECIMAL),
    (re.compile(r"DATE"), ColumnType.DATE),
    (re.compile(r"TIMESTAMP.*"), ColumnType.TIMESTAMP),
    (re.compile(r"BOOLEAN"), ColumnType.BOOLEAN),
)
_HEAD = f"""\
# A draft: {TODO} marks what only you can say. Every domain here is a rung of a public
# ladder or a published list; compare it with the protocol, then name its source.
# Sizes are public too: the smaller they are declared, the sooner answers come.
version: 1
population:
  id: {TODO} # small letters; whoever shares these ids is of this population
  unit: patient # whom we protect
  unit_type: {{unit_type}}
  # epsilon_cap: the most that all answers together may ever spend; needs a source
  # max_units: {DEFAULT_MAX_UNITS} patients at most unless you declare otherwise
dataset: {TODO} # small letters
snapshot_date: {TODO} # what CURRENT_DATE means, YYYY-MM-DD
tables:
"""


def draft_manifest(
    files: Sequence[Path],
    units: Sequence[str] = (),
    databases: Sequence[DraftDatabase] = (),
) -> str:
    """Return a manifest to complete, as YAML, for files, and tables of databases.

    Args:
        files: Those whose names differ in numbers alone, and whose columns are mostly
            the same, are one table; each sheet of a workbook is one.
        units: The names that the unit's column has in the files, if they are known; a
            file has one of them.
        databases: Those whose tables are drafted too.

    Raises:
        IngestionError: A file, or a database, is missing or cannot be read, or none
            has one of the units.
    """
    with duckdb.connect() as connection, TemporaryDirectory() as work:
        drafts = [
            _Draft(connection, source, units)
            for source in _sources(connection, Path(work), files, databases)
        ]
        names = _apart([_identifier(draft.source.name) for draft in drafts])
        for unit in units:
            _refuse_unknown_unit(drafts, unit)
        unit_type = _agreed_unit_type(drafts)
        _collect_ids(connection, drafts)
        tables: list[str] = []
        met: dict[object, str] = {}
        for draft, name in zip(drafts, names, strict=True):
            draft.leave_out_people()
            with _readable(draft.file):
                draft.join_to(drafts, names)
                copied = met.setdefault(draft.rows_digest(), name)
                tables.append(draft.table(name, None if copied == name else copied))
    if not units:
        unit_type = f"{TODO} # integer or text"
    return _HEAD.format(unit_type=unit_type) + "".join(tables)


def _sources(
    connection: duckdb.DuckDBPyConnection,
    work: Path,
    files: Sequence[Path],
    databases: Sequence[DraftDatabase],
) -> list[DraftSource]:
    """Return the tables that files, and those that patterns name, seem to be."""
    reader = SourceReader(connection, work)
    found: list[Path] = []
    for file in files:
        if file.is_dir():
            raise IngestionError((_folder(file),))
        with _readable(file):
            found += [file] if file.exists() else sorted(file.parent.glob(file.name))
            if kind_of(file.name) is None:
                raise IngestionError((_unread(file),))
    sources: list[DraftSource] = []
    if found:
        with _readable(found[0]):
            sources += reader.sources(found)
    for database in databases:
        sources += database_sources(reader, database)
    return sources


def _folder(file: Path) -> Problem:
    said = f"is a folder: name the files in it, such as {file.name}/*.csv"
    return Problem(str(file), None, None, said)


def _unread(file: Path) -> Problem:
    return Problem(str(file), None, None, unread(file.name))


def _collect_ids(
    connection: duckdb.DuckDBPyConnection, drafts: "Sequence[_Draft]"
) -> None:
    """Make ``temp.unit_ids``: the unit ids of all files, however they are spelled."""
    connection.execute("CREATE TEMP TABLE unit_ids (form UBIGINT)")
    for name, function in FUNCTIONS.items():
        connection.create_function(
            name, function, [VARCHAR], VARCHAR, null_handling=SPECIAL
        )
    for draft in drafts:
        for column in draft.unit_columns():
            with _readable(draft.file):
                ids = draft.forms(column.source, "id_forms")
                connection.execute(
                    f"INSERT INTO temp.unit_ids SELECT form FROM ({ids})"  # noqa: S608 - our own query
                )


def _refuse_unknown_unit(drafts: "Sequence[_Draft]", unit: str) -> None:
    """Refuse a unit that no file has: a slip of the pen would draft public tables.

    Raises:
        IngestionError: No file has the column.
    """
    if any(draft.has_column(unit) for draft in drafts):
        return
    names = dict.fromkeys(c.source for draft in drafts for c in draft.columns)
    by_small = {name.lower(): name for name in names}
    near = get_close_matches(unit.lower(), by_small, n=1)
    hint = f"; did you mean {by_small[near[0]]}?" if near else ""
    sentence = f"no file has a column {unit}; columns are: {', '.join(names)}{hint}"
    raise IngestionError((Problem("--unit", None, None, sentence),))


def _agreed_unit_type(drafts: "Sequence[_Draft]") -> str:
    """Make all tables' unit columns of one type; return it, with a comment if need be.

    Guessed file by file, one patient would be 00001 here and 1 there: two units.
    """
    kinds = {c.kind for draft in drafts for c in draft.unit_columns()}
    if len(kinds) <= 1:
        return "text" if ColumnType.TEXT in kinds else "integer"
    holders = [draft for draft in drafts if draft.unit_columns()]
    if all(draft.has_integer_units() for draft in holders):
        kind, so = ColumnType.INTEGER, "padding zeros are dropped, so 007 is 7"
    else:
        kind, so = ColumnType.TEXT, "007 and 7 are two, so write ids alike in all files"
    for draft in holders:
        draft.make_unit(kind)
    return f"{kind} # files write ids as integers and as texts: {so}"


@contextmanager
def _readable(file: Path) -> Iterator[None]:
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


class _Draft:
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
        self._units = frozenset(units)
        self.guesses: Mapping[str, Guess] = {}
        self.unread: list[tuple[str, str]] = []
        with _readable(self.file):
            self.columns = self._columns()
        self.asks_unit = not units
        self.unit = next((unit for unit in units if self.has_column(unit)), None)
        self.people: frozenset[str] = frozenset()
        self.joined: tuple[JoinColumn, JoinColumn] | None = None
        with _readable(self.file):
            self.identities = self._find_identities()

    def has_column(self, source: str) -> bool:
        """Whether the file has a column of that name."""
        return any(column.source == source for column in self.columns)

    def forms(self, source: str, function: Literal["id_forms", "text_forms"]) -> str:
        """Return the query of a column's values ``t`` and hashes of their forms."""
        text = f"CAST({quoted_name(source)} AS VARCHAR)"
        rows = f"SELECT DISTINCT {text} AS t FROM {self._rows}"  # noqa: S608 - quoted names
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

    def join_to(self, drafts: "Sequence[_Draft]", names: Sequence[str]) -> None:
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
                f"FROM {self._rows} WHERE {unit} IS NOT NULL",
            )
            for column in self.columns
            if column.source != self.unit and column.kind in _JOINING
        ]

    def _names_people(self) -> str | None:
        """Return the column by which a file without the unit seems keyed by people."""
        for column in self.columns:
            texts = self.forms(column.source, "text_forms")
            found = self.connection.execute(
                f"SELECT count(DISTINCT t) FROM ({texts}) "  # noqa: S608 - as above
                "SEMI JOIN temp.unit_ids USING (form)"
            ).fetchone()
            if (found and found[0] > HANDFUL) or names_people(column.name):
                return column.name
        return None

    def unit_columns(self) -> list[Drafted]:
        """Return the unit's column, if the file has it."""
        return [column for column in self.columns if column.source == self.unit]

    def has_integer_units(self) -> bool:
        """Whether every id reads as an integer."""
        name = quoted_name(self.unit or "")
        text = f"nullif(trim(CAST({name} AS VARCHAR)), '')"
        with _readable(self.file):
            (found,) = self._one(f"bool_and(regexp_full_match({text}, '{_INTEGER}'))")
        return found is not False

    def make_unit(self, kind: ColumnType) -> None:
        """Declare the unit's column of a type that other files settled."""
        self.columns = [
            replace(c, kind=kind) if c.source == self.unit else c for c in self.columns
        ]

    @property
    def _rows(self) -> str:
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
        found = self.connection.execute(f"DESCRIBE SELECT * FROM {self._rows}")  # noqa: S608 - a quoted path
        types = [(str(row[0]), str(row[1])) for row in found.fetchall()]
        self.unread = [(name, type_) for name, type_ in types if unread_type(type_)]
        described = [(s, _kind(t)) for s, t in types if (s, t) not in self.unread]
        texts = [source for source, kind in described if kind is ColumnType.TEXT]
        decimals = [name for name, kind in described if kind is ColumnType.DECIMAL]
        whole = [
            source
            for source, kind in described
            if kind is ColumnType.INTEGER
            and source not in self._units
            and not is_identifier(_identifier(source))
        ]
        kind = kind_of(self.file.name)
        read = text_guesses(
            self.connection, self._rows, texts, has_cells=kind == "workbook"
        )
        read |= decimal_guesses(
            self.connection, self.source.texts, decimals, is_typed=kind == "parquet"
        )
        read |= compact_guesses(self.connection, self.source.texts, whole)
        read |= counted_guesses(self.connection, self.source.texts, [*whole, *decimals])
        read = with_shared_marks(read)
        marked = [s for s, _ in described if s not in self._units]
        if kind != "parquet":
            read |= flag_guesses(self.connection, self.source.texts, marked)
        names = _apart([_identifier(source) for source, _ in described])
        self.guesses = read
        return [
            Drafted(source, name, read[source].kind if source in read else kind)
            for (source, kind), name in zip(described, names, strict=True)
        ]

    def rows_digest(self) -> object:
        """Return what tables of the same rows have in common."""
        return rows_digest(self.connection, self.source.texts)

    def table(self, name: str, copied: str | None) -> str:
        """Return the table's YAML; ``copied``: an earlier table of the same rows."""
        lines = [f"- name: {name}"]
        if copied is not None:
            lines.append(f"  # {_COPY.format(table=copied)}")
        lines += [f"  # {said}." for said in self.source.said]
        lines += written_lines(self.source, self.columns, self.guesses)
        lines += self._privacy()
        lines += self._most_rows()
        if any(c.kind is ColumnType.TEXT for c in self.columns):
            most = f"{DEFAULT_MAX_LENGTH} unless declared; longer ones become NULL"
            lines.append(f"  # max_length of a text column, in bytes: {most}")
        lines.append("  columns:")
        kept = [column for column in self.columns if column.source not in self.people]
        others = [c for c in kept if c.source not in {self.unit, *self.identities}]
        asked = self._questions(others)
        lines += [f"  # {said}" for said in asked]
        lines += self._left_out()
        for column in kept:
            guess = self.guesses.get(column.source)
            if guess is not None and guess.question is not None:
                lines.append(f"  # {guess.question}")
            if column.source in self.identities:
                lines.append(f"  # {column.name} is {LEFT_OUT}")
                lines += [f"  # {one.strip()}" for one in self._column(column)]
            else:
                lines += self._column(column)
        return "\n".join(lines) + "\n"

    def _left_out(self) -> Iterator[str]:
        """Yield which columns of the file a load cannot read, and why."""
        for name, said in self.source.left_out:
            yield f"  # left out: {in_yaml(name)} {said}"
        for name, type_ in self.unread:
            yield (
                f"  # left out: {in_yaml(name)} has the type {_family(type_)}, which "
                f"is not read: {unread_type(type_)}"
            )

    def _questions(self, columns: Sequence[Drafted]) -> Iterator[str]:
        """Yield what only the custodian can say of the columns."""
        if self.unit is not None and self._lacks_units():
            yield _NO_UNIT.format(unit=in_yaml(self.unit))
        if later := list(after_today(self.connection, self._rows, columns)):
            yield _LATER + ", ".join(later)
        for said, found in (
            (_CONSTANT, self._once_a_unit(columns)),
            (_FULL, self._never_empty(columns)),
        ):
            if found:
                yield said + ", ".join(column.name for column in found)

    def _lacks_units(self) -> bool:
        """Whether one row in twenty or more has no unit id."""
        name = quoted_name(self.unit or "")
        empty = f"count(*) FILTER (coalesce(CAST({name} AS VARCHAR), '') = '')"
        (lacks,) = self._one(f"{empty} * 20 > count(*)")
        return bool(lacks)

    def _find_identities(self) -> frozenset[str]:
        """Return the columns of which each unit has a value of its own."""
        if self.unit is None or self.asks_unit:
            return frozenset()
        others = [
            c
            for c in self.columns
            if c.source != self.unit and not self._is_amount(c.source)
        ]
        return second_identities(self.connection, self._rows, self.unit, others)

    def _is_amount(self, source: str) -> bool:
        """Whether texts seem to be numbers or days, with something beside them."""
        guess = self.guesses.get(source)
        return guess is not None and bool(guess.question) and not guess.is_padded

    def _once_a_unit(self, columns: Sequence[Drafted]) -> list[Drafted]:
        """Return columns of which no unit was seen to have two values."""
        if self.unit is None or not columns:
            return []
        each = ", ".join(
            f"coalesce(min({quoted_name(c.source)}) = max({quoted_name(c.source)}), "
            f"true) AND count({quoted_name(c.source)}) IN (0, count(*)) AS c{i}"
            for i, c in enumerate(columns)
        )
        unit = quoted_name(self.unit)
        rows = f"SELECT count(*) AS n, {each} FROM {self._rows} GROUP BY {unit}"  # noqa: S608 - quoted names
        wanted = ", ".join(f"bool_and(c{i})" for i in range(len(columns)))
        many, *same = self.connection.execute(
            f"SELECT max(n), {wanted} FROM ({rows})"  # noqa: S608 - as above
        ).fetchone() or (0,)
        pairs = zip(columns, same, strict=False)
        return [c for c, is_same in pairs if is_same and (many or 0) > 1]

    def _never_empty(self, columns: Sequence[Drafted]) -> list[Drafted]:
        if not columns:
            return []
        wanted = ", ".join(
            f"count(*) > 0 AND count({quoted_name(c.source)}) = count(*)"
            for c in columns
        )
        pairs = zip(columns, self._one(wanted), strict=True)
        return [c for c, is_full in pairs if is_full]

    def _privacy(self) -> list[str]:
        unit = next((c.name for c in self.columns if c.source == self.unit), None)
        seems = None if unit or self.asks_unit else self._seems_private()
        wide = _WIDE.format(count=len(self.people)).splitlines() if self.people else []
        if unit is None and seems is None and not self.asks_unit and not wide:
            only = "true only for what anyone may read, such as a code list"
            return [f"  public: {TODO} # no column of the unit: {only}"]
        return [
            *wide,
            *self._other_people(),
            *(_joined_lines(*self.joined) if self.joined else ()),
            f"  unit_column: {unit or (f'{TODO} # {seems}' if seems else TODO)}",
            f"  max_rows_per_unit: {TODO} # a rung of 1-2-5, from the protocol",
            *self._key(),
            f"  source: {TODO} which public fact bounds the rows of one unit",
        ]

    def _other_people(self) -> Iterator[str]:
        """Ask where ids of people have several units: is the unit a case or a stay?"""
        if self.unit is None:
            return
        unit = quoted_name(self.unit)
        for column in self.columns:
            if column.source == self.unit or not names_people(column.name):
                continue
            name = quoted_name(column.source)
            (several,) = self._one(
                f"count(DISTINCT {unit}) > count(DISTINCT {name}) AND "
                f"count(DISTINCT {name}) > 1"
            )
            if several:
                yield (
                    f"  # {column.name} looks like ids of people, who have several "
                    f"{in_yaml(self.unit)} each: is it the unit?"
                )

    def _key(self) -> Iterator[str]:
        """Yield the proposal of a key: what no two rows share and is named like one."""
        named = [
            c
            for c in self.columns
            if c.source not in {self.unit, *self.identities} and is_identifier(c.name)
        ]
        if self.unit is None or not named:
            return
        wanted = ", ".join(
            f"count(*) > 1 AND count(DISTINCT {quoted_name(c.source)}) = count(*)"
            for c in named
        )
        pairs = zip(named, self._one(wanted), strict=True)
        unique = [c.name for c, is_unique in pairs if is_unique]
        if unique:
            yield (
                f"  # key: [{unique[0]}], if rows that share it are one row, "
                "to be kept once: no two that were looked at do"
            )

    def _seems_private(self) -> str | None:
        """Return why a file without the unit seems to have rows of single people."""
        if self.joined is not None:
            return f"{in_yaml(self.joined[1].unit or '')}, once it is in the file"
        people = self._names_people()
        return people and f"{people} looks like ids of people: not public"

    def _column(self, column: Drafted) -> Iterator[str]:
        said, proposal = self._proposed(column)
        if said is not None:
            yield f"  # {said}"
        keys = [f"name: {column.name}"]
        if column.name != column.source:
            keys.append(f"from: {in_yaml(column.source)}")
        keys.append(f"type: {column.kind}")
        if column.kind is ColumnType.DECIMAL:
            keys.append(f"scale: {self._scale(column)}")
        if column.source in self.source.lacking:
            keys.append("optional: true")
        if column.source != self.unit:
            keys += column_words(column, self.columns, self.guesses, self.source.nulls)
        if proposal is not None:
            keys.append(f"domain: {proposal.domain}")
            keys.append(f'source: "{TODO} proposed: {proposal.ladder}"')
        yield f"  - {{{', '.join(keys)}}}"

    def _scale(self, column: Drafted) -> int:
        """Return the decimals that were seen, one at least."""
        guess = self.guesses.get(column.source)
        return _DEFAULT_SCALE if guess is None or not guess.scale else guess.scale

    def _proposed(self, column: Drafted) -> tuple[str | None, Proposal | None]:
        """Return what is said of a column's domain, and the proposal of one."""
        if column.source == self.unit:
            return None, None
        if column.kind is not ColumnType.TEXT:
            return None, self._proposal(column)
        guess = self.guesses.get(column.source)
        if guess is not None and guess.is_padded:  # postcodes, not codes
            return None, self._listed(column)
        found = code_guess(self.connection, self._rows, column.source, column.name)
        return found.said, found.proposal or self._listed(column)

    def _proposal(self, column: Drafted) -> Proposal | None:
        guess = self.guesses.get(column.source)
        if is_identifier(column.name) or (guess is not None and guess.is_short):
            return None
        if column.kind is ColumnType.INTEGER and is_age(column.name):
            return age_proposal()
        return self._ladder(*self._ends(column))

    def _ladder(self, low: object, high: object) -> Proposal | None:
        if isinstance(low, date) and isinstance(high, date):
            return date_proposal(low, high)
        if isinstance(low, Decimal) and isinstance(high, Decimal):
            return number_proposal(int(low), int(high))
        return None

    def _ends(self, column: Drafted) -> tuple[object, ...]:
        """Return the ends of days, or of numbers in whole steps; else two Nones."""
        name = quoted_name(column.source)
        if column.kind is ColumnType.DATE:
            return self._one(f"min({name}), max({name})")
        if column.kind in {ColumnType.INTEGER, ColumnType.DECIMAL}:
            whole = f"TRY_CAST(CAST({name} AS DOUBLE) AS DECIMAL(38, 0))"
            return self._one(f"min({whole}), max({whole})")
        return None, None

    def _listed(self, column: Drafted) -> Proposal | None:
        """Return a public vocabulary that has all values of a column."""
        name = quoted_name(column.source)
        values, count = self._one(
            f"list(DISTINCT {name}) FILTER ({name} <> '')[:20], "
            f"approx_count_distinct({name})"
        )
        if not isinstance(values, list) or not isinstance(count, int) or count > 20:  # noqa: PLR2004 - longer than any
            return None
        return vocabulary_proposal(column.name, [str(value) for value in values])

    def _most_rows(self) -> list[str]:
        """Propose how large the table is declared: it is what a question costs.

        A rung of a public ladder, ten times beyond what was seen: for years to come.
        """
        (seen,) = self._one("count(*)")
        most = max(_LEAST_ROWS, rung_above(10 * int(str(seen))))
        if most >= DEFAULT_MAX_ROWS:
            return [f"  # max_rows: {DEFAULT_MAX_ROWS} unless you declare otherwise"]
        return [
            f"  # max_rows: {DEFAULT_MAX_ROWS} unless you declare otherwise; questions",
            "  # cost what is declared (too_costly). If it never has more, write:",
            f"  # max_rows: {most}",
        ]

    def _one(self, wanted: str) -> tuple[object, ...]:
        return tuple(
            self.connection.execute(f"SELECT {wanted} FROM {self._rows}").fetchone()  # noqa: S608 - quoted names
            or ()
        )


def _joined_lines(column: JoinColumn, other: JoinColumn) -> list[str]:
    said = {"own": column.file, "file": other.file, "unit": in_yaml(other.unit or "")}
    names = {"column": in_yaml(column.name), "other": in_yaml(other.name)}
    return _JOINED.format(**said, **names).splitlines()


def _family(type_: str) -> str:
    """Return a type in a word: what is nested in it can be long.

    >>> _family("STRUCT(a INTEGER, b VARCHAR)[]"), _family("BLOB"), _family("TIME")
    ('list', 'binary', 'time')
    """
    if type_.endswith("]"):
        return "list"
    word = type_.partition("(")[0].lower()
    return "binary" if word == "blob" else word


def _kind(type_: str) -> ColumnType:
    """Return our type of a DuckDB type; what we do not know is text."""
    known = (kind for pattern, kind in _KINDS if pattern.fullmatch(type_))
    return next(known, ColumnType.TEXT)


def _identifier(text: str) -> str:
    """Return a text as an identifier of a manifest.

    >>> _identifier("Visit Date (UTC)"), _identifier("Größe"), _identifier("Płeć")
    ('visit_date_utc', 'groesse', 'plec')
    """
    plain = normalize("NFKD", text.lower().translate(_SPELLED))
    plain = "".join(one for one in plain if not combining(one))
    name = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:60]
    if not name[:1].isalpha() or name in RESERVED or not is_writable(name):
        name = f"c_{name}"
    return name.rstrip("_")


def _apart(names: Sequence[str]) -> list[str]:
    """Number the second and later uses of a name.

    >>> _apart(["a", "b", "a"])
    ['a', 'b', 'a_2']
    """
    uses: Counter[str] = Counter()
    apart = []
    for name in names:
        uses[name] += 1
        apart.append(name if uses[name] == 1 else f"{name}_{uses[name]}")
    return apart
