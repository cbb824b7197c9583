"""CSV, as RFC 4180 has it, record by record with the byte at which each field begins.

A flaw in a record sets that record aside and reading goes on with the line after its
first one; ``upstream.files.csv_structure`` refuses the file instead, and holds short
records only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from upstream.extraction.reading.outcomes import FlawError, Reason

_SKIPPED_BYTES = 2**20  # read at once where a line is passed over


@dataclass(frozen=True, slots=True)
class Field:
    """One field's bytes, as they stand between the separators or quotes.

    Attributes:
        raw: They, with doubled quotes doubled.
        start: Offset of the first of them in the file.
        is_quoted: Whether quotes stood around it.
    """

    raw: bytes
    start: int
    is_quoted: bool


@dataclass(frozen=True, slots=True)
class Record:
    """One record, or why it is none, and its offset in the file."""

    start: int
    fields: tuple[Field, ...]
    flaw: FlawError | None = None


class CsvRecords:
    """Walks a file's records from an offset at which one begins."""

    def __init__(self, file: BinaryIO, separator: str, most_bytes: int) -> None:
        """Begin where the file stands.

        Args:
            file: An open file that can be entered anywhere.
            separator: Stands between fields: one character of ASCII.
            most_bytes: A longer record is set aside.
        """
        self.file = file
        self.most_bytes = most_bytes
        sep = re.escape(separator.encode())
        self.field = re.compile(
            rb'(?:"([^"]*(?:""[^"]*)*)"|([^"\r\n' + sep + rb"]*))(" + sep + rb"|\Z)"
        )

    def __iter__(self) -> Iterator[Record]:
        """Yield the records; blank lines are passed over."""
        while True:
            start = self.file.tell()
            first = self.file.readline(self.most_bytes + 1)
            if not first:
                return
            if not first.strip(b"\r\n"):
                continue
            try:
                yield Record(start, self._fields(start, self._whole(start, first)))
            except FlawError as flaw:
                self.file.seek(start + len(first))
                if not first.endswith(b"\n"):
                    self._skip_line()
                yield Record(start, (), flaw)

    def _skip_line(self) -> None:
        while part := self.file.readline(_SKIPPED_BYTES):
            if part.endswith(b"\n"):
                return

    def _whole(self, start: int, first: bytes) -> bytes:
        """Return a record's bytes without its line end; quotes may hold line ends."""
        lines, size = [first], len(first)
        is_open = first.count(b'"') % 2
        while is_open and size <= self.most_bytes:
            line = self.file.readline(self.most_bytes + 1)
            if not line:
                said = "a quote opens in this record and is never closed"
                raise FlawError(Reason.BAD_STRUCTURE, said, start)
            lines.append(line)
            size += len(line)
            is_open ^= line.count(b'"') % 2
        if size > self.most_bytes:
            said = (
                f"the record has more than {self.most_bytes:,} bytes, or a quote in "
                "it is never closed: mend it, or declare max_characters"
            )
            raise FlawError(Reason.TOO_LONG, said, start)
        record = b"".join(lines)
        return record.removesuffix(b"\n").removesuffix(b"\r")

    def _fields(self, start: int, record: bytes) -> tuple[Field, ...]:
        found = []
        at = 0
        while match := self.field.match(record, at):
            quoted, plain, separator = match.groups()
            group = 2 if quoted is None else 1
            raw = plain if quoted is None else quoted
            found.append(Field(raw, start + match.start(group), quoted is not None))
            at = match.end()
            if not separator:
                break
        if at == len(record) and match is not None:
            return tuple(found)
        said = (
            "broken quoting or a bare CR: quotes enclose a whole field, and a quote "
            "inside is doubled"
        )
        raise FlawError(Reason.BAD_STRUCTURE, said, start + at)
