"""How a text file or a sheet is written, as far as its beginning and end show it."""

import codecs
import csv
import io
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from engines.regular_files import opened
from upstream.drafting.sources.letters import likely_encodings
from upstream.files.exports.footers import is_like_rows, is_note, is_total, trailing
from upstream.files.exports.packed import unpacked
from upstream.files.exports.workbooks import (
    hidden_sheets,
    sheet_rows,
    trimmed,
    without_breaks,
)
from upstream.files.records import Record, refused
from upstream.files.usual_forms import NULL_WORDS
from upstream.manifests.file_specs import (
    CsvSpec,
    Encoding,
    ExcelSpec,
    JsonSpec,
    is_compressed,
)

_LOOKED_AT = 400  # lines at a file's beginning
_AT_END_BYTES = 65_536
_DELIMITERS = ",;\t|"
_NAMED = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_BLOCK_BYTES = 2**20
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NUMBER = re.compile(r"[-+]?[0-9][0-9.,' ]*|")
_QUOTED = re.compile(r'(?:^|[,;\t|])"[^"]*"(?=[,;\t|\r\n]|$)')
_APOSTROPHES = re.compile(r"(?:^|[,;\t|])'[^']*'(?=[,;\t|\r\n]|$)")
_FIXED = (
    "its columns seem to have a fixed width, with blanks between them: export it with "
    "a delimiter, such as semicolons or tabs"
)
_MOST_FOOTER = 5
_ABOVE = 50  # records above these that they are compared with
_FEW = 3  # lines that tell no layout
_DIGIT = re.compile("[0-9]")
_UNITS = "a second row of headings, such as units, left out: say the units in the names"
_MOST_BEFORE = 30  # lines before a header


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen of a file.

    Attributes:
        csv: How a text file differs from plain CSV; None: not at all, or it is none.
        excel: Which part of a workbook is the table; None: it is none, or all of it.
        json_: Which list of JSON files is the table; None: none, or they are none.
        said: What was seen, in words.
        is_hidden: Whether it is a sheet that its workbook does not show.
        ends: Of a text file, how many lines ``footer_rows: auto`` leaves out.
        is_ascii: Whether it is a text that most encodings read alike.
    """

    csv: CsvSpec | None = None
    excel: ExcelSpec | None = None
    json_: JsonSpec | None = None
    said: tuple[str, ...] = ()
    is_hidden: bool = False
    ends: int = 0
    is_ascii: bool = False


@dataclass(slots=True)
class _Seen:
    keys: dict[str, object] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    ends: int = 0


def look_at_text(path: Path) -> Look:
    """Return how a text file is written, compressed or not.

    Raises:
        OSError: It cannot be read.
        IngestionError: It cannot be unpacked.
    """
    seen = _Seen()
    with opened(path) as file, unpacked(file, path.name) as content:
        encoding = _encoding(content)
    with opened(path) as file, unpacked(file, path.name) as content:
        text = io.TextIOWrapper(content, _codec(encoding), "replace", newline="")
        try:
            lines = list(islice(text, _LOOKED_AT))
            end = _last_lines(path, text, lines, encoding)
        finally:
            text.detach()
    if encoding not in {"utf-8", "ascii"}:
        seen.keys["encoding"] = encoding
        seen.said.append(f"in {encoding}{_doubt(encoding)}")
    if has_fixed_widths(lines):
        raise refused(path.name, _FIXED, 1)
    _look_at_lines(seen, lines, end)
    spec = CsvSpec.model_validate(seen.keys) if seen.keys else None
    is_ascii = encoding == "ascii"
    return Look(csv=spec, said=tuple(seen.said), ends=seen.ends, is_ascii=is_ascii)


def has_fixed_widths(lines: Sequence[str]) -> bool:
    """Return whether lines have blanks at one place all, between words, and no more.

    >>> has_fixed_widths(["pid  name   age", "1    Ann    30", "22   Bertha  7"])
    True
    """
    told = [line.rstrip() for line in lines if line.strip()]
    if len(told) < _FEW or any(d in line for line in told[:1] for d in _DELIMITERS):
        return False
    width = max(map(len, told))
    padded = [line.ljust(width) for line in told]
    blank = [all(line[n] == " " for line in padded) for n in range(width)]
    gaps = [n for n in range(1, width) if blank[n] and not blank[n - 1]]
    return any(told[0][n : n + 2] == "  " for n in gaps if n < len(told[0]))


def _doubt(encoding: Encoding) -> str:
    """Return what is asked of an encoding that no byte of a file says."""
    if encoding.startswith("utf-16"):
        return ""
    other = "windows-1250" if encoding == "windows-1252" else "windows-1252"
    return f" by its letters (if names read wrong, declare another, such as {other})"


def _codec(encoding: str) -> str:
    return "utf-8-sig" if encoding == "utf-8" else encoding


def _encoding(content: BinaryIO) -> Encoding:
    """Return the encoding of a text: ASCII or UTF-8 where it is one, else a guess."""
    first = content.read(_BLOCK_BYTES)
    if first.startswith(_UTF16):
        return "utf-16"
    if b"\0" in first[:200]:
        return "utf-16-le" if first[1:2] == b"\0" else "utf-16-be"
    decoder = codecs.getincrementaldecoder("utf-8")()
    block, is_ascii = first, True
    while block:
        is_ascii = is_ascii and block.isascii()
        try:
            decoder.decode(block)
        except UnicodeDecodeError:
            return likely_encodings(block)[0]
        block = content.read(_BLOCK_BYTES)
    return "ascii" if is_ascii else "utf-8"


def _last_lines(
    path: Path, text: io.TextIOWrapper, lines: Sequence[str], encoding: str
) -> list[str]:
    """Return the last lines of a file."""
    if len(lines) < _LOOKED_AT:
        return list(lines)
    if is_compressed(path.name) or encoding.startswith("utf-16"):
        last: list[str] = []
        while part := list(islice(text, _LOOKED_AT)):
            last = [*last, *part][-_LOOKED_AT:]
        return last
    with opened(path) as file:
        file.seek(-min(_AT_END_BYTES, path.stat().st_size), os.SEEK_END)
        end = file.read().decode(_codec(encoding), "replace")
    return end.splitlines(keepends=True)[1:]


def _look_at_lines(seen: _Seen, lines: Sequence[str], end: Sequence[str]) -> None:
    comment = _comment(lines)
    told = [line for line in lines if not (comment and line.startswith(comment))]
    quote = _quote(told)
    if quote != '"':
        seen.keys["quote"] = quote
        seen.said.append("apostrophes around fields")
    delimiter, width = _delimiter(told, quote)
    if delimiter != ",":
        seen.keys["delimiter"] = "tab" if delimiter == "\t" else delimiter
        seen.said.append(f"{_NAMED[delimiter]} between fields")
    rows = [_fields(line, delimiter, quote) for line in told]
    before = _lines_before(rows, width)
    if before:
        seen.keys["skip_rows"] = _position(lines, told, before)
        seen.said.append(_counted(seen.keys["skip_rows"], "line before the header"))
    if comment:
        seen.keys["comment"] = comment
        seen.said.append(f"lines that begin with {comment} are notes")
    if before < len(rows):
        at = _position(lines, told, before) + 1
        _look_at_header(seen, rows[before], rows[before + 1 :], at)
    last = [_fields(line, delimiter, quote) for line in end if line.strip("\r\n")]
    seen.ends = trailing(last, width)
    if footer := _footer(last, width):
        seen.keys["footer_rows"] = footer
        are = "is no row" if footer == 1 else "are no rows"
        seen.said.append(_counted(footer, f"line at the end that {are}"))
    if _ends_mixed(lines, quote):
        seen.keys["line_ends"] = "any"
        seen.said.append("lines end in several ways")


def _look_at_header(
    seen: _Seen, header: Sequence[str], rows: Sequence[Sequence[str]], lines: int
) -> None:
    """Note what columns are called where a header does not say it."""
    if header and not _is_header(header, rows):
        seen.keys["names"] = [f"column_{n}" for n in range(1, len(header) + 1)]
        seen.said.append("no header: name the columns, in the order of the fields")
        return
    is_double = is_second_header(rows[:1], rows[1:])
    reasons = [said for said in (_unclear_names(header), is_double and _UNITS) if said]
    if reasons:
        seen.keys["skip_rows"] = lines + is_double
        seen.keys["names"] = _named_apart(header)
        seen.said += reasons


def _counted(number: object, what: str) -> str:
    first, _, rest = what.partition(" ")
    return f"{number} {first}{'' if number == 1 else 's'} {rest}"


def _comment(lines: Sequence[str]) -> str | None:
    begun = [line[:1] for line in lines[:_MOST_BEFORE]]
    return "#" if "#" in begun else None


def _position(lines: Sequence[str], told: Sequence[str], before: int) -> int:
    """Return how many lines, notes too, stand before a line that is no note."""
    notes = len(lines) - len(told)
    return before if not notes else list(lines).index(told[before])


def _fields(line: str, delimiter: str, quote: str) -> list[str]:
    text = [line.rstrip("\r\n")]
    try:
        return next(csv.reader(text, delimiter=delimiter, quotechar=quote), [])
    except csv.Error:
        return []


def _quote(lines: Sequence[str]) -> str:
    """Return what stands around fields: apostrophes where most lines have such."""
    with_quotes = any(_QUOTED.search(line) for line in lines)
    apostrophes = sum(1 for line in lines if _APOSTROPHES.search(line))
    return "'" if apostrophes * 2 > len(lines) and not with_quotes else '"'


def _delimiter(lines: Sequence[str], quote: str) -> tuple[str, int]:
    """Return what parts most lines into one number of fields, and that number."""
    best, found = (0.0, 0), (",", 1)
    for delimiter in _DELIMITERS:
        widths = Counter(
            len(fields) for line in lines if (fields := _fields(line, delimiter, quote))
        )
        width, count = max(
            ((w, n) for w, n in widths.items() if w > 1),
            key=lambda one: (one[1], one[0]),
            default=(1, 0),
        )
        share = count / max(1, sum(widths.values()))
        if (share, width) > best and share > 0.5:  # noqa: PLR2004 - most of them
            best, found = (share, width), (delimiter, width)
    return found


def _lines_before(rows: Sequence[Sequence[str]], width: int) -> int:
    """Return how many lines stand before the first that may be a header."""
    for number, fields in enumerate(rows[:_MOST_BEFORE]):
        filled = sum(1 for one in fields if one.strip())
        if len(fields) == width and filled * 2 > width:
            return number
    return 0


def _is_header(fields: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a record has names: few numbers, and no word twice that rows have too."""
    named = [one.strip() for one in fields if one.strip()]
    numbers = sum(1 for one in named if _NUMBER.fullmatch(one))
    if numbers * 3 > len(named):
        return False
    below = {(n, one.strip()) for row in rows for n, one in enumerate(row)}
    is_met = any((n, one.strip()) in below for n, one in enumerate(fields) if one)
    return len(set(named)) == len(named) or not is_met


def is_second_header(
    first: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]
) -> bool:
    """Whether a row below the header has units, or names again, and no value.

    Where it has a word, most rows below have numbers.

    >>> rows = [["7", "36,5", "x"], ["8", "37,0", "y"], ["9", "", "z"]]
    >>> is_second_header([["", "°C", "note"]], rows)
    True
    >>> is_second_header([["", "°C", ""]], [*rows, ["1", "---", "x"]])
    True
    """
    if not first or len(rows) < _FEW or any(map(_DIGIT.search, first[0])):
        return False
    words = [n for n, one in enumerate(first[0]) if one.strip()]
    below = [[row[n] for row in rows if n < len(row) and _says(row[n])] for n in words]
    numbers = [bool(each) and all(map(_DIGIT.search, each)) for each in below]
    return len(words) > 0 and sum(numbers) * 2 >= len(words)


def _says(text: str) -> bool:
    """Whether a field has a value: neither nothing, nor a word for it."""
    return bool(text.strip()) and text.strip() not in NULL_WORDS


def _unclear_names(header: Sequence[str]) -> str | None:
    """Return which columns of a header have no name of their own; None: all have."""
    twice = [one for one, count in Counter(header).items() if one and count > 1]
    if twice:
        told = ", ".join(map(repr, twice))
        return f"several columns are called {told}: named apart, in their order"
    if header and not all(one.strip() for one in header):
        return "some columns have no name: named by their place"
    return None


def _named_apart(header: Sequence[str]) -> list[str]:
    """Return names of columns: the second and later of one name are numbered.

    >>> _named_apart(["pid", "a", "a", ""])
    ['pid', 'a', 'a_2', 'column_4']
    """
    names: list[str] = []
    for place, one in enumerate(header, 1):
        name = one.strip() or f"column_{place}"
        number = 1
        while (told := name if number == 1 else f"{name}_{number}") in names:
            number += 1
        names.append(told)
    return names


def _footer(rows: Sequence[Sequence[str]], width: int) -> int:
    """Return how many records at the end are no rows: totals, counts of records.

    What is filled and written as the rows above it is one, however short.
    """
    count = 0
    above = rows[: -_MOST_FOOTER or None][-_ABOVE:]
    for fields in reversed(rows[-_MOST_FOOTER:]):
        is_whole = len(fields) == width or width == 1
        is_none = is_total(fields) or is_note(fields, above)
        if not is_none and (is_whole or is_like_rows(fields, above)):
            break
        count += 1
    return count if count < len(rows) else 0


def _ends_mixed(lines: Sequence[str], quote: str) -> bool:
    """Return whether records end in several ways; breaks within quotes end none."""
    ends, is_open = set(), 0
    for line in lines:
        is_open ^= line.count(quote) % 2
        if not is_open:
            ends.add(line[len(line.rstrip("\r\n")) :])
    return len(ends - {""}) > 1 or "\r" in ends


def look_at_sheets(path: Path) -> dict[str, Look]:
    """Return how each sheet of a workbook that holds a table is laid out, by name.

    Raises:
        OSError: It cannot be read.
        IngestionError: It is no workbook.
    """
    with opened(path) as file:
        sheets = dict(sheet_rows(file, path.name))
        hidden = hidden_sheets(file, path.name)
    looks = {
        name: _as_hidden(look) if name in hidden else look
        for name, rows in sheets.items()
        if (look := _look_at_sheet(name, rows, is_one=len(sheets) == 1))
    }
    if not looks:
        raise refused(path.name, "no sheet of it has a header and rows")
    return looks


def _as_hidden(look: Look) -> Look:
    asked = "hidden in the workbook: is it meant? Else take this table out"
    return replace(look, said=(*look.said, asked), is_hidden=True)


def _look_at_sheet(name: str, rows: Sequence[Record], *, is_one: bool) -> Look | None:
    told = [texts for _, texts in rows]
    most = max(map(_filled, told), default=0)
    begun = enumerate(told[:_MOST_BEFORE])
    before = next((n for n, row in begun if _filled(row) * 2 > most), 0)
    if most < 2 or len(told) < before + 2:  # noqa: PLR2004 - a header and a row
        return None
    keys: dict[str, object] = {} if is_one else {"sheet": name}
    said = [f"the sheet {name!r}"]
    if skip := rows[before][0] - 1:
        keys["skip_rows"] = skip
        said.append(_counted(skip, "row before the header"))
    header = [without_breaks(one) for one in told[before][: trimmed(told[before])]]
    below = told[before + 1 :]
    is_double = is_second_header(below[:1], below[1:])
    reasons = [one for one in (_unclear_names(header), is_double and _UNITS) if one]
    if reasons:
        keys["skip_rows"] = rows[before + is_double][0]
        keys["names"] = _named_apart(header)
        said += reasons
    if footer := _footer(below, 1):
        keys["footer_rows"] = footer
        are = "is" if footer == 1 else "are"
        said.append(_counted(footer, f"row at the end that {are} none of the table"))
    spec = ExcelSpec.model_validate(keys) if keys else None
    return Look(excel=spec, said=tuple(said))


def _filled(row: Sequence[str]) -> int:
    return sum(1 for one in row if one.strip())
