"""Excel workbooks, as small as they can be: sheets of texts, numbers, days, truths."""

import zipfile
from datetime import date, datetime
from pathlib import Path
from xml.sax.saxutils import escape

_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_DOC = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_XL = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - of Excel, without a zone


def write_workbook(path: Path, sheets, hidden=()):
    """Write sheets (a name and its rows) as an .xlsx file; hide some."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _parts(sheets, hidden).items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{content}')


def _parts(sheets, hidden):
    numbers = range(1, len(sheets) + 1)
    overrides = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" '
        f'ContentType="{_XL}.worksheet+xml"/>'
        for n in numbers
    )
    relations = "".join(
        f'<Relationship Id="r{n}" Type="{_DOC}/worksheet" '
        f'Target="worksheets/sheet{n}.xml"/>'
        for n in numbers
    )
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"'
        + (' state="hidden"/>' if name in hidden else "/>")
        for n, name in zip(numbers, sheets, strict=True)
    )
    return {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_XL}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_XL}.styles+xml"/>'
        f"{overrides}</Types>",
        "_rels/.rels": f'<Relationships xmlns="{_RELS}"><Relationship Id="r1" '
        f'Type="{_DOC}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_DOC}">'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELS}">{relations}'
        f'<Relationship Id="s" Type="{_DOC}/styles" Target="styles.xml"/>'
        "</Relationships>",
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><cellXfs count="2">'
        '<xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs>'
        "</styleSheet>",
        **{
            f"xl/worksheets/sheet{n}.xml": _sheet(rows)
            for n, rows in zip(numbers, sheets.values(), strict=True)
        },
    }


def _sheet(rows):
    written = "".join(
        f'<row r="{at}">{"".join(_cell(cell, column, at) for column, cell in enumerate(row))}</row>'  # noqa: E501
        for at, row in enumerate(rows, 1)
    )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{written}</sheetData></worksheet>'


def _cell(cell, column, at):  # noqa: PLR0911 - one return a type
    place = f"{chr(ord('A') + column)}{at}"
    match cell:
        case None:
            return ""
        case bool():
            return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
        case int() | float():
            return f'<c r="{place}"><v>{cell}</v></c>'
        case date():
            days = (datetime(cell.year, cell.month, cell.day) - _EPOCH).days  # noqa: DTZ001 - as above
            return f'<c r="{place}" s="1"><v>{days}</v></c>'
        case _:
            return (
                f'<c r="{place}" t="inlineStr"><is><t>{escape(str(cell))}</t></is></c>'
            )
