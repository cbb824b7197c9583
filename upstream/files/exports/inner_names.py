"""What names choose rows within a file: a sheet, an archive's member, a list."""

import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import BinaryIO

from python_calamine import CalamineWorkbook

from engines.regular_files import opened
from upstream.files.exports.file_parts import FilePart
from upstream.files.exports.json_objects import lists_of_objects, members_of
from upstream.files.exports.packed import member_of
from upstream.files.exports.workbooks import sheet_names
from upstream.manifests.declarations import TableSpec
from upstream.manifests.file_specs import is_archive


def inner_names(table: TableSpec, part: FilePart, within: Path) -> tuple[str, ...]:
    """Return the names within a file by which rows of a table were chosen.

    As a file's name they can be a patient's: a sheet, an archive or a list for each.

    Args:
        table: With the one sheet that is read, where it names one.
        part: Which was read.
        within: The folder that it must not leave.
    """
    names: list[str] = []
    with opened(part.path, within=within) as whole:
        with member_of(whole, part.file_name, part.member) as file:
            if part.kind == "workbook":
                names += _sheets(table, file)
            elif part.kind == "json":
                names += _lists(table, file, part.name)
        if is_archive(part.path.name):
            whole.seek(0)
            with zipfile.ZipFile(whole) as archive:
                names += [one for each in archive.namelist() for one in _parts(each)]
    return tuple(dict.fromkeys(names))


def _lists(table: TableSpec, file: BinaryIO, name: str) -> Iterator[str]:
    """Yield the names of the fields on the way to the list that is read."""
    if table.json_ is not None:
        yield from table.json_.path
    yield from lists_of_objects(members_of(file, name) or {})


def _sheets(table: TableSpec, file: BinaryIO) -> Iterator[str]:
    declared = None if table.excel is None else table.excel.sheet
    if isinstance(declared, str):
        yield declared
    elif declared is None:  # its only sheet with cells
        yield from sheet_names(CalamineWorkbook.from_filelike(file))


def _parts(name: str) -> Iterator[str]:
    """Yield the folders and the file of an archive's member, and that without kind."""
    below = PurePath(name)
    yield from below.parts
    yield below.stem
