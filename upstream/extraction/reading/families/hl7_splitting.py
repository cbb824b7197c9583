"""An HL7 file as the bytes of its messages, one at a time."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from upstream.extraction.reading.outcomes import FlawError, Position, Reason

_BLOCK_BYTES = 2**16
_MARK = b"\xef\xbb\xbf"
_BEGIN = re.compile(rb"MSH(?<=[\r\n\v]MSH)(?=[^\w\s])")
_BATCH = re.compile(rb"(?:FHS|BHS|BTS|FTS)[^\w\s][^\r\n]*[\r\n]*")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_AROUND = b"\r\n\v\x1c \t"  # line ends, blanks, and frames of MLLP
_LONGEST_BEGIN = 5  # bytes that decide whether a message begins


@dataclass(frozen=True, slots=True)
class RawMessage:
    """One message's bytes, or why there are none.

    Attributes:
        number: Of the message in its file, from 1.
        start: Offset of its first byte.
        content: From MSH to its last segment.
        line_end: What ends its segments.
        flaw: Why it cannot be read, or None.
    """

    number: int
    start: int
    content: bytes
    line_end: str = "\r"
    flaw: FlawError | None = None


def raw_messages(
    file: BinaryIO, most_bytes: int, begun: Position | None = None
) -> Iterator[RawMessage]:
    """Yield what stands from one MSH segment to the next, and what before the first.

    Args:
        file: The open file.
        most_bytes: A longer message is set aside, and never held.
        begun: Begins with the message of this position.
    """
    number = begun.record if begun else 1
    start = begun.offset if begun else 0
    file.seek(start)
    for at, content in _stretches(file, start, most_bytes):
        kept = content.removeprefix(_MARK) if at == 0 else content
        kept = kept.lstrip(_AROUND)
        found = _message(number, at + len(content) - len(kept), kept, most_bytes)
        if found is not None:
            yield found
            number += 1


def _message(
    number: int, start: int, content: bytes, most_bytes: int
) -> RawMessage | None:
    if len(content) > most_bytes:
        said = f"the message has more than {most_bytes:,} bytes: split it, or declare"
        flaw = FlawError(Reason.TOO_LONG, f"{said} max_characters", start)
        return RawMessage(number, start, b"", flaw=flaw)
    if not content.startswith(b"MSH"):
        if not _BATCH.sub(b"", content).strip(_AROUND):
            return None  # what stands around the messages of a batch
        said = "it does not begin with an MSH segment: is it HL7 v2?"
        flaw = FlawError(Reason.NO_MSH, said, start)
        return RawMessage(number, start, b"", flaw=flaw)
    end = _LINE_END.search(content)
    line_end = end[0].decode() if end else "\r"
    return RawMessage(number, start, content.rstrip(_AROUND), line_end)


def _stretches(
    file: BinaryIO, start: int, most_bytes: int
) -> Iterator[tuple[int, bytes]]:
    """Yield offset and bytes from one MSH to the next; of a long one the beginning."""
    head = b""  # of a long stretch, whose last bytes alone are held
    held, at, searched = bytearray(), start, 1
    while block := file.read(_BLOCK_BYTES):
        held += block
        while match := _BEGIN.search(held, searched):
            yield start, head or bytes(held[: match.start()])
            head, searched = b"", 1
            start = at = at + match.start()
            del held[: match.start()]
        searched = max(len(held) - _LONGEST_BEGIN, 1)
        if len(held) > most_bytes + _BLOCK_BYTES:
            head = head or bytes(held[: most_bytes + _BLOCK_BYTES])
            at += searched
            del held[:searched]
            searched = 1
    if head or held:
        yield start, head or bytes(held)
