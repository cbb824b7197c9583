"""Any export written anew as plain CSV, in the load's own folder.

A load reads plain CSV and Parquet. Of what is written otherwise a copy is made first:
the same texts, field by field, and where each record stands in what the custodian has.
So whatever a file is like, its rows are typed, hashed and compared by one path.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar

import duckdb

from engines.regular_files import FileIdentity, identity_of_open, opened
from privacy.wording import counted
from upstream.errors import IngestionError
from upstream.files.csv_structure import (
    CsvFile,
    Origin,
    check_csv,
    other_separator,
)
from upstream.files.exports.cell_forms import odd_cells
from upstream.files.exports.database_tables import (
    OpenDatabases,
    database_records,
    declared_table,
)
from upstream.files.exports.databases import names_of_database
from upstream.files.exports.delimited import Utf8Lines, delimited_records
from upstream.files.exports.file_parts import FilePart
from upstream.files.exports.footers import Footer
from upstream.files.exports.json_rows import JsonRows, json_records
from upstream.files.exports.packed import member_of, unpacked
from upstream.files.exports.workbooks import (
    hidden_sheets,
    trimmed,
    workbook_records,
)
from upstream.files.records import (
    Places,
    Record,
    Widths,
    refused,
    several_rows_warnings,
)
from upstream.manifests.declarations import TableSpec
from upstream.manifests.file_specs import (
    CsvSpec,
    ExcelSpec,
    FileKind,
    is_compressed,
    kind_of,
)

_Told = Callable[[int], None]
_T = TypeVar("_T")
_WIDE = frozenset({"utf-8", "utf-16", "utf-16-le", "utf-16-be", "ascii"})
_ABSENT = (
    "{}: no object has the field {}: the column is empty in all of its rows; correct "
    "its from, or leave it out of the manifest"
)
_EMPTY_HEADER = "the file is empty: it needs a header row, or csv: {names: [...]}"


@dataclass(slots=True)
class CopyArea:
    """Where a load writes its copies, and how much it reads.

    Attributes:
        folder: The load's own; gone when the load ends.
        import_folder: What no file may lie outside of.
        most_rows: The first rows of each file that are read; None: all are.
        is_forgiving: Whether records of another width than the header's are left out;
            else they refuse the file.
        warnings: What looks like a slip in how files are declared, a sentence each.
    """

    folder: Path
    import_folder: Path
    most_rows: int | None = None
    is_forgiving: bool = False
    warnings: list[str] = field(default_factory=list)
    _databases: OpenDatabases = field(init=False)
    _made: int = 0

    def __post_init__(self) -> None:
        self._databases = OpenDatabases(self.import_folder)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read databases, all tables of one in one state, until the block ends."""
        with ExitStack() as stack:
            self._databases.open_in(stack)
            yield

    def next_path(self) -> Path:
        """Return the path of the next copy."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._made += 1
        return self.folder / f"copy_{self._made}.csv"

    def first_rows(self, rows: Iterable[_T]) -> Iterator[_T]:
        """Return as many rows as are read of one file."""
        return islice(rows, self.most_rows)

    def of_file(
        self,
        table: TableSpec,
        part: FilePart,
        tell: _Told,
        root: Path,
    ) -> CsvFile:
        """Return a copy of the rows of a text file, a workbook, or one in an archive.

        Raises:
            OSError: It cannot be read.
            IngestionError: It is written otherwise than is declared.
        """
        name = part.name
        with (
            opened(part.path, within=root) as whole,
            member_of(whole, part.file_name, part.member) as file,
        ):
            identity = identity_of_open(whole)
            several, absent = Places(), list[str]()
            with _records(table, file, name, several, absent) as records:
                shown = _with_sheet(table, name)
                names, footer = _names(table, name), _footer(table, name)
                copied = self._write(records, shown, names, footer)
            self.warnings.extend(several_rows_warnings(name, several))
            self.warnings.extend(_ABSENT.format(name, one) for one in absent)
            self.warnings.extend(_as_other_encoding(table, file, name))
            if kind_of(name) == "workbook":
                sheet = table.excel.sheet if table.excel else None
                self.warnings.extend(odd_cells(file, shown, sheet))
                if not self.is_forgiving:
                    self.warnings.extend(_as_hidden(table, file, name))
            tell(identity.size_bytes)
        return replace(copied, kind=part.kind).read(part.path, identity)

    def of_database(self, table: TableSpec) -> CsvFile:
        """Return a copy of the rows of a table of a database.

        Raises:
            IngestionError: It cannot be read.
        """
        records = database_records(table, self._databases)
        return self.of_records(records, table.name)

    def of_records(self, records: Iterator[Record], name: str) -> CsvFile:
        """Return a copy of records, the header's first, called so in problems."""
        return self._write(records, name, None, 0).read(None, None)

    def names_of_database(self, table: TableSpec) -> tuple[str, ...]:
        """Return the names by which the database of a table was chosen."""
        if table.database is None:
            raise ValueError
        source = declared_table(table, table.database)
        return names_of_database(source, self.import_folder)

    def of_parquet(self, connection: duckdb.DuckDBPyConnection, path: Path) -> Path:
        """Return a Parquet file of the first rows of one."""
        target = self.next_path().with_suffix(".parquet")
        rows = f"SELECT * FROM read_parquet($1) LIMIT {self.most_rows}"  # noqa: S608 - our own number
        connection.execute(f"COPY ({rows}) TO '{_escaped(target)}'", [str(path)])
        return target

    def _write(
        self,
        records: Iterator[Record],
        name: str,
        names: Sequence[str] | None,
        footer: int | Literal["auto"],
    ) -> "_Copy":
        """Write records as plain CSV, and the line of each beside it.

        Raises:
            IngestionError: Some have another number of fields than the header.
        """
        header = names
        if header is None:
            first = next(records, None)
            if first is None:
                raise refused(name, _EMPTY_HEADER, 1)
            header = first[1]
        path = self.next_path()
        if said := other_separator(header):
            raise refused(name, said, 1)
        widths = Widths(name, len(header), 0 if isinstance(footer, str) else footer)
        if len(header) != 1:
            records = (record for record in records if record[1])  # no blank lines
        end = Footer(footer, len(header))
        rows = self.first_rows(end.without(records))
        lines = path.with_suffix(".lines")
        with (
            path.open("w", encoding="utf-8", newline="") as copy,
            lines.open("wb") as at,
        ):
            writer = csv.writer(copy, lineterminator="\n")
            writer.writerow(header)
            for line, fields in rows:
                if widths.fits(line, fields or [""]):
                    writer.writerow(fields or [""])
                    at.write(line.to_bytes(8, "little"))
        end.refuse_among_rows(name)
        self.warnings.extend(end.warnings(name))
        problems = tuple(widths.problems())
        if problems and not self.is_forgiving:
            raise IngestionError(problems)
        return _Copy(path, name, lines)


@dataclass(frozen=True, slots=True)
class _Copy:
    path: Path
    name: str
    lines: Path
    kind: FileKind | None = None

    def read(self, origin: Path | None, identity: FileIdentity | None) -> CsvFile:
        """Return the copy, checked as any plain CSV is."""
        try:
            checked = check_csv(self.path, self.name)
        except IngestionError as error:
            # Lines of the copy are not those of what the custodian has.
            problems = tuple(replace(one, line=None) for one in error.problems)
            raise IngestionError(problems) from error
        kind = None if origin is None else self.kind
        told = Origin(self.name, origin, identity, self.lines, kind)
        return replace(checked, origin=told, warnings=())  # told of the origin


def _as_other_encoding(table: TableSpec, file: BinaryIO, name: str) -> Iterator[str]:
    """Yield a warning of UTF-8 that is read as if each byte were a character."""
    encoding = table.csv.encoding if table.csv else None
    if kind_of(name) != "csv" or encoding is None or encoding in _WIDE:
        return
    file.seek(0)
    with unpacked(file, name) as content:
        lines = Utf8Lines.of(content)
        if lines.count and lines.others:
            told = counted(lines.count, "line")
            yield (
                f"{name}:{lines.first}: {told} beyond ASCII in UTF-8, this one the "
                f"first, beside {lines.others:,} in another encoding: {encoding} is "
                "declared, by which each letter beyond ASCII in the former becomes two "
                "others; write the whole file in one encoding"
            )
        elif lines.count:
            yield (
                f"{name}: all that is beyond ASCII in it is UTF-8, and {encoding} is "
                "declared, by which each such letter becomes two others: save it as "
                f"{encoding}, or declare it as a table of its own with csv: "
                "{encoding: utf-8}"
            )


def _as_hidden(table: TableSpec, file: BinaryIO, name: str) -> Iterator[str]:
    """Yield a warning of a sheet that its workbook does not show."""
    hidden = hidden_sheets(file, name)
    named = table.excel.sheet if table.excel else None
    read = {named} if named else set(hidden)  # of one sheet alone no name is needed
    for sheet in sorted(hidden & read):
        yield (
            f"{name}: the sheet {sheet!r} is hidden in the workbook: is it meant, or "
            "is it an old one that somebody put away?"
        )


def _with_sheet(table: TableSpec, name: str) -> str:
    """Return what a file's part is called: a sheet of several with its own name."""
    sheet = table.excel.sheet if table.excel else None
    return name if sheet is None or kind_of(name) != "workbook" else f"{name}:{sheet}"


def _names(table: TableSpec, name: str) -> Sequence[str] | None:
    if kind_of(name) == "json":
        return None
    named = [s.names for s in (table.csv, table.excel) if s is not None and s.names]
    return named[0] if named else None


def _footer(table: TableSpec, name: str) -> int | Literal["auto"]:
    specs = {"csv": table.csv, "workbook": table.excel}
    spec = specs.get(str(kind_of(name)))
    return (spec.footer_rows if spec is not None else None) or 0


@contextmanager
def _records(
    table: TableSpec,
    file: BinaryIO,
    name: str,
    several: Places | None = None,
    absent: list[str] | None = None,
) -> Iterator[Iterator[Record]]:
    """Lend the records of a file as it is declared, the header's first."""
    if kind_of(name) == "workbook":
        sheet = table.excel or ExcelSpec()
        found = workbook_records(file, name, sheet, _decimal_marks(table))
        yield _within_sheet(found, len(sheet.names or ()))
        return
    if kind_of(name) == "json":
        columns = [column.file_columns for column in table.columns]
        yield json_records(file, name, _json_rows(table), columns, absent)
        return
    spec = table.csv or CsvSpec()
    with (
        unpacked(file, name) as content,
        delimited_records(content, name, spec, several) as found,
    ):
        yield found


def _json_rows(table: TableSpec) -> JsonRows:
    path = () if table.json_ is None else table.json_.path
    return JsonRows(path, keeps_lists=table.public)


def _decimal_marks(table: TableSpec) -> dict[str, str]:
    """Return the decimal marks of a table's columns, by their names in its files."""
    return {
        name: column.decimal
        for column in table.columns
        if column.decimal is not None
        for name in column.file_columns
    }


def _within_sheet(records: Iterator[Record], width: int) -> Iterator[Record]:
    """Yield a sheet's rows up to its header's last name; ``width``: 0, or its names."""
    for line, texts in records:
        width = width or trimmed(texts)
        beyond = max(width, trimmed(texts))
        yield line, texts[:beyond]


def header_of(table: TableSpec, part: FilePart) -> Sequence[str]:
    """Return the column names of a text file or a workbook, without reading rows.

    Raises:
        OSError: It cannot be read.
        IngestionError: It is written otherwise than is declared, as far as it was read.
    """
    name = part.name
    if names := _names(table, name):
        return names
    with (
        opened(part.path) as whole,
        member_of(whole, part.file_name, part.member) as file,
        _records(table, file, name) as records,
    ):
        first = next(records, None)
    if first is None:
        raise refused(name, _EMPTY_HEADER, 1)
    is_plain = kind_of(name) == "csv" and table.csv is None
    if is_plain and (said := other_separator(first[1])):
        raise refused(name, said, 1)
    return first[1]


def of_each_sheet(table: TableSpec) -> list[TableSpec]:
    """Return a table once for each sheet of a workbook that makes it."""
    if table.excel is None:
        return [table]
    specs = table.excel.of_each_sheet()
    return [table.model_copy(update={"excel": spec}) for spec in specs]


def needs_copy(table: TableSpec, name: str) -> bool:
    """Return whether a file is read by a copy: it is no plain CSV, nor Parquet."""
    kind = kind_of(name)
    return kind in {"json", "workbook"} or (
        kind == "csv" and (table.csv is not None or is_compressed(name))
    )


def _escaped(path: Path) -> str:
    return str(path).replace("'", "''")
