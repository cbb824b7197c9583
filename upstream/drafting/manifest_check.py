"""What a load refuses before it reads a row: manifest, hierarchies, files, headers."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import duckdb

from engines.regular_files import identity_of
from upstream.errors import IngestionError, ManifestError, Problem
from upstream.files.exports.file_parts import FilePart, parts_of
from upstream.files.exports.plain_copies import header_of, of_each_sheet
from upstream.files.reading_sql import quoted
from upstream.files.sources import no_file, two_names
from upstream.manifests.declarations import TableSpec
from upstream.manifests.file_specs import kind_of, unread
from upstream.manifests.manifest import load_manifest

_UNREADABLE = "cannot be read: export it again, and look at its rights"


def manifest_problems(
    path: Path, import_folder: Path | None = None
) -> tuple[Problem, ...]:
    """Return every problem of a manifest that shows without reading rows.

    Args:
        path: The manifest.
        import_folder: The folder that real paths must lie under; None: the manifest's.
    """
    try:
        manifest = load_manifest(path, import_folder)
    except ManifestError as error:
        return error.problems
    base = path.resolve().parent
    root = (import_folder or base).resolve()
    found = (_in_table(table, base, root) for table in manifest.tables)
    return tuple(chain.from_iterable(found))


def _in_table(table: TableSpec, base: Path, root: Path) -> Iterator[Problem]:
    for pattern in table.files:
        found = sorted(base.glob(pattern))
        files = [path for path in found if not path.is_dir()]
        if not files:
            yield no_file(table.name, pattern, is_folder=bool(found))
        for file in files:
            yield from _in_file(table, file, root)


def _in_file(table: TableSpec, file: Path, root: Path) -> Iterator[Problem]:
    if not file.resolve().is_relative_to(root):
        sentence = "lies outside the import folder: move it inside"
        yield Problem(file.name, None, None, sentence)
        return
    if kind_of(file.name) is None:
        yield Problem(file.name, None, None, unread(file.name))
        return
    try:
        parts = parts_of(file, file.name)
    except IngestionError as error:
        yield from error.problems
        return
    except OSError:
        yield Problem(file.name, None, None, _UNREADABLE)
        return
    for part in parts:
        tables = of_each_sheet(table) if part.kind == "workbook" else [table]
        for each in tables:
            yield from _in_part(each, part)


def _in_part(table: TableSpec, part: FilePart) -> Iterator[Problem]:
    try:
        header = _header(table, part)
    except IngestionError as error:
        yield from error.problems
        return
    except (OSError, duckdb.Error):
        yield Problem(part.name, None, None, _UNREADABLE)
        return
    for column in table.columns:
        found = column.names_in(header)
        if len(found) > 1:
            yield Problem(part.name, 1, None, two_names(table, column, found))
        if not found and not column.is_optional:
            names = " or ".join(map(repr, column.file_columns))
            sentence = (
                f"the header lacks {names} of table {table.name}: "
                "correct the column's from, or remove the column"
            )
            yield Problem(part.name, 1, None, sentence)


def _header(table: TableSpec, part: FilePart) -> Sequence[str]:
    identity_of(part.path)  # DuckDB opens whatever is there
    if part.kind != "parquet":
        return header_of(table, part)
    with duckdb.connect() as connection:
        rows = f"DESCRIBE SELECT * FROM read_parquet({quoted(str(part.path))})"  # noqa: S608 - a quoted path
        return [str(row[0]) for row in connection.execute(rows).fetchall()]
