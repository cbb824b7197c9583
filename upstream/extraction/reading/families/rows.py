"""A row of any table, and the documents in it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal

from upstream.extraction.reading.decoding.encodings import decode
from upstream.extraction.reading.judging import too_long
from upstream.extraction.reading.outcomes import (
    Candidate,
    FlawError,
    Position,
    Reason,
    Written,
    stored_text,
)
from upstream.extraction.reading.specs import ColumnFiles, Database
from upstream.extraction.text.documents import Place, Unit
from upstream.manifests.file_specs import Encoding


@dataclass(frozen=True, slots=True)
class Row:
    """A row's values by their columns' names.

    Attributes:
        position: Of the row: its part is 0.
        values: Text or flaw of each column that is read.
        flaw: Why the whole row cannot be read, or None.
    """

    position: Position
    values: Mapping[str, Written | FlawError] = field(default_factory=dict)
    flaw: FlawError | None = None


def documents_of(
    source: ColumnFiles | Database, table: str, row: Row
) -> Iterator[Candidate]:
    """Yield the candidates of a row: one for each text column.

    Args:
        source: Declares the columns.
        table: The file or table, for places.
        row: The row.
    """
    number = row.position.record
    unit: Unit = "character" if _is_stored(row) else "byte"
    if row.flaw is not None:
        place = Place(table, f"row {number}", unit)
        yield Candidate("", place, replace(row.position, part=1), row.flaw)
        return
    row_flaw: FlawError | None = None
    row_id, fields = "", {}
    try:
        row_id = _id(source, table, row)
        fields = {n: _plain(row, column) for n, column in source.fields.items()}
    except FlawError as flaw:
        row_flaw = flaw
    for part, column in enumerate(source.texts, 1):
        place = Place(table, f"row {number}, column {column}", unit)
        name = f"{row_id}/{column}" if row_id and len(source.texts) > 1 else row_id
        body = row.values[column] if row_flaw is None else row_flaw
        yield Candidate(name, place, replace(row.position, part=part), body, fields)


def value_of(
    value: object, encoding: Encoding | None, max_characters: int
) -> Written | FlawError:
    """Return a value of a database as text; NULL is an empty one.

    Bytes are decoded, and offsets count them.
    """
    try:
        if isinstance(value, bytes | bytearray | memoryview):
            return decode(bytes(value), encoding)
        text = _text(value)
    except FlawError as flaw:
        return flaw
    return too_long(max_characters) if len(text) > max_characters else stored_text(text)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, int | float | Decimal) or type(value).__name__ == "UUID":
        return str(value)
    raise FlawError(Reason.BAD_STRUCTURE, "the value is no text, number or time")


def _id(source: ColumnFiles | Database, table: str, row: Row) -> str:
    if not source.id:
        return f"{table}#{row.position.record}"
    parts = [_plain(row, column) for column in source.id]
    if not all(part.strip() for part in parts):
        raise FlawError(Reason.NO_ID, "an id column is empty")
    return "/".join(parts)


def _plain(row: Row, column: str) -> str:
    value = row.values[column]
    if isinstance(value, FlawError):
        raise value
    return value.text


def _is_stored(row: Row) -> bool:
    """Whether offsets into the row's values count characters, not a file's bytes."""
    values = (v for v in row.values.values() if isinstance(v, Written))
    return all(value.encoding_from == "stored" for value in values)
