"""Tables for other libraries; each is imported when it is asked for."""

from __future__ import annotations

import csv
import importlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Columns = Mapping[str, Sequence[Any]]


_SOURCE = "./clients/python"
_EXTRAS = {
    "pandas": "pandas",
    "polars": "polars",
    "matplotlib": "plot",
    "IPython": "notebook",
    "tomli": "config",
}
"""Which extra of this distribution installs a library; the others come with it."""


def optional(module: str, purpose: str) -> Any:
    """Import a library that the client does not depend on.

    Raises:
        ImportError: It is not installed; the message says what to install.
    """
    library = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        extra = f"[{_EXTRAS[library]}]" if library in _EXTRAS else ""
        message = (
            f"{purpose} needs {library}, which is not installed: in the folder of "
            f"Curator's source, type pip install '{_SOURCE}{extra}'"
        )
        raise ImportError(message) from error


def pandas_frame(columns: Columns, numbers: Sequence[str] = ()) -> pd.DataFrame:
    """Return columns as a DataFrame; those in ``numbers`` are of float64."""
    pandas = optional("pandas", "to_pandas()")
    series = {
        name: pandas.Series(list(values), dtype="float64" if name in numbers else None)
        for name, values in columns.items()
    }
    frame: pd.DataFrame = pandas.DataFrame(series, columns=list(columns))
    return frame


def polars_frame(columns: Columns, numbers: Sequence[str] = ()) -> pl.DataFrame:
    """Return columns as a polars DataFrame; those in ``numbers`` are of Float64."""
    polars = optional("polars", "to_polars()")
    series = [
        polars.Series(
            name, list(values), dtype=polars.Float64 if name in numbers else None
        )
        for name, values in columns.items()
    ]
    frame: pl.DataFrame = polars.DataFrame(series)
    return frame


def csv_text(columns: Columns, path: str | Path | None) -> str | None:
    """Return columns as CSV, or write them to a file and return None; NULL is empty."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    if path is None:
        return buffer.getvalue()
    Path(path).write_text(buffer.getvalue(), "utf-8", newline="")
    return None


def dicts(columns: Columns) -> list[dict[str, Any]]:
    """Return a dictionary a row."""
    return [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
