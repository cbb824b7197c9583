"""Ingestion: declared files in, one snapshot file out, whole or not at all."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb

from upstream.declarations import TableSpec
from upstream.errors import IngestionError, Problem
from upstream.manifest import Manifest
from upstream.private_tables import PrivateTable, collision
from upstream.public_tables import store_public_table
from upstream.report import IngestionReport
from upstream.row_hash import (
    field_sql,
    first_64_bits_sql,
    hmac_hex_sql,
    padded_keys,
)
from upstream.secrets import IngestionKeys, derive_keys
from upstream.sources import (
    Folders,
    SourceFile,
    open_sources,
    unit_columns_in_public_file,
)
from upstream.staging import StagedTable, stage

Progress = Callable[[str, float], None]
Sources = Mapping[str, Sequence[SourceFile]]

POPULATION_ID_BYTES = 16


@dataclass(frozen=True, slots=True)
class Ingested:
    """What a load leaves beside its snapshot file.

    Attributes:
        report: For the custodian alone.
        population_ids: Sorted unique digests of 16 bytes each, one a unit.
    """

    report: IngestionReport
    population_ids: bytes


def ingest(  # noqa: PLR0913 - the load's whole setting, by keyword
    manifest: Manifest,
    *,
    base: Path,
    import_folder: Path,
    secret: bytes,
    target: Path,
    memory_limit: str = "1GB",
    threads: int = 2,
    progress: Progress | None = None,
) -> Ingested:
    """Read the declared files into a new snapshot file.

    Args:
        manifest: What the files hold.
        base: The manifest's folder, where its globs start.
        import_folder: The folder that real paths must lie under.
        secret: The installation's master secret, 32 bytes.
        target: The snapshot to write. It appears whole and durable, or not at all.
        memory_limit: DuckDB's own, such as ``"1GB"``; more spills beside the target.
        threads: DuckDB's threads.
        progress: Called with a table's name and the part done, from 0 to 1.

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
    folders = Folders(base, import_folder)
    settings = {"memory_limit": memory_limit, "threads": str(threads)}
    with _workshop(target, settings) as (connection, part):
        load = _Load(connection, manifest, progress or _silent)
        ingested = load.run(folders, keys)
        connection.execute("CHECKPOINT snapshot; DETACH snapshot")
        connection.close()
        _publish(part, target)
    return ingested


def _silent(_table: str, _part: float) -> None:
    """Tell nobody."""


@contextmanager
def _workshop(
    target: Path, settings: Mapping[str, str]
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """Lend a database in memory with the unfinished snapshot attached.

    Whatever happens, the unfinished file and the spilled pages are gone afterwards;
    what a killed load left behind goes when the next one to this target begins.
    """
    part = target.with_name(target.name + ".part")
    spill = target.with_name(target.name + ".spill")
    _sweep(part, spill)
    config: dict[str, str | bool | int | float | list[str]] = {
        **settings,
        "temp_directory": str(spill),
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    connection = duckdb.connect(":memory:", config=config)
    try:
        connection.execute(f"ATTACH '{_escaped(part)}' AS snapshot")
        yield connection, part
    finally:
        connection.close()
        _sweep(part, spill)


def _escaped(path: Path) -> str:
    return str(path).replace("'", "''")


def _sweep(part: Path, spill: Path) -> None:
    for leftover in (part, part.with_name(part.name + ".wal")):
        leftover.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        shutil.rmtree(spill)


def _publish(part: Path, target: Path) -> None:
    """Make the finished file durable under its own name."""
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
    """One load: all sources first, then all values, then hashes and tables."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        manifest: Manifest,
        progress: Progress,
    ) -> None:
        self.connection = connection
        self.manifest = manifest
        self.progress = progress

    def run(self, folders: Folders, keys: IngestionKeys) -> Ingested:
        sources = self._open(folders)
        staged = self._stage(sources)
        self._set_keys(keys)
        population_ids = self._name_units(staged)
        reports = []
        for done, table in enumerate(staged):
            if table.table.public:
                reports.append(store_public_table(self.connection, table))
            else:
                reports.append(PrivateTable(self.connection, table).store())
            self.progress(table.table.name, (done + 1) / len(staged))
        return Ingested(IngestionReport(tuple(reports)), population_ids)

    def _open(self, folders: Folders) -> Sources:
        problems: list[Problem] = []
        sources: dict[str, Sequence[SourceFile]] = {}
        for table in self.manifest.tables:
            try:
                files = open_sources(table, folders, self.connection)
            except IngestionError as error:
                problems.extend(error.problems)
                continue
            sources[table.name] = files
            problems.extend(self._private_columns(table, files))
        if problems:
            raise IngestionError(tuple(problems))
        return sources

    def _private_columns(
        self, table: TableSpec, files: Sequence[SourceFile]
    ) -> Iterator[Problem]:
        if not table.public:
            return
        units = self.manifest.unit_column_names()
        for name in sorted(unit_columns_in_public_file(files, units)):
            sentence = (
                f"the file has the unit column {name!r}, so table {table.name} cannot "
                "be public: declare its unit_column, or remove the column"
            )
            yield Problem(files[0].path.name, None, None, sentence)

    def _stage(self, sources: Sources) -> list[StagedTable]:
        problems: list[Problem] = []
        staged: list[StagedTable] = []
        for table in self.manifest.tables:
            self.progress(table.name, 0.0)
            files = sources[table.name]
            unit_type = self.manifest.population.unit_type
            try:
                staged.append(stage(self.connection, table, files, unit_type))
            except IngestionError as error:
                problems.extend(error.problems)
        if problems:
            raise IngestionError(tuple(problems))
        return staged

    def _set_keys(self, keys: IngestionKeys) -> None:
        named = (("row", keys.row), ("unit", keys.unit), ("people", keys.population))
        for name, key in named:
            for side, block in zip(("inner", "outer"), padded_keys(key), strict=True):
                self.connection.execute(f"SET VARIABLE {name}_{side} = ?", [block])

    def _name_units(self, staged: Sequence[StagedTable]) -> bytes:
        """Fill ``temp.units`` (uid, unit_key); return the population's digests.

        Raises:
            IngestionError: Two units have the same 64-bit key.
        """
        private = [table.relation for table in staged if not table.table.public]
        every = " UNION ".join(f"SELECT DISTINCT uid FROM {name}" for name in private)  # noqa: S608 - our own names
        every = f"({every or 'SELECT NULL::VARCHAR AS uid WHERE false'})"
        key = first_64_bits_sql(hmac_hex_sql("unit", field_sql("uid")))
        self.connection.execute(
            f"CREATE TEMP TABLE units AS SELECT uid, {key} AS unit_key FROM {every}"  # noqa: S608 - as above
        )
        counts = self.connection.execute(
            "SELECT count(*), count(DISTINCT unit_key) FROM temp.units"
        ).fetchone()
        if counts is None or counts[0] != counts[1]:
            raise IngestionError((collision("two units"),))
        digests = self.connection.execute(
            f"SELECT DISTINCT left({hmac_hex_sql('people', field_sql('uid'))}, "  # noqa: S608 - as above
            f"{2 * POPULATION_ID_BYTES}) AS digest FROM temp.units ORDER BY digest"
        ).fetchall()
        return b"".join(bytes.fromhex(digest) for (digest,) in digests)
