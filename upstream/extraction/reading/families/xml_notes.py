"""XML files: the notes and fields of their records, one record at a time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO

from upstream.extraction.reading.decoding.encodings import refuse_other_formats
from upstream.extraction.reading.decoding.xml_reader import XmlReader
from upstream.extraction.reading.decoding.xml_texts import XmlCollector
from upstream.extraction.reading.families.text_files import read_files
from upstream.extraction.reading.folders import SourceFile
from upstream.extraction.reading.judging import too_long
from upstream.extraction.reading.outcomes import (
    END,
    Candidate,
    FlawError,
    Position,
    Reason,
    Written,
)
from upstream.extraction.reading.specs import XmlFiles
from upstream.extraction.text.documents import Place

_BLOCK_BYTES = 2**16
_MOST_NOTES = 10_000  # of one record, which is held until it ends
_MOST_FIELD = 10_000  # characters of a field
_HELD_NOTES = 4  # of the longest kind, of one record


def read_xml_files(
    source: XmlFiles, import_folder: Path, after: Position | None
) -> Iterator[Candidate]:
    """Yield a candidate for each note of each record; as ``read_documents``."""
    return read_files(source, import_folder, after, partial(_documents, source))


def _documents(
    source: XmlFiles, file: SourceFile, content: BinaryIO, _begun: Position | None
) -> Iterator[Candidate]:
    records = _Records(source)
    reader = XmlReader(records, source.encoding)
    try:
        begin = content.read(_BLOCK_BYTES)
        refuse_other_formats(begin)
        reader.feed(begin)
        yield from _candidates(source, file, records)
        while block := content.read(_BLOCK_BYTES):
            reader.feed(block)
            yield from _candidates(source, file, records)
        reader.feed(b"", is_last=True)
        yield from _candidates(source, file, records)
    except FlawError as flaw:
        yield from _candidates(source, file, records)
        item = f"from record {records.count} on" if records.count else ""
        name = f"{file.name}#{item}" if item else file.name
        place = Place(file.name, item)
        yield Candidate(name, place, Position(file.id, END), flaw)


@dataclass(slots=True)
class _Record:
    """What was found of a record so far.

    Attributes:
        number: From 1 in its file.
        depth: Of its element.
        notes: Of its notes, the texts so far.
        held: Characters of those that ended.
        values: Texts and attributes that are declared, by their paths.
        flaw: Why its notes are set aside, or None.
    """

    number: int
    depth: int
    notes: list[XmlCollector] = field(default_factory=list)
    held: int = 0
    values: dict[str, str] = field(default_factory=dict)
    flaw: FlawError | None = None


class _Records:
    """Is told of a document; keeps records that have ended until they are taken."""

    def __init__(self, source: XmlFiles) -> None:
        self.source = source
        self.note = tuple(source.note.split("/"))
        self.record = tuple(source.record.split("/")) if source.record else None
        wanted = {*source.fields.values(), *filter(None, (source.id,))}
        self.wanted = frozenset(wanted)
        self.ended: list[_Record] = []
        self.count = 0
        self.path: list[str] = []
        self.current: _Record | None = None
        self.collector: XmlCollector | None = None
        self.note_depth = 0
        self.value: tuple[int, str, list[str]] | None = None

    def opens(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin a record, a note or a field."""
        self.path.append(name)
        if self.current is None:
            self._open_record()
        if self.current is not None:
            self._keep_values(self.current, attributes)
        if self.collector is not None:
            self.collector.opens(name, attributes)
        elif self.current is not None and _ends(self.path, self.note):
            self._open_note(self.current)

    def closes(self, name: str) -> None:
        """End a field, a note or a record."""
        depth = len(self.path)
        if self.value is not None and self.value[0] == depth:
            self._close_value(self.value)
        if self.collector is not None and depth == self.note_depth:
            self._close_note(self.collector)
        elif self.collector is not None:
            self.collector.closes(name)
        if self.current is not None and self.current.depth == depth:
            self.ended.append(self.current)
            self.current = None
        self.path.pop()

    def says(self, run: Written) -> None:
        """Add a text to the note and the field that it stands in."""
        if self.collector is not None:
            self.collector.says(run)
        if self.value is not None:
            _, _, texts = self.value
            if sum(map(len, texts)) <= _MOST_FIELD:
                texts.append(run.text)

    def taken(self) -> list[_Record]:
        """Return the records that have ended since the last time."""
        ended, self.ended = self.ended, []
        return ended

    def _open_record(self) -> None:
        is_record = self.record is None or _ends(self.path, self.record)
        if is_record or _ends(self.path, self.note):
            self.count += 1
            self.current = _Record(self.count, len(self.path))
            if not is_record:
                said = "the note stands outside of the declared record"
                self.current.flaw = FlawError(Reason.BAD_STRUCTURE, said)

    def _open_note(self, record: _Record) -> None:
        most = self.source.max_characters
        if len(record.notes) >= _MOST_NOTES or record.held > _HELD_NOTES * most:
            said = "a record has too many notes: declare as record what holds fewer"
            raise FlawError(Reason.TOO_LONG, said)
        self.collector = XmlCollector(most)
        self.note_depth = len(self.path)
        record.notes.append(self.collector)

    def _close_note(self, note: XmlCollector) -> None:
        self.collector = None
        if self.current is not None:
            self.current.held += note.length

    def _keep_values(self, record: _Record, attributes: Mapping[str, str]) -> None:
        below = "/".join(self.path[record.depth :])
        for name, value in attributes.items():
            local = name.rpartition(":")[2]
            path = f"{below}/@{local}" if below else f"@{local}"
            if path in self.wanted:
                self._keep(record, path, value)
        is_new = below not in record.values and self.value is None
        if below in self.wanted and is_new:
            self.value = (len(self.path), below, [])

    def _close_value(self, value: tuple[int, str, list[str]]) -> None:
        _, path, texts = value
        self.value = None
        if self.current is not None:
            self._keep(self.current, path, "".join(texts))

    def _keep(self, record: _Record, path: str, value: str) -> None:
        if len(value) > _MOST_FIELD:
            said = f"a field of its record has more than {_MOST_FIELD:,} characters"
            record.flaw = record.flaw or FlawError(Reason.TOO_LONG, said)
            value = ""
        record.values.setdefault(path, value.strip())


def _ends(path: list[str], names: tuple[str, ...]) -> bool:
    return tuple(path[-len(names) :]) == names


def _candidates(
    source: XmlFiles, file: SourceFile, records: _Records
) -> Iterator[Candidate]:
    for record in records.taken():
        bodies = [_body(source, record, note) for note in record.notes]
        if not bodies:
            said = f"no element {source.note} stands in it"
            bodies = [record.flaw or FlawError(Reason.EMPTY, said)]
        fields = {
            name: record.values[path]
            for name, path in source.fields.items()
            if path in record.values
        }
        for part, body in enumerate(bodies, 1):
            item = _item(source, record, part)
            position = Position(file.id, record.number, part, 0, file.state)
            name = _id(source, file, record, part)
            yield Candidate(name, Place(file.name, item), position, body, fields)


def _body(source: XmlFiles, record: _Record, note: XmlCollector) -> Written | FlawError:
    if record.flaw is not None:
        return record.flaw
    if note.length > source.max_characters:
        return too_long(source.max_characters)
    return note.written()


def _item(source: XmlFiles, record: _Record, part: int) -> str:
    if source.record is None:
        return f"note {part}"
    return f"record {record.number}, note {part}"


def _id(source: XmlFiles, file: SourceFile, record: _Record, part: int) -> str:
    if source.id is not None:
        found = record.values.get(source.id, "")
    else:
        found = f"{file.id}#{record.number}" if source.record else file.id
    return f"{found}/{part}" if found and part > 1 else found
