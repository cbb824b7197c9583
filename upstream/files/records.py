"""Records of a table that is being read: fields as texts, and where each begins."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from privacy.wording import counted
from upstream.errors import IngestionError, Problem

Record = tuple[int, Sequence[str]]
"""The line, or the row, of the table at which a record begins, and its fields."""

MOST_PLACES = 3  # of one trouble that are told; all are counted
_BREAK = re.compile(r"\r\n|[\r\n]")
_TOLD_APART = 3  # fields: lines of more are no text that has as many by coincidence


def refused(name: str, sentence: str, line: int | None = None) -> IngestionError:
    """Return the refusal of a file for one thing."""
    return IngestionError((Problem(name, line, None, sentence),))


@dataclass(slots=True)
class Places:
    """Where one trouble was met: all places are counted, the first ones told."""

    count: int = 0
    first: list[int] = field(default_factory=list)
    last: int = 0

    def add(self, line: int) -> None:
        """Count one more place."""
        self.count += 1
        self.last = line
        if len(self.first) < MOST_PLACES:
            self.first.append(line)

    def in_words(self, what: str = "line") -> str:
        """Return the places as a sentence has them.

        >>> Places(5, [2, 7, 9]).in_words(), Places(1, [2]).in_words()
        ('lines 2, 7, 9 and 2 more', 'line 2')
        """
        told = ", ".join(map(str, self.first))
        more = self.count - len(self.first)
        plural = "s" if self.count > 1 else ""
        return f"{what}{plural} {told}" + (f" and {more} more" if more else "")


def is_several_rows(fields: Sequence[str], delimiter: str) -> bool:
    r"""Return whether each line of a record has as many fields as the record.

    A quote that opens by accident makes rows, up to the next quote, one field. Lines of
    a text in quotes have other numbers of delimiters, or begin unlike the record.

    >>> is_several_rows(["7", 'fell,A\n8,at home', "B"], ",")
    True
    >>> is_several_rows(["7", 'fell\nat home, at night', "B"], ",")
    False
    """
    told = [one for one in _BREAK.split(delimiter.join(fields)) if one]
    if len(told) < 2 or any(  # noqa: PLR2004 - one row
        line.count(delimiter) != len(fields) - 1 for line in told
    ):
        return False
    begun = {re.sub(r"\d+", "9", line.partition(delimiter)[0].strip()) for line in told}
    return len(fields) > _TOLD_APART or (len(fields) > 1 and len(begun) == 1)


def several_rows_warnings(name: str, places: Places) -> Iterator[str]:
    """Yield a warning of records that have become one field of one, if there are any.

    Args:
        name: What to call the file.
        places: Where such records begin.
    """
    if places.count:
        yield (
            f"{name}: {counted(places.count, 'quoted text')} ({places.in_words()}) "
            "over lines each of which has the header's number of fields: did a quote "
            "that belongs to a text swallow rows? If nothing is quoted, declare csv: "
            "{quote: none}; else double the quotes within texts"
        )


class Widths:
    """Holds records against their header's number of fields."""

    def __init__(self, name: str, width: int, footer: int) -> None:
        self.name = name
        self.width = width
        self.footer = footer
        self.short, self.long = Places(), Places()
        self.last_line = 0

    def fits(self, line: int, fields: Sequence[str]) -> bool:
        """Return whether a record has as many fields as the header; count it if not."""
        self.last_line = line
        if len(fields) == self.width:
            return True
        (self.short if len(fields) < self.width else self.long).add(line)
        return False

    def problems(self) -> Iterator[Problem]:
        """Yield a problem for each way in which records do not fit."""
        is_total = self.short.count == 1 and self.short.last == self.last_line
        fewer = (
            "the last one: if it is a line of totals, declare footer_rows: "
            f"{self.footer + 1}; else the file was cut off"
            if is_total
            else "a line end stands within a value there, or lines were cut off: write "
            "such values in quotes"
        )
        more = (
            "a delimiter stands within a value there: write such values in quotes, or "
            "declare another delimiter"
        )
        for places, words, remedy in (
            (self.short, "fewer", fewer),
            (self.long, "more", more),
        ):
            if places.count:
                said = (
                    f"{_records(places.count)} {words} fields than the header's "
                    f"{self.width} ({places.in_words()}): {remedy}"
                )
                yield Problem(self.name, places.first[0], None, said)


def _records(count: int) -> str:
    return "1 record has" if count == 1 else f"{count:,} records have"
