"""What numbers in the cells of an Excel workbook look like, which their values hide.

A cell that shows 45 % holds 0.45, beside another that holds 45; a formula whose value
no program saved shows one once it is computed, and holds nothing. Read from the
workbook's own XML: other readers give values alone.
"""

import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from html import unescape
from typing import IO, BinaryIO

from privacy.wording import counted

_BLOCK = 1 << 20
_MUCH_IN = 20  # more than one number of a column in so many
_TAG = re.compile(r"<(sheet|Relationship|numFmt|xf|cellXfs|cellStyleXfs)\b([^<>]*)>")
_KEY = re.compile(r'([\w:]+)="([^"]*)"')
_CELL = re.compile(
    r"<c ([^<>]{1,300})(?<!/)>\s*(<f\b[^<>]*(?:/>|>[^<]*</f>))?\s*(<v>)?"
)
Sheet = str | tuple[str, ...] | None
_PERCENT = frozenset({"9", "10"})
"""Excel's own formats of percentages."""


def odd_cells(file: BinaryIO, name: str, sheet: Sheet) -> Iterator[str]:
    """Yield a warning of each column of a workbook whose cells are not what they show.

    Args:
        file: The workbook; of other kinds than .xlsx nothing is told.
        name: What to call it.
        sheet: Which one is read, or which ones; None: it has one.
    """
    try:
        file.seek(0)
        with zipfile.ZipFile(file) as archive:
            percents = _percent_styles(archive)
            for path in _sheet_paths(archive, sheet):
                with archive.open(path) as part:
                    yield from _told(part, name, percents)
    except (
        zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError,
        RuntimeError,
    ):  # fmt: skip
        return  # no .xlsx, or one that others read otherwise


def _told(part: IO[bytes], name: str, percents: frozenset[str]) -> Iterator[str]:
    met: Counter[tuple[str, str]] = Counter()
    for keys, formula, value in _cells(part):
        column = keys.get("r", "").rstrip("0123456789")
        if not value:
            met[column, "unsaved"] += bool(formula)
        elif keys.get("t", "n") == "n":
            met[column, "percent" if keys.get("s") in percents else "plain"] += 1
    for column in dict.fromkeys(column for column, _ in met):
        percent, plain = met[column, "percent"], met[column, "plain"]
        if min(percent, plain) * _MUCH_IN > percent + plain:
            yield (
                f"{name}: column {column} has {counted(percent, 'cell')} in the format "
                f"of percentages and {plain} in others: 45 % is the number 0.45, "
                "beside 45; write them alike"
            )
        if unsaved := met[column, "unsaved"]:
            yield (
                f"{name}: column {column} has {counted(unsaved, 'formula')} without a "
                "saved value, read as nothing: open the workbook in Excel or "
                "LibreOffice, save it, and export it again"
            )


def _cells(part: IO[bytes]) -> Iterator[tuple[dict[str, str], str | None, str | None]]:
    """Yield the keys, the formula and the begun value of each cell that has any."""
    rest = ""
    is_more = True
    while is_more:
        block = part.read(_BLOCK)
        is_more = bool(block)
        text = rest + block.decode("utf-8", "replace")
        begun = text.rfind("<c ")  # which may end in the next block
        end = begun if is_more and begun > 0 else len(text)
        for found in _CELL.finditer(text, 0, end):
            yield dict(_KEY.findall(found[1])), found[2], found[3]
        rest = text[end:]


def _tags(archive: zipfile.ZipFile, path: str) -> Iterator[tuple[str, dict[str, str]]]:
    text = archive.read(path).decode("utf-8", "replace")
    for found in _TAG.finditer(text):
        yield found[1], {key: unescape(value) for key, value in _KEY.findall(found[2])}


def _percent_styles(archive: zipfile.ZipFile) -> frozenset[str]:
    """Return the numbers of the styles of cells that show percentages."""
    formats, styles = set(_PERCENT), []
    is_of_cells = False
    for tag, keys in _tags(archive, "xl/styles.xml"):
        if tag == "numFmt" and "%" in keys.get("formatCode", ""):
            formats.add(keys.get("numFmtId", ""))
        elif tag in {"cellXfs", "cellStyleXfs"}:
            is_of_cells = tag == "cellXfs"
        elif tag == "xf" and is_of_cells:
            styles.append(keys.get("numFmtId"))
    return frozenset(str(n) for n, one in enumerate(styles) if one in formats)


def _sheet_paths(archive: zipfile.ZipFile, sheet: Sheet) -> Iterator[str]:
    links = {
        keys.get("Id"): keys.get("Target", "")
        for tag, keys in _tags(archive, "xl/_rels/workbook.xml.rels")
        if tag == "Relationship"
    }
    wanted = (sheet,) if isinstance(sheet, str) else sheet
    for tag, keys in _tags(archive, "xl/workbook.xml"):
        if tag == "sheet" and (wanted is None or keys.get("name") in wanted):
            target = links.get(keys.get("r:id"), "")
            yield target[1:] if target.startswith("/") else f"xl/{target}"
