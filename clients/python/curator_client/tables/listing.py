"""A small table of public facts: it reads well, and goes into a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_client.tables import exports
from curator_client.tables.display import html_table, paragraph, text_table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True, repr=False)
class Listing:
    """Rows under titles; iterating gives a dictionary a row.

    Attributes:
        columns: The titles.
        rows: The cells, in column order.
        note: What to know about them; shown under the table.
    """

    columns: list[str]
    rows: list[list[Any]]
    note: str = ""

    @classmethod
    def of_dicts(
        cls, items: Sequence[Mapping[str, Any]], columns: Sequence[str], note: str = ""
    ) -> Listing:
        """Return a listing of these members of each item."""
        return cls(list(columns), [[i.get(c) for c in columns] for i in items], note)

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.rows)

    def __getitem__(self, place: int) -> dict[str, Any]:
        """Return one row as a dictionary."""
        return dict(zip(self.columns, self.rows[place], strict=True))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield a dictionary a row."""
        return iter(self.to_dicts())

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return a dictionary a row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame.

        Raises:
            ImportError: pandas is not installed.
        """
        return exports.pandas_frame(self._by_column())

    def to_polars(self) -> pl.DataFrame:
        """Return a polars DataFrame.

        Raises:
            ImportError: polars is not installed.
        """
        return exports.polars_frame(self._by_column())

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """Return CSV, or write it to a file."""
        return exports.csv_text(self._by_column(), path)

    def _by_column(self) -> dict[str, list[Any]]:
        return {
            name: [row[place] for row in self.rows]
            for place, name in enumerate(self.columns)
        }

    def _cells(self) -> list[list[str]]:
        return [self.columns, *([_cell(value) for value in row] for row in self.rows)]

    def __repr__(self) -> str:
        """Return a table for terminals."""
        shown = text_table(self._cells(), ["left"] * len(self.columns))
        count = "" if self.rows else "\n  (none)"
        return f"{shown}{count}" + (f"\n  ({self.note})" if self.note else "")

    def _repr_html_(self) -> str:
        shown = html_table(self._cells(), ["left"] * len(self.columns))
        return shown + (paragraph(self.note) if self.note else "")


def _cell(value: object) -> str:
    return "NULL" if value is None else str(value)
