"""Names of types as people write them in casts, and what each means here."""

from collections.abc import Mapping
from dataclasses import dataclass

from privacy.schema import ColumnType
from query_lang.syntax import rules
from query_lang.syntax.nodes import CastType, Position
from query_lang.syntax.refusals import refuse

MAX_SCALE = 18
"""Decimals of a decimal that 64 bits can hold in steps of its last place."""

_NAMES: tuple[tuple[ColumnType, str], ...] = (
    (ColumnType.BOOLEAN, "bool boolean"),
    (
        ColumnType.INTEGER,
        "int integer bigint smallint tinyint int2 int4 int8 int64 int32 signed long",
    ),
    (
        ColumnType.DECIMAL,
        (
            "numeric decimal dec number bignumeric real float float4 float8 float64 "
            "double double_precision"
        ),
    ),
    (ColumnType.DATE, "date"),
    (
        ColumnType.TIMESTAMP,
        "timestamp datetime datetime2 timestamp_without_time_zone",
    ),
    (
        ColumnType.TEXT,
        (
            "text string varchar nvarchar char nchar character bpchar varchar2 "
            "character_varying"
        ),
    ),
)
_TYPES: Mapping[str, ColumnType] = {
    name.replace("_", " "): kind for kind, names in _NAMES for name in names.split()
}
_SCALED = frozenset({"numeric", "decimal", "dec", "number", "bignumeric"})
_FLOATS = frozenset(
    {"real", "float", "float4", "float8", "float64", "double", "double precision"}
)
FILLED = frozenset({"char", "nchar", "character", "bpchar"})
"""Types of texts that others fill up with blanks."""
MORE_WORDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "double": (("precision",),),
    "character": (("varying",),),
    "timestamp": (
        ("without", "time", "zone"),
        ("with", "time", "zone"),
    ),
}
"""What may follow the first word of a type's name, the longest first."""

NO_ZONES = "timestamps have no zone"
_WITH_ZONES = frozenset({"timestamptz", "timestamp with time zone", "datetimeoffset"})
_MOST_SIZES = 2


@dataclass(frozen=True, slots=True)
class CastTarget:
    """What a cast makes.

    Attributes:
        type: Of the result.
        scale: Decimals of a DECIMAL; None where the written type leaves them open.
        length: The most characters of a text; None where none is written.
        fills: Whether a shorter text is filled up with blanks elsewhere.
    """

    type: ColumnType
    scale: int | None = None
    length: int | None = None
    fills: bool = False


def is_float(written: CastType) -> bool:
    """Whether a type is one of binary numbers elsewhere, a decimal here."""
    return written.name in _FLOATS


def cast_target(written: CastType, position: Position) -> CastTarget:
    """Return what a written type means.

    ``numeric(p, s)`` has s decimals and ``numeric(p)`` none; p is no limit, and
    neither are the bytes of int, smallint and their like: an integer has 64 bits.

    Raises:
        SqlNotAllowedError: Rule ``cast``: no type has this name, or it takes no such
            sizes.

    >>> cast_target(CastType("numeric", (10, 2)), Position(1, 1)).scale
    2
    """
    kind, sizes = _TYPES.get(written.name), written.sizes
    if kind is None:
        detail = NO_ZONES if written.name in _WITH_ZONES else None
        hint = "write x::timestamp" if detail else None
        raise refuse(rules.CAST, position, detail=detail, hint=hint)
    if written.name in _SCALED and 0 < len(sizes) <= _MOST_SIZES:
        scale = sizes[1] if len(sizes) == _MOST_SIZES else 0
        if scale > MAX_SCALE:
            detail = f"a decimal has at most {MAX_SCALE} places here"
            raise refuse(rules.CAST, position, detail=detail)
        return CastTarget(kind, scale=scale)
    if kind is ColumnType.TEXT and len(sizes) == 1:
        return CastTarget(kind, length=sizes[0], fills=written.name in FILLED)
    is_precision = kind in {ColumnType.TIMESTAMP, ColumnType.DECIMAL}
    if sizes and not (is_precision and len(sizes) == 1):
        detail = f"{written.name} takes no size in brackets"
        raise refuse(rules.CAST, position, detail=detail)
    return CastTarget(kind)
