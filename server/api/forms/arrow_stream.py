"""An answer as an Arrow IPC stream: one schema, one batch.

What an answer says beside its rows is metadata of the schema, under ``curator.``.
Written with nanoarrow, which is small; Arrow's own library reads it in the tests.
"""

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import BytesIO
from typing import Any, Final

import nanoarrow
from nanoarrow.ipc import StreamWriter

from server.api.forms.facts import Facts
from server.api.forms.tables import Series, Value

_BITS: Final = 8
_INT64: Final = range(-(2**63), 2**63)
_DECIMALS: Final = ((38, 16, nanoarrow.decimal128), (76, 32, nanoarrow.decimal256))
"""Digits, bytes that hold them, and the type."""
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class _Packed:
    """A column's Arrow type, and the buffers of its values."""

    type: Any
    buffers: tuple[bytes, ...]


def arrow_of(table: Sequence[Series], facts: Facts) -> bytes:
    """Return the table as a stream.

    Integers are int64, days date32, times timestamps of microseconds without a zone,
    decimals decimal128 with as many digits after the point as the column's text has
    at most. What does not fit is the next larger type: decimal256, then text.
    """
    length = len(table[0].values) if table else 0
    packed = [_packed(series) for series in table]
    children = [
        _array(each, series.values) for each, series in zip(packed, table, strict=True)
    ]
    fields = [
        nanoarrow.c_schema(each.type).modify(name=series.name)
        for each, series in zip(packed, table, strict=True)
    ]
    whole = nanoarrow.c_schema(nanoarrow.struct(fields))
    schema = whole.modify(metadata=_metadata(facts))
    batch = nanoarrow.c_array_from_buffers(
        schema, length, [None], null_count=0, children=children
    )
    written = BytesIO()
    with StreamWriter.from_writable(written) as writer:
        writer.write_stream(batch)
    return written.getvalue()


def _metadata(facts: Facts) -> dict[str, str]:
    return {
        f"curator.{name}": value if isinstance(value, str) else json.dumps(value)
        for name, value in facts.items()
    }


def _array(packed: _Packed, values: Sequence[Value]) -> Any:  # noqa: ANN401 - theirs
    nulls = sum(value is None for value in values)
    validity = _bits([value is not None for value in values]) if nulls else None
    return nanoarrow.c_array_from_buffers(
        packed.type, len(values), [validity, *packed.buffers], null_count=nulls
    )


def _packed(series: Series) -> _Packed:
    try:
        return _PACKERS[series.type](series.values)
    except (ValueError, ArithmeticError):
        return _texts(series.values)


def _bits(flags: Sequence[bool]) -> bytes:
    """Return a bit a flag, the first lowest."""
    size = -(-len(flags) // _BITS)
    written = "".join("1" if flag else "0" for flag in reversed(flags))
    return int(written or "0", 2).to_bytes(size, "little")


def _booleans(values: Sequence[Value]) -> _Packed:
    return _Packed(nanoarrow.bool_(), (_bits([value is True for value in values]),))


def _texts(values: Sequence[Value]) -> _Packed:
    written = [b"" if value is None else str(value).encode() for value in values]
    ends = [0]
    for each in written:
        ends.append(ends[-1] + len(each))
    return _Packed(nanoarrow.string(), (_numbers("i", ends), b"".join(written)))


def _integers(values: Sequence[Value]) -> _Packed:
    numbers = [0 if value is None else int(value) for value in values]
    if all(number in _INT64 for number in numbers):
        return _Packed(nanoarrow.int64(), (_numbers("q", numbers),))
    return _decimals(values)


def _days(values: Sequence[Value]) -> _Packed:
    days = [0 if value is None else _day(str(value)) for value in values]
    return _Packed(nanoarrow.date32(), (_numbers("i", days),))


def _day(text: str) -> int:
    return date.fromisoformat(text).toordinal() - _EPOCH_DAY


def _times(values: Sequence[Value]) -> _Packed:
    times = [0 if value is None else _time(str(value)) for value in values]
    return _Packed(nanoarrow.timestamp("us"), (_numbers("q", times),))


def _time(text: str) -> int:
    return (datetime.fromisoformat(text).replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


def _decimals(values: Sequence[Value]) -> _Packed:
    """Return exact decimals, or raise where they have too many digits."""
    parts = [_digits(value) for value in values]
    scale = max((len(after) for _, after in parts), default=0)
    numbers = [int(before + after.ljust(scale, "0")) for before, after in parts]
    most = max((abs(number) for number in numbers), default=0)
    for digits, size, make in _DECIMALS:
        if scale <= digits and most < 10**digits:
            unscaled = (n.to_bytes(size, "little", signed=True) for n in numbers)
            return _Packed(make(digits, scale), (b"".join(unscaled),))
    raise ArithmeticError


def _digits(value: Value) -> tuple[str, str]:
    """Return what stands before the point, with its sign, and what after it."""
    text = "0" if value is None else str(value)
    if "e" in text.lower():
        text = format(Decimal(text), "f")
    before, _, after = text.partition(".")
    return before, after


def _numbers(form: str, numbers: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}{form}", *numbers)


_PACKERS: Final[Mapping[str, Callable[[Sequence[Value]], _Packed]]] = {
    "integer": _integers,
    "decimal": _decimals,
    "date": _days,
    "timestamp": _times,
    "boolean": _booleans,
    "text": _texts,
}
