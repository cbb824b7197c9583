"""Rules inside one declared column."""

from collections.abc import Iterator, Sequence

from privacy.schema import OTHER, ColumnType, Scalar
from upstream.manifests.declarations import ColumnSpec, DomainSpec
from upstream.manifests.literals import LiteralError, typed_literal
from upstream.manifests.time_formats import (
    FormatError,
    are_ambiguous,
    format_pattern,
    has_offset,
    has_short_years,
)
from upstream.manifests.yaml_nodes import Place

Broken = Iterator[tuple[Place, str]]

_ORDERED = frozenset(
    {ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.DATE, ColumnType.TIMESTAMP}
)
_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL})
_TIMES = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})


def broken_column_rules(
    at: Place, column: ColumnSpec, hierarchies: Sequence[str], *, is_unit: bool
) -> Broken:
    """Yield every broken rule of a column with the path of its node."""
    yield from _scale(at, column)
    yield from _format(at, column)
    yield from _number_marks(at, column)
    yield from _raw_texts(at, column)
    if column.trim is not None and column.type is not ColumnType.TEXT:
        yield (*at, "trim"), "only a text column has trim: remove it"
    yield from _max_length(at, column)
    if is_unit:
        yield from _unit_column(at, column)
    elif column.domain is not None:
        domain = column.domain
        if domain.hierarchy is None:
            yield from _domain((*at, "domain"), column, domain)
        else:
            yield from _hierarchy((*at, "domain"), column, domain, hierarchies)


def _scale(at: Place, column: ColumnSpec) -> Broken:
    if column.type is ColumnType.DECIMAL and column.scale is None:
        yield at, f"scale is missing in {column.name}: say how many decimals it keeps"
    if column.type is not ColumnType.DECIMAL and column.scale is not None:
        yield (*at, "scale"), "only a decimal column has a scale: remove it"


def _max_length(at: Place, column: ColumnSpec) -> Broken:
    """Refuse declared texts that a load could not keep."""
    if column.type is not ColumnType.TEXT:
        if column.max_length is not None:
            yield (*at, "max_length"), "only a text column has a max_length: remove it"
        return
    listed = column.domain.values or () if column.domain else ()
    other = (OTHER,) if column.domain and column.domain.other else ()
    for value in (*listed, *column.map.values(), *other):
        if isinstance(value, str) and len(value.encode()) > column.length_bytes:
            sentence = (
                f"{column.name} declares a text of {len(value.encode())} bytes, longer "
                f"than its max_length of {column.length_bytes}: declare a greater one"
            )
            yield at, sentence
            return


def _format(at: Place, column: ColumnSpec) -> Broken:
    if column.format is not None and column.formats is not None:
        yield (*at, "formats"), "declare one of format and formats"
    told: list[tuple[Place, str]] = [
        ((*at, "formats", index), one) for index, one in enumerate(column.formats or ())
    ]
    if column.format is not None:
        told.append(((*at, "format"), column.format))
    if told and column.type not in _TIMES:
        yield told[0][0], "only dates and timestamps have a format: remove it"
        return
    if column.century and not any(map(has_short_years, column.time_formats)):
        sentence = "only formats with %y need a century: remove it"
        yield (*at, "century"), sentence
    yield from _clock(at, column)
    clock = column.type is ColumnType.TIMESTAMP
    for place, one in told:
        if one.startswith("TODO"):
            yield place, "format is still to do: say which of the two it is"
            return
        try:
            format_pattern(
                one, with_clock=clock, with_century=column.century is not None
            )
        except FormatError as error:
            yield place, f"{place[-1] if column.format else 'formats'}: {error}"
            return
    yield from _ambiguous((*at, "formats"), column.formats or (), with_clock=clock)


def _clock(at: Place, column: ColumnSpec) -> Broken:
    """Require that it is said what an offset does: no moment keeps it."""
    is_needed = any(map(has_offset, column.time_formats))
    if is_needed and column.clock is None:
        sentence = (
            f"{column.name} has %z: declare clock: as_written (the time of day that "
            "stands there) or clock: utc (the offset taken off)"
        )
        yield at, sentence
    if column.clock is not None and not is_needed:
        yield (*at, "clock"), "only formats with %z need a clock: remove it"


def _ambiguous(at: Place, formats: Sequence[str], *, with_clock: bool) -> Broken:
    for index, one in enumerate(formats):
        for other in formats[:index]:
            if are_ambiguous(other, one, with_clock=with_clock):
                sentence = (
                    f"a text may be read as {other} and as {one}, and mean two days: "
                    "keep the one that the files are written in"
                )
                yield (*at, index), sentence


def _number_marks(at: Place, column: ColumnSpec) -> Broken:
    """Refuse a decimal mark or a separator of thousands that cannot be one."""
    for key in ("decimal", "thousands"):
        mark = getattr(column, key)
        if mark is None:
            continue
        if column.type not in _NUMBERS or (
            key == "decimal" and column.type is ColumnType.INTEGER
        ):
            yield (*at, key), f"a column of type {column.type} has no {key}: remove it"
        elif mark.isalnum() or mark in "+-":
            yield (*at, key), f"{key} of {column.name} is a letter, a digit or a sign"
    if column.thousands is not None and column.thousands == (column.decimal or "."):
        sentence = (
            f"{column.name}: thousands and decimal are the same character; where "
            "thousands are written with a point, declare decimal, or type: integer if "
            "no value has decimals"
        )
        if column.type is ColumnType.DECIMAL:
            yield (*at, "thousands"), sentence


def _raw_texts(at: Place, column: ColumnSpec) -> Broken:
    yield from _still_to_do(at, column)
    for raw in set(column.null_values) & set(column.map):
        sentence = f"{raw!r} is both in null_values and in map: keep one of them"
        yield (*at, "map", raw), sentence
    if any("\0" in raw for raw in (*column.null_values, *column.map)):
        yield at, f"{column.name}: NUL cannot stand in null_values or map: remove it"
    for raw, value in column.map.items():
        if value is not None and not _is_to_do(value):
            yield from _literal((*at, "map", raw), column, value)


def _still_to_do(at: Place, column: ColumnSpec) -> Broken:
    """Refuse what a draft asks, as long as it is not answered."""
    for index, raw in enumerate(column.null_values):
        if _is_to_do(raw):
            sentence = (
                f"null_values of {column.name} is still to do: does this word mean "
                "that there is no value? Take TODO away, or the word"
            )
            yield (*at, "null_values", index), sentence
    for raw, value in column.map.items():
        if _is_to_do(value):
            sentence = (
                f"map of {column.name} is still to do: say what {raw!r} means, such as "
                "false, or ~ where nobody knows"
            )
            yield (*at, "map", raw), sentence


def _is_to_do(value: object) -> bool:
    return isinstance(value, str) and value.startswith("TODO")


def _literal(at: Place, column: ColumnSpec, value: bool | int | str) -> Broken:  # noqa: FBT001 - one of three kinds of scalar, not a flag
    try:
        typed_literal(value, column.type, column.scale or 0)
    except LiteralError as error:
        yield at, f"not a value of {column.name} ({column.type}): {error}"


def _unit_column(at: Place, column: ColumnSpec) -> Broken:
    if column.type not in {ColumnType.INTEGER, ColumnType.TEXT}:
        yield (*at, "type"), "a unit column is an integer or a text"
    extras = {
        "domain": column.domain is not None,
        "thousands": column.thousands is not None,
        "trim": column.trim is not None,
        "map": bool(column.map),
        "constant_in_unit": column.constant_in_unit,
        "max_length": column.max_length is not None,
        "not_unit_ids": column.not_unit_ids is not None,
    }
    for key in (key for key, present in extras.items() if present):
        yield (*at, key), f"a unit column has no {key}: remove it"


def _hierarchy(
    at: Place, column: ColumnSpec, domain: DomainSpec, hierarchies: Sequence[str]
) -> Broken:
    if domain.hierarchy not in hierarchies:
        sentence = (
            f"no hierarchy is named {domain.hierarchy!r}: write one of "
            f"{', '.join(hierarchies)}, or declare it under hierarchies"
        )
        yield (*at, "hierarchy"), sentence
    if column.type is not ColumnType.TEXT:
        sentence = f"codes are texts: declare {column.name} as text"
        yield (*at, "hierarchy"), sentence
    others = (domain.min, domain.max, domain.values)
    if domain.other or any(other is not None for other in others):
        sentence = f"domain of {column.name}: a hierarchy stands alone: remove the rest"
        yield at, sentence


def _domain(at: Place, column: ColumnSpec, domain: DomainSpec) -> Broken:
    is_range = domain.min is not None or domain.max is not None
    if is_range == (domain.values is not None):
        kinds = "either min and max, or values, or hierarchy"
        yield at, f"domain of {column.name}: declare {kinds}"
    elif is_range:
        yield from _range(at, column, domain)
    else:
        yield from _values(at, column, domain)


def _range(at: Place, column: ColumnSpec, domain: DomainSpec) -> Broken:
    if domain.min is None or domain.max is None:
        yield at, f"domain of {column.name}: declare both min and max"
        return
    if column.type not in _ORDERED or domain.other:
        yield at, f"a {column.type} domain with min and max cannot be: list values"
        return
    lower, upper = _typed(column, domain.min), _typed(column, domain.max)
    for key, value, typed in (("min", domain.min, lower), ("max", domain.max, upper)):
        if typed is None:
            yield from _literal((*at, key), column, value)
    if lower is not None and upper is not None and _order(upper) < _order(lower):
        yield (*at, "max"), f"domain of {column.name}: max must not lie below min"


def _order(value: Scalar) -> tuple[str, Scalar]:
    return type(value).__name__, value


def _typed(column: ColumnSpec, value: bool | int | str) -> Scalar | None:  # noqa: FBT001 - as above
    try:
        return typed_literal(value, column.type, column.scale or 0)
    except LiteralError:
        return None


def _values(at: Place, column: ColumnSpec, domain: DomainSpec) -> Broken:
    values = domain.values or ()
    if not values:
        yield (*at, "values"), f"domain of {column.name}: list at least one value"
    seen: list[Scalar] = []
    for index, value in enumerate(values):
        below: Place = (*at, "values", index)
        yield from _literal(below, column, value)
        typed = _typed(column, value)
        if typed is not None and typed in seen:
            yield below, f"the value {value!r} stands twice: keep one of them"
        elif typed is not None:
            seen.append(typed)
    if domain.other and column.type is not ColumnType.TEXT:
        yield (*at, "other"), "other is a text: only text columns can have it"
    if domain.other and OTHER in seen:
        yield (*at, "values"), "'other' cannot be listed and declared: remove one"
