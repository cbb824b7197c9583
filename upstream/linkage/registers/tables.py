"""Rows of a source's files, all columns as texts, in a register.

What cannot be read is set aside with its place and a reason, and nothing else is lost;
a file that is no such table is refused.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path
from typing import Final, Literal, Protocol

import duckdb

from privacy.wording import counted
from upstream.errors import IngestionError, Problem
from upstream.extraction.reading.decoding.encodings import (
    refuse_other_formats,
)
from upstream.extraction.reading.folders import SourceFile, UnreadFile, source_files
from upstream.extraction.reading.outcomes import FlawError
from upstream.files.sources import compared_name
from upstream.linkage.registers.register import Register, Tell, quoted
from upstream.manifests.file_specs import Encoding

_BATCH: Final = 20_000
_SEPARATORS: Final = ",;\t|"
_BEGIN_BYTES: Final = 65_536  # in which a file's format shows
_PARQUET: Final = frozenset({".parquet", ".pq"})
MOST_TOLD: Final = 100
"""Rows that are set aside and told of one by one; all are counted."""


class RowFiles(Protocol):
    """Files of rows, as ``TableSource`` declares them."""

    @property
    def name(self) -> str:
        """Names the source in refusals."""
        ...

    @property
    def folder(self) -> str:
        """Where patterns start, under the import folder."""
        ...

    @property
    def files(self) -> tuple[str, ...]:
        """Patterns of paths under the folder."""
        ...

    @property
    def separator(self) -> Literal[",", ";", "\t", "|"] | None:
        """What stands between the fields of a CSV file; None: what its header says."""
        ...

    @property
    def encoding(self) -> Encoding | None:
        """Of CSV files; None: UTF-8."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that each file must have."""
        ...


@dataclass(slots=True)
class Rows:
    """A source's rows in a register.

    Attributes:
        source: Its name.
        columns: Names of the columns ``c0``, ``c1`` ... of the table. What has no name
            in a header, such as what a separator at its end begins, is none.
        count: How many rows were read.
        set_aside: How many could not be.
        told: Of the first of them where each stands, and why.
        files: What was read: each file's name, size and SHA-256.
    """

    source: str
    columns: list[str] = field(default_factory=list)
    count: int = 0
    set_aside: int = 0
    told: list[str] = field(default_factory=list)
    files: list[dict[str, str | int]] = field(default_factory=list)

    @property
    def table(self) -> str:
        """The table's name, quoted."""
        return quoted(f"rows_{self.source}")

    def column(self, name: str) -> str:
        """Return the table's column of a name."""
        return f"c{self.columns.index(name)}"

    def leave_out(self, sentence: str) -> None:
        """Count a row that cannot be read."""
        self.set_aside += 1
        if len(self.told) < MOST_TOLD:
            self.told.append(sentence)


def read_table(
    register: Register, source: RowFiles, import_folder: Path, tell: Tell
) -> Rows:
    """Read a source's files into a table of its own; one that was there goes.

    The table has ``row`` (from 1), ``file``, ``place`` (a line, or a row of Parquet),
    ``record`` (NULL yet) and the columns as texts.

    Raises:
        IngestionError: A file cannot be read as such a table.
    """
    files = list(source_files(source, import_folder))
    headers = [_header(source, file, register) for file in files]
    rows = Rows(source.name)
    for header in headers:
        rows.columns += [n for n in header if n and n not in rows.columns]
    made = "".join(f", c{number} VARCHAR" for number in range(len(rows.columns)))
    register.connection.execute(
        f"CREATE OR REPLACE TABLE {rows.table} ("
        f"row BIGINT, file VARCHAR, place BIGINT, record INTEGER{made})"
    )
    for file, header in zip(files, headers, strict=True):
        if isinstance(file, SourceFile):
            rows.files.append(_facts(file))
            _read_file(register, rows, source, file, header)
            tell(f"read {source.name}", rows.count, None)
    return rows


def _read_file(
    register: Register,
    rows: Rows,
    source: RowFiles,
    file: SourceFile,
    header: Sequence[str],
) -> None:
    if _is_parquet(file):
        _read_parquet(register, rows, file, header)
        return
    named = [at for at, name in enumerate(header) if name]
    places = [rows.columns.index(header[at]) for at in named]
    batch: list[tuple[int, list[str]]] = []
    for line, fields in _records(rows, source, file, len(header)):
        batch.append((line, [fields[at] for at in named]))
        if len(batch) == _BATCH:
            _insert(register, rows, file.name, places, batch)
            batch = []
    _insert(register, rows, file.name, places, batch)


def _insert(
    register: Register,
    rows: Rows,
    file: str,
    places: Sequence[int],
    batch: Sequence[tuple[int, list[str]]],
) -> None:
    """Write rows of one file; a column that it does not have is NULL."""
    if not batch:
        return
    count, first = len(batch), rows.count + 1
    told = zip(*(values for _, values in batch), strict=True)
    columns = {
        f"c{place}": ("VARCHAR", values)
        for place, values in zip(places, told, strict=True)
    }
    register.insert(
        rows.table,
        {
            "row": ("BIGINT", range(first, first + count)),
            "file": ("VARCHAR", [file] * count),
            "place": ("BIGINT", [line for line, _ in batch]),
            **columns,
        },
    )
    rows.count += count


def _read_parquet(
    register: Register, rows: Rows, file: SourceFile, header: Sequence[str]
) -> None:
    told = ", ".join(
        f"CAST({quoted(name)} AS VARCHAR)" if name in header else "NULL"
        for name in rows.columns
    )
    register.connection.execute(
        f"INSERT INTO {rows.table} SELECT ? + row_number() OVER (), ?, "  # noqa: S608 - quoted names
        f"row_number() OVER (), NULL, {told} FROM read_parquet([?])",
        [rows.count, file.name, str(file.path)],
    )
    rows.count = register.count(rows.table)


def _facts(file: SourceFile) -> dict[str, str | int]:
    with file.path.open("rb") as opened:
        digest = file_digest(opened, "sha256").hexdigest()
    size = file.path.stat().st_size
    return {"name": file.name, "size_bytes": size, "sha256": digest}


def _is_parquet(file: SourceFile) -> bool:
    return file.path.suffix.lower() in _PARQUET


def _refused(file: str, sentence: str, line: int | None = None) -> IngestionError:
    return IngestionError((Problem(file, line, None, sentence),))


def _header(
    source: RowFiles, file: SourceFile | UnreadFile, register: Register
) -> list[str]:
    """Return a file's column names.

    Raises:
        IngestionError: It has none, or lacks one that the source names.
    """
    if isinstance(file, UnreadFile):
        raise _refused(file.name, file.flaw.said)
    names = (
        _parquet_header(register, file)
        if _is_parquet(file)
        else _csv_header(source, file)
    )
    missing = [name for name in source.columns if name not in names]
    if missing:
        raise _refused(file.name, _lacking(source, missing[0], names), 1)
    twice = [name for name in names if name and names.count(name) > 1]
    if twice:
        raise _refused(file.name, _doubled(source, twice[0], names), 1)
    return names


def _lacking(source: RowFiles, missing: str, names: Sequence[str]) -> str:
    """Say that a column is missing.

    A file without a header has a patient in its first row: of what stands there
    nothing is told but a name of the declared one's letters and digits.
    """
    alike = [name for name in names if compared_name(name) == compared_name(missing)]
    meant = f": did you mean {alike[0]!r}?" if alike else ""
    return (
        f"has no column {missing!r} (source {source.name}); its first row has to be a "
        f"header, and has {counted(len(names), 'field')}{meant}"
    )


def _doubled(source: RowFiles, name: str, names: Sequence[str]) -> str:
    """Say that two columns have one name, which is told if it is declared."""
    first = names.index(name) + 1
    second = names.index(name, first) + 1
    told = f"the column {name!r} stands" if name in source.columns else "a name stands"
    return f"{told} twice in the header: in its fields {first} and {second}"


def _parquet_header(register: Register, file: SourceFile) -> list[str]:
    try:
        told = register.connection.execute(
            "DESCRIBE SELECT * FROM read_parquet([?])", [str(file.path)]
        ).fetchall()
    except duckdb.Error:
        raise _refused(file.name, "is no Parquet file that can be read") from None
    return [str(row[0]) for row in told]


def _csv_header(source: RowFiles, file: SourceFile) -> list[str]:
    with file.path.open("rb") as opened:
        begin = opened.read(_BEGIN_BYTES)
    try:
        refuse_other_formats(begin)
    except FlawError as flaw:
        raise _refused(file.name, flaw.said) from None
    if not begin.strip():
        raise _refused(file.name, "is empty: it needs a header row")
    for _, fields in _lines(source, file):
        return [name.strip() for name in fields]
    raise _refused(file.name, "has no header row")


def _records(
    rows: Rows, source: RowFiles, file: SourceFile, width: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the fields of each record behind the header."""
    lines = _lines(source, file)
    next(lines, None)
    for line, fields in lines:
        if not fields:
            continue
        if len(fields) == width:
            yield line, fields
        else:
            rows.leave_out(
                f"{file.name}:{line}: {len(fields)} fields where the header has {width}"
            )


def _lines(source: RowFiles, file: SourceFile) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each record, and the line that it begins in.

    Raises:
        IngestionError: The file is no text in its encoding, or its quotes are broken.
    """
    encoding = source.encoding or "utf-8"
    read = "utf-8-sig" if encoding == "utf-8" else encoding
    line = 1
    with file.path.open(encoding=read, newline="") as opened:
        try:
            separator = source.separator or _separator(opened.readline())
            opened.seek(0)
            reader = csv.reader(opened, delimiter=separator, strict=True)
            for fields in reader:
                yield line, fields
                line = reader.line_num + 1
        except UnicodeDecodeError:
            raise _refused(file.name, _no_text(source)) from None
        except csv.Error:
            sentence = (
                "broken quoting, or a field of more than "
                f"{csv.field_size_limit():,} characters: quotes enclose a whole field, "
                "and a quote inside is doubled; or the separator is another one"
            )
            raise _refused(file.name, sentence, line) from None


def _no_text(source: RowFiles) -> str:
    if source.encoding is None:
        return (
            "is not in UTF-8: declare the encoding of the source "
            f"{source.name}, such as encoding: windows-1252"
        )
    return f"cannot be read as {source.encoding}: declare another encoding"


def _separator(header: str) -> str:
    """Return what a header has most of among what separates fields.

    >>> _separator('a;b;"c,d"')
    ';'
    """
    outside = "".join(header.split('"')[::2])
    return max(_SEPARATORS, key=lambda one: (outside.count(one), one == ","))
