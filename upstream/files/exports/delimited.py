"""Text files of any delimiter, encoding and quoting, record by record.

``upstream.files.csv_structure`` reads plain CSV to the letter and fast; what this
module reads is written as such first. Nothing is guessed: the manifest states it.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from upstream.errors import IngestionError
from upstream.files.records import Places, Record, is_several_rows, refused
from upstream.manifests.file_specs import CsvSpec

_LONGEST_LINE = 2**20  # bytes; longer ones are counted in parts
_MARKED = {"utf-8": "utf-8-sig"}
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_NULLS = (
    "NUL bytes stand in it: if the file is in UTF-16, declare csv: {encoding: utf-16}"
    "; else it was damaged: export it again"
)


@contextmanager
def delimited_records(
    file: BinaryIO, name: str, spec: CsvSpec, several: Places | None = None
) -> Iterator[Iterator[Record]]:
    """Lend the line and the fields of each record, the header's too if there is one.

    Args:
        file: The bytes of the text, as they are once unpacked; it stays open.
        name: What to call the file in a problem.
        spec: How it is written.
        several: Where to count records that seem to be several rows.

    Raises:
        IngestionError: The first place where it is written otherwise.
    """
    encoding = spec.encoding or "utf-8"
    if encoding == "utf-16":
        _require_mark(file, name)
    text = io.TextIOWrapper(file, _MARKED.get(encoding, encoding), newline="")
    try:
        yield _records(_Lines(text, spec, name), spec, several or Places())
    finally:
        text.detach()


@dataclass(frozen=True, slots=True)
class Utf8Lines:
    """How many of a text's lines beyond ASCII are UTF-8.

    A letter of Latin alphabets in an encoding of one byte a character is followed by
    bytes that UTF-8 does not have there.

    Attributes:
        count: Lines that are UTF-8, and not ASCII alone.
        first: The first of them, from 1; 0: none is.
        others: Lines that are no UTF-8.
    """

    count: int = 0
    first: int = 0
    others: int = 0

    @classmethod
    def of(cls, file: BinaryIO) -> "Utf8Lines":
        """Count the lines of a text in an encoding of one byte a character."""
        count = first = others = 0
        lines = iter(lambda: file.readline(_LONGEST_LINE), b"")
        for number, line in enumerate(lines, 1):
            if line.isascii():
                continue
            if _is_utf8(line):
                count, first = count + 1, first or number
            else:
                others += 1
        return cls(count, first, others)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _records(lines: "_Lines", spec: CsvSpec, several: Places) -> Iterator[Record]:
    reader = _reader(lines, spec)
    delimiter = spec.delimiter or ","
    try:
        while (fields := lines.next_record(reader)) is not None:
            if lines.number > lines.begun and is_several_rows(fields, delimiter):
                several.add(lines.begun)
            yield lines.begun, fields
    except UnicodeDecodeError as error:
        raise refused(lines.name, _undecodable(spec), lines.number + 1) from error
    except csv.Error as error:
        raise _broken(lines.name, spec, lines) from error


def _require_mark(file: BinaryIO, name: str) -> None:
    begin = file.read(2)
    file.seek(-len(begin), io.SEEK_CUR)
    if begin not in _UTF16_MARKS:
        sentence = (
            "has no byte order mark: declare csv: {encoding: utf-16-le}, or utf-16-be"
        )
        raise refused(name, sentence, 1)


def _reader(lines: Iterator[str], spec: CsvSpec) -> Iterator[list[str]]:
    is_quoted = spec.quote != "none"
    return csv.reader(
        lines,
        delimiter=spec.delimiter or ",",
        quotechar=(spec.quote or '"') if is_quoted else None,
        quoting=csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE,
        doublequote=spec.escape is None,
        escapechar=spec.escape,
        strict=True,
    )


class _Lines:
    """Feeds a reader with lines, and knows where the record that it reads began."""

    def __init__(self, text: io.TextIOWrapper, spec: CsvSpec, name: str) -> None:
        self.text = text
        self.comment = spec.comment
        self.to_skip = spec.skip_rows or 0
        self.name = name
        self.number = 0  # of the line that was read last
        self.begun = 0  # where the record begins
        self.is_between = True  # no record has begun

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        while True:
            line = self.text.readline()
            if not line:
                raise StopIteration
            self.number += 1
            if self.number <= self.to_skip:
                continue
            if self.is_between and self.comment and line.startswith(self.comment):
                continue
            if "\0" in line:
                raise refused(self.name, _NULLS, self.number)
            if self.is_between:
                self.begun, self.is_between = self.number, False
            return line

    def next_record(self, reader: "Iterator[list[str]]") -> Sequence[str] | None:
        """Return the next record's fields; None at the end."""
        self.is_between = True
        return next(reader, None)


def _undecodable(spec: CsvSpec) -> str:
    if spec.encoding is None:
        return (
            "not UTF-8: declare how the file is written, such as csv: {encoding: "
            "windows-1252} (manifest draft tells), or save it as UTF-8"
        )
    return (
        f"not {spec.encoding}, from about this line on: declare csv: {{encoding: ...}} "
        "as the file has it (manifest draft tells)"
    )


def _broken(name: str, spec: CsvSpec, lines: _Lines) -> IngestionError:
    """Say what is wrong with the record that was being read."""
    if lines.number > lines.begun:
        sentence = (
            "a quote opens here and is never closed, or a quote within it is not "
            "doubled: mend it, or declare csv: {quote: none} if the file quotes nothing"
        )
    else:
        sentence = (
            "broken quoting, or a field of more than "
            f"{csv.field_size_limit():,} characters: quotes enclose a whole field, and "
            f"a quote inside is {'escaped' if spec.escape else 'doubled'}; declare "
            "csv: {quote: none} if the file quotes nothing, or escape"
        )
    return refused(name, sentence, lines.begun)
