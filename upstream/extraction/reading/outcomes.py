"""What comes of reading: a document, or what was set aside and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Self

from upstream.errors import IngestionError, Problem
from upstream.extraction.text.documents import Piece, Place, TextDocument

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

EncodingSource = Literal["declared", "mark", "valid", "guessed", "stored"]
"""How an encoding was decided: the source, the document or its header said it; a byte
order mark did; the bytes are valid UTF-8; it was guessed; the value was text already.
"""


class Reason(StrEnum):
    """Why something was set aside. The set is closed: reports count by it."""

    BAD_BASE64 = "bad_base64"
    BAD_ENCODING = "bad_encoding"
    BAD_NAME = "bad_name"
    BAD_STRUCTURE = "bad_structure"
    BINARY = "binary"
    DUPLICATE_ID = "duplicate_id"
    ELSEWHERE = "elsewhere"
    EMPTY = "empty"
    ENTITIES = "entities"
    NO_ID = "no_id"
    NO_MSH = "no_msh"
    NOT_JSON = "not_json"
    OTHER_FORMAT = "other_format"
    OUTSIDE_FOLDER = "outside_folder"
    TOO_DEEP = "too_deep"
    TOO_LONG = "too_long"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Position:
    """Where reading can go on: behind the document that has it. JSON-able.

    Positions of one source are passed in a fixed order, whatever was read before.

    Attributes:
        file: Path under the source's folder; empty for a database.
        record: Number from 1 of the row, message, line or element; 0 for a whole file.
        part: Number from 1 of the document within its record.
        offset: Byte at which the record begins, where a file can be entered there.
        state: The file's size and time of change, by which a changed one is known.
    """

    file: str = ""
    record: int = 0
    part: int = 0
    offset: int = 0
    state: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the position as JSON holds it."""
        return {
            "file": self.file,
            "record": self.record,
            "part": self.part,
            "offset": self.offset,
            "state": self.state,
        }

    @classmethod
    def from_json(cls, content: Json) -> Self:
        """Return the position that ``to_json`` wrote.

        Raises:
            IngestionError: It is none.

        >>> Position.from_json(Position("a.txt").to_json())
        Position(file='a.txt', record=0, part=0, offset=0, state='')
        """
        if isinstance(content, dict):
            file, state = content.get("file"), content.get("state")
            told = [content.get(name) for name in ("record", "part", "offset")]
            counts = [n for n in told if type(n) is int and n >= 0]
            is_text = isinstance(file, str) and isinstance(state, str)
            if is_text and len(counts) == len(told) and len(content) == len(_KEYS):
                return cls(str(file), counts[0], counts[1], counts[2], str(state))
        sentence = "is no position that a reading saved: begin anew without it"
        raise IngestionError((Problem("position", None, None, sentence),))


END = 2**62
"""The record of a position behind everything in its file."""

_KEYS = ("file", "record", "part", "offset", "state")


@dataclass(frozen=True, slots=True)
class ReadDocument(TextDocument):
    """A document, how its bytes were decoded, and where to go on behind it.

    Attributes:
        encoding: Python's name of the encoding; empty for a value stored as text.
        encoding_from: How that was decided.
        position: Of this document in its source.
    """

    encoding: str = ""
    encoding_from: EncodingSource = "stored"
    position: Position = field(default_factory=Position)


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Something that was set aside: nothing of it is in any document.

    Attributes:
        id: As a document's; the file and the item where no id could be read.
        place: Where it stands.
        reason: Why, as a code.
        sentence: What is wrong, where, and what to do; it never quotes the text.
        position: Of it in its source.
    """

    id: str
    place: Place
    reason: Reason
    sentence: str
    position: Position = field(default_factory=Position)


class FlawError(Exception):
    """A document cannot be read; whoever knows its place sets it aside.

    Attributes:
        reason: Why.
        said: What is wrong and what to do, without the place.
        offset: Where in the original, or None where the whole of it is meant.
    """

    def __init__(self, reason: Reason, said: str, offset: int | None = None) -> None:
        self.reason = reason
        self.said = said
        self.offset = offset
        super().__init__(said)


@dataclass(frozen=True, slots=True)
class Written:
    """A text and where its characters stand, before it is known to be sound."""

    text: str
    pieces: tuple[Piece, ...]
    encoding: str = ""
    encoding_from: EncodingSource = "stored"


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a reader found where a document should be; not judged yet.

    Attributes:
        id: Its id; empty where its source has none for it.
        place: Where it stands.
        position: Where reading goes on behind it.
        body: The text, or why there is none.
        fields: What stood beside it.
    """

    id: str
    place: Place
    position: Position
    body: Written | FlawError
    fields: Mapping[str, str] = field(default_factory=dict)


def stored_text(text: str) -> Written:
    """Return a value that its store holds as text; offsets count its characters."""
    return Written(text, (Piece(0, 0, 1),) if text else ())
