"""Tables of a release as files: Parquet for programs, CSV for people.

The same columns give the same bytes: one thread writes them, in the order given.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
from numpy.typing import NDArray

from engines.regular_files import identity_of
from privacy.schema import Scalar
from release.contract.errors import BrokenReleaseError
from release.contract.models import AnyArray, IntArray, Table

_SETTINGS: Final[dict[str, str | bool | int | float | list[str]]] = {
    "threads": "1",
    "temp_directory": "",
    "memory_limit": "1GB",
}
_FORMATS: Final[Mapping[str, str]] = {
    "parquet": "FORMAT parquet, COMPRESSION zstd",
    "csv": "FORMAT csv, HEADER",
}


@contextmanager
def _connected() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(config=_SETTINGS)
    try:
        yield connection
    finally:
        connection.close()


def write_table(
    folder: Path,
    name: str,
    table: Table,
    labels: Mapping[str, Sequence[Scalar | None]] | None = None,
) -> list[Path]:
    """Write a table as ``name.parquet`` and ``name.csv``, and sync both.

    Args:
        folder: An existing folder.
        name: Of the table.
        table: Columns of one length.
        labels: Columns whose integers stand for values: code i is the i-th.

    Returns:
        The two files.

    Raises:
        OSError: One cannot be written.
    """
    labels = labels or {}
    columns: dict[str, NDArray[np.generic]] = {}
    shown = []
    for place, (column, numbers) in enumerate(table.items()):
        value = f'"{place}"'
        columns[str(place)] = numbers
        if column in labels:
            value = _labelled(columns, str(place), labels[column])
        shown.append(f"{value} AS {_quoted(column)}")
    select = f"SELECT {', '.join(shown)} FROM columns"  # noqa: S608 - our names

    def write(suffix: str) -> Path:
        path = folder / f"{name}.{suffix}"
        with _connected() as connection:
            connection.register("columns", columns)
            try:
                connection.execute(
                    f"COPY ({select}) TO {_text(str(path))} ({_FORMATS[suffix]})"
                )
            except duckdb.IOException as error:  # a full disk, as the system says it
                message = f"{path.name} could not be written"
                raise OSError(message) from error
        path.chmod(0o600)
        _sync(path)
        return path

    with ThreadPoolExecutor(len(_FORMATS)) as pool:  # each file by a thread of its own
        return list(pool.map(write, _FORMATS))


def read_table(path: Path, names: Sequence[str] | None = None) -> dict[str, AnyArray]:
    """Return columns of a Parquet file, which hold integers and floats alone.

    Args:
        path: The file.
        names: Of the columns; None: all.

    Raises:
        OSError: It cannot be read.
        BrokenReleaseError: It is no such file.
    """
    identity_of(path)  # DuckDB opens whatever is there
    wanted = "*" if names is None else ", ".join(map(_quoted, names))
    try:
        with _connected() as connection:
            columns = connection.execute(
                f"SELECT {wanted} FROM read_parquet({_text(str(path))})"  # noqa: S608 - our file
            ).fetchnumpy()
    except duckdb.Error as error:
        message = f"{path.name} is no table"
        raise BrokenReleaseError(message) from error
    if any(isinstance(column, np.ma.MaskedArray) for column in columns.values()):
        message = f"{path.name} has empty fields"
        raise BrokenReleaseError(message)
    return dict(columns)


def codes_of(shape: Sequence[int]) -> list[IntArray]:
    """Return the code of every cell on each dimension, C order."""
    return [
        codes.astype(np.int64)
        for codes in np.unravel_index(np.arange(int(np.prod(shape))), tuple(shape))
    ]


def _labelled(
    columns: dict[str, NDArray[np.generic]],
    name: str,
    values: Sequence[Scalar | None],
) -> str:
    """Put values in the place of a column's codes, and return how they are read.

    As columns, since the text of a query that listed them all would take the parser
    tens of kilobytes a value. A column has one type, and where it is NULL is another.
    """
    codes = columns[name]
    kinds = {type(value) for value in values if value is not None}
    told: NDArray[np.generic]
    if kinds == {bool}:
        kind, told = "BOOLEAN", np.array([value or False for value in values], np.bool_)
    elif kinds and kinds <= {bool, int}:
        kind, told = "BIGINT", np.array([value or 0 for value in values], np.int64)
    else:
        texts = ["" if value is None else str(value) for value in values]
        kind, told = "VARCHAR", np.array(texts, np.object_)
    columns[name] = told[codes]
    value = f'CAST("{name}" AS {kind})'
    if None not in values:
        return value
    absent = np.array([value is None for value in values], dtype=np.bool_)
    columns[f"{name} absent"] = absent[codes]
    return f'CASE WHEN "{name} absent" THEN NULL ELSE {value} END'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
