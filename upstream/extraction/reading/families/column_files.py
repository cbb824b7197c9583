"""Columns of CSV and Parquet files: each value of a text column is one document."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import BinaryIO

from upstream.extraction.reading.decoding.encodings import decode, refuse_other_formats
from upstream.extraction.reading.decoding.rewriting import Rewriter
from upstream.extraction.reading.families.csv_records import CsvRecords, Field, Record
from upstream.extraction.reading.families.parquet_rows import parquet_rows
from upstream.extraction.reading.families.rows import Row, documents_of
from upstream.extraction.reading.families.text_files import MOST_BYTES, read_files
from upstream.extraction.reading.folders import SourceFile
from upstream.extraction.reading.outcomes import (
    END,
    Candidate,
    FlawError,
    Position,
    Reason,
    Written,
)
from upstream.extraction.reading.specs import ColumnFiles
from upstream.extraction.text.documents import Place

_MARK = b"\xef\xbb\xbf"
_BESIDE_BYTES = 2**20  # what a record's other columns may have in all
_MOST_HEADER_BYTES = 2**20


def read_column_files(
    source: ColumnFiles, import_folder: Path, after: Position | None
) -> Iterator[Candidate]:
    """Yield one candidate for each row and text column; as ``read_documents``."""

    def read(
        file: SourceFile, content: BinaryIO, begun: Position | None
    ) -> Iterator[Candidate]:
        suffix = Path(file.id).suffix.lower()
        try:
            if suffix in {".parquet", ".pq"}:
                rows = parquet_rows(source, file, begun.record if begun else 1)
            else:
                rows = _csv_rows(source, file, content, begun)
            for row in rows:
                yield from documents_of(source, file.name, row)
        except FlawError as flaw:
            yield Candidate(file.name, Place(file.name), Position(file.id, END), flaw)

    return read_files(source, import_folder, after, read)


def _csv_rows(
    source: ColumnFiles, file: SourceFile, content: BinaryIO, begun: Position | None
) -> Iterator[Row]:
    """Yield a CSV file's rows from a position on.

    Raises:
        FlawError: The file is no CSV with these columns.
    """
    most = MOST_BYTES * (source.max_characters + 1) * len(source.texts) + _BESIDE_BYTES
    at = _header(source, content)
    first = 1
    if begun is not None:
        content.seek(begun.offset)
        first = begun.record
    records = CsvRecords(content, source.separator, most)
    for number, record in zip(count(first), records, strict=False):
        position = Position(file.id, number, 0, record.start, file.state)
        yield _CsvRow(source, position, record, at).row()


@dataclass(frozen=True, slots=True)
class _Header:
    """Where the declared columns stand, and how many fields a record has."""

    columns: Mapping[str, int]
    width: int


def _header(source: ColumnFiles, content: BinaryIO) -> _Header:
    begin = content.read(_MOST_HEADER_BYTES)
    refuse_other_formats(begin)
    if begin.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in begin[:4]:
        said = "a CSV file in UTF-16 is not read: save it as UTF-8"
        raise FlawError(Reason.BAD_ENCODING, said, 0)
    content.seek(len(_MARK) if begin.startswith(_MARK) else 0)
    records = CsvRecords(content, source.separator, _MOST_HEADER_BYTES)
    header = next(iter(records), None)
    if header is None:
        raise FlawError(Reason.EMPTY, "it is empty: it needs a header row", 0)
    if header.flaw is not None:
        raise header.flaw
    names = [_decoded(source, each).text for each in header.fields]
    columns = {name: _only(names, name) for name in source.columns}
    return _Header(columns, len(names))


def _only(names: Sequence[str], name: str) -> int:
    if names.count(name) == 1:
        return names.index(name)
    said = "stands twice in the header" if name in names else "is not in the header"
    raise FlawError(Reason.BAD_STRUCTURE, f"the column {name!r} {said}")


def _decoded(source: ColumnFiles, field: Field) -> Written:
    """Return a field's text; a doubled quote is one, and both its bytes are its place.

    Raises:
        FlawError: Its bytes are no text.
    """
    if b"\0" in field.raw:
        said = "a zero byte stands in it: it is no text"
        raise FlawError(Reason.BINARY, said, field.start + field.raw.index(0))
    written = decode(field.raw, source.encoding, original=field.start)
    if not field.is_quoted or '"' not in written.text:
        return written
    rewriter = Rewriter(written)
    start = 0
    while (quote := written.text.find('""', start)) >= 0:
        rewriter.copy(start, quote)
        rewriter.replace(quote, quote + 2, '"')
        start = quote + 2
    rewriter.copy(start, len(written.text))
    return rewriter.written()


@dataclass(frozen=True, slots=True)
class _CsvRow:
    """A record, to be read by its columns' names."""

    source: ColumnFiles
    position: Position
    record: Record
    header: _Header

    def row(self) -> Row:
        """Return it, as the families of rows have it."""
        flaw = self.record.flaw
        if flaw is None and len(self.record.fields) != self.header.width:
            said = (
                f"{len(self.record.fields)} fields where the header has "
                f"{self.header.width}"
            )
            flaw = FlawError(Reason.BAD_STRUCTURE, said, self.record.start)
        if flaw is not None:
            return Row(self.position, {}, flaw)
        read: Callable[[str], Written | FlawError] = self._read
        return Row(self.position, {name: read(name) for name in self.header.columns})

    def _read(self, name: str) -> Written | FlawError:
        try:
            field = self.record.fields[self.header.columns[name]]
            return _decoded(self.source, field)
        except FlawError as flaw:
            return flaw
