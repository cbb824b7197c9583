"""Gold standards in JSON: one document a line, or one array as Presidio writes it."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import BinaryIO

from engines.regular_files import opened
from upstream.extraction.gold.json_items import (
    document_of,
    id_of,
    line_of,
    presidio_item_of,
)
from upstream.extraction.gold.outcomes import (
    GoldDocument,
    GoldError,
    Refused,
    require_writable,
)
from upstream.extraction.reading.outcomes import Json
from upstream.extraction.text.spans import AnnotatedDocument

_MOST_LINE = 2**26  # bytes of one document
_MOST_ARRAY = 2**28  # bytes of a file that is one array, which is held whole
_MARK = b"\xef\xbb\xbf"


def read_json_spans(path: Path) -> Iterator[GoldDocument | Refused]:
    """Yield the documents of a file, and what was refused, in the file's order.

    Each document is an object: ``{"id", "text", "spans": [[start, end, label], ...]}``,
    where a span may also be an object with ``start``, ``end`` and ``label``; or as
    Presidio has it, with ``full_text``, ``entity_type``, ``start_position`` and
    ``end_position``. Offsets count code points. Objects stand one a line, or in one
    array. A second document of an id is refused.

    Args:
        path: The file, in UTF-8.
    """
    seen: set[str] = set()
    try:
        with opened(path) as file:
            for number, found in _items(file):
                yield _document(path.name, number, found, seen)
    except OSError as error:
        sentence = f"cannot be read: {error.strerror}"
        yield Refused(path.name, "", None, None, sentence)


def write_json_spans(
    documents: Iterable[AnnotatedDocument], path: Path
) -> tuple[Refused, ...]:
    """Write one document a line; return those that were refused.

    ``read_json_spans`` gives the same ids, texts, fields and spans back.

    Raises:
        OSError: The file cannot be written.
    """
    refused: list[Refused] = []
    with path.open("wb") as file:
        for item in _sound(documents, path.name, refused, line_of):
            file.write(json.dumps(item).encode() + b"\n")
    return tuple(refused)


def write_presidio(
    documents: Iterable[AnnotatedDocument], path: Path
) -> tuple[Refused, ...]:
    """Write one array as Presidio's evaluation reads it; return what was refused.

    ``read_json_spans`` gives the same ids, texts and spans back.

    Raises:
        OSError: The file cannot be written.
    """
    refused: list[Refused] = []
    before = b"[\n"
    with path.open("wb") as file:
        for item in _sound(documents, path.name, refused, presidio_item_of):
            file.write(before + json.dumps(item).encode())
            before = b",\n"
        file.write(b"[]\n" if before == b"[\n" else b"\n]\n")
    return tuple(refused)


def _sound(
    documents: Iterable[AnnotatedDocument],
    file: str,
    refused: list[Refused],
    item_of: Callable[[AnnotatedDocument], dict[str, Json]],
) -> Iterator[dict[str, Json]]:
    """Yield documents as objects; note those that are refused."""
    seen = {""}
    for annotated in documents:
        name = annotated.document.id
        try:
            _require_new(name, seen)
            require_writable(annotated)
            item = item_of(annotated)
        except GoldError as error:
            refused.append(error.refused(file, name))
            continue
        seen.add(name)
        yield item


def _require_new(name: str, seen: set[str]) -> None:
    if name in seen:
        sentence = "it has no id, or another document has it: it would not be read"
        raise GoldError(sentence)


def _items(file: BinaryIO) -> Iterator[tuple[int, Json | GoldError]]:
    """Yield each item's line, or number in an array, and it or why it is none."""
    begin = file.read(2**10)
    file.seek(len(_MARK) if begin.startswith(_MARK) else 0)
    if begin.removeprefix(_MARK).lstrip()[:1] == b"[":
        yield from _array(file)
        return
    for number in count(1):
        line = file.readline(_MOST_LINE)
        if not line:
            return
        if len(line) == _MOST_LINE and not line.endswith(b"\n"):
            yield number, GoldError(f"the line has more than {_MOST_LINE:,} bytes")
            while (rest := file.readline(_MOST_LINE)) and not rest.endswith(b"\n"):
                pass
        elif line.strip():
            yield number, _parsed(line)


def _array(file: BinaryIO) -> Iterator[tuple[int, Json | GoldError]]:
    content = file.read(_MOST_ARRAY + 1)
    if len(content) > _MOST_ARRAY:
        sentence = (
            f"an array of more than {_MOST_ARRAY:,} bytes: write objects in lines"
        )
        yield 1, GoldError(sentence)
        return
    found = _parsed(content)
    items = found if isinstance(found, list) else [found]
    yield from enumerate(items, 1)


def _parsed(content: bytes) -> Json | GoldError:
    try:
        found: Json = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        return GoldError(f"not UTF-8 at byte {error.start}")
    except (ValueError, RecursionError):
        return GoldError("no JSON, or nested too deeply")
    return found


def _document(
    file: str, number: int, found: Json | GoldError, seen: set[str]
) -> GoldDocument | Refused:
    if isinstance(found, GoldError):
        return found.refused(file, "", number)
    item: Mapping[str, Json] = found if isinstance(found, dict) else {}
    name = id_of(item, file, number)
    try:
        annotated = document_of(item, file, number)
    except GoldError as error:
        return error.refused(file, name, number)
    if name in seen:
        sentence = "another document of the file has its id"
        return Refused(file, name, number, None, sentence)
    seen.add(name)
    return annotated
