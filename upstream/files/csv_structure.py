"""CSV read to the letter of RFC 4180, to check a file and to find a line in it.

DuckDB reads CSV fast but forgives (a comma too many at a line's end, blanks around
quotes); this pass forgives nothing, and knows the true line of every record.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from engines.regular_files import FileIdentity, identity_of_open, opened
from upstream.errors import IngestionError, Problem
from upstream.files.records import (
    Places,
    is_several_rows,
    several_rows_warnings,
)
from upstream.manifests.file_specs import FileKind

MAX_RECORD_BYTES = 2**20
_LONGEST_LINE = MAX_RECORD_BYTES + 3
_BLOCK_BYTES = 2**20
_BOM = b"\xef\xbb\xbf"
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_NUL = "a NUL in the header: if the file is in UTF-16, declare csv: {encoding: utf-16}"
_OPENS_LATE, _CLOSES_EARLY = re.compile(rb'[^,\n"]"'), re.compile(rb'"[^,\r\n"]')
_FIELD = re.compile(rb'(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\Z)')


@dataclass(frozen=True, slots=True)
class Origin:
    """What the custodian has, where a plain copy of it is read.

    Attributes:
        name: What to call it in a problem.
        path: Where it lies; None: it is a table of a database.
        identity: Which file was copied, and in which state; None likewise.
        lines: A file of 8 bytes a record, little-endian: the line, or row, at which
            the record begins in it.
        kind: What it is; None: no file.
    """

    name: str
    path: Path | None
    identity: FileIdentity | None
    lines: Path
    kind: FileKind | None = None

    def lines_of(self, numbers: Sequence[int]) -> list[int]:
        """Return the lines of records (from 1)."""
        with self.lines.open("rb") as file:
            return [self._line(file, number) for number in numbers]

    @staticmethod
    def _line(file: BinaryIO, number: int) -> int:
        file.seek(8 * (number - 1))
        return int.from_bytes(file.read(8), "little")


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file whose structure was checked.

    Attributes:
        path: Where it lies.
        header: The column names of its first record.
        records: How many records follow the header.
        is_quoted: Whether a quote stands anywhere in it.
        identity: Which file was checked, and in which state.
        names: Of the file and of the folders on the way to it.
        origin: What the custodian has, where this is a copy of it.
        warnings: What looks like a slip in its quotes, a sentence each.
    """

    path: Path
    header: tuple[str, ...]
    records: int
    is_quoted: bool
    identity: FileIdentity
    names: tuple[str, ...] = ()
    origin: Origin | None = None
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What to call it in a problem."""
        return self.path.name if self.origin is None else self.origin.name


def _untold(_checked_bytes: int) -> None:
    """Tell nobody."""


def check_csv(
    path: Path,
    name: str,
    tell: Callable[[int], None] = _untold,
    within: Path | None = None,
) -> CsvFile:
    """Return what the file holds once its structure is known to be sound.

    Args:
        path: The file.
        name: What to call it in a problem.
        tell: Called now and then with how many more bytes were checked.
        within: As of ``engines.regular_files.opened``.

    Raises:
        OSError: It cannot be read, or is no regular file.
        IngestionError: The first place where the file is no CSV in UTF-8.
    """
    checker = _Checker(name)
    with opened(path, within=within) as file:
        identity = identity_of_open(file)
        records = checker.records(file)
        first = next(records, None)
        if first is None:
            raise checker.refusal(1, "the file is empty: it needs a header row")
        header = tuple(field.decode() for field in _fields(first[1]))
        if any("\0" in name for name in header):
            raise checker.refusal(1, _NUL)
        if any("\n" in name or "\r" in name for name in header):
            raise checker.refusal(1, "a column name has a line break: rename it")
        if said := other_separator(header):
            raise checker.refusal(1, said)
        checker.width = len(header)
        count = _count_records(checker, file, tell)
    told = tuple(several_rows_warnings(name, checker.several))
    return CsvFile(path, header, count, checker.is_quoted, identity, warnings=told)


def other_separator(header: Sequence[str]) -> str | None:
    """Return what to say of a header whose names no comma separates.

    Read as one column, such a file has whole rows, and ids, in its values.
    """
    for separator, words in _SEPARATORS.items():
        if len(header) == 1 and separator in header[0]:
            written = "tab" if separator == "\t" else f'"{separator}"'
            return (
                f"{words} stand between the column names: declare csv: {{delimiter: "
                f"{written}}}"
            )
    return None


def _count_records(
    checker: "_Checker", file: BinaryIO, tell: Callable[[int], None]
) -> int:
    """Return how many records follow, blockwise fast where that is enough."""
    count = 0
    start, before = file.tell(), -1
    while before < start:
        count += checker.skip_plain_blocks(file, tell)
        before = file.tell()
        count += sum(1 for _ in checker.records(file, before + _BLOCK_BYTES))
        start = file.tell()
        tell(start - before)
    return count


def csv_records_at(
    file: CsvFile, numbers: Sequence[int]
) -> Iterator[tuple[int, list[str]]]:
    """Yield line and fields of the records of these numbers (from 1, ascending).

    The line is that of what the custodian has.
    """
    wanted = set(numbers)
    last = max(wanted, default=0)
    records = enumerate(read_csv_records(file.path), 1)
    found = ((n, r) for n, r in islice(records, last) if n in wanted)
    for number, (line, fields) in found:
        if file.origin is not None:
            (line,) = file.origin.lines_of([number])  # noqa: PLW2901 - of the origin
        yield line, fields


def read_csv_records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line (from 1) and the fields of each record after the header."""
    checker = _Checker(path.name)
    with opened(path) as file:
        records = checker.records(file)
        _, header = next(records)
        checker.width = len(_fields(header))
        for line, record in records:
            yield line, [field.decode() for field in _fields(record)]


def _fields(record: bytes) -> list[bytes]:
    if b'"' not in record:
        return record.split(b",")
    found = []
    position = 0
    while match := _FIELD.match(record, position):
        quoted, plain, comma = match.groups()
        found.append(plain if quoted is None else quoted.replace(b'""', b'"'))
        position = match.end()
        if not comma:
            return found if position == len(record) else []
    return []


def _outside_quotes(block: bytes) -> bytes | None:
    """Return whole lines with one quote for each quoted stretch; None if in doubt.

    A doubled quote splits a field into two stretches side by side. None where a
    quote stands inside an unquoted field, or a line end between quotes.
    """
    pieces = block.split(b'"')
    inside = b"".join(pieces[1::2])
    if len(pieces) % 2 == 0 or b"\n" in inside or b"\r" in inside:
        return None
    outside = b'"'.join(pieces[::2])
    misplaced = _OPENS_LATE.search(outside) or _CLOSES_EARLY.search(outside)
    return None if misplaced else outside


def _is_utf8(block: bytes) -> bool:
    if block.isascii():
        return True
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Checker:
    """Walks the records of one file and refuses at the first flaw."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.width: int | None = None  # fields of a record, once the header is read
        self.ending: bytes | None = None  # of the file's first line
        self.next_line = 1
        self.is_quoted = False
        self.several = Places()  # where records seem to be several rows

    def refusal(
        self, line: int, sentence: str, column: int | None = None
    ) -> IngestionError:
        return IngestionError((Problem(self.name, line, column, sentence),))

    def skip_plain_blocks(self, file: BinaryIO, tell: Callable[[int], None]) -> int:
        """Return how many records stand before the first block that needs care.

        A block of whole lines is plain when it is UTF-8 and every line has the right
        commas, quotes and end: many times faster to see than record by record. The
        file is left where the rest begins.
        """
        count = 0
        while block := file.read(_BLOCK_BYTES):
            whole = block.rfind(b"\n") + 1
            if not whole or not self._is_plain(block[:whole]):
                file.seek(-len(block), 1)
                break
            file.seek(whole - len(block), 1)
            lines = block.count(b"\n")
            count += lines
            self.next_line += lines
            tell(whole)
        return count

    def _is_plain(self, block: bytes) -> bool:
        if self.width in {None, 1} or not _is_utf8(block):
            return False
        lines, returns = block.count(b"\n"), block.count(b"\r")
        ends = block.count(b"\r\n")
        if returns != ends or ends != (lines if self.ending == b"\r\n" else 0):
            return False
        if b'"' in block:
            outside = _outside_quotes(block)
            if outside is None:
                return False
            self.is_quoted, block = True, outside
        commas = {line.count(b",") for line in block.split(b"\n")[:-1]}
        return commas == {(self.width or 0) - 1}

    def records(
        self, file: BinaryIO, until: int | None = None
    ) -> Iterator[tuple[int, bytes]]:
        """Yield the first line and the bytes of each record, without its line end.

        Args:
            file: Read from where it stands.
            until: No record is begun at this offset or beyond.
        """
        start = self.next_line
        while first := file.readline(_LONGEST_LINE):
            lines = self._lines_of_record(file, start, first)
            body = self._without_end(start, b"".join(lines))
            if start == 1:
                body = body.removeprefix(_BOM)
            self.next_line = start + len(lines)
            if body or self.width == 1:
                self._check(start, body)
                yield start, body
            elif start == 1:
                raise self.refusal(1, "the first line is blank: it must be the header")
            start = self.next_line
            if until is not None and file.tell() >= until:
                return

    def _lines_of_record(self, file: BinaryIO, start: int, first: bytes) -> list[bytes]:
        lines, size = [first], len(first)
        is_open = first.count(b'"') % 2
        while is_open:
            line = file.readline(_LONGEST_LINE)
            lines.append(line)
            size += len(line)
            is_open ^= line.count(b'"') % 2
            if not line or size > MAX_RECORD_BYTES:
                raise self.refusal(start, "a quote opens here and is never closed")
        return lines

    def _without_end(self, line: int, record: bytes) -> bytes:
        if len(record) > MAX_RECORD_BYTES:
            raise self.refusal(line, "this record is longer than one mebibyte")
        ending = b"\r\n" if record.endswith(b"\r\n") else b"\n"
        if not record.endswith(b"\n"):
            return record
        self.ending = self.ending or ending
        if ending != self.ending:
            sentence = (
                "lines end in two ways (CR LF and LF): declare csv: {line_ends: any}"
            )
            raise self.refusal(line, sentence)
        return record[: -len(ending)]

    def _check(self, line: int, body: bytes) -> None:
        if not body.isascii():
            self._check_utf8(line, body)
        if b'"' in body:
            self.is_quoted = True
            fields = _fields(body)
            count = len(fields)
            if b"\n" in body and is_several_rows([f.decode() for f in fields], ","):
                self.several.add(line)
            if not count:
                sentence = (
                    "broken quoting: quotes enclose a whole field, and a quote inside "
                    "is doubled"
                )
                raise self.refusal(line, sentence)
        else:
            count = body.count(b",") + 1
            if b"\r" in body:
                raise self.refusal(line, "a bare CR: declare csv: {line_ends: any}")
        if self.width is not None and count != self.width:
            sentence = f"{count} fields where the header has {self.width}"
            raise self.refusal(line, sentence, min(count, self.width) + 1)

    def _check_utf8(self, line: int, body: bytes) -> None:
        try:
            body.decode()
        except UnicodeDecodeError as error:
            column = body[: error.start].count(b",") + 1
            sentence = (
                "not UTF-8: declare how the file is written, such as csv: {encoding: "
                "windows-1252} (manifest draft tells), or save it as UTF-8"
            )
            raise self.refusal(line, sentence, column) from error
