"""FHIR resources in ndjson, one a line: notes in attachments, and texts in values."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import BinaryIO

from upstream.extraction.reading.families.fhir_attachments import Attachments
from upstream.extraction.reading.families.fhir_texts import Found, texts_of
from upstream.extraction.reading.families.text_files import MOST_BYTES, read_files
from upstream.extraction.reading.folders import SourceFile
from upstream.extraction.reading.outcomes import (
    Candidate,
    FlawError,
    Json,
    Position,
    Reason,
)
from upstream.extraction.reading.specs import FhirFiles
from upstream.extraction.text.documents import Place

_BESIDE_BYTES = 2**20  # what a resource may have beside its text
_SKIPPED_BYTES = 2**20  # read at once where a line is passed over
_MARK = b"\xef\xbb\xbf"


def read_fhir_files(
    source: FhirFiles, import_folder: Path, after: Position | None
) -> Iterator[Candidate]:
    """Yield a candidate for each text of each resource; as ``read_documents``."""
    return read_files(source, import_folder, after, partial(_documents, source))


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a file: its number, offset and content, or why it has none."""

    number: int
    start: int
    content: bytes
    flaw: FlawError | None = None


def _documents(
    source: FhirFiles, file: SourceFile, content: BinaryIO, begun: Position | None
) -> Iterator[Candidate]:
    # In base64 a character of at most four bytes takes 16/3 of them.
    most = 2 * MOST_BYTES * (source.max_characters + 1) + _BESIDE_BYTES
    attachments = Attachments(source, file)
    for line in _lines(content, most, begun):
        position = Position(file.id, line.number, 1, line.start, file.state)
        item = f"line {line.number}"
        try:
            resource = _resource(line)
        except FlawError as flaw:
            yield Candidate("", Place(file.name, item), position, flaw)
            continue
        for part, found in enumerate(texts_of(attachments, resource), 1):
            at = Position(file.id, line.number, part, line.start, file.state)
            yield _candidate(file, item, at, found)


def _candidate(
    file: SourceFile, item: str, position: Position, found: Found
) -> Candidate:
    place = Place(file.name, f"{item}, {found.item}", found.unit)
    if found.file is not None:
        place = Place(found.file)
    name = found.id or f"{file.name}#{item}, {found.item}"
    return Candidate(name, place, position, found.body, found.fields)


def _lines(file: BinaryIO, most_bytes: int, begun: Position | None) -> Iterator[_Line]:
    """Yield the lines that are not blank, from a position's on."""
    file.seek(begun.offset if begun else 0)
    for number in count(begun.record if begun else 1):
        start = file.tell()
        content = file.readline(most_bytes + 1)
        if not content:
            return
        if len(content) > most_bytes and not content.endswith(b"\n"):
            _skip_line(file)
            said = f"the line has more than {most_bytes:,} bytes: declare"
            flaw = FlawError(Reason.TOO_LONG, f"{said} max_characters", start)
            yield _Line(number, start, b"", flaw)
        elif content.strip():
            yield _Line(number, start, content)


def _skip_line(file: BinaryIO) -> None:
    while part := file.readline(_SKIPPED_BYTES):
        if part.endswith(b"\n"):
            return


def _resource(line: _Line) -> dict[str, Json]:
    """Return a line's object.

    Raises:
        FlawError: It has none.
    """
    if line.flaw is not None:
        raise line.flaw
    try:
        found = json.loads(line.content.removeprefix(_MARK).decode("utf-8"))
    except RecursionError:
        said = "its values are nested too deeply"
        raise FlawError(Reason.TOO_DEEP, said, line.start) from None
    except UnicodeDecodeError as error:
        said = "the line is not UTF-8"
        raise FlawError(Reason.BAD_ENCODING, said, line.start + error.start) from None
    except ValueError:
        said = "the line is no JSON"
        raise FlawError(Reason.NOT_JSON, said, line.start) from None
    if not isinstance(found, dict):
        said = "the line is no JSON object"
        raise FlawError(Reason.NOT_JSON, said, line.start)
    return found
