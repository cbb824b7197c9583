"""An answer as columns: its keys, its numbers, and both ends of each interval."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from itertools import count
from typing import Any, Final, TypedDict, cast

Value = int | str | bool | None
Pair = Sequence[str | None] | None
_EXACT: Final = Context(prec=400)  # digits; no sum of a number and a width has as many
_NOTHING: Final = (None, None)


class Column(TypedDict):
    """A column of an answer, as its JSON has it."""

    name: str
    kind: str
    type: str
    unit: str | None


class PerRow(TypedDict):
    """What an answer tells of one column, an entry a row."""

    column: str
    confidence: str
    rows: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Series:
    """One column of a table.

    Attributes:
        name: Of the column.
        type: A name of CONTRACT 1.
        values: One a row, as JSON writes them.
    """

    name: str
    type: str
    values: Sequence[Value]


def table_of(answer: Mapping[str, object]) -> list[Series]:
    """Return an answer's columns, after each measure the ends of its intervals.

    Ends are called ``NAME_low`` and ``NAME_high``, and what sequences leave undecided
    ``NAME_undecided``; a number is added where the answer has a column of that name.

    >>> answer = {
    ...     "columns": [
    ...         {"name": "n", "kind": "measure", "type": "integer", "unit": "rows"}
    ...     ],
    ...     "rows": [[7]], "intervals": [],
    ...     "noise": [{"column": "n", "half_width_95": "30"}],
    ... }
    >>> [(one.name, one.values) for one in table_of(answer)]
    [('n', [7]), ('n_low', [0]), ('n_high', [37])]
    """
    columns = cast("Sequence[Column]", answer["columns"])
    rows = cast("Sequence[Sequence[Value]]", answer["rows"])
    taken = {column["name"] for column in columns}
    table = []
    for place, column in enumerate(columns):
        own = Series(column["name"], column["type"], [row[place] for row in rows])
        table.append(own)
        if column["kind"] == "measure":
            for ending, values in _beside(answer, own, is_count=_is_count(column)):
                name = _new(f"{own.name}_{ending}", taken)
                taken.add(name)
                table.append(Series(name, _type_of(values, own.type), values))
    return table


def _is_count(column: Column) -> bool:
    """Whether a measure counts something: counts alone have a unit."""
    return column.get("unit") is not None


def _beside(
    answer: Mapping[str, object], own: Series, *, is_count: bool
) -> Iterator[tuple[str, list[Value]]]:
    """Yield what stands beside a measure, by the ending of its name."""
    ends = _ends(answer, own, is_count=is_count)
    if ends is not None:
        yield "low", [_written(low, own.type) for low, _ in ends]
        yield "high", [_written(high, own.type) for _, high in ends]
    undecided = _told(answer, "undecided", own.name)
    if undecided is not None:
        yield "undecided", [_written(more, own.type) for more in undecided]


def _ends(
    answer: Mapping[str, object], own: Series, *, is_count: bool
) -> list[tuple[str | None, str | None]] | None:
    """Return a pair a row: as it is told, else the number and its half-width.

    Of a count, which is never negative, the same from 0 up, and from a negative number
    as from 0: as of releases. None where noise is known of the column's parts alone.
    """
    pairs = _told(answer, "intervals", own.name)
    if pairs is not None:
        return [_NOTHING if pair is None else (pair[0], pair[1]) for pair in pairs]
    widths = _told(answer, "half_widths", own.name) or _common_width(answer, own)
    if widths is None:
        return None
    around = _possible if is_count else _around
    return [
        around(value, width) for value, width in zip(own.values, widths, strict=True)
    ]


def _told(answer: Mapping[str, object], member: str, name: str) -> Sequence[Any] | None:
    entries = cast("Sequence[PerRow]", answer.get(member, ()))
    return next((one["rows"] for one in entries if one["column"] == name), None)


def _common_width(answer: Mapping[str, object], own: Series) -> Sequence[str] | None:
    """Return the half-width that is the same in all rows, once for each of them."""
    noise = cast("Sequence[Mapping[str, str]]", answer.get("noise", ()))
    for one in noise:
        if one["column"] == own.name and not {"part", "per"} & one.keys():
            return [one["half_width_95"]] * len(own.values)
    return None


def _possible(value: Value, width: str) -> tuple[str | None, str | None]:
    """Return between which counts the exact one lies."""
    if value is None:
        return _NOTHING
    low, high = _around(value, width)
    is_negative = Decimal(value) < 0
    return _not_negative(low), width if is_negative else high


def _not_negative(end: str | None) -> str | None:
    return "0" if end is not None and end.startswith("-") else end


def _around(value: Value, width: str) -> tuple[str | None, str | None]:
    if value is None:
        return _NOTHING
    if isinstance(value, int) and width.isdigit():
        return str(value - int(width)), str(value + int(width))
    middle, side = Decimal(value), Decimal(width)
    return (
        format(_EXACT.subtract(middle, side), "f"),
        format(_EXACT.add(middle, side), "f"),
    )


def _written(text: str | None, kind: str) -> Value:
    """Write an end as JSON writes values of the measure's type, where it is one."""
    if text is None or kind != "integer":
        return text
    return int(text) if text.removeprefix("-").isdigit() else text


def _type_of(values: Sequence[Value], kind: str) -> str:
    """Return the measure's own type; ends of whole numbers may be decimals."""
    is_whole = kind != "integer" or not any(isinstance(one, str) for one in values)
    return kind if is_whole else "decimal"


def _new(name: str, taken: set[str]) -> str:
    numbered = (name if n == 1 else f"{name}_{n}" for n in count(1))
    return next(each for each in numbered if each not in taken)
