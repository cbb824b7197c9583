"""An HL7 v2 message: its fields, and texts with their escapes written out.

Sources: HL7 v2.5.1, chapters 2.5 (delimiters) and 2.7 (escapes in text). The library
``hl7`` keeps no offsets; the tests compare what it reads with this.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from upstream.extraction.reading.decoding.rewriting import Rewriter
from upstream.extraction.reading.outcomes import FlawError, Reason, Written

_MOST_REPEATED = 200  # lines or blanks that one escape may stand for
_SEGMENT = re.compile(r"[A-Z][A-Z0-9]{2}\Z")
_DELIMITERS = 4  # in MSH-2: component, repetition, escape, subcomponent


@dataclass(frozen=True, slots=True)
class Delimiters:
    """What a message's MSH segment says its delimiters are."""

    field: str
    component: str
    repetition: str
    escape: str
    subcomponent: str

    @classmethod
    def of(cls, text: str) -> Self:
        """Return those of a message that begins with MSH.

        Raises:
            FlawError: It says none, or one twice.
        """
        given = text[3:8]
        is_sound = len(set(given)) == _DELIMITERS + 1 and not re.search(
            r"[\w\s]", given
        )
        behind = text[8:9]
        if not is_sound or (behind and behind != given[0] and _is_word(behind)):
            said = "MSH-1 and MSH-2 must name five different delimiters, such as |^~\\&"
            raise FlawError(Reason.BAD_STRUCTURE, said)
        return cls(*given)


def _is_word(character: str) -> bool:
    return character.isalnum() or character.isspace()


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment: where each of its fields begins and ends in the message's text.

    Attributes:
        name: Such as OBX.
        fields: From field 1 on.
    """

    name: str
    fields: tuple[tuple[int, int], ...]

    def field(self, number: int) -> tuple[int, int]:
        """Return where a field of a number (from 1) stands; nowhere if it is absent."""
        return self.fields[number - 1] if number <= len(self.fields) else (0, 0)


class Message:
    """A decoded message."""

    def __init__(self, written: Written, line_end: str) -> None:
        """Find the segments.

        Args:
            written: The message's text; it begins with MSH.
            line_end: What ends its segments.

        Raises:
            FlawError: It is no message.
        """
        self.written = written
        self.delimiters = Delimiters.of(written.text)
        field = re.escape(self.delimiters.field)
        self._next = re.compile(r"[\r\n][A-Z][A-Z0-9]{2}" + field)
        self.segments = tuple(self._segments(line_end))

    def value(self, segment: Segment, field: int) -> str:
        """Return the first component of a field's first repetition."""
        start, end = segment.field(field)
        text = self.written.text[start:end]
        first = text.partition(self.delimiters.repetition)[0]
        first = first.partition(self.delimiters.component)[0]
        if self.delimiters.escape not in first:
            return first
        rewriter = Rewriter(self.written)
        self._unescape(rewriter, start, start + len(first))
        return rewriter.written().text

    def add_text(self, rewriter: Rewriter, segment: Segment, field: int) -> None:
        """Write a field's text; its repetitions are lines."""
        start, end = segment.field(field)
        text, mark = self.written.text, self.delimiters.repetition
        while (found := text.find(mark, start, end)) >= 0:
            self._unescape(rewriter, start, found)
            rewriter.replace(found, found + 1, "\n")
            start = found + 1
        self._unescape(rewriter, start, end)

    def _segments(self, line_end: str) -> Iterator[Segment]:
        text, start = self.written.text, 0
        for line in text.split(line_end):
            if line.strip("\r\n\v\x1c"):
                yield self._segment(line, start)
            start += len(line) + len(line_end)

    def _segment(self, line: str, start: int) -> Segment:
        name, *fields = line.split(self.delimiters.field)
        if not _SEGMENT.match(name) or self._next.search(line):
            said = (
                "a line of the message is no segment: end all segments with CR, and "
                "write line breaks in texts as \\.br\\"
            )
            offset = self._original(start)
            raise FlawError(Reason.BAD_STRUCTURE, said, offset)
        at = start + len(name) + 1
        places = []
        for field in fields:
            places.append((at, at + len(field)))
            at += len(field) + 1
        if name == "MSH":  # its first field is the delimiter itself
            places.insert(0, (start + 3, start + 4))
        return Segment(name, tuple(places))

    def _original(self, offset: int) -> int:
        rewriter = Rewriter(self.written)
        rewriter.copy(offset, offset + 1)
        return rewriter.written().pieces[0].original

    def _unescape(self, rewriter: Rewriter, start: int, end: int) -> None:
        """Write a part of the text with what its escapes stand for."""
        text, mark = self.written.text, self.delimiters.escape
        while (opens := text.find(mark, start, end)) >= 0:
            closes = text.find(mark, opens + 1, end)
            by = None if closes < 0 else self._meaning(text[opens + 1 : closes])
            if by is None:  # no escape: the character stands for itself
                rewriter.copy(start, opens + 1)
                start = opens + 1
                continue
            rewriter.copy(start, opens)
            rewriter.replace(opens, closes + 1, by)
            start = closes + 1
        rewriter.copy(start, end)

    def _meaning(self, code: str) -> str | None:
        """Return what an escape stands for, or None where it is none that we know."""
        delimiters = self.delimiters
        plain = {
            "F": delimiters.field,
            "S": delimiters.component,
            "R": delimiters.repetition,
            "E": delimiters.escape,
            "T": delimiters.subcomponent,
            "H": "",  # highlighting begins, and ends
            "N": "",
        }
        if code in plain:
            return plain[code]
        if code.startswith("."):
            return _formatted(code)
        return self._of_bytes(code[1:]) if code.startswith("X") else None

    def _of_bytes(self, digits: str) -> str | None:
        if len(digits) % 2 or not re.fullmatch("[0-9A-Fa-f]+", digits):
            return None
        raw = bytes.fromhex(digits)
        try:
            return raw.decode(self.written.encoding or "utf-8")
        except UnicodeDecodeError:
            return raw.decode("iso-8859-1")


def _formatted(code: str) -> str | None:
    r"""Return what a formatting command does to the text: lines and blanks.

    >>> _formatted(".sp2"), _formatted(".sk3"), _formatted(".in4"), _formatted(".zz")
    ('\n\n', '   ', '', None)
    """
    match = re.fullmatch(r"\.(br|sp|ce|fi|nf|in|ti|sk)([+-]?[0-9]{0,4})", code)
    if match is None:
        return None
    command, count = match[1], int(match[2]) if match[2].strip("+-") else 1
    if abs(count) > _MOST_REPEATED:
        return None
    written = {"br": "\n", "ce": "\n", "sp": "\n" * count, "sk": " " * count}
    return written.get(command, "")
