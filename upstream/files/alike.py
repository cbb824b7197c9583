"""Files of one table that hold the same rows, and what some of them lack."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from privacy.wording import counted
from upstream.errors import Problem
from upstream.files.csv_structure import CsvFile, read_csv_records
from upstream.files.sources import ParquetFile, SourceFile
from upstream.manifests.declarations import TableSpec

_MOST_NAMED = 3


def equal_files(table: TableSpec, files: Sequence[SourceFile]) -> Iterator[Problem]:
    """Yield a problem for each file whose rows an earlier one has, all in its order.

    However they are written: quotes, line ends and compression make no difference.

    Args:
        table: Whose they are.
        files: Checked; those without a row are not looked at.
    """
    alike: dict[tuple[object, ...], list[SourceFile]] = {}
    for file in files:
        if outline := _outline(file):
            alike.setdefault(outline, []).append(file)
    for group in alike.values():
        seen: dict[bytes, str] = {}
        for file in group if len(group) > 1 else ():
            first = seen.setdefault(_digest(file), file.name)
            if first != file.name:
                sentence = (
                    f"has the same rows as {first}, and both are of table "
                    f"{table.name}: each row would count twice; take one of them away, "
                    "or name the files so that one is meant"
                )
                yield Problem(file.name, None, None, sentence)


def equal_tables(sources: Mapping[str, Sequence[SourceFile]]) -> Iterator[str]:
    """Yield a warning of each file that has the rows of another table's file.

    One file may be two tables; two files that are one are a copy, most likely.

    Args:
        sources: The files of each table.
    """
    alike: dict[tuple[object, ...], list[tuple[str, SourceFile]]] = {}
    for table, files in sources.items():
        for file in files:
            if outline := _outline(file):
                alike.setdefault(outline, []).append((table, file))
    for group in alike.values():
        seen: dict[bytes, tuple[str, SourceFile]] = {}
        for table, file in group if len({table for table, _ in group}) > 1 else ():
            first, other = seen.setdefault(_digest(file), (table, file))
            if first != table and other.name != file.name:
                yield (
                    f"{file.name} of table {table} has the same rows as {other.name} "
                    f"of {first}: is one a copy? Then take it away, or what is asked "
                    "of both counts twice"
                )


def _outline(file: SourceFile) -> tuple[object, ...] | None:
    """Return what equal files have in common, found out without reading them."""
    if isinstance(file, ParquetFile):
        return file.identity.size_bytes, file.types
    return (file.records, file.header) if file.records else None


def _digest(file: SourceFile) -> bytes:
    digest = hashlib.sha256()
    if isinstance(file, CsvFile):
        for _, fields in read_csv_records(file.path):
            digest.update(repr(fields).encode())
        return digest.digest()
    with file.path.open("rb") as content:
        while block := content.read(2**20):
            digest.update(block)
    return digest.digest()


def lacking_warnings(table: TableSpec, files: Sequence[SourceFile]) -> Iterator[str]:
    """Yield a warning of each optional column that some of the files lack."""
    for column in table.columns:
        lacking = [f.name for f in files if not column.names_in(f.header)]
        if column.is_optional and lacking:
            told = ", ".join(lacking[:_MOST_NAMED])
            more = len(lacking) - _MOST_NAMED
            told += f" and {more} more" if more > 0 else ""
            yield (
                f"{table.name}.{column.name}: {counted(len(lacking), 'file')} of "
                f"{len(files)} lack {' and '.join(map(repr, column.file_columns))}, so "
                f"its values are NULL there ({told}): if they have it by another name, "
                "declare from: [...] with both"
            )
