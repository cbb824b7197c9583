"""Text files: each is one document."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from engines.regular_files import FileTooLargeError, opened, read_at_most
from upstream.extraction.reading.decoding.encodings import decode
from upstream.extraction.reading.folders import (
    SourceFile,
    UnreadFile,
    refuse_changed,
    source_files,
    unreadable,
)
from upstream.extraction.reading.judging import too_long
from upstream.extraction.reading.outcomes import (
    END,
    Candidate,
    FlawError,
    Position,
    Reason,
    Written,
)
from upstream.extraction.reading.specs import FileSource, TextFiles
from upstream.extraction.text.documents import Place
from upstream.manifests.file_specs import Encoding

MOST_BYTES = 4
"""The most bytes of one character, in every encoding that is read."""

FileReader = Callable[[SourceFile, BinaryIO, Position | None], Iterator[Candidate]]


def read_text_files(
    source: TextFiles, import_folder: Path, after: Position | None
) -> Iterator[Candidate]:
    """Yield one candidate for each file; as ``read_documents``."""
    start = after.file if after else ""
    for file in source_files(source, import_folder, start):
        position = Position(file.id)
        if after is not None and file.id == after.file:
            continue
        if isinstance(file, UnreadFile):
            yield unread(file)
            continue
        place = Place(file.name)
        body = read_whole(file, source.encoding, source.max_characters)
        try:
            document_id, fields = _named(source, file.id)
        except FlawError as flaw:
            yield Candidate("", place, position, flaw)
            continue
        yield Candidate(document_id, place, position, body, fields)


def read_files(
    source: FileSource,
    import_folder: Path,
    after: Position | None,
    read: FileReader,
) -> Iterator[Candidate]:
    """Yield the candidates of files with many documents each.

    Args:
        source: Names the files.
        import_folder: What no file may lie outside of.
        after: Goes on behind this position.
        read: Yields those of one file, from its record of this position on.
    """
    start = after.file if after else ""
    for file in source_files(source, import_folder, start):
        if after is not None and after.file == file.id and after.record == END:
            continue
        if isinstance(file, UnreadFile):
            found: Iterator[Candidate] = iter((unread(file),))
        else:
            refuse_changed(file, after)
            found = _opened(file, after, read)
        yield from (each for each in found if not _is_behind(each.position, after))


def unread(file: UnreadFile) -> Candidate:
    """Return the candidate of a file that nobody may read."""
    return Candidate(file.name, Place(file.name), Position(file.id, END), file.flaw)


def read_whole(
    file: SourceFile, encoding: Encoding | None, max_characters: int
) -> Written | FlawError:
    """Return a file's text, or why it has none; a long one is never read whole."""
    most = MOST_BYTES * (max_characters + 1)
    try:
        raw = read_at_most(file.path, most, within=file.root)
        return decode(raw, encoding)
    except FileTooLargeError:
        return too_long(max_characters)
    except OSError as error:
        return unreadable(error)
    except FlawError as flaw:
        return flaw


def _opened(
    file: SourceFile, after: Position | None, read: FileReader
) -> Iterator[Candidate]:
    begun = after if after is not None and after.file == file.id else None
    try:
        with opened(file.path, within=file.root) as content:
            yield from read(file, content, begun)
    except OSError as error:
        place = Place(file.name)
        yield Candidate(file.name, place, Position(file.id, END), unreadable(error))


def _is_behind(position: Position, after: Position | None) -> bool:
    """Whether a candidate was yielded before the reading stopped."""
    if after is None or position.file != after.file:
        return False
    return (position.record, position.part) <= (after.record, after.part)


def _named(source: TextFiles, path: str) -> tuple[str, dict[str, str]]:
    """Return a document's id and fields, which its path gives.

    Raises:
        FlawError: The declared pattern does not match the path.
    """
    if source.id_pattern is None:
        return path, {}
    match = re.fullmatch(source.id_pattern, path)
    if match is None:
        raise FlawError(Reason.NO_ID, "its path does not match id_pattern")
    fields = {name: text or "" for name, text in match.groupdict().items()}
    return fields.pop("id", path), fields
