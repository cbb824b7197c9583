"""An answer as CSV: RFC 4180, with a header, in UTF-8."""

from collections.abc import Iterable, Sequence
from typing import Final

from server.api.forms.tables import Series, Value

_LINE: Final = "\r\n"
_QUOTED: Final = frozenset('",\r\n')


def csv_of(table: Sequence[Series]) -> bytes:
    r"""Return the table; NULL is nothing, and a text without a character is quoted.

    >>> wards = Series("ward", "text", ["a,b", None, ""])
    >>> csv_of([wards, Series("n", "integer", [1, -2, 3])])
    b'ward,n\r\n"a,b",1\r\n,-2\r\n"",3\r\n'
    """
    columns = [list(map(_cell, series.values)) for series in table]
    rows = [",".join(row) for row in zip(*columns, strict=True)]
    return _joined([",".join(_text(series.name) for series in table), *rows])


def _joined(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}{_LINE}" for line in lines).encode()


def _cell(value: Value) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _text(text: str) -> str:
    if text and _QUOTED.isdisjoint(text) and text == text.strip():
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
