"""An answer as an Arrow table: the columns and the metadata that the server sends.

The same as ``Accept: application/vnd.apache.arrow.stream`` brings, made here of the
answer's JSON, so that nothing is sent again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from curator_client.tables.exports import new_name, optional

if TYPE_CHECKING:
    import pyarrow as pa

_TOLD = (
    *("query_id", "snapshot", "release", "paid", "columns", "noise", "derivation"),
    "warnings",
)
_EXACT = Context(prec=400)
_INT64 = range(-(2**63), 2**63)


def arrow_table(document: Mapping[str, Any], confidence: str) -> pa.Table:
    """Return the rows, the ends of intervals after each measure.

    Raises:
        ImportError: pyarrow is not installed.
    """
    pyarrow = optional("pyarrow", "to_arrow()")
    taken = {str(column["name"]) for column in document["columns"]}
    arrays, names = [], []
    for place, column in enumerate(document["columns"]):
        name, kind = str(column["name"]), str(column["type"])
        values = [row[place] for row in document["rows"]]
        names.append(name)
        arrays.append(_array(pyarrow, values, kind))
        if column["kind"] == "measure":
            for ending, beside in _beside(document, name, values):
                names.append(new_name(f"{name}_{ending}", taken))
                taken.add(names[-1])
                arrays.append(_array(pyarrow, beside, kind))
    table = pyarrow.table(arrays, names=names)
    told: pa.Table = table.replace_schema_metadata(_metadata(document, confidence))
    return told


def _metadata(document: Mapping[str, Any], confidence: str) -> dict[str, str]:
    facts = {name: document[name] for name in _TOLD if name in document}
    charge = document.get("charge", {})
    facts |= {name: charge[name] for name in ("epsilon", "rho") if name in charge}
    facts.setdefault("epsilon", "0")
    facts["reused"] = charge.get("reused", True)
    facts["confidence"] = confidence
    return {
        f"curator.{name}": value if isinstance(value, str) else json.dumps(value)
        for name, value in facts.items()
    }


def _beside(
    document: Mapping[str, Any], name: str, values: Sequence[Any]
) -> Iterator[tuple[str, list[Any]]]:
    """Yield what stands beside a measure, by the ending of its name."""
    ends = _ends(document, name, values)
    if ends is not None:
        yield "low", [low for low, _ in ends]
        yield "high", [high for _, high in ends]
    undecided = _of(document, "undecided", name)
    if undecided is not None:
        yield "undecided", list(undecided)


def _ends(
    document: Mapping[str, Any], name: str, values: Sequence[Any]
) -> list[tuple[Any, Any]] | None:
    pairs = _of(document, "intervals", name)
    if pairs is not None:
        return [(None, None) if pair is None else tuple(pair) for pair in pairs]
    widths = _of(document, "half_widths", name)
    if widths is None:
        own = [n for n in document.get("noise", []) if n["column"] == name]
        whole = [n for n in own if "part" not in n and "per" not in n]
        if not whole:
            return None
        widths = [whole[0]["half_width_95"]] * len(values)
    return [_around(value, width) for value, width in zip(values, widths, strict=True)]


def _of(document: Mapping[str, Any], member: str, name: str) -> Sequence[Any] | None:
    told = document.get(member, [])
    return next((one["rows"] for one in told if one["column"] == name), None)


def _around(value: Any, width: str) -> tuple[str | None, str | None]:
    if value is None:
        return None, None
    middle, side = Decimal(value), Decimal(width)
    low, high = _EXACT.subtract(middle, side), _EXACT.add(middle, side)
    return format(low, "f"), format(high, "f")


def _array(pyarrow: Any, values: Sequence[Any], kind: str) -> Any:
    """Return values under the type of their column; what does not fit as texts."""
    if kind == "integer":
        kind = "whole" if all(_is_whole(value) for value in values) else "decimal"
    try:
        return _ARRAYS[kind](pyarrow, values)
    except (KeyError, ValueError, ArithmeticError):
        texts = [None if value is None else str(value) for value in values]
        return pyarrow.array(texts, pyarrow.string())


def _is_whole(value: Any) -> bool:
    if value is None:
        return True
    return str(value).lstrip("-").isdigit() and int(value) in _INT64


def _whole(pyarrow: Any, values: Sequence[Any]) -> Any:
    read = [None if value is None else int(value) for value in values]
    return pyarrow.array(read, pyarrow.int64())


def _decimals(pyarrow: Any, values: Sequence[Any]) -> Any:
    read = [None if value is None else Decimal(value) for value in values]
    scale = max((_scale(value) for value in read if value is not None), default=0)
    for digits, make in ((38, pyarrow.decimal128), (76, pyarrow.decimal256)):
        fits = (abs(v) < Decimal(10) ** (digits - scale) for v in read if v is not None)
        if scale <= digits and all(fits):
            return pyarrow.array(read, make(digits, scale))
    raise ArithmeticError


def _scale(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _days(pyarrow: Any, values: Sequence[Any]) -> Any:
    read = [None if value is None else date.fromisoformat(value) for value in values]
    return pyarrow.array(read, pyarrow.date32())


def _times(pyarrow: Any, values: Sequence[Any]) -> Any:
    read = [None if v is None else datetime.fromisoformat(v) for v in values]
    return pyarrow.array(read, pyarrow.timestamp("us"))


def _booleans(pyarrow: Any, values: Sequence[Any]) -> Any:
    return pyarrow.array(values, pyarrow.bool_())


_ARRAYS = {
    "whole": _whole,
    "decimal": _decimals,
    "date": _days,
    "timestamp": _times,
    "boolean": _booleans,
}
