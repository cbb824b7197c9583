"""A first manifest for given files: types guessed, domains proposed, sources left open.

A draft cannot be loaded: each ``TODO`` is refused until a custodian has said which
public fact stands behind it.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
from duckdb.func import SPECIAL
from duckdb.sqltypes import VARCHAR

from privacy.schema import DEFAULT_MAX_UNITS, ColumnType
from upstream.drafting.columns.column_names import apart, identifier
from upstream.drafting.sources.database_drafts import DraftDatabase, database_sources
from upstream.drafting.sources.draft_sources import DraftSource, SourceReader
from upstream.drafting.tables.table_drafts import TableDraft, readable
from upstream.drafting.tables.written_tables import written_table
from upstream.errors import IngestionError, Problem
from upstream.id_forms.loose_ids import FUNCTIONS
from upstream.manifests.file_specs import kind_of, unread
from upstream.manifests.rules.manifest_rules import TODO

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
            TableDraft(connection, source, units)
            for source in _sources(connection, Path(work), files, databases)
        ]
        names = apart([identifier(draft.source.name) for draft in drafts])
        for unit in units:
            _refuse_unknown_unit(drafts, unit)
        unit_type = _agreed_unit_type(drafts)
        _collect_ids(connection, drafts)
        tables: list[str] = []
        met: dict[object, str] = {}
        for draft, name in zip(drafts, names, strict=True):
            draft.leave_out_people()
            with readable(draft.file):
                draft.join_to(drafts, names)
                copied = met.setdefault(draft.rows_digest(), name)
                tables.append(
                    written_table(draft, name, None if copied == name else copied)
                )
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
        with readable(file):
            found += [file] if file.exists() else sorted(file.parent.glob(file.name))
            if kind_of(file.name) is None:
                raise IngestionError((_unread(file),))
    sources: list[DraftSource] = []
    if found:
        with readable(found[0]):
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
    connection: duckdb.DuckDBPyConnection, drafts: Sequence[TableDraft]
) -> None:
    """Make ``temp.unit_ids``: the unit ids of all files, however they are spelled."""
    connection.execute("CREATE TEMP TABLE unit_ids (form UBIGINT)")
    for name, function in FUNCTIONS.items():
        connection.create_function(
            name, function, [VARCHAR], VARCHAR, null_handling=SPECIAL
        )
    for draft in drafts:
        for column in draft.unit_columns():
            with readable(draft.file):
                ids = draft.forms(column.source, "id_forms")
                connection.execute(
                    f"INSERT INTO temp.unit_ids SELECT form FROM ({ids})"  # noqa: S608 - our own query
                )


def _refuse_unknown_unit(drafts: Sequence[TableDraft], unit: str) -> None:
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


def _agreed_unit_type(drafts: Sequence[TableDraft]) -> str:
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
