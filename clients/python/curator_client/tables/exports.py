"""Tables for other libraries; each is imported when it is asked for."""

from __future__ import annotations

import csv
import importlib
import io
import itertools
from collections.abc import Container, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Kind = Literal["float", "date", "timestamp", "instant"]
Columns = Mapping[str, Sequence[Any]]


_SOURCE = "./clients/python"
_EXTRAS = {
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "arrow",
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
            f"{purpose} needs {library}, which is not installed: install it as you "
            "install other packages, or, in the folder of Curator's source, type pip "
            f"install '{_SOURCE}{extra}'"
        )
        raise ImportError(message) from error


_NUMPY = {"date": "datetime64[s]", "timestamp": "datetime64[us]"}
_READ = {"date": date.fromisoformat, "timestamp": datetime.fromisoformat}


def pandas_frame(
    columns: Columns, kinds: Mapping[str, Kind] | None = None
) -> pd.DataFrame:
    """Return columns as a DataFrame; those of a kind are float64 or datetime64.

    An instant is a datetime64 with its zone, UTC; other times have none.
    """
    pandas = optional("pandas", "to_pandas()")
    numpy = optional("numpy", "to_pandas()")
    series = {}
    for name, values in columns.items():
        kind = (kinds or {}).get(name)
        if kind == "instant":
            texts = pandas.Series(list(values), dtype="object")
            times = pandas.to_datetime(texts, utc=True, format="ISO8601")
            series[name] = times.dt.as_unit("us")
        elif kind in _NUMPY:
            series[name] = pandas.Series(numpy.array(list(values), _NUMPY[kind]))
        else:
            dtype = "float64" if kind == "float" else None
            series[name] = pandas.Series(list(values), dtype=dtype)
    frame: pd.DataFrame = pandas.DataFrame(series, columns=list(columns))
    return frame


def polars_frame(
    columns: Columns, kinds: Mapping[str, Kind] | None = None
) -> pl.DataFrame:
    """Return columns as a polars DataFrame; those of a kind are of its type."""
    polars = optional("polars", "to_polars()")
    types = {
        "float": polars.Float64,
        "date": polars.Date,
        "timestamp": polars.Datetime("us"),
    }
    series = []
    for name, values in columns.items():
        kind = (kinds or {}).get(name)
        read = _READ.get(kind or "")
        given = [None if v is None else read(v) for v in values] if read else values
        dtype = None if kind is None else types[kind]
        series.append(polars.Series(name, list(given), dtype=dtype))
    frame: pl.DataFrame = polars.DataFrame(series)
    return frame


def new_name(name: str, taken: Container[str]) -> str:
    """Return a name that no column has: of like names, the second is called _2."""
    numbers = (name if n == 1 else f"{name}_{n}" for n in itertools.count(1))
    return next(each for each in numbers if each not in taken)


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
