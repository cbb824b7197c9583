"""HL7 v2 files: messages, alone or in batches, and the texts of their reports."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from upstream.extraction.reading.decoding.encodings import (
    decode,
    known_encoding,
    refuse_other_formats,
)
from upstream.extraction.reading.decoding.hl7_messages import Message, Segment
from upstream.extraction.reading.decoding.rewriting import Rewriter
from upstream.extraction.reading.families.hl7_splitting import RawMessage, raw_messages
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
from upstream.extraction.reading.specs import Hl7Files
from upstream.extraction.text.documents import Place
from upstream.manifests.file_specs import Encoding

_TEXT_TYPES = frozenset({"TX", "FT", "ST"})
_LONGEST_MARK = 132  # bytes by which other formats are known
_BESIDE_BYTES = 2**20  # what a message may have beside its texts
_ATTACHED_TYPES = frozenset({"ED", "RP"})
_OBX_TYPE, _OBX_VALUE, _OBX_TIME = 2, 5, 14
_NTE_COMMENT = 3
_OBR_TIME = 7
_PID_ID, _PID_BIRTH = 3, 7
_MSH_ID, _MSH_CHARSET = 10, 18
_CHARSETS = {
    "UNICODE": "utf-8",
    "UNICODE UTF-8": "utf-8",
    "8859/1": "iso-8859-1",
    "8859/2": "iso-8859-2",
    "8859/15": "iso-8859-15",
}  # of HL7 table 0211; ASCII is often said of what is not, and is detected


def read_hl7_files(
    source: Hl7Files, import_folder: Path, after: Position | None
) -> Iterator[Candidate]:
    """Yield a candidate for each report of each message; as ``read_documents``."""

    def read(
        file: SourceFile, content: BinaryIO, begun: Position | None
    ) -> Iterator[Candidate]:
        begin = content.read(_LONGEST_MARK)
        content.seek(0)
        try:
            _require_hl7(begin)
        except FlawError as flaw:
            yield Candidate(file.name, Place(file.name), Position(file.id, END), flaw)
            return
        most = MOST_BYTES * (source.max_characters + 1) + _BESIDE_BYTES
        for raw in raw_messages(content, most, begun):
            yield from _documents(source, file, raw)

    return read_files(source, import_folder, after, read)


def _require_hl7(begin: bytes) -> None:
    refuse_other_formats(begin)
    if begin.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in begin[:4]:
        said = "an HL7 file in UTF-16 is not read: export it as UTF-8"
        raise FlawError(Reason.BAD_ENCODING, said, 0)


def _documents(
    source: Hl7Files, file: SourceFile, raw: RawMessage
) -> Iterator[Candidate]:
    place = Place(file.name, f"message {raw.number}")
    position = Position(file.id, raw.number, 1, raw.start, file.state)
    name = ""
    try:
        if raw.flaw is not None:
            raise raw.flaw
        encoding = source.encoding or _charset(raw.content)
        written = decode(raw.content, encoding, original=raw.start)
        message = Message(written, raw.line_end)
        name, fields = _named(message)
        reports = list(_reports(message))
    except FlawError as flaw:
        yield Candidate(name, place, position, flaw)
        return
    for part, report in enumerate(reports, 1):
        yield Candidate(
            f"{name}/{part}" if part > 1 and name else name,
            Place(file.name, f"message {raw.number}, report {part}"),
            Position(file.id, raw.number, part, raw.start, file.state),
            report.body(),
            fields | ({"date": report.date} if report.date else {}),
        )


def _charset(content: bytes) -> Encoding | None:
    """Return the encoding that MSH-18 names, or None where it is to be detected."""
    fields = content[:4096].splitlines()[0].split(content[3:4] or b"|")
    if len(fields) < _MSH_CHARSET:
        return None
    first = fields[_MSH_CHARSET - 1].split(b"~")[0].decode("ascii", "replace")
    return known_encoding(_CHARSETS.get(first.strip(), ""))


def _named(message: Message) -> tuple[str, dict[str, str]]:
    """Return a message's control id, and what is kept of its header and patient."""
    fields = {}
    for segment in message.segments:
        if segment.name == "MSH":
            fields["message"] = message.value(segment, _MSH_ID)
        elif segment.name == "PID":
            fields["patient"] = message.value(segment, _PID_ID)
            fields["birth_date"] = message.value(segment, _PID_BIRTH)
    name = fields.get("message", "")
    return name, {key: value for key, value in fields.items() if value}


class _Report:
    """The texts under one OBR, or before the first, and when they were observed."""

    def __init__(self, message: Message, date: str = "") -> None:
        self.message = message
        self.date = date
        self.text = Rewriter(message.written)
        self.lines = 0
        self.has_attachment = False

    def add(self, segment: Segment) -> None:
        """Read a segment's text, if it has any."""
        kind = self.message.value(segment, _OBX_TYPE)
        if segment.name == "NTE":
            self._add_line(segment, _NTE_COMMENT)
        elif segment.name == "OBX" and kind in _TEXT_TYPES:
            self._add_line(segment, _OBX_VALUE)
            self.date = self.date or self.message.value(segment, _OBX_TIME)
        elif segment.name == "OBX" and kind in _ATTACHED_TYPES:
            self.has_attachment = True

    def _add_line(self, segment: Segment, field: int) -> None:
        if self.lines:
            self.text.insert("\n")
        self.lines += 1
        self.message.add_text(self.text, segment, field)

    def body(self) -> Written | FlawError:
        """Return the text, or why it would not be whole."""
        if not self.has_attachment:
            return self.text.written()
        said = (
            "a part of the report is an attachment (an OBX of type ED or RP), which is "
            "not read: export it as text"
        )
        return FlawError(Reason.OTHER_FORMAT, said)


def _reports(message: Message) -> Iterator[_Report]:
    """Yield the reports that have texts or attachments."""
    reports = [_Report(message)]
    for segment in message.segments:
        if segment.name == "OBR":
            reports.append(_Report(message, message.value(segment, _OBR_TIME)))
        else:
            reports[-1].add(segment)
    return (each for each in reports if each.lines or each.has_attachment)
