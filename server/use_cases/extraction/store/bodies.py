"""What stands in the bodies of rows: documents and what was set aside, as JSON."""

import json
from dataclasses import dataclass

from upstream.extraction.text.documents import Piece, Place, TextDocument


@dataclass(frozen=True, slots=True)
class SetAside:
    """Something that was not read, as it is stored.

    Attributes:
        key: Its id, or its place where it has none.
        file: Where it stands.
        item: Which part of the file; empty for the whole.
        reason: Why, as a code.
        sentence: What is wrong and what to do, without any text.
    """

    key: str
    file: str
    item: str
    reason: str
    sentence: str


def document_body(document: TextDocument) -> bytes:
    """Return all of a document but its id."""
    place = document.place
    return json.dumps(
        {
            "text": document.text,
            "place": [place.file, place.item, place.unit],
            "pieces": [[one.start, one.original, one.width] for one in document.pieces],
            "fields": dict(document.fields),
        }
    ).encode()


def document_of(key: str, body: bytes) -> TextDocument:
    """Return the document that ``document_body`` wrote."""
    told = json.loads(body)
    file, item, unit = told["place"]
    pieces = tuple(Piece(*piece) for piece in told["pieces"])
    return TextDocument(
        key, told["text"], Place(file, item, unit), pieces, told["fields"]
    )


def set_aside_body(found: SetAside) -> bytes:
    """Return all of what was set aside but its reason."""
    return json.dumps([found.key, found.file, found.item, found.sentence]).encode()


def set_aside_of(reason: str, body: bytes) -> SetAside:
    """Return what ``set_aside_body`` wrote."""
    key, file, item, sentence = json.loads(body)
    return SetAside(key, file, item, reason, sentence)
