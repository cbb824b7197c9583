"""The columns of a table's files, whether a manifest declares them or not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from privacy.schema import ColumnType
from upstream.files.reading import ColumnReader, ReadStatus
from upstream.files.reading_sql import quoted, source_text_sql
from upstream.files.sources import Header
from upstream.manifests.declarations import TableSpec

_KEPT = f"{ReadStatus.KEPT:d}, {ReadStatus.ROUNDED:d}"
_WRITTEN_ANEW = {ColumnType.DECIMAL, ColumnType.DATE, ColumnType.TIMESTAMP}
"""Types whose stored values do not tell how the files write them."""


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column of some of a table's files.

    Attributes:
        name: Its name in the header.
        turn: How many columns of this name stand before it there.
        declared: Positions in the manifest of the columns that are read from it.
    """

    name: str
    turn: int
    declared: tuple[int, ...]

    def place_in(self, file: Header) -> int | None:
        """Return its position in a file, None where the file has none."""
        places = [i for i, name in enumerate(file.header) if name == self.name]
        return places[self.turn] if self.turn < len(places) else None

    def is_written_anew_in(self, table: TableSpec) -> bool:
        """Whether it is stored, and so that nobody can tell how it was written."""
        return any(table.columns[i].type in _WRITTEN_ANEW for i in self.declared)


def file_columns(table: TableSpec, files: Sequence[Header]) -> tuple[FileColumn, ...]:
    """Return all columns of a table's files, each once, in the order of the headers."""
    found = dict.fromkeys(place for file in files for place in _turns(file.header))
    return tuple(
        FileColumn(name, turn, () if turn else _declared(table, name))
        for name, turn in found
    )


def _turns(header: Sequence[str]) -> Iterator[tuple[str, int]]:
    for index, name in enumerate(header):
        yield name, header[:index].count(name)


def _declared(table: TableSpec, name: str) -> tuple[int, ...]:
    """Return the columns that are read from a file's column alone.

    What is read from another where that one holds a value says nothing of this one.
    """
    columns = enumerate(table.columns)
    return tuple(i for i, c in columns if c.file_columns == (name,))


def lost_texts_sql(
    table: TableSpec,
    columns: Sequence[FileColumn],
    readers: Mapping[int, ColumnReader],
) -> str:
    """Return the further expressions of a staged row: the texts ``w<k>`` it loses.

    And the texts ``k<k>`` of what it keeps in another form: days, decimals. Of the
    layers of ``upstream.staging.staging``. What a ``map`` declares is not lost.
    """
    texts = ""
    for index, column in enumerate(columns):
        kept = " AND ".join(_is_kept(i, readers[i]) for i in column.declared)
        text = f"CASE WHEN NOT ({kept}) THEN w{index} END" if kept else f"w{index}"
        texts += f", {text} AS w{index}"
        if column.is_written_anew_in(table):
            mapped = " OR ".join(_is_mapped(i, readers[i]) for i in column.declared)
            kept = f"({kept}) AND NOT ({mapped})"
            texts += f", CASE WHEN {kept} THEN w{index} END AS k{index}"
    return texts


def lost_text_sql(index: int, reader: ColumnReader) -> str:
    """Return the further expression of a private staged row: what it loses, ``l<i>``.

    As ``lost_texts_sql``, of a declared column alone, and no text that stands for NULL.
    """
    return f", CASE WHEN NOT ({_is_kept(index, reader)}) THEN n{index} END AS l{index}"


def _is_kept(index: int, reader: ColumnReader) -> str:
    kept = f"(v{index} IS NOT NULL AND s{index} IN ({_KEPT}))"
    return f"({kept} OR {_is_mapped(index, reader)})" if reader.mapped else kept


def _is_mapped(index: int, reader: ColumnReader) -> str:
    mapped = ", ".join(map(quoted, sorted(reader.mapped)))
    raw = source_text_sql(reader.column, f"r{index}")
    return f"coalesce({raw} IN ({mapped}), false)" if mapped else "false"
