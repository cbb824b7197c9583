"""Casts between types: total, so that what has no value in the new type is NULL."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime

from privacy.schema import (
    ColumnType,
    Domain,
    HierarchyDomain,
    RangeDomain,
    Scalar,
    ValuesDomain,
)
from query_lang.hierarchies import BUILT_IN, CATEGORY
from query_lang.plans import intervals
from query_lang.plans.domains import MAX_LISTED, key_values, value_count
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    Facts,
    Function,
    truth_constant,
)
from query_lang.plans.intervals import interval_of, range_of
from query_lang.plans.literals import constant_facts
from query_lang.syntax import rules
from query_lang.syntax.nodes import Cast, Position
from query_lang.syntax.refusals import refuse
from query_lang.syntax.text_values import read_text, write_value
from query_lang.syntax.type_names import CastTarget, cast_target

BOOLEAN, INTEGER, DECIMAL = (
    ColumnType.BOOLEAN,
    ColumnType.INTEGER,
    ColumnType.DECIMAL,
)
DATE, TIMESTAMP, TEXT = ColumnType.DATE, ColumnType.TIMESTAMP, ColumnType.TEXT
MOST_READ = 1_000
"""The longest list of texts whose values are worked out one by one."""


def cast(tree: Cast, value: Expression) -> Expression:
    """Bind a cast of a value that is no literal.

    Raises:
        SqlNotAllowedError: No value of its type has a value in the other.
    """
    return converted(value, cast_target(tree.type, tree.position), tree.position)


def converted(value: Expression, target: CastTarget, position: Position) -> Expression:
    """Return a value in another type.

    Raises:
        SqlNotAllowedError: Rule ``cast``: no value of its type has a value there.
    """
    if isinstance(value, Constant) and value.value is None:
        return Constant(None, replace(value.facts, type=target.type))
    kind = value.facts.type
    convert = _CONVERSIONS.get((kind, target.type))
    if convert is None:
        detail = f"a {kind.value} has no value as {target.type.value}"
        hint = _HINTS.get((kind, target.type))
        raise refuse(rules.CAST, position, detail=detail, hint=hint)
    return convert(value, target, position)


def truth_number(value: Expression) -> Expression:
    """Return 1 where a condition is true, 0 where it is false, NULL where unknown."""
    facts = Facts(
        INTEGER,
        nullable=value.facts.nullable,
        constant=value.facts.constant,
        domain=RangeDomain(0, 1),
    )
    return _by_truth(value, facts, (_number(1), _number(0)))


def _by_truth(
    value: Expression, facts: Facts, results: tuple[Constant, Constant]
) -> Expression:
    """Return one of two results; where it can be unknown, NULL for unknown."""
    holds, fails = results
    if not value.facts.nullable:
        return Call(Function.CASE, (value, holds, fails), facts)
    unknown = Constant(None, replace(facts, domain=None))
    true, false = truth_constant(truth=True), truth_constant(truth=False)
    return Call(Function.SWITCH, (value, true, holds, false, fails, unknown), facts)


def _number(value: int) -> Constant:
    return Constant(value, constant_facts(value, INTEGER))


def _same(value: Expression, _: CastTarget, __: Position) -> Expression:
    return value


# -- numbers -------------------------------------------------------------------


def _truth_as_number(
    value: Expression, target: CastTarget, position: Position
) -> Expression:
    found = truth_number(value)
    return found if target.type is INTEGER else _scaled(found, target, position)


def _is_not_zero(value: Expression, _: CastTarget, __: Position) -> Expression:
    known = value.facts
    facts = Facts(BOOLEAN, nullable=known.nullable, constant=known.constant)
    return Call(Function.NE, (value, _number(0)), facts)


def _scaled(value: Expression, target: CastTarget, _: Position) -> Expression:
    """Return a number with other decimals: half away from zero, NULL past 64 bits."""
    known = value.facts
    scale = 0 if target.type is INTEGER else target.scale
    scale = known.scale if scale is None else scale
    if (known.type, known.scale) == (target.type, scale):
        return value
    return _with_places(value, target.type, scale)


def as_number(call: Call, value: Expression) -> Call:
    """Return the cast of a number that a call is, of another value of its grid."""
    return _with_places(value, call.facts.type, call.facts.scale)


def _with_places(value: Expression, kind: ColumnType, scale: int) -> Call:
    known = value.facts
    facts = Facts(kind, scale, known.nullable, known.constant)
    bounds = interval_of(known)
    if bounds is None:
        is_finer = scale > known.scale
        facts = replace(facts, nullable=known.nullable or is_finer)
    else:
        moved = tuple(intervals.rescaled(end, known.scale, scale) for end in bounds)
        held = intervals.held((moved[0], moved[1]))
        facts = replace(
            facts,
            domain=_rescaled_domain(known, facts, held),
            nullable=known.nullable or held != moved,
        )
    return Call(Function.CAST_NUMBER, (value,), facts, (kind.value, scale))


def _rescaled_domain(
    known: Facts, facts: Facts, held: intervals.Interval | None
) -> Domain | None:
    """Return the values of a list, else the range between the ends that fit."""
    listed = known.domain
    if not isinstance(listed, ValuesDomain):
        return range_of(held, facts)
    steps = (
        intervals.rescaled(
            intervals.grid_value(value, known.scale), known.scale, facts.scale
        )
        for value in listed.values
    )
    fitting = (step for step in steps if intervals.held((step, step)))
    shown = (intervals.shown_value(step, facts) for step in fitting)
    return ValuesDomain(tuple(dict.fromkeys(shown)))


# -- moments -------------------------------------------------------------------


def date_of(value: Expression) -> Expression:
    """Return the day of a timestamp; a date is its own."""
    if value.facts.type is DATE:
        return value
    if isinstance(value, Constant) and isinstance(value.value, datetime):
        return _day(value.value.date())
    known = value.facts
    facts = Facts(DATE, nullable=known.nullable, constant=known.constant)
    domain = range_of(intervals.day_bounds(known), facts)
    return Call(Function.DATE_OF, (value,), replace(facts, domain=domain))


def midnight_of(value: Expression) -> Expression:
    """Return the midnight that a date begins with; a timestamp is itself."""
    if value.facts.type is TIMESTAMP:
        return value
    if isinstance(value, Constant) and isinstance(value.value, date):
        moment = intervals.midnight(value.value)
        return Constant(moment, constant_facts(moment, TIMESTAMP))
    known = value.facts
    facts = replace(known, type=TIMESTAMP, domain=_midnights(known.domain))
    return Call(Function.MIDNIGHT_OF, (value,), facts)


def _midnights(domain: object) -> Domain | None:
    match domain:
        case RangeDomain(date() as low, date() as high):
            return RangeDomain(intervals.midnight(low), intervals.midnight(high))
        case ValuesDomain(values):
            days = (day for day in values if isinstance(day, date))
            return ValuesDomain(tuple(map(intervals.midnight, days)))
        case _:
            return None


def _day(value: date) -> Constant:
    return Constant(value, constant_facts(value, DATE))


# -- texts ---------------------------------------------------------------------


def _written(value: Expression, target: CastTarget, position: Position) -> Expression:
    known = value.facts
    scale = known.scale if known.type is DECIMAL else 0
    domain: Domain | None = None
    size = value_count(replace(known, nullable=False))
    if size is not None and size <= MAX_LISTED and known.type is not BOOLEAN:
        listed = key_values(replace(known, nullable=False))
        texts = (write_value(each, scale) for each in listed if each is not None)
        domain = ValuesDomain(tuple(texts))
    facts = Facts(TEXT, 0, known.nullable, known.constant, domain)
    return _checked_length(Call(Function.TEXT_OF, (value,), facts), target, position)


def as_text(value: Expression, position: Position) -> Expression:
    """Return a whole number as its digits, as CAST(value AS TEXT) does."""
    return _written(value, CastTarget(TEXT), position)


def _truth_as_text(
    value: Expression, target: CastTarget, position: Position
) -> Expression:
    words = tuple(_text(word) for word in ("true", "false"))
    facts = Facts(
        TEXT,
        nullable=value.facts.nullable,
        constant=value.facts.constant,
        domain=ValuesDomain(("false", "true")),
    )
    found = _by_truth(value, facts, (words[0], words[1]))
    return _checked_length(found, target, position)


def _text(value: str) -> Constant:
    return Constant(value, constant_facts(value, TEXT))


def _checked_length(
    value: Expression, target: CastTarget, position: Position, written: str = "x::text"
) -> Expression:
    """Refuse ``varchar(n)`` where a value could be longer: not all engines cut it.

    ``char(n)`` fills up what is shorter, too: it is LEFT where nothing is.
    """
    size = target.length
    if size is None:
        return value
    listed = value.facts.domain
    texts = [*map(str, listed.all_values())] if isinstance(listed, ValuesDomain) else []
    if texts and all(len(text) <= size for text in texts):
        return value
    detail = "a text could be longer than this, and is not cut"
    hint = f"write LEFT({written}, {size})"
    if target.fills and not _are_full(listed, texts, size):
        hint = f"{hint}: a shorter text stays as it is, without the blanks of char"
    raise refuse(rules.CAST, position, detail=detail, hint=hint)


def _are_full(domain: object, texts: Sequence[str], size: int) -> bool:
    """Whether the first characters of all texts are as many, the last one no blank."""
    if isinstance(domain, HierarchyDomain) and domain.name in BUILT_IN:
        return size <= CATEGORY
    full = [len(text) >= size and text[size - 1 : size] != " " for text in texts]
    return bool(full) and all(full)


def _as_text(value: Expression, target: CastTarget, position: Position) -> Expression:
    return _checked_length(value, target, position, "x")


def _read(value: Expression, target: CastTarget, position: Position) -> Expression:
    """Return what a text says, NULL where it says nothing of this type."""
    known, kind = value.facts, target.type
    listed = known.domain if isinstance(known.domain, ValuesDomain) else None
    texts = () if listed is None else tuple(map(str, listed.all_values()))
    if len(texts) > MOST_READ:
        texts, listed = (), None
    scale = 0
    if kind is DECIMAL:
        if listed is None:
            raise refuse(
                rules.CAST,
                position,
                detail="only a text of a declared list is read as decimal",
                hint="ask the custodian to declare the column as decimal",
            )
        scale = max(map(_decimals, texts), default=0)
    domain = None if listed is None else _values_of(texts, kind, scale)
    facts = Facts(kind, scale, constant=known.constant, domain=domain)
    call = Call(Function.READ, (value,), facts, (kind.value, scale))
    if kind is DECIMAL and target.scale is not None:
        return _scaled(call, target, position)
    return call


def _decimals(text: str) -> int:
    """Return the decimals of a text that is a number, else 0."""
    digits = text.partition(".")[2]
    return len(digits) if read_text(text, DECIMAL, MAX_DECIMALS) is not None else 0


def _values_of(texts: tuple[str, ...], kind: ColumnType, scale: int) -> Domain | None:
    read = (read_text(text, kind, scale) for text in texts)
    values: tuple[Scalar, ...] = tuple(
        dict.fromkeys(value for value in read if value is not None)
    )
    return None if kind is BOOLEAN else ValuesDomain(values)


MAX_DECIMALS = 9
"""Decimals of a text that is read as a number: 18 digits before them fit 128 bits."""

_Conversion = Callable[[Expression, CastTarget, Position], Expression]
_CONVERSIONS: Mapping[tuple[ColumnType, ColumnType], _Conversion] = {
    (BOOLEAN, BOOLEAN): _same,
    (BOOLEAN, INTEGER): _truth_as_number,
    (BOOLEAN, DECIMAL): _truth_as_number,
    (BOOLEAN, TEXT): _truth_as_text,
    (INTEGER, BOOLEAN): _is_not_zero,
    (INTEGER, INTEGER): _same,
    (INTEGER, DECIMAL): _scaled,
    (INTEGER, TEXT): _written,
    (DECIMAL, BOOLEAN): _is_not_zero,
    (DECIMAL, INTEGER): _scaled,
    (DECIMAL, DECIMAL): _scaled,
    (DECIMAL, TEXT): _written,
    (DATE, DATE): _same,
    (DATE, TIMESTAMP): lambda value, *_: midnight_of(value),
    (DATE, TEXT): _written,
    (TIMESTAMP, DATE): lambda value, *_: date_of(value),
    (TIMESTAMP, TIMESTAMP): _same,
    (TIMESTAMP, TEXT): _written,
    (TEXT, TEXT): _as_text,
    **dict.fromkeys(
        ((TEXT, kind) for kind in (BOOLEAN, INTEGER, DECIMAL, DATE, TIMESTAMP)), _read
    ),
}
_HINTS: Mapping[tuple[ColumnType, ColumnType], str] = {
    (DATE, INTEGER): "days between two dates are admitted - born; a year is "
    "EXTRACT(YEAR FROM admitted)",
    (TIMESTAMP, INTEGER): "write EXTRACT(EPOCH FROM arrived)",
    (INTEGER, DATE): "add days to a date: DATE '1970-01-01' + days",
}
