"""Files of rows that a copy is made of, read as texts through a register."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from server.use_cases.extraction.declarations import import_folder
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.private_files import private_file
from upstream.anonymization.copies.publishing import write_rows
from upstream.extraction.reading.specs import Folder, Glob
from upstream.linkage.registers.register import Tell, opened
from upstream.linkage.registers.tables import read_table
from upstream.manifests.declarations import Identifier
from upstream.manifests.file_specs import Encoding

Text = str | None
_BATCH = 50_000
_REGISTER = "rows.duckdb"
_IN_MEMORY = ":memory:"


@dataclass(frozen=True, slots=True)
class Reading:
    """What files are read with.

    Attributes:
        folder: The import folder.
        scratch: A folder for what is read meanwhile; None: it is held in memory, and
            nothing is left where a process is killed.
        tell: Is told the headway.
        check: Ends the reading where it raises.
    """

    folder: Path
    scratch: Path | None = None
    tell: Tell = lambda *_: None
    check: Callable[[], None] = lambda: None


class TableFiles(BaseModel):
    """CSV and Parquet files.

    Attributes:
        folder: Where patterns start, under the import folder.
        files: Patterns of paths under the folder.
        separator: What stands between the fields of a CSV file; none: what its header
            has most of.
        encoding: Of CSV files; none: UTF-8.
        missing: What stands for a missing value; an empty field always does.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Folder = "."
    files: Annotated[tuple[Glob, ...], Field(min_length=1, max_length=1_000)]
    separator: Literal[",", ";", "\t", "|"] | None = None
    encoding: Encoding | None = None
    missing: Annotated[
        tuple[Annotated[str, Field(max_length=100)], ...], Field(max_length=20)
    ] = ()


class Crosswalk(TableFiles):
    """What ``curator linkage crosswalk`` wrote: whose each id of a source is.

    Attributes:
        source: The linkage's source whose ids are meant.
    """

    source: Identifier


class TextCrosswalk(Crosswalk):
    """The same, of documents.

    Attributes:
        id: The field that names them, where the linkage's source has ``id:``; none:
            their own ids.
    """

    id: Annotated[str, Field(min_length=1, max_length=200)] | None = None


@dataclass(frozen=True, slots=True)
class _Named:
    """Files of which some columns are read."""

    told: TableFiles
    columns: tuple[str, ...]
    name: str = "table"

    @property
    def folder(self) -> str:
        return self.told.folder

    @property
    def files(self) -> tuple[str, ...]:
        return self.told.files

    @property
    def separator(self) -> Literal[",", ";", "\t", "|"] | None:
        return self.told.separator

    @property
    def encoding(self) -> Encoding | None:
        return self.told.encoding


@dataclass(frozen=True, slots=True)
class ReadTable:
    """Rows as they were read.

    Attributes:
        columns: By name, by row: the text; None is missing.
        left_out: Columns that the files have and nobody declared.
        set_aside: Rows that could not be read.
        told: Where the first of these stand, and why.
        files: Names of the files.
    """

    columns: dict[str, list[Text]]
    left_out: list[str]
    set_aside: int
    told: list[str]
    files: list[str]

    @property
    def rows(self) -> int:
        """Return how many rows were read."""
        return len(next(iter(self.columns.values())))

    def document(self) -> Document:
        """Return what was read, counted."""
        return {
            "files": self.files,
            "rows": self.rows,
            "rows_set_aside": self.set_aside,
            "set_aside": self.told[:10],
            "columns_left_out": self.left_out,
        }


def read_columns(
    told: TableFiles, columns: Sequence[str], reading: Reading
) -> ReadTable:
    """Read some columns of files; surrounding blanks go.

    Args:
        told: The files.
        columns: Which columns, each once.
        reading: What they are read with.

    Raises:
        IngestionError: A file cannot be read as such a table.
        CommandRefusedError: There is no row.
    """
    scratch = reading.scratch
    named = _Named(told, tuple(columns))
    missing = {"", *told.missing}
    where = Path(_IN_MEMORY) if scratch is None else scratch / _REGISTER
    with opened(where) as register:
        if scratch is None:
            register.connection.execute("SET temp_directory = ''")
        rows = read_table(register, named, reading.folder, reading.tell)
        wanted = ", ".join(rows.column(name) for name in columns)
        found = register.connection.execute(
            f"SELECT {wanted} FROM {rows.table} ORDER BY row"  # noqa: S608 - numbered columns
        )
        held: list[list[Text]] = [[] for _ in columns]
        while batch := found.fetchmany(_BATCH):
            reading.check()
            for column, values in zip(held, zip(*batch, strict=True), strict=True):
                column.extend(_read(value, missing) for value in values)
    if not held[0]:
        message = "the files have no row: nothing was made"
        raise CommandRefusedError(message)
    return ReadTable(
        dict(zip(columns, held, strict=True)),
        [name for name in rows.columns if name not in columns],
        rows.set_aside,
        rows.told,
        [str(one["name"]) for one in rows.files],
    )


def read_crosswalk(told: Crosswalk, reading: Reading) -> dict[str, str]:
    """Return the patient of each id of a source.

    Raises:
        IngestionError: A file cannot be read as such a table.
        CommandRefusedError: The source has no id there.
    """
    columns = read_columns(told, ("source", "id", "key"), reading).columns
    rows = zip(columns["source"], columns["id"], columns["key"], strict=True)
    found = {
        str(id_): key for source, id_, key in rows if source == told.source and key
    }
    if not found:
        known = ", ".join(sorted({str(one) for one in columns["source"]}))
        message = f"linked: no id of the source {told.source!r}; there are {known}"
        raise CommandRefusedError(message)
    return found


def write_private_rows(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    """Write rows of a copy as a new CSV file, durably.

    Raises:
        OSError: They cannot be written.
    """
    with (
        private_file(path) as raw,
        TextIOWrapper(raw, encoding="utf-8", newline="") as file,
    ):
        write_rows(file, header, rows)
        file.flush()
        os.fsync(file.fileno())


def _read(value: Text, missing: set[str]) -> Text:
    told = (value or "").strip()
    return None if told in missing else told


def hierarchy_file(configured: Path | None, file: str) -> Path:
    """Return where a hierarchy's file lies.

    Args:
        configured: The import folder, as it is configured.
        file: The path under it.

    Raises:
        CommandRefusedError: It is not there.
    """
    folder = import_folder(configured)
    try:
        path = (folder / file).resolve()
        if path.is_relative_to(folder) and path.is_file():
            return path
    except (OSError, ValueError, RuntimeError):
        pass
    message = (
        f"no file {file!r} lies under CURATOR_IMPORT: write the path of a "
        "hierarchy's file under that folder"
    )
    raise CommandRefusedError(message)
