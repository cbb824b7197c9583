"""Sheets of Excel and OpenDocument workbooks, row by row, as texts.

Integers in decimal digits; other numbers as the shortest decimal that reads back,
without exponent; days ``YYYY-MM-DD``, moments ``YYYY-MM-DD HH:MM:SS``; ``true``,
``false``; an empty cell is the empty text. A formula is the value saved with it. In a
column with a decimal mark of its own, numbers are written with that: the mark is of the
cells that are texts, and a number is what it is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import BinaryIO

from python_calamine import (
    CalamineError,
    CalamineWorkbook,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from upstream.files.records import Record, refused
from upstream.manifests.file_specs import ExcelSpec

Cell = int | float | str | bool | time | date | datetime | timedelta

_NO_WORKBOOK = "is no workbook that can be read: save it as .xlsx, without a password"
_MOST_NAMED = 10  # sheets of a workbook that a refusal names


def workbook_records(
    file: BinaryIO, name: str, spec: ExcelSpec, marks: Mapping[str, str]
) -> Iterator[Record]:
    """Yield the row's number, from 1, and the texts of each row that is not empty.

    The first one is the header, unless ``spec`` names the columns.

    Args:
        file: The workbook.
        name: What to call it in a problem.
        spec: Which part of it is meant.
        marks: Decimal marks of columns, by their names in the header, that are no
            points.

    Raises:
        IngestionError: It is no workbook, or which sheet is meant cannot be told.
    """
    try:
        workbook = CalamineWorkbook.from_filelike(file)
        rows = _cells(workbook, _sheet_name(workbook, name, spec))
        yield from _below(rows, spec, marks)
    except CalamineError as error:
        raise refused(name, _NO_WORKBOOK) from error


def _below(
    rows: Iterator[tuple[int, Sequence[Cell]]],
    spec: ExcelSpec,
    marks: Mapping[str, str],
) -> Iterator[Record]:
    """Yield the rows below those that are skipped, numbers by their columns' marks."""
    header: Sequence[str] | None = spec.names
    for number, cells in rows:
        if number <= (spec.skip_rows or 0):
            continue
        texts = [cell_text(cell) for cell in cells]
        if header is None:
            header = texts = [without_breaks(text) for text in texts]
        elif marks:
            told = zip(header, cells, texts, strict=False)
            written = [_with_mark(c, text, marks.get(name)) for name, c, text in told]
            texts = written + texts[len(written) :]
        yield number, texts


def without_breaks(heading: str) -> str:
    r"""Return a heading in one line, as the sheet has it in several.

    >>> without_breaks("Size\nmm")
    'Size mm'
    """
    return re.sub(r"\s*[\r\n]+\s*", " ", heading)


def _with_mark(cell: Cell, text: str, mark: str | None) -> str:
    is_number = isinstance(cell, float) and mark is not None
    return text.replace(".", str(mark)) if is_number else text


def sheet_rows(file: BinaryIO, name: str) -> Iterator[tuple[str, list[Record]]]:
    """Yield name and rows of each sheet that holds cells.

    Raises:
        IngestionError: It is no workbook.
    """
    try:
        workbook = CalamineWorkbook.from_filelike(file)
        for sheet in sheet_names(workbook):
            yield sheet, list(_rows(workbook, sheet))
    except CalamineError as error:
        raise refused(name, _NO_WORKBOOK) from error


def _rows(workbook: CalamineWorkbook, sheet_name: str) -> Iterator[Record]:
    """Yield number and texts of the rows of a sheet that are not empty."""
    for number, cells in _cells(workbook, sheet_name):
        yield number, [cell_text(cell) for cell in cells]


def _cells(
    workbook: CalamineWorkbook, sheet_name: str
) -> Iterator[tuple[int, Sequence[Cell]]]:
    """Yield number and cells of the rows of a sheet that are not empty."""
    sheet = workbook.get_sheet_by_name(sheet_name)
    first = (sheet.start or (0, 0))[0] + 1
    for number, cells in enumerate(sheet.iter_rows(), first):
        if any(cell != "" for cell in cells):
            yield number, cells


def sheet_names(workbook: CalamineWorkbook) -> list[str]:
    """Return the names of a workbook's sheets of cells that hold anything."""
    names = [
        sheet.name
        for sheet in workbook.sheets_metadata
        if sheet.typ == SheetTypeEnum.WorkSheet
    ]
    return [name for name in names if workbook.get_sheet_by_name(name).start]


def hidden_sheets(file: BinaryIO, name: str) -> frozenset[str]:
    """Return the sheets that a workbook does not show to who opens it.

    Raises:
        IngestionError: It is no workbook.
    """
    file.seek(0)
    try:
        sheets = CalamineWorkbook.from_filelike(file).sheets_metadata
    except CalamineError as error:
        raise refused(name, _NO_WORKBOOK) from error
    shown = SheetVisibleEnum.Visible
    return frozenset(sheet.name for sheet in sheets if sheet.visible != shown)


def _sheet_name(workbook: CalamineWorkbook, name: str, spec: ExcelSpec) -> str:
    names = sheet_names(workbook)
    if spec.sheet is None and len(names) == 1:
        return names[0]
    if spec.sheet in workbook.sheet_names:
        return spec.sheet
    told = ", ".join(map(repr, names[:_MOST_NAMED]))
    if spec.sheet is None:
        sentence = (
            f"has {len(names)} sheets ({told}): name one with excel: {{sheet: ...}}"
        )
    else:
        sentence = f"has no sheet {spec.sheet!r}; its sheets are {told}"
    raise refused(name, sentence)


def cell_text(cell: Cell) -> str:  # noqa: PLR0911 - one return a type
    """Return a cell's value as text.

    >>> cell_text(3.0), cell_text(0.1), cell_text(True), cell_text(date(2024, 5, 6))
    ('3', '0.1', 'true', '2024-05-06')
    """
    match cell:
        case bool():
            return str(cell).lower()
        case float():
            return _number(cell)
        case datetime():
            return _moment(cell)
        case timedelta():
            seconds = int(cell.total_seconds())
            return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        case date() | time():
            return cell.isoformat()
        case _:
            return str(cell)


def _number(number: float) -> str:
    if number.is_integer():
        return str(int(number))
    return format(Decimal(repr(number)), "f")


def _moment(moment: datetime) -> str:
    """Return a moment; at midnight its day alone, unless it has an offset to UTC."""
    if moment.timetz() == time(0):
        return moment.date().isoformat()
    return moment.isoformat(sep=" ")


def trimmed(header: Sequence[str]) -> int:
    """Return how many columns a sheet has: up to the last one with a name.

    >>> trimmed(["a", "", "b", "", ""])
    3
    """
    return max((i for i, name in enumerate(header, 1) if name), default=0)
