"""The rows that a copy publishes, in an order that tells nothing of the source's."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import TextIOBase

from upstream.anonymization.arrays import Text
from upstream.anonymization.columns.tables import AnonymizedTable

_MISSING = ""


def published_rows(
    table: AnonymizedTable, others: Mapping[str, Sequence[Text]]
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the header and the published rows, sorted by all their values.

    Args:
        table: What is published of quasi-identifiers.
        others: Columns that are published as they are, by row of what was read.
    """
    kept = table.is_published.nonzero()[0].tolist()
    columns: list[Sequence[Text]] = [table.values(name) for name in table.columns]
    columns += [[values[row] for row in kept] for values in others.values()]
    plain = [[_MISSING if v is None else v for v in column] for column in columns]
    return [*table.columns, *others], sorted(zip(*plain, strict=True))


def write_rows(
    file: TextIOBase, header: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    """Write rows as CSV; a missing value is an empty field."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
