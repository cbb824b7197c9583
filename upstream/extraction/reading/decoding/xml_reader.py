"""XML as a stream of elements and texts, each text with its place; nothing unsafe.

Expat does the parsing. A document may define no entities and refer to none but the
five of XML, so that nothing grows (XML bombs) and nothing is fetched (external ones).
Line ends stay as they are written, which XML alone would turn into LF.
"""

from collections.abc import Mapping
from typing import NoReturn, Protocol
from xml.parsers import expat

from upstream.extraction.reading.decoding.encodings import known_encoding
from upstream.extraction.reading.outcomes import (
    EncodingSource,
    FlawError,
    Reason,
    Written,
)
from upstream.extraction.text.documents import Piece, pieces_of
from upstream.manifests.file_specs import Encoding

_MOST_DEPTH = 200
_MOST_TOKEN_BYTES = 2**20  # of one tag or comment
_BEGINS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_EXPATS = {"utf-16-le": "utf-16le", "utf-16-be": "utf-16be"}


class XmlListener(Protocol):
    """What is told of a document's elements and texts, in their order."""

    def opens(self, name: str, attributes: Mapping[str, str]) -> None:
        """Note that an element begins; its name is without a prefix."""

    def closes(self, name: str) -> None:
        """Note that it ends."""

    def says(self, run: Written) -> None:
        """Note a stretch of text."""


class XmlReader:
    """Parses one document, given in blocks; the first has its first four bytes."""

    def __init__(self, listener: XmlListener, declared: Encoding | None = None) -> None:
        """Begin a document.

        Args:
            listener: Is told what stands in it.
            declared: Its encoding, or None to go by its header.
        """
        self.listener = listener
        self.declared = declared
        self._parser: expat.XMLParserType | None = None
        self._encoding = "utf-8"
        self._encoding_from: EncodingSource = "valid"
        self._is_marked = False
        self._depth = 0
        self._in_cdata = False
        self._held = bytearray()
        self._held_from = 0
        self._seen = 0  # offset of the last event

    def feed(self, block: bytes, *, is_last: bool = False) -> None:
        """Parse a block.

        Raises:
            FlawError: The document is no XML, or holds what is refused.
        """
        parser = self._parser or self._begun(block)
        self._held += block
        try:
            parser.Parse(block, is_last)
        except expat.ExpatError as error:
            said = f"it is no well-formed XML ({expat.ErrorString(error.code)})"
            self._refuse(Reason.BAD_STRUCTURE, said, parser.ErrorByteIndex)
        except (LookupError, ValueError):  # of Python's codecs, for expat
            self._refuse(Reason.BAD_ENCODING, "its encoding is not read", 0)
        del self._held[: self._seen - self._held_from]
        self._held_from = self._seen
        if len(self._held) > _MOST_TOKEN_BYTES + len(block):
            self._refuse(Reason.TOO_LONG, "a tag or comment in it is too long")

    def _begun(self, block: bytes) -> expat.XMLParserType:
        found = next((name for mark, name in _BEGINS if block.startswith(mark)), None)
        self._is_marked = found is not None and not block.startswith((b"<", b"\0"))
        if self.declared is not None:
            self._encoding, self._encoding_from = self.declared, "declared"
            if self.declared == "utf-16":
                self._encoding = found or "utf-16-le"
        elif found is not None:
            self._encoding, self._encoding_from = found, "mark"
        name = _EXPATS.get(self._encoding, self._encoding)
        parser = expat.ParserCreate(None if self.declared is None else name)
        self._parser = parser
        self._listen(parser)
        return parser

    def _listen(self, parser: expat.XMLParserType) -> None:
        parser.buffer_text = False
        parser.XmlDeclHandler = self._header
        parser.StartElementHandler = self._opens
        parser.EndElementHandler = self._closes
        parser.CharacterDataHandler = self._says
        parser.StartCdataSectionHandler = lambda: self._cdata(is_open=True)
        parser.EndCdataSectionHandler = lambda: self._cdata(is_open=False)
        parser.CommentHandler = lambda _text: self._mark()
        parser.ProcessingInstructionHandler = lambda _name, _text: self._mark()
        parser.EntityDeclHandler = lambda *_told: self._refuse_entities()
        parser.UnparsedEntityDeclHandler = lambda *_told: self._refuse_entities()
        parser.ExternalEntityRefHandler = lambda *_told: self._refuse_entities()
        parser.SkippedEntityHandler = lambda *_told: self._refuse_entities()

    def _mark(self) -> int:
        assert self._parser is not None  # noqa: S101 -- handlers run within Parse
        self._seen = self._parser.CurrentByteIndex
        return self._seen

    def _header(self, _version: str, encoding: str | None, _standalone: int) -> None:
        self._mark()
        if self.declared is not None or encoding is None:
            return
        known = known_encoding(encoding)
        if known is None or (self._is_marked and known[:6] != self._encoding[:6]):
            said = "the encoding in its header is not read, or not that of its mark"
            self._refuse(Reason.BAD_ENCODING, said)
        if not known.startswith("utf-16"):
            self._encoding = known
        self._encoding_from = "declared"

    def _opens(self, name: str, attributes: Mapping[str, str]) -> None:
        self._mark()
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            said = f"elements stand more than {_MOST_DEPTH} deep"
            self._refuse(Reason.TOO_DEEP, said)
        self.listener.opens(_local(name), attributes)

    def _closes(self, name: str) -> None:
        self._mark()
        self._depth -= 1
        self.listener.closes(_local(name))

    def _cdata(self, *, is_open: bool) -> None:
        self._mark()
        self._in_cdata = is_open

    def _says(self, text: str) -> None:
        at = self._mark()
        if text == "\n":
            text = self._line_end(at)
        if len(text) == 1 and not self._in_cdata and self._letters(at, 1) == "&":
            width = self._behind_reference(at) - at
            pieces: tuple[Piece, ...] = (Piece(0, at, width),)
        else:
            pieces = pieces_of(text, self._encoding, original=at)
        self.listener.says(Written(text, pieces, self._encoding, self._encoding_from))

    def _letters(self, at: int, count: int) -> str:
        """Return characters of the original from an offset on, if they are ASCII."""
        wide = 2 if self._encoding.startswith("utf-16") else 1
        start = at - self._held_from
        raw = bytes(self._held[start : start + count * wide])
        return raw.decode(self._encoding, errors="ignore")

    def _line_end(self, at: int) -> str:
        """Return a line end as it is written, where it is no reference."""
        written = self._letters(at, 2)
        if written[:1] != "\r":
            return "\n"
        return "\r\n" if written == "\r\n" else "\r"

    def _behind_reference(self, at: int) -> int:
        end = ";".encode(self._encoding)
        found = self._held.find(end, at - self._held_from)
        return self._held_from + found + len(end)

    def _refuse_entities(self) -> NoReturn:
        said = "it defines entities, or refers to some: resolve them in the export"
        self._refuse(Reason.ENTITIES, said)

    def _refuse(self, reason: Reason, said: str, at: int | None = None) -> NoReturn:
        raise FlawError(reason, said, self._seen if at is None else at)


def _local(name: str) -> str:
    return name.rpartition(":")[2]
