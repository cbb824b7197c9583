"""The files that a table declares: found, kept inside the import folder, opened."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import duckdb

from engines.regular_files import FileIdentity, identity_of
from upstream.errors import IngestionError, Problem
from upstream.files.csv_structure import CsvFile, check_csv
from upstream.files.exports.file_parts import FilePart, parts_of
from upstream.files.exports.inner_names import inner_names
from upstream.files.exports.plain_copies import (
    CopyArea,
    needs_copy,
    of_each_sheet,
)
from upstream.manifests.declarations import ColumnSpec, TableSpec
from upstream.manifests.file_specs import FileKind, kind_of, unread
from upstream.progress import Progress, ProgressStep, silent

_SPECIAL = frozenset("*?[]{}")
_CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})  # of Unicode, and what is no text


@dataclass(frozen=True, slots=True)
class ParquetFile:
    """A Parquet file, its columns' DuckDB types in file order, and its identity.

    And the names of it and of the folders on the way to it; and, where it has the first
    rows of another file alone, that file.
    """

    path: Path
    types: tuple[tuple[str, str], ...]
    identity: FileIdentity
    names: tuple[str, ...] = ()
    origin: "ParquetFile | None" = None

    @property
    def name(self) -> str:
        """What to call it in a problem."""
        return self.path.name if self.origin is None else self.origin.path.name

    @property
    def header(self) -> tuple[str, ...]:
        """The column names."""
        return tuple(name for name, _ in self.types)


SourceFile = CsvFile | ParquetFile


def rows_of(file: SourceFile, connection: duckdb.DuckDBPyConnection) -> int:
    """Return how many rows a file has, by its structure or its footer."""
    if isinstance(file, CsvFile):
        return file.records
    found = connection.execute(
        "SELECT sum(num_rows) FROM parquet_file_metadata([?])", [str(file.path)]
    ).fetchone()
    return int((found or (0,))[0] or 0)


class Header(Protocol):
    """What has column names."""

    @property
    def header(self) -> tuple[str, ...]:
        """The column names."""
        ...


@dataclass(frozen=True, slots=True)
class Folders:
    """Where globs start, and the folder that real paths must not leave.

    And where copies are made of what is no plain CSV; None: files are only looked up.
    """

    base: Path
    import_folder: Path
    copies: CopyArea | None = None


def open_sources(
    table: TableSpec,
    folders: Folders,
    connection: duckdb.DuckDBPyConnection,
    progress: Progress = silent,
) -> tuple[SourceFile, ...]:
    """Return the table's files, each checked, in the order of their paths.

    Raises:
        IngestionError: Every problem found: one for each file or pattern.
    """
    if table.database is not None:
        return _of_database(table, folders)
    problems: list[Problem] = []
    files: list[SourceFile] = []
    found = list(_found(table, folders, problems))
    tell = _Told(table.name, [path for path, _ in found], progress)
    opener = _Opener(table, folders, connection, tell)
    for path, match in found:
        try:
            parts = list(opener.parts(path, _name(match, folders.base)))
        except IngestionError as error:
            problems.extend(error.problems)
            continue
        for opened_by, part in parts:
            try:
                file = opened_by.open(part)
            except IngestionError as error:
                problems.extend(error.problems)
                continue
            problems.extend(_missing_columns(table, file, file.name))
            names = (*_names(path, match, folders), *opened_by.inner_names(part))
            files.append(replace(file, names=names))
    problems.extend(_in_no_file(table, files) if files else ())
    if problems:
        raise IngestionError(tuple(problems))
    return tuple(files)


def _of_database(table: TableSpec, folders: Folders) -> tuple[SourceFile, ...]:
    if folders.copies is None or table.database is None:
        raise ValueError
    file = folders.copies.of_database(table)
    if problems := tuple(_missing_columns(table, file, file.name)):
        raise IngestionError(problems)
    chosen = [table.database.table, table.database.table_schema]
    chosen += folders.copies.names_of_database(table)
    return (replace(file, names=tuple(name for name in chosen if name)),)


def files_of(table: TableSpec, folders: Folders) -> list[Path]:
    """Return the files that a table's patterns name and that may be read."""
    return [path for path, _ in _found(table, folders, [])]


def _found(
    table: TableSpec, folders: Folders, problems: list[Problem]
) -> Iterator[tuple[Path, Path]]:
    """Yield real and found path of each file once; note what cannot be read."""
    root = folders.import_folder.resolve()
    seen: set[Path] = set()
    for pattern in table.files:
        found = sorted(folders.base.glob(pattern))
        matches = [path for path in found if not path.is_dir()]
        if not matches:
            problems.append(no_file(table.name, pattern, is_folder=bool(found)))
        for match in matches:
            real = match.resolve()
            if flaw := _flaw(real, root):
                problems.append(Problem(_name(match, folders.base), None, None, flaw))
            elif real not in seen:
                seen.add(real)
                yield real, match


def no_file(table: str, pattern: str, *, is_folder: bool = False) -> Problem:
    """Say that a pattern of a table names nothing, or folders alone."""
    if is_folder:
        sentence = f"is a folder: name the files in it for table {table}"
        return Problem(pattern, None, None, sentence)
    sentence = (
        f"no file matches for table {table}: patterns are read from the manifest's "
        "folder; put the file there, or take the table out of the manifest"
    )
    return Problem(pattern, None, None, sentence)


def _names(path: Path, match: Path, folders: Folders) -> tuple[str, ...]:
    """Return the names on the way to a file, as it was found and where it really is."""
    base = folders.base.resolve()
    start = base if path.is_relative_to(base) else folders.import_folder.resolve()
    return tuple(dict.fromkeys((*_below(match, folders.base), *_below(path, start))))


def _below(path: Path, folder: Path) -> Iterator[str]:
    """Yield the names of a file and of its folders, and the file's without its kind."""
    below = path.relative_to(folder) if path.is_relative_to(folder) else path
    yield from below.parts
    yield below.stem


def _name(path: Path, base: Path) -> str:
    name = str(path.relative_to(base)) if path.is_relative_to(base) else str(path)
    return name if name.isprintable() else ascii(name)


def _flaw(real: Path, root: Path) -> str | None:
    flaws = (
        (
            not real.is_relative_to(root),
            "lies outside the import folder: move it inside",
        ),
        (not real.is_file(), "is no regular file: copy it here"),
        (
            kind_of(real.name) is None,
            unread(real.name),
        ),
        (_has_controls(real, root), "its path has a control character: rename it"),
        (bool(_SPECIAL & set(str(real))), "its path has * ? [ ] { or }: rename it"),
    )
    return next((sentence for flawed, sentence in flaws if flawed), None)


def _has_controls(real: Path, root: Path) -> bool:
    """Whether a name below the root has a character that ends a line or a text."""
    below = real.relative_to(root) if real.is_relative_to(root) else real
    return any(unicodedata.category(each) in _CONTROLS for each in str(below))


class _Told:
    """Adds up the bytes that were checked, over all of a table's files."""

    def __init__(self, table: str, paths: Sequence[Path], progress: Progress) -> None:
        csv = (p for p in paths if kind_of(p.name) != "parquet")
        self.total = sum(path.stat().st_size for path in csv)
        self.done = 0
        self.table = table
        self.progress = progress

    def __call__(self, checked_bytes: int) -> None:
        self.done += checked_bytes
        if self.total:
            step = ProgressStep("check", self.table, self.done, self.total, "bytes")
            self.progress(step)


@dataclass(frozen=True, slots=True)
class _Opener:
    """Opens the files of a table."""

    table: TableSpec
    folders: Folders
    connection: duckdb.DuckDBPyConnection
    tell: Callable[[int], None]

    def parts(self, path: Path, name: str) -> Iterator[tuple["_Opener", FilePart]]:
        """Yield each part of a file, and what opens it.

        A part is a file of an archive, a sheet of several, or all of it.

        Raises:
            IngestionError: It is an archive that cannot be read.
        """
        copies = self.folders.copies
        warnings = None if copies is None else copies.warnings
        root = self.folders.import_folder.resolve()
        try:
            parts = parts_of(path, name, warnings, root)
        except OSError as error:
            raise _unreadable(name, error) from error
        tell = self.tell
        for part in parts:
            is_workbook = part.kind == "workbook"
            for table in of_each_sheet(self.table) if is_workbook else [self.table]:
                yield replace(self, table=table, tell=tell), part
                tell = _untold

    def inner_names(self, part: FilePart) -> tuple[str, ...]:
        """Return by what names rows were chosen within a public table's file."""
        if not self.table.public:
            return ()
        return inner_names(self.table, part, self.folders.import_folder.resolve())

    def open(self, part: FilePart) -> SourceFile:
        """Return a file that was checked.

        Raises:
            IngestionError: What is wrong with it.
        """
        try:
            if part.kind == "parquet":
                return self._parquet(part.path)
            return self._rows(part)
        except OSError as error:
            raise _unreadable(part.name, error) from error
        except duckdb.Error as error:
            sentence = "is no Parquet file that can be read: export it again"
            problem = Problem(part.name, None, None, sentence)
            raise IngestionError((problem,)) from error

    def _parquet(self, path: Path) -> ParquetFile:
        whole = _parquet(path, self.connection)
        copies = self.folders.copies
        if copies is None or copies.most_rows is None:
            return whole
        part = copies.of_parquet(self.connection, path)
        return replace(_parquet(part, self.connection), origin=whole)

    def _rows(self, part: FilePart) -> CsvFile:
        copies = self.folders.copies
        root = self.folders.import_folder.resolve()
        is_part = copies is not None and copies.most_rows is not None
        if not is_part and not needs_copy(self.table, part.path.name):
            return check_csv(part.path, part.file_name, self.tell, root)
        if copies is None:
            raise ValueError
        return copies.of_file(self.table, part, self.tell, root)


def _unreadable(name: str, error: OSError) -> IngestionError:
    sentence = f"cannot be read: {error.strerror}"
    return IngestionError((Problem(name, None, None, sentence),))


def _untold(_: int) -> None:
    """A file's bytes are told once, whatever number of sheets is read."""


def _parquet(path: Path, connection: duckdb.DuckDBPyConnection) -> ParquetFile:
    identity = identity_of(path)
    rows = connection.execute(
        "SELECT column_name, column_type FROM (DESCRIBE FROM read_parquet([?]))",
        [str(path)],
    ).fetchall()
    types = tuple((str(name), str(type_)) for name, type_ in rows)
    return ParquetFile(path, types, identity)


def refuse_changed(files: Iterable[SourceFile]) -> None:
    """Require that files are those that were checked, in the same state.

    DuckDB opens them by their paths, and reads columns by position: another file of
    that name could have other columns there.

    Raises:
        IngestionError: Those that are not.
    """
    sentence = (
        "changed while it was read: repeat the load when nobody writes it, links it or "
        "changes its rights"
    )
    changed = [Problem(f.name, None, None, sentence) for f in files if _moved(f)]
    if changed:
        raise IngestionError(tuple(changed))


def _moved(file: SourceFile) -> bool:
    origin = file.origin
    try:
        if identity_of(file.path) != file.identity:
            return True
        if origin is None or origin.path is None:
            return False
        return identity_of(origin.path) != origin.identity
    except OSError:
        return True


def _missing_columns(
    table: TableSpec, file: SourceFile, name: str
) -> Iterator[Problem]:
    line = 1 if isinstance(file, CsvFile) and file.origin is None else None
    absent = []
    for column in table.columns:
        found = column.names_in(file.header)
        twice = [name for name in found if file.header.count(name) > 1]
        if twice:
            key, spec = (
                ("excel", table.excel)
                if _kind(file) == "workbook"
                else ("csv", table.csv)
            )
            above = (spec.skip_rows or 0) + 1 if spec is not None else 1
            sentence = (
                f"the column {twice[0]!r} stands twice in the header: name the columns "
                f"anew, with {key}: {{skip_rows: {above}, names: [...]}}"
            )
            yield Problem(name, line, None, sentence)
        elif len(found) > 1:
            yield Problem(name, line, None, two_names(table, column, found))
        elif not found and not column.is_optional:
            absent.append(column)
    if absent and (said := _otherwise_written(file.header)):
        yield Problem(name, line, None, said)
        return
    if len(absent) == len(table.columns) > 1:
        yield Problem(name, line, None, _none_found(table, file))
        return
    for column in absent:
        yield Problem(name, line, None, _absent(table, column, file))


def _none_found(table: TableSpec, file: SourceFile) -> str:
    """Say that a file has no column of its table."""
    if _kind(file) == "json":
        return (
            f"no object has a field of table {table.name}: fields within fields are "
            "named by both (patient_id), and those of a list's elements are read with "
            "json: {list: ...}"
        )
    return (
        f"the header has no column of table {table.name}: if the file has no "
        "header, declare csv: {names: [...]}; if lines stand before it, skip_rows"
    )


def _kind(file: SourceFile) -> FileKind | None:
    """Return what a file is, as the custodian has it."""
    path = file.path if file.origin is None else file.origin.path
    if path is None or isinstance(file, ParquetFile) or file.origin is None:
        return None if path is None else kind_of(path.name)
    return file.origin.kind


def _otherwise_written(header: Sequence[str]) -> str | None:
    """Return what to do about a header that is no row of names; None: it is one."""
    if all(name[:1] == name[-1:] == "'" for name in header):
        return (
            'apostrophes stand around the names of columns: declare csv: {quote: "\'"}'
        )
    if len(header) == 1 and re.search(r"\S {2,}\S", header[0]):
        return (
            "blanks stand between the names of columns, as where columns have a fixed "
            "width: export the file with a delimiter, such as semicolons or tabs"
        )
    return None


def two_names(table: TableSpec, column: ColumnSpec, found: Sequence[str]) -> str:
    """Say that a file has several of a column's names: which one would be meant?"""
    return (
        f"has {' and '.join(map(repr, found))}, all of them names of {table.name}."
        f"{column.name}: of each file one is read, so take the others out of its from; "
        "what they hold can be columns of their own, and one derived from both"
    )


def _absent(table: TableSpec, column: ColumnSpec, file: Header) -> str:
    """Say that a column is missing.

    A file without a header has a patient in its first row: of what stands there
    nothing is told but a name of the declared one's letters and digits.
    """
    wanted = {compared_name(name) for name in column.file_columns}
    alike = [name for name in file.header if compared_name(name) in wanted]
    names = " or ".join(map(repr, column.file_columns))
    meant = f"did you mean from: {alike[0]!r}? else " if alike else ""
    return (
        f"has no column {names} (declared as {table.name}."
        f"{column.name}): {meant}name the file's column with from; where some files "
        "have it alone, declare optional: true"
    )


def _in_no_file(table: TableSpec, files: Sequence[SourceFile]) -> Iterator[Problem]:
    """Refuse an optional column that no file has: a slip of the pen."""
    for column in table.columns:
        held = any(column.names_in(file.header) for file in files)
        if column.is_optional and not held:
            sentence = (
                f"no file has the optional column {column.file_columns[0]!r} of table "
                f"{table.name}: correct its from, or remove it"
            )
            yield Problem(files[0].name, None, None, sentence)


def unit_columns_in_public_file(
    files: Sequence[Header], unit_columns: tuple[frozenset[str], frozenset[str]]
) -> frozenset[str]:
    """Return the columns that make a public table's files look private (PRIVACY 2).

    Any that is called as a unit column is, in the manifest or in its file, by letters
    and digits alone: a file whose own key is called so must rename it.
    """
    units = {compared_name(name) for name in unit_columns[0] | unit_columns[1]} - {""}
    return frozenset(
        name for file in files for name in file.header if compared_name(name) in units
    )


def compared_name(name: str) -> str:
    """Return the letters and digits of a column's name, by which names are compared.

    >>> {compared_name(name) for name in ("patient_id", "Patient-ID", " PATIENT id")}
    {'patientid'}
    """
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", plain)))
