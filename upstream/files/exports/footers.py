"""Records at a file's end that are left out: totals, mostly, and sometimes a row."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from privacy.wording import counted
from upstream.files.records import MOST_PLACES, Places, Record, refused

_LOOKED_AT = 50  # rows above the last records, which these are compared with
_MOST_COMPARED = 20  # of the last records: where they are rows, the first ones are
_FEW = 2  # filled fields of a row beside which one alone is no note
_SHOWN = 30  # characters of a record's first cell that are told
MOST_FOUND = 5
"""Records at a file's end that ``footer_rows: auto`` may leave out."""

AUTO = "auto"
_WORDS = (
    r"(?:summe|gesamt(?:summe)?|insgesamt|anzahl|datens.tze|total(?:s|e|en|es)?|"
    r"sum|grand total|records?|rows?|count|somme|nombre|ensemble|totale|somma|suma|"
    r"razem|og[oó]łem|łącznie|liczba|celkem|součet|spolu|[öo]sszesen|toplam|say[i\u0131]|"
    r"totaal|aantal|summa|i alt|antal|yhteensä|итого|всего|сума|σύνολο)\b"
)
_TOTAL = re.compile(rf"(?i)\W*{_WORDS}.*")
_TOTALS = re.compile(rf"(?i){_WORDS}")


def is_total(fields: Sequence[str]) -> bool:
    """Return whether a record's first filled field is a word for a sum or a count.

    >>> is_total(["", "Summe", "12"]), is_total(["12", "Total hip replacement"])
    (True, False)
    """
    first = next((one for one in fields if one.strip()), "")
    return _TOTAL.fullmatch(first.strip()) is not None


def is_like_rows(fields: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a record is filled, and written, as the rows above it are.

    Where it is cut short, what is there of it counts.

    >>> is_like_rows(["8", "B3", "1,5"], [["7", "A12", "2,25"], ["9", "", "3,0"]])
    True
    >>> is_like_rows(["Summe", "", "3,75"], [["7", "A12", "2,25"], ["9", "", "3,0"]])
    False
    """
    filled = _filled(fields)
    if not filled or is_total(fields) or len(filled) * 2 < _usually_filled(rows):
        return False
    fits = [_form(fields[n]) in _forms(rows, n) for n in filled]
    return fits[0] and sum(fits) * 4 >= len(fits) * 3


def is_note(fields: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a record has one field alone, of another form than in rows.

    >>> is_note(["Source: HIS", "", ""], [["7", "A12", "2,25"], ["9", "B", "3,0"]])
    True
    """
    filled = _filled(fields)
    if len(filled) != 1 or _usually_filled(rows) <= _FEW:
        return False
    return _form(fields[filled[0]]) not in _forms(rows, filled[0])


def is_no_row(fields: Sequence[str], width: int) -> bool:
    """Return whether a record shows by itself that it is a total or a note.

    Other rows are not looked at: which rows of a patient are read must not depend on
    those of others. A total has no other word, or half of its fields are empty; a note
    is one field of three or more, and of several words.

    >>> is_no_row(["Summe", "", "31"], 3), is_no_row(["Total hip", "31", "B"], 3)
    (True, False)
    >>> is_no_row(["Source: HIS"], 3), is_no_row(["P-0012", "", ""], 3)
    (True, False)
    """
    filled = [fields[place].strip() for place in _filled(fields)]
    if is_total(fields):
        others = _TOTALS.sub("", filled[0])
        return len(filled) * 2 <= width or not any(map(str.isalpha, others))
    is_alone = len(filled) == 1 and width > _FEW
    return is_alone and re.search(r"\w\W*\s\W*[^\W\d]", filled[0]) is not None


def trailing(records: Sequence[Sequence[str]], width: int) -> int:
    """Return how many records at the end ``footer_rows: auto`` leaves out."""
    count = 0
    for fields in reversed(records[-MOST_FOUND:]):
        if not is_no_row(fields, width):
            break
        count += 1
    return count


def _filled(fields: Sequence[str]) -> list[int]:
    return [n for n, one in enumerate(fields) if one.strip()]


def _usually_filled(rows: Sequence[Sequence[str]]) -> int:
    counts = sorted(len(_filled(row)) for row in rows)
    return counts[len(counts) // 2] if counts else 0


def _forms(rows: Sequence[Sequence[str]], place: int) -> set[str]:
    return {_form(row[place]) for row in rows if place < len(row)}


def _form(text: str) -> str:
    """Return a text with one sign for its digits, and one for its letters, in a row.

    >>> _form("P0012-b")
    'a9-a'
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text.strip()))


@dataclass(slots=True)
class Footer:
    """The last records of a file, which are no rows, and what is told of them.

    Attributes:
        count: How many they are; auto: as many as show that they are no rows.
        width: The fields of a row.
        among: Records among the rows that ``auto`` would leave out at the end: where
            there are any, whether one is a row would depend on what rows follow it.
    """

    count: int | Literal["auto"]
    width: int = 0
    among: Places = field(default_factory=Places)
    _last: deque[Record] = field(default_factory=deque)
    _above: deque[Sequence[str]] = field(
        default_factory=lambda: deque(maxlen=_LOOKED_AT)
    )
    _is_at_end: bool = False

    def without(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield all records but the last ones."""
        most = MOST_FOUND if isinstance(self.count, str) else self.count
        for record in records:
            self._last.append(record)
            if len(self._last) > most:
                row = self._last.popleft()
                if self.count:
                    self._above.append(row[1])
                yield self._kept(row)
        if self.count == AUTO:
            count = trailing([fields for _, fields in self._last], self.width)
            while len(self._last) > count:
                yield self._kept(self._last.popleft())
        self._is_at_end = True

    def _kept(self, row: Record) -> Record:
        line, fields = row
        if self.count == AUTO and is_no_row(fields, self.width):
            self.among.add(line)
        return row

    def refuse_among_rows(self, name: str) -> None:
        """Refuse a file with totals among its rows.

        Raises:
            IngestionError: It has some.
        """
        if not self.among.count:
            return
        said = (
            f"totals or notes stand before rows ({self.among.in_words()}), or more "
            f"than {MOST_FOUND} at the end: footer_rows: auto leaves out those at the "
            "end alone; take them out of the file, or declare a number of lines"
        )
        raise refused(name, said, self.among.first[0])

    def warnings(self, name: str) -> Iterator[str]:
        """Yield which lines of a file were left out; none if its end was not read."""
        if not self._last or not self._is_at_end:
            return
        if self.count == AUTO:
            lines = ", ".join(str(line) for line, _ in self._last)
            yield (
                f"{name}: {counted(len(self._last), 'line')} at the end left out by "
                f"footer_rows: auto: {lines}"
            )
            return
        rows = list(self._above)
        told = [_told(record) for record in list(self._last)[:MOST_PLACES]]
        more = len(self._last) - len(told)
        told += [f"{more:,} more"] if more else []
        yield (
            f"{name}: {counted(len(self._last), 'line')} at the end left out by "
            f"footer_rows: {', '.join(told)}"
        )
        for line, fields in islice(self._last, _MOST_COMPARED):
            if is_like_rows(fields, rows):
                yield (
                    f"{name}:{line}: is left out by footer_rows, and looks like a row "
                    "of data: declare fewer footer_rows; where some files have such "
                    "lines and others have not, declare them as tables of their own"
                )


def _told(record: Record) -> str:
    line, fields = record
    first = next((one.strip() for one in fields if one.strip()), "")
    shown = first if len(first) <= _SHOWN else f"{first[:_SHOWN]}..."
    return f"{line} ({shown!r})"
