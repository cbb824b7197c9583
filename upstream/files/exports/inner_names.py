"""What names choose rows within a file: a workbook's sheet, an archive's member."""

import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Final

from python_calamine import CalamineWorkbook

from engines.regular_files import opened
from upstream.files.exports.workbooks import sheet_names
from upstream.manifests.declarations import TableSpec
from upstream.manifests.file_specs import kind_of

_ARCHIVE: Final = ".zip"


def inner_names(table: TableSpec, path: Path, within: Path) -> tuple[str, ...]:
    """Return the names within a file by which rows of a table were chosen.

    As a file's name they can be a patient's: a sheet or an archive for each.

    Args:
        table: With the one sheet that is read, where it names one.
        path: Of a file that was read.
        within: The folder that it must not leave.
    """
    if kind_of(path.name) == "workbook":
        return tuple(_sheets(table, path, within))
    if path.suffix.lower() == _ARCHIVE:
        with opened(path, within=within) as file, zipfile.ZipFile(file) as archive:
            names = [name for each in archive.namelist() for name in _parts(each)]
        return tuple(dict.fromkeys(names))
    return ()


def _sheets(table: TableSpec, path: Path, within: Path) -> Iterator[str]:
    declared = None if table.excel is None else table.excel.sheet
    if isinstance(declared, str):
        yield declared
    elif declared is None:  # its only sheet with cells
        with opened(path, within=within) as file:
            yield from sheet_names(CalamineWorkbook.from_filelike(file))


def _parts(name: str) -> Iterator[str]:
    """Yield the folders and the file of an archive's member, and that without kind."""
    below = PurePath(name)
    yield from below.parts
    yield below.stem
