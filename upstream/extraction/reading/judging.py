"""Is what a reader found a document? The checks that all families share."""

import re

from upstream.extraction.reading.outcomes import (
    Candidate,
    FlawError,
    Quarantined,
    ReadDocument,
    Reason,
    Written,
)
from upstream.extraction.reading.seen_ids import SeenIds
from upstream.extraction.text.documents import Place

_CONTROLS = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_LONGEST_ID = 2_000  # bytes: databases keep an index of ids
_MOST_CONTROLS = 0.01  # share of control characters from which a text is none


def judged(
    candidate: Candidate, max_characters: int, seen: SeenIds
) -> ReadDocument | Quarantined:
    """Return the document that a reader found, or what is wrong with it.

    Args:
        candidate: What it found.
        max_characters: The longest text.
        seen: The ids of the source's documents so far; its id is added.
    """
    try:
        if isinstance(candidate.body, FlawError):
            raise candidate.body
        return _document(candidate, candidate.body, max_characters, seen)
    except FlawError as flaw:
        place = candidate.place
        return Quarantined(
            candidate.id[:_LONGEST_ID] or _named_by(place),
            place,
            flaw.reason,
            sentence_of(place, flaw),
            candidate.position,
        )


def too_long(max_characters: int) -> FlawError:
    """Return what is said of a document that is longer than it may be."""
    said = f"the text has more than {max_characters:,} characters: split it, or declare"
    return FlawError(Reason.TOO_LONG, f"{said} max_characters")


def sentence_of(place: Place, flaw: FlawError) -> str:
    """Return where and what a flaw is; it quotes no text.

    >>> flaw = FlawError(Reason.BAD_BASE64, "it is no base64", 7)
    >>> sentence_of(Place("a.ndjson", "line 3"), flaw)
    'a.ndjson, line 3, at byte 7: it is no base64'
    """
    where = [place.file, place.item]
    if flaw.offset is not None:
        where.append(f"at {place.unit} {flaw.offset:,}")
    return f"{', '.join(filter(None, where))}: {flaw.said}"


def _named_by(place: Place) -> str:
    return f"{place.file}#{place.item}" if place.item else place.file


def _document(
    candidate: Candidate, written: Written, max_characters: int, seen: SeenIds
) -> ReadDocument:
    _require_text(written, max_characters)
    if not candidate.id.strip():
        raise FlawError(Reason.NO_ID, "it has no id")
    if _is_no_unicode(candidate.id, *candidate.fields.values()):
        said = "its id or a field has halves of characters: mend the export"
        raise FlawError(Reason.BAD_ENCODING, said)
    if len(candidate.id.encode()) > _LONGEST_ID:
        said = f"its id has more than {_LONGEST_ID:,} bytes"
        raise FlawError(Reason.NO_ID, said)
    if not seen.is_new(candidate.id, candidate.position):
        said = "another document of the source has its id"
        raise FlawError(Reason.DUPLICATE_ID, said)
    return ReadDocument(
        candidate.id,
        written.text,
        candidate.place,
        written.pieces,
        candidate.fields,
        written.encoding,
        written.encoding_from,
        candidate.position,
    )


def _require_text(written: Written, max_characters: int) -> None:
    text = written.text
    if len(text) > max_characters:
        raise too_long(max_characters)
    if not text or text.isspace():
        raise FlawError(Reason.EMPTY, "no text stands in it")
    if _is_no_unicode(text):
        said = "it has halves of characters (lone surrogates): mend the export"
        raise FlawError(Reason.BAD_ENCODING, said)
    if "\0" in text:
        said = "a zero character stands in it: it is no text"
        raise FlawError(Reason.BINARY, said)
    controls = len(_CONTROLS.findall(text))
    if controls > max(1, _MOST_CONTROLS * len(text)):
        said = "many control characters stand in it: it is no text"
        raise FlawError(Reason.BINARY, said)


def _is_no_unicode(*texts: str) -> bool:
    try:
        for text in texts:
            text.encode()
    except UnicodeEncodeError:
        return True
    return False
