"""Calls of other dialects: IF, NVL, COUNTIF, and FILTER of an aggregate."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeGuard

from query_lang.rewriting.conditions import is_distinct, known_true
from query_lang.rewriting.quantiles import QUANTILES, plain_quantile
from query_lang.rewriting.texts import TEXT_CALLS, text_call
from query_lang.syntax import rules
from query_lang.syntax.idioms import Filtered, IsDistinct, OtherCall
from query_lang.syntax.nodes import (
    AggregateCall,
    AggregateName,
    Arithmetic,
    BooleanLiteral,
    Case,
    CaseBranch,
    CountRows,
    Expression,
    FunctionCall,
    FunctionName,
    Idiom,
    IsNull,
    Name,
    NullLiteral,
    NumberLiteral,
    OrderItem,
    Position,
    Star,
    StringLiteral,
    TypedLiteral,
    WindowCall,
)
from query_lang.syntax.refusals import refuse

_LITERALS = (NumberLiteral, StringLiteral, TypedLiteral, BooleanLiteral)
_SAME: Mapping[str, AggregateName] = {
    "AVERAGE": "avg",
    "BOOLAND_AGG": "bool_and",
    "BOOLOR_AGG": "bool_or",
    "EVERY": "bool_and",
    "LOGICAL_AND": "bool_and",
    "LOGICAL_OR": "bool_or",
    "ANY_VALUE": "min",
    "MEAN": "avg",
    "STDDEV": "stddev_samp",
    "STDEV": "stddev_samp",
    "STDEVP": "stddev_pop",
    "VAR": "var_samp",
    "VARIANCE": "var_samp",
    "VARP": "var_pop",
}
"""Names of aggregates that the language calls otherwise."""
_FUNCTIONS: Mapping[str, FunctionName] = {
    "CURDATE": "today",
    "DATE_FROM_PARTS": "datefromparts",
    "DAYOFWEEKISO": "isodow",
    "DAYOFWEEK_ISO": "isodow",
    "FORMAT": "date_format",
    "DATEDIFF_BIG": "datediff",
    "POW": "power",
    "SYSDATE": "getdate",
    "SYSDATETIME": "getdate",
    "SYSUTCDATETIME": "getdate",
    "TIMESTAMPADD": "dateadd",
    "TO_VARCHAR": "to_char",
    "TRUNCATE": "trunc",
}
"""Names of functions that the language calls otherwise, but for those of texts."""


_ORACLE_UNITS: Mapping[str, str] = {
    **dict.fromkeys(("YYYY", "YEAR", "YY", "SYYYY"), "year"),
    **dict.fromkeys(("MM", "MON", "MONTH"), "month"),
    **dict.fromkeys(("DD", "DDD", "J"), "day"),
    "Q": "quarter",
    "IW": "week",
}
"""Of TRUNC over a date; its WW and W begin weeks on other days."""


def truncated(tree: FunctionCall) -> FunctionCall:
    """Rewrite Oracle's ``TRUNC(admitted, 'MM')``; TRUNC of a number stays."""
    if tree.name != "trunc" or len(tree.arguments) < 2:  # noqa: PLR2004 - with a unit
        return tree
    value, unit = tree.arguments
    if not isinstance(unit, StringLiteral) or unit.text.upper() not in _ORACLE_UNITS:
        return tree
    word = replace(unit, text=_ORACLE_UNITS[unit.text.upper()])
    return FunctionCall("date_trunc", (word, value), tree.position)


def other_call(tree: OtherCall) -> Expression:  # noqa: PLR0911 - an arm a kind
    """Rewrite a call by another dialect's name."""
    name, arguments, position = tree.name, tree.arguments, tree.position
    if name in _SAME:
        return AggregateCall(_SAME[name], False, arguments, (), position)  # noqa: FBT003 - fields in their order
    if name == "RATIO_TO_REPORT":
        return tree  # until the window around it is looked at
    if name in QUANTILES:
        return plain_quantile(tree)
    if name in TEXT_CALLS:
        return text_call(tree)
    return _CALLS[name](arguments, position)


_Arguments = tuple[Expression, ...]


def _if(arguments: _Arguments, position: Position) -> Expression:
    condition, held, *rest = arguments
    branch = CaseBranch(known_true(condition), held)
    return Case(None, (branch,), rest[0] if rest else None, position)


def _coalesce(arguments: _Arguments, position: Position) -> Expression:
    return FunctionCall("coalesce", arguments, position)


def _nvl2(arguments: _Arguments, position: Position) -> Expression:
    value, present, missing = arguments
    is_present = IsNull(value, negated=True, position=value.position)
    return Case(None, (CaseBranch(is_present, present),), missing, position)


def _decode(arguments: _Arguments, position: Position) -> Expression:
    value, *rest = arguments
    pairs = list(zip(rest[::2], rest[1::2], strict=False))
    otherwise = rest[-1] if len(rest) % 2 else None
    branches = tuple(CaseBranch(item, result) for item, result in pairs)
    return Case(value, branches, otherwise, position)


def _count_if(arguments: _Arguments, position: Position) -> Expression:
    return _count(_kept(known_true(arguments[0]), _one(position)), position)


def _count_big(arguments: _Arguments, position: Position) -> Expression:
    """Rewrite SQL Server's COUNT, of any size."""
    is_of_rows = isinstance(arguments[0], Star)
    if is_of_rows:
        return CountRows(position)
    return counted(_count(arguments[0], position))


def ratio(tree: WindowCall) -> Expression:
    """Rewrite ``RATIO_TO_REPORT(x) OVER (...)`` as x over the sum of it."""
    function = tree.function
    if not isinstance(function, OtherCall) or function.name != "RATIO_TO_REPORT":
        return tree
    (value,) = function.arguments
    total = AggregateCall("sum", False, (value,), (), tree.position)  # noqa: FBT003 - fields in their order
    whole = replace(tree, function=total)
    return Arithmetic("/", value, whole, tree.position)


def _count_distinct(arguments: _Arguments, position: Position) -> Expression:
    return AggregateCall("count", True, arguments, (), position)  # noqa: FBT003 - fields in their order


def _function(name: FunctionName) -> "_Change":
    return lambda arguments, position: FunctionCall(name, arguments, position)


def _named(pattern: str) -> "_Change":
    """Return the change of a day to its name."""

    def change(arguments: _Arguments, position: Position) -> Expression:
        text = StringLiteral(pattern, position)
        return FunctionCall("to_char", (arguments[0], text), position)

    return change


_DATENAMES: Mapping[str, str] = {
    **dict.fromkeys(("weekday", "dw", "w"), "FMDay"),
    **dict.fromkeys(("month", "mm", "m"), "FMMonth"),
}


def _datename(arguments: _Arguments, position: Position) -> Expression:
    """Rewrite SQL Server's DATENAME, whose first argument is a bare word."""
    part, value = arguments
    word = part.name if isinstance(part, Name) and part.qualifier is None else ""
    if word not in _DATENAMES:
        detail = "DATENAME names a weekday or a month"
        hint = "DATENAME(weekday, admitted), or a number: EXTRACT(YEAR FROM admitted)"
        raise refuse(rules.DATE_UNIT, part.position, detail=detail, hint=hint)
    return _named(_DATENAMES[word])((value,), position)


def _divided(arguments: _Arguments, position: Position) -> Expression:
    """Rewrite SAFE_DIVIDE, whose quotient is never cut, of whole numbers either."""
    above, below = arguments
    whole = Arithmetic("*", above, NumberLiteral("1.0", position), above.position)
    return Arithmetic("/", whole, below, position)


def _end_of_month(arguments: _Arguments, position: Position) -> Expression:
    """Rewrite ``EOMONTH(admitted, 1)``, the last day of so many months later."""
    value, *months = arguments
    if months:
        value = FunctionCall("add_months", (value, *months), position)
    return FunctionCall("last_day", (value,), position)


def _equal_null(arguments: _Arguments, position: Position) -> Expression:
    left, right = arguments
    return is_distinct(IsDistinct(position, left, right, negated=True))


def _beside(name: FunctionName, number: str) -> "_Change":
    """Return the change of a call to another that takes a number, too."""

    def change(arguments: _Arguments, position: Position) -> Expression:
        beside = (*arguments, NumberLiteral(number, position))
        return FunctionCall(name, beside, position)

    return change


def _of_some_rows(name: AggregateName) -> "_Change":
    def aggregate(arguments: _Arguments, position: Position) -> Expression:
        value, condition = arguments
        kept = _kept(known_true(condition), value)
        return AggregateCall(name, False, (kept,), (), position)  # noqa: FBT003 - fields in their order

    return aggregate


_DISTINCT_COUNTS = ("APPROX_COUNT_DISTINCT", "APPROX_DISTINCT", "COUNT_DISTINCT", "HLL")
_Change = Callable[[_Arguments, Position], Expression]
_CALLS: Mapping[str, _Change] = {
    **{other: _function(name) for other, name in _FUNCTIONS.items()},
    **dict.fromkeys(("IF", "IFF", "IIF"), _if),
    "GROUPING_ID": _function("grouping"),
    **dict.fromkeys(("IFNULL", "ISNULL", "NVL"), _coalesce),
    **dict.fromkeys(("COUNTIF", "COUNT_IF"), _count_if),
    **dict.fromkeys(_DISTINCT_COUNTS, _count_distinct),
    **dict.fromkeys(("SUMIF", "SUM_IF"), _of_some_rows("sum")),
    **dict.fromkeys(("AVGIF", "AVG_IF"), _of_some_rows("avg")),
    **dict.fromkeys(("DAYNAME",), _named("FMDay")),
    **dict.fromkeys(("MONTHNAME",), _named("FMMonth")),
    "DATENAME": _datename,
    "COUNT_BIG": _count_big,
    "NVL2": _nvl2,
    "DECODE": _decode,
    "SAFE_DIVIDE": _divided,
    "EOMONTH": _end_of_month,
    "EQUAL_NULL": _equal_null,
    "NULLIFZERO": _beside("nullif", "0"),
    "SQUARE": _beside("power", "2"),
    "ZEROIFNULL": _beside("coalesce", "0"),
}


def _one(position: Position) -> NumberLiteral:
    return NumberLiteral("1", position)


def _count(value: Expression, position: Position) -> AggregateCall:
    return AggregateCall("count", False, (value,), (), position)  # noqa: FBT003 - fields in their order


def _kept(condition: Expression, value: Expression) -> Case:
    """Return a value where a condition holds, else NULL."""
    return Case(None, (CaseBranch(condition, value),), None, value.position)


def filtered(tree: Filtered) -> Expression:
    """Rewrite ``aggregate FILTER (WHERE c)``: other rows give NULL, which it ignores.

    FIRST and LAST take NULLs, so the rows that c keeps also come first, or last.

    Raises:
        SqlNotAllowedError: FILTER follows what is no aggregate.
    """
    aggregate, condition = tree.aggregate, known_true(tree.condition)
    if isinstance(aggregate, CountRows):
        return _count(_kept(condition, _one(tree.position)), tree.position)
    if isinstance(aggregate, Idiom) or not aggregate.arguments:
        raise refuse(rules.AGGREGATE_FILTER, tree.position)
    value, *rest = aggregate.arguments
    order = aggregate.order_by
    if order:
        kept_last = aggregate.name == "last"
        place = Case(
            None,
            (CaseBranch(condition, NumberLiteral(str(int(kept_last)), tree.position)),),
            NumberLiteral(str(int(not kept_last)), tree.position),
            tree.position,
        )
        order = (OrderItem(place, False, None, tree.position), *order)  # noqa: FBT003 - fields in their order
    return replace(
        aggregate, arguments=(_kept(condition, value), *rest), order_by=order
    )


def counted(tree: AggregateCall) -> AggregateCall | CountRows:
    """Bring counts of rows to one form: COUNT(*), or COUNT(CASE WHEN c THEN 1 END).

    What stands after THEN is counted, not shown.
    """
    if tree.name != "count" or tree.distinct or len(tree.arguments) != 1:
        return tree
    (value,) = tree.arguments
    if isinstance(value, _LITERALS):
        return CountRows(tree.position)
    if _is_kept_literal(value):
        return _count(
            _kept(value.branches[0].condition, _one(value.position)), tree.position
        )
    return tree


def _is_kept_literal(value: Expression) -> TypeGuard[Case]:
    """Whether a value is ``CASE WHEN c THEN literal END``."""
    if not isinstance(value, Case) or value.operand is not None:
        return False
    has_else = value.otherwise is not None
    if len(value.branches) != 1 or (
        has_else and not isinstance(value.otherwise, NullLiteral)
    ):
        return False
    return isinstance(value.branches[0].result, _LITERALS)
