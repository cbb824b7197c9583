"""Ingestion: declared files in, one snapshot file out, whole or not at all."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
from duckdb.func import SPECIAL
from duckdb.sqltypes import VARCHAR

from privacy.coincidences import coinciding_places, names_in_files
from privacy.schema import ListedRow
from upstream.errors import IngestionError, Problem
from upstream.files.alike import equal_files, equal_tables, lacking_warnings
from upstream.files.csv_structure import CsvFile
from upstream.files.exports.plain_copies import CopyArea
from upstream.files.sources import (
    Folders,
    SourceFile,
    open_sources,
    refuse_changed,
    unit_columns_in_public_file,
)
from upstream.full_disks import is_for_want_of_space
from upstream.id_forms.loose_ids import FUNCTIONS
from upstream.ingestion.derived_values import DerivedValues
from upstream.ingestion.listed_rows import listed_rows
from upstream.ingestion.load_warnings import (
    alike_warnings,
    load_warnings,
    word_warnings,
)
from upstream.ingestion.private_tables import PrivateTable
from upstream.ingestion.public_tables import store_public_table
from upstream.ingestion.secrets import IngestionKeys, derive_keys
from upstream.ingestion.unit_blocks import UnitBlocks
from upstream.ingestion.value_warnings import value_warnings
from upstream.manifests.declarations import TableSpec
from upstream.manifests.derived import derived_columns, storing_order
from upstream.manifests.manifest import Manifest
from upstream.manifests.public_schema import file_schema
from upstream.manifests.sizes import check_rows, check_units
from upstream.progress import Interruptible, Progress, never_interrupted, silent
from upstream.public_check.lost_texts import lost_texts
from upstream.public_check.public_watch import PublicWatch, Surroundings
from upstream.public_check.published_ids import (
    Declared,
    EarlierSnapshot,
    KnownUnits,
    NewUnits,
)
from upstream.public_check.row_values import PrivateRows, derived_rows, staged_rows
from upstream.staging.canonical import folded_unit_id
from upstream.staging.report import IngestionReport, TableReport
from upstream.staging.row_hash import padded_keys
from upstream.staging.staging import (
    StagedTable,
    StagingArea,
    canonical_id_or_mark,
    stage,
)
from upstream.staging.units import (
    collect_source_ids,
    count_alike,
    count_units,
    count_words,
    population_digests,
    prepare_units,
)

Sources = Mapping[str, Sequence[SourceFile]]

MEMORY_LIMIT = "512MB"  # DuckDB's own; the process stays below twice as much
BUCKET_BYTES = 2**27
STORED_PLAIN = {"force_compression": "uncompressed"}
"""No column is stored in a form that follows from its values (ADR 29)."""

_SUFFIXES = (".part", ".part.wal", ".spill")


NO_NEW_UNITS = NewUnits()


@dataclass(frozen=True, slots=True)
class LinkedTables:
    """What a load is given beside its manifest where a linkage made its tables.

    Attributes:
        folder: From where the files of private tables are named; nothing public is read
            from there.
        ids: Parquet with ``key`` and ``id``: the ids that patients have in the sources.
        id_columns: What columns of ids are called in the sources.
    """

    folder: Path
    ids: Path
    id_columns: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Ingested:
    """What a load leaves beside its snapshot file.

    Attributes:
        report: For the custodian alone.
        population_ids: Sorted unique digests of 16 bytes each: of each unit's id, of
            its other forms, of the spellings that ``unit_fold`` joins, and of the ids
            that a linkage's sources have.
        new: The units that have a form that the population's file lacks: these alone
            are compared with other populations.
        names_others: Other populations of which something public names more than a
            handful of units: to be refused, as an overlap is.
        not_stored: The SHA-256 of what is compared as public and not stored: columns of
            public tables' files that are not declared, values that are not kept, and
            the names of files and folders.
        block_marks: Of a population with blocks: 32 bytes a unit, which go into the
            population's file too (``unit_blocks``).
        listed: The rows of each public table that is shown with the schema.
    """

    report: IngestionReport
    population_ids: bytes
    new: NewUnits = NO_NEW_UNITS
    names_others: tuple[str, ...] = ()
    not_stored: str = ""
    block_marks: bytes = b""
    listed: Mapping[str, tuple[ListedRow, ...]] = field(default_factory=dict)


NOTHING_BEFORE = Surroundings()


def ingest(  # noqa: PLR0913 - the load's whole setting, by keyword
    manifest: Manifest,
    *,
    base: Path,
    import_folder: Path,
    secret: bytes,
    target: Path,
    surroundings: Surroundings = NOTHING_BEFORE,
    linked: LinkedTables | None = None,
    memory_limit: str = MEMORY_LIMIT,
    threads: int = 2,
    bucket_bytes: int = BUCKET_BYTES,
    most_rows: int | None = None,
    progress: Progress = silent,
    interruptible: Interruptible = never_interrupted,
) -> Ingested:
    """Read the declared files into a new snapshot file.

    Args:
        manifest: What the files hold.
        base: The manifest's folder, where its globs start.
        import_folder: The folder that real paths must lie under.
        secret: The installation's master secret, 32 bytes.
        surroundings: What was loaded before.
        linked: The linkage's tables; None: private tables are files as others are.
        target: The snapshot to write. It appears whole and durable, or not at all.
        memory_limit: DuckDB's own, such as ``"1GB"``; more spills beside the target.
        threads: DuckDB's threads.
        bucket_bytes: About how much of a table is ranked at once; what is stored
            does not depend on it.
        most_rows: The first rows of each file that are read, of a load that is a trial;
            None: all are.
        progress: Told of each step.
        interruptible: Lent the interrupt of DuckDB's statements; a load that is
            interrupted ends with DuckDB's own error, and leaves nothing.

    Returns:
        The custodian's report and the ids for the population's overlap file.

    Raises:
        IngestionError: The files do not fit the manifest; nothing was written.
        FileExistsError: ``target`` is there already: snapshots are never replaced.

    Neighbouring relation: add or remove all rows of one unit. What is stored for any
    other unit does not move; proof in docs/proofs/ingestion.md.
    """
    if target.exists():
        raise FileExistsError(str(target))
    keys = derive_keys(secret)
    settings = {"memory_limit": memory_limit, "threads": str(threads)}
    with _workshop(target, settings) as (connection, part):
        kind, folds = manifest.population.unit_type, manifest.population.unit_fold or ()
        connection.execute(f"ATTACH '{_escaped(part)}' AS snapshot")
        with (
            interruptible(connection.interrupt),
            _taught(
                connection,
                keys,
                canonical_id=lambda raw: canonical_id_or_mark(raw, kind),
                folded_id=lambda uid: (
                    None if uid is None else folded_unit_id(uid, folds)
                ),
                **FUNCTIONS,
            ),
        ):
            spill = _spill(target)
            area = StagingArea(connection, spill, kind, folds, bucket_bytes, progress)
            load = _Load(
                area, manifest, surroundings, linked, is_whole=most_rows is None
            )
            copies = CopyArea(spill / "copies", import_folder, most_rows)
            ingested = load.run(Folders(base, import_folder, copies))
        connection.execute("CHECKPOINT snapshot; DETACH snapshot")
        connection.close()
        _publish(part, target)
    return ingested


def names_since(  # noqa: PLR0913 - as ``ingest``
    manifest: Manifest,
    ingested: Ingested,
    *,
    secret: bytes,
    target: Path,
    surroundings: Surroundings,
    memory_limit: str = MEMORY_LIMIT,
    threads: int = 2,
    interruptible: Interruptible = never_interrupted,
) -> tuple[str, ...]:
    """Return the populations of ``surroundings`` that something public names.

    Of a load that has ended and is not recorded: it is held against what was loaded
    while it was under way, as it was against what was there before.

    Args:
        manifest: What was loaded.
        ingested: What ``ingest`` returned.
        secret: The installation's master secret, 32 bytes.
        target: The snapshot that was written.
        surroundings: What was loaded since: of other populations alone.
        memory_limit: As of ``ingest``.
        threads: As of ``ingest``.
        interruptible: As of ``ingest``.

    Raises:
        IngestionError: Something that was published since names the load's units.
    """
    settings = {"memory_limit": memory_limit, "threads": str(threads)}
    with _workshop(target, settings) as (connection, _):
        connection.execute(f"ATTACH '{_escaped(target)}' AS snapshot (READ_ONLY)")
        with (
            interruptible(connection.interrupt),
            _taught(connection, derive_keys(secret), **FUNCTIONS),
        ):
            loaded = KnownUnits(ingested.population_ids)
            watch = PublicWatch(connection, _declared(manifest), surroundings, loaded)
            watch.look_again()
        return watch.names_others


def named_in_snapshot(  # noqa: PLR0913 - as ``ingest``
    snapshot: EarlierSnapshot,
    own: KnownUnits,
    others: Mapping[str, KnownUnits],
    *,
    secret: bytes,
    target: Path,
    memory_limit: str = MEMORY_LIMIT,
    threads: int = 1,
) -> tuple[str, ...]:
    """Return the other populations of which a snapshot's public part names units.

    Of one that was loaded earlier and is to be shown again: it is held against who is
    recorded now, as a load is. It names a population where it names more than a
    handful of its units.

    Args:
        snapshot: What it shows.
        own: The overlap file of its population.
        others: Those of other populations, by name.
        secret: The installation's master secret, 32 bytes.
        target: A path beside which may be written meanwhile; nobody else's.
        memory_limit: As of ``ingest``.
        threads: As of ``ingest``.

    Raises:
        IngestionError: It names units of its own population, or cannot be read.
    """
    settings = {"memory_limit": memory_limit, "threads": str(threads)}
    with _workshop(target, settings) as (connection, _):
        _attach_stored(connection, snapshot.path)
        with _taught(connection, derive_keys(secret), **FUNCTIONS):
            beside = Surroundings(others=others)
            watch = PublicWatch(connection, snapshot.declared, beside, own)
            watch.refuse_published()
        return watch.names_others


def _attach_stored(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    try:
        connection.execute(f"ATTACH '{_escaped(path)}' AS snapshot (READ_ONLY)")
    except duckdb.Error as error:
        sentence = (
            "the snapshot cannot be read, so its public tables cannot be compared with "
            "who is recorded: bring it back from its backup, or load the data again"
        )
        raise IngestionError((Problem(path.name, None, None, sentence),)) from error


def _declared(manifest: Manifest) -> Declared:
    content = json.loads(manifest.canonical_json())
    return Declared(
        manifest.schema(), coinciding_places(content), names_in_files(content)
    )


def sweep_dead_loads(folder: Path) -> None:
    """Remove what killed loads left in a folder of snapshots.

    Only for who knows that no load is under way there.
    """
    for path in folder.iterdir():
        if path.name.endswith(_SUFFIXES):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


@contextmanager
def _workshop(
    target: Path, settings: Mapping[str, str]
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """Lend a database in memory, and the path of the unfinished snapshot.

    Whatever happens, the unfinished file and the load's folder are gone afterwards;
    what a killed load left behind goes when the next one to this target begins.
    """
    part, spill = target.with_name(target.name + ".part"), _spill(target)
    _sweep(part, spill)
    spill.mkdir(mode=0o700)
    config: dict[str, str | bool | int | float | list[str]] = {
        **settings,
        **STORED_PLAIN,
        "temp_directory": str(spill / "pages"),
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    connection = duckdb.connect(":memory:", config=config)
    try:
        connection.execute("SET enable_progress_bar = false")  # ours alone is shown
        yield connection, part
    except duckdb.OutOfMemoryException as error:
        raise IngestionError((_too_small(target),)) from error
    except (duckdb.Error, OSError) as error:
        if is_for_want_of_space(error, target.parent):
            raise IngestionError((_too_full(target),)) from error
        raise
    finally:
        connection.close()
        _sweep(part, spill)


def _too_small(target: Path) -> Problem:
    sentence = (
        "the load needs more memory or disk than it may take: make room beside the "
        "snapshots, and check the unit columns, since all rows of one unit are ranked "
        "together"
    )
    return Problem(target.name, None, None, sentence)


def _too_full(target: Path) -> Problem:
    sentence = (
        "no space is left on the device that holds CURATOR_DATA "
        f"({target.parent}); nothing was recorded, and what was begun is removed. A "
        "load takes about four times the bytes of its files, and 64 MB at least: free "
        "as much there, and load again"
    )
    return Problem(target.name, None, None, sentence)


@contextmanager
def _taught(
    connection: duckdb.DuckDBPyConnection,
    keys: IngestionKeys,
    **functions: Callable[[str | None], str | None],
) -> Iterator[None]:
    """Give the connection the padded keys, as variables, and functions of texts.

    The functions are called for those ids alone that SQL does not spell.
    """
    named = (("row", keys.row), ("unit", keys.unit), ("people", keys.population))
    for name, key in named:
        for side, block in zip(("inner", "outer"), padded_keys(key), strict=True):
            connection.execute(f"SET VARIABLE {name}_{side} = ?", [block])
    for name, function in functions.items():
        connection.create_function(
            name, function, [VARCHAR], VARCHAR, null_handling=SPECIAL
        )
    try:
        yield
    finally:
        connection.execute("SELECT 1").fetchall()  # ends a result left half read
        for name in functions:
            connection.remove_function(name)


def _spill(target: Path) -> Path:
    return target.with_name(target.name + ".spill")


def _escaped(path: Path) -> str:
    return str(path).replace("'", "''")


def _sweep(part: Path, spill: Path) -> None:
    for leftover in (part, part.with_name(part.name + ".wal")):
        leftover.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        shutil.rmtree(spill)


def _publish(part: Path, target: Path) -> None:
    """Make the finished file durable under its own name, for its owner alone."""
    part.chmod(0o600)
    _sync(part)
    part.rename(target)
    _sync(target.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _Load:
    """One load: all sources first, then all values, then ranks and tables."""

    def __init__(
        self,
        area: StagingArea,
        manifest: Manifest,
        surroundings: Surroundings,
        linked: LinkedTables | None,
        *,
        is_whole: bool,
    ) -> None:
        self.area = area
        self.is_whole = is_whole
        self.manifest = manifest
        self.linked = linked
        self._seen: list[str] = []
        self._listed: dict[str, tuple[ListedRow, ...]] = {}
        self.schema = manifest.schema()
        self.declared = _declared(manifest)
        self.watch = PublicWatch(area.connection, self.declared, surroundings)

    def run(self, folders: Folders) -> Ingested:
        with folders.copies.reading() if folders.copies else nullcontext():
            sources = self._open(folders)
        if folders.copies is not None:
            self._seen.extend(folders.copies.warnings)
        files = [file for found in sources.values() for file in found]
        try:
            ingested = self._ingested(sources)
        except duckdb.InterruptException:
            raise
        except (IngestionError, duckdb.Error, OSError, ValueError):
            refuse_changed(files)  # which says more than what came of it
            raise
        refuse_changed(files)
        return ingested

    def _ingested(self, sources: Sources) -> Ingested:
        prepare_units(self.area.connection)
        staged = self._stage(sources)
        units = count_units(self.area.connection)
        check_units(self.manifest.population, units)
        if self.linked is not None:
            collect_source_ids(self.area.connection, self.linked.ids)
        self.watch.refuse_lists()
        self.watch.refuse_other_datasets()
        stored = self._store_public([t for t in staged if t.table.public])
        private = [table for table in staged if not table.table.public]
        self.watch.refuse_together()
        self.watch.refuse_rows_of(list(self._private_rows(private)))
        blocks = self._unit_blocks(private)
        stored |= self._store_private(private)
        self.watch.refuse_rows_of(list(self._derived_rows(private)))
        if blocks is not None:
            blocks.see_derived(private)
            blocks.check(is_whole=self.is_whole)
        reports = [stored[table.name] for table in self.manifest.tables]
        tables, connection = self.manifest.tables, self.area.connection
        warnings = (
            *load_warnings(connection, tables, reports),
            *value_warnings(connection, tables, reports, self.manifest.snapshot_date),
        )
        alike = count_alike(self.area.connection)
        population = self.manifest.population
        told = (
            *alike_warnings(population, alike),
            *word_warnings(*count_words(self.area.connection), population.unit),
        )
        return Ingested(
            IngestionReport(
                tuple(reports),
                (*warnings, *self._seen, *told, *self.watch.warnings),
                alike,
            ),
            population_digests(self.area.connection),
            self.watch.new_units(),
            self.watch.names_others,
            self.watch.not_stored,
            b"" if blocks is None else blocks.marks(),
            self._listed,
        )

    def _unit_blocks(self, staged: Sequence[StagedTable]) -> UnitBlocks | None:
        """Look at the units' blocks in what files say; None where there are none."""
        if self.schema.blocks is None:
            return None
        blocks = UnitBlocks(self.area.connection, self.schema.blocks)
        blocks.see_staged(staged)
        return blocks

    def _store_public(self, staged: Sequence[StagedTable]) -> dict[str, TableReport]:
        """Store public tables, and look at each, before any private row is stored."""
        reports = {}
        for table in staged:
            report, name = store_public_table(self.area, table), table.table.name
            files = [each for file in table.files for each in file.names]
            lost = lost_texts(table, self.declared.coinciding)
            declared = self.schema.tables[name]
            self.watch.refuse_table(declared, files, lost)
            reports[name] = self._done(table, report)
            if declared.listed:
                self._listed[name] = listed_rows(self.area.connection, declared)
        return reports

    def _store_private(self, staged: Sequence[StagedTable]) -> dict[str, TableReport]:
        """Store private tables, those first that derived columns of others read."""
        by_name = {table.table.name: table for table in staged}
        tables = self.manifest.tables
        derived = {
            table.table.name: derived_columns(table.table, tables, self.schema)
            for table in staged
        }
        reports = {}
        for spec in storing_order([table.table for table in staged], derived):
            name, table = spec.name, by_name[spec.name]
            values = None
            if derived[name]:
                connection, own = self.area.connection, self.schema.hierarchies
                values = DerivedValues(connection, table, derived[name], own)
            report = PrivateTable(self.area, table, values).store()
            reports[name] = self._done(table, report)
        return reports

    def _done(self, table: StagedTable, report: TableReport) -> TableReport:
        check_rows(table.table, report.rows_kept)
        table.discard(self.area.connection)
        return report

    def _private_rows(self, staged: Sequence[StagedTable]) -> Iterator[PrivateRows]:
        """Yield private tables' rows, as they are compared with what is public."""
        for table in staged:
            columns = file_schema(table.table).columns
            yield staged_rows(table, columns)

    def _derived_rows(self, staged: Sequence[StagedTable]) -> Iterator[PrivateRows]:
        """Yield the stored private tables that have columns which no file has."""
        for table in staged:
            if table.table.derived:
                yield derived_rows(table, self.schema.tables[table.table.name].columns)

    def _open(self, folders: Folders) -> Sources:
        problems: list[Problem] = []
        sources: dict[str, Sequence[SourceFile]] = {}
        for table in self.manifest.tables:
            try:
                files = open_sources(
                    table,
                    self._folders_of(table, folders),
                    self.area.connection,
                    self.area.progress,
                )
            except IngestionError as error:
                problems.extend(error.problems)
                continue
            sources[table.name] = files
            problems.extend(self._private_columns(table, files))
            problems.extend(equal_files(table, files))
            self._seen.extend(lacking_warnings(table, files))
            for file in files:
                self._seen.extend(file.warnings if isinstance(file, CsvFile) else ())
        if problems:
            raise IngestionError(tuple(problems))
        self._seen.extend(equal_tables(sources))
        return sources

    def _folders_of(self, table: TableSpec, folders: Folders) -> Folders:
        """Return where a table's files are: of linked ones nowhere else."""
        if self.linked is None or table.public:
            return folders
        return Folders(self.linked.folder, self.linked.folder, folders.copies)

    def _private_columns(
        self, table: TableSpec, files: Sequence[SourceFile]
    ) -> Iterator[Problem]:
        if not table.public:
            return
        units = self.manifest.unit_column_names()
        for name in sorted(unit_columns_in_public_file(files, units)):
            sentence = (
                f"the file has the unit column {name!r}, so table {table.name} cannot "
                "be public: declare its unit_column; if its rows are about no single "
                "person, write the file without the column"
            )
            yield Problem(files[0].name, None, None, sentence)
        ids = frozenset() if self.linked is None else self.linked.id_columns
        for name in sorted(unit_columns_in_public_file(files, (ids, frozenset()))):
            sentence = (
                f"the file has the column {name!r}, by which a source of the linkage "
                f"says whose its rows are, so table {table.name} cannot be public: if "
                "its rows are about no single person, write the file without the column"
            )
            yield Problem(files[0].name, None, None, sentence)

    def _stage(self, sources: Sources) -> list[StagedTable]:
        problems: list[Problem] = []
        staged: list[StagedTable] = []
        for table in self.manifest.tables:
            try:
                staged.append(stage(self.area, table, sources[table.name]))
            except IngestionError as error:
                problems.extend(error.problems)
        if problems:
            raise IngestionError(tuple(problems))
        return staged
