"""Arithmetic and functions of numbers: scales, bounds and public domain of each.

A number is held in steps of its last place, in 64 bits; each operator brings its
operands to one grid, is exact there, and clamps its own result (CONTRACT 1).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from privacy.schema import ColumnType, Domain, RangeDomain, Scalar, ValuesDomain
from query_lang.binding.environment import Binder
from query_lang.binding.scalars.floats import warn_of_halves
from query_lang.binding.sizes import MOST_MAPPED
from query_lang.plans import arithmetic, intervals
from query_lang.plans.domains import value_count
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    Facts,
    Function,
    HalfRange,
)
from query_lang.plans.intervals import (
    MAX_INTEGER,
    MIN_INTEGER,
    UNKNOWN,
    Interval,
    Reach,
    domain_of,
    grid_value,
    interval_of,
    reach_of,
    shown_value,
)
from query_lang.plans.literals import NUMBERS, constant_facts, small_number
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    ArithmeticOperator,
    FunctionCall,
    Negative,
    NumberLiteral,
    Position,
)
from query_lang.syntax.nodes import Expression as Tree
from query_lang.syntax.refusals import refuse

INTEGER, DECIMAL = ColumnType.INTEGER, ColumnType.DECIMAL
MAX_SCALE = 18
"""Decimal places of any result: 64 bits hold no more."""

QUOTIENT_SCALE = 6
"""Decimal places of a quotient of decimals, unless an operand has more."""

_TENS: Mapping[Scalar | None, int] = {10**n: n for n in range(1, QUOTIENT_SCALE)}

MOST_BUCKETS = 1_000


def operand(tree: Tree, binder: Binder) -> Expression:
    """Bind an operand: a whole number that is written with a point is a decimal."""
    value = binder.value(tree)
    written = tree.value if isinstance(tree, Negative) else tree
    if isinstance(written, NumberLiteral) and isinstance(value, Constant):
        return _as_written(value, written.text)
    return value


def _as_written(value: Constant, text: str) -> Constant:
    if "." not in text or not isinstance(value.value, int):
        return value
    whole = Decimal(value.value)
    return Constant(whole, constant_facts(whole, DECIMAL))


# -- operators ---------------------------------------------------------------

_OPERATORS: Mapping[ArithmeticOperator, Function] = {
    "+": Function.ADD,
    "-": Function.SUBTRACT,
    "*": Function.MULTIPLY,
    "%": Function.MODULO,
}


def calculated(
    operator: ArithmeticOperator, one: Expression, other: Expression, place: Position
) -> Expression:
    """Return ``one operator other`` of two numbers.

    Raises:
        SqlNotAllowedError: The result would have too many places, or a divisor is 0.
    """
    if operator in {"/", "%"} and isinstance(other, Constant) and other.value == 0:
        raise refuse(rules.DIVISION, place)
    if operator == "/":
        return quotient(one, other, place)
    function = _OPERATORS[operator]
    scale = max(one.facts.scale, other.facts.scale)
    if operator == "*":
        scale = one.facts.scale + other.facts.scale
        _check_scale(scale, place)
    else:
        one, other = rescaled(one, scale), rescaled(other, scale)
    return _call(function, (one, other), scale, nullable=operator == "%")


def quotient(one: Expression, other: Expression, place: Position) -> Expression:
    """Return ``one / other``: of integers cut towards zero, else rounded to places.

    By 10, 100 or 1000 the quotient is exact in as many places more, if these are fewer.

    Raises:
        SqlNotAllowedError: The operands have too many places.
    """
    if one.facts.type is INTEGER and other.facts.type is INTEGER:
        return _call(Function.DIVIDE, (one, other), 0, nullable=True)
    first, second = one.facts.scale, other.facts.scale
    scale = max(QUOTIENT_SCALE, first, second)
    if isinstance(other, Constant) and other.value in _TENS:
        scale = min(scale, first + _TENS[other.value])
    _check_scale(scale + second - first, place)
    factor = 10 ** (scale + second - first)
    parameters = (factor, scale)
    return _call(
        Function.DIVIDE_DECIMAL, (one, other), scale, parameters, nullable=True
    )


def _check_scale(scale: int, place: Position) -> None:
    if scale > MAX_SCALE:
        raise refuse(rules.DECIMAL_PLACES, place)


def rescaled(value: Expression, scale: int) -> Expression:
    """Return a number in steps of ``10**-scale``, which are no coarser than its own."""
    if value.facts.scale == scale:
        return value
    if isinstance(value, Constant):
        found = replace(value.facts, type=DECIMAL, scale=scale)
        clamped = _clamped(value.value, scale)
        if clamped is not None and clamped != value.value:
            found = replace(found, domain=ValuesDomain((clamped,)))
        return Constant(clamped, found)
    factor = 10 ** (scale - value.facts.scale)
    return _call(Function.RESCALE, (value,), scale, (factor,))


def _clamped(value: Scalar | None, scale: int) -> Scalar | None:
    """Return a number within 64 bits of its new steps: there it is clamped."""
    if value is None:
        return None
    steps = grid_value(value, scale)
    within = max(MIN_INTEGER, min(MAX_INTEGER, steps))
    return value if within == steps else Decimal(within).scaleb(-scale)


def negated(value: Expression, place: Position) -> Expression:
    """Return ``-value``.

    Raises:
        SqlNotAllowedError: The value is no number.
    """
    if value.facts.type not in NUMBERS:
        raise refuse(rules.ARITHMETIC, place)
    return _call(Function.NEGATE, (value,), value.facts.scale)


def _call(
    function: Function,
    operands: tuple[Expression, ...],
    scale: int,
    parameters: tuple[Scalar, ...] = (),
    *,
    nullable: bool = False,
) -> Call | Constant:
    """Return a call with what is publicly known of its results; constants are folded.

    ``nullable``: whether it can be NULL though no operand is.
    """
    is_whole = all(operand.facts.type is INTEGER for operand in operands)
    kind = INTEGER if scale == 0 and (is_whole or function in _WHOLE) else DECIMAL
    divides_by_known = len(operands) > 1 and _never_zero(operands[1])
    facts = Facts(
        kind,
        scale,
        nullable=(nullable and not divides_by_known)
        or any(operand.facts.nullable for operand in operands),
        constant=all(operand.facts.constant for operand in operands),
    )
    call = Call(function, operands, facts, parameters)
    if not _varied(call):
        return _folded(call)
    return replace(call, facts=replace(facts, domain=domain_of_call(call)))


def _folded(call: Call) -> Constant:
    """Return the value of a call on constants alone; binding lets no divisor be 0."""
    step = arithmetic.computed(call, tuple(map(_constant, call.operands)))
    value = shown_value(step or 0, call.facts)
    return Constant(value, constant_facts(value, call.facts.type, call.facts.scale))


_WHOLE = frozenset(
    (
        *(Function.FLOOR, Function.CEILING, Function.ROUND, Function.TRUNCATE),
        *(Function.SIGN, Function.WIDTH_BUCKET),
    )
)
"""What gives integers of decimals."""


def _never_zero(divisor: Expression) -> bool:
    return isinstance(divisor, Constant) and divisor.value != 0


# -- domains -----------------------------------------------------------------


def domain_of_call(call: Call) -> Domain | HalfRange | None:
    """Return the values of a result: each, where few; else the least interval."""
    varied = _varied(call)
    if len(varied) == 1:
        values = _mapped(call, varied[0])
        if values is not None:
            return values
        if not (call.function in _QUOTIENTS and varied == [1]):
            found = _REACHES.get(call.function, _monotone_reach)(call)
            return _multiples(call, found) or domain_of(found, call.facts)
    return domain_of(_REACHES_OF_TWO[call.function](call), call.facts)


def _multiples(call: Call, reach: Reach) -> Domain | None:
    """Return the values of what is rounded to tens, hundreds or more, where few."""
    low, high = reach
    if call.function not in _ROUNDED or low is None or high is None:
        return None
    step = call.parameters[1]
    if not isinstance(step, int) or step == 1 or (high - low) // step >= MOST_MAPPED:
        return None
    if low % step or high % step:  # the least or the most of 64 bits
        return None
    return ValuesDomain(tuple(range(low, high + step, step)))


_ROUNDED = frozenset(
    (Function.FLOOR, Function.CEILING, Function.ROUND, Function.TRUNCATE)
)


def _varied(call: Call) -> list[int]:
    """Return the places of the operands that are no constants."""
    return [
        place
        for place, operand in enumerate(call.operands)
        if not isinstance(operand, Constant)
    ]


def _mapped(call: Call, place: int) -> Domain | None:
    """Return the results for each value of the one operand that varies."""
    facts = call.operands[place].facts
    count = value_count(facts)
    is_told_by_bounds = call.function in _SHIFTS and isinstance(
        facts.domain, RangeDomain
    )
    if is_told_by_bounds or not count or count > MOST_MAPPED:
        return None
    fixed = [_constant(o) for o in call.operands if isinstance(o, Constant)]
    before, after = fixed[:place], fixed[place:]
    steps = {
        arithmetic.computed(call, (*before, value, *after)) for value in _steps(facts)
    }
    found = sorted(step for step in steps if step is not None)
    if not found:
        return RangeDomain(0, 0) if call.facts.type is INTEGER else None
    if call.facts.type is INTEGER and found[-1] - found[0] == len(found) - 1:
        return RangeDomain(found[0], found[-1])
    return ValuesDomain(tuple(shown_value(step, call.facts) for step in found))


def _steps(facts: Facts) -> Sequence[int]:
    """Return a number's values as integers of its grid."""
    match facts.domain:
        case RangeDomain(int(low), int(high)):
            return range(low, high + 1)
        case ValuesDomain(values):
            return [grid_value(value, facts.scale) for value in values]
        case _:  # pragma: no cover - value_count knows no others
            raise TypeError


def _at(call: Call, place: int, step: int) -> int | None:
    """Return the result where one operand has a value; the others are constants."""
    operands = tuple(
        step if each == place else _constant(operand)
        for each, operand in enumerate(call.operands)
    )
    return arithmetic.computed(call, operands)


def _constant(each: Expression) -> int:
    if not isinstance(each, Constant) or not isinstance(each.value, int | Decimal):
        raise TypeError  # pragma: no cover - the caller looked
    return grid_value(each.value, each.facts.scale)


_SHIFTS = frozenset((Function.ADD, Function.SUBTRACT))
_QUOTIENTS = frozenset((Function.DIVIDE, Function.DIVIDE_DECIMAL))


def _monotone_reach(call: Call) -> Reach:
    """Return the bounds of what rises, or falls, all the way with one operand."""
    (place,) = _varied(call)
    ends = [
        None if end is None else _at(call, place, end)
        for end in reach_of(call.operands[place].facts)
    ]
    if _falls(call, place):
        ends.reverse()
    return ends[0], ends[1]


def _falls(call: Call, place: int) -> bool:
    match call.function:
        case Function.NEGATE:
            return True
        case Function.SUBTRACT:
            return place == 1
        case Function.MULTIPLY | Function.DIVIDE | Function.DIVIDE_DECIMAL:
            return _constant(call.operands[1 - place]) < 0
        case _:
            return False


def _of_two(
    bounds: Callable[[Interval, Interval], Interval],
) -> Callable[[Call], Reach]:
    def reach(call: Call) -> Reach:
        one, other = (interval_of(operand.facts) for operand in call.operands)
        return UNKNOWN if one is None or other is None else bounds(one, other)

    return reach


def _sum_reach(call: Call) -> Reach:
    one, other = (reach_of(operand.facts) for operand in call.operands)
    if call.function is Function.SUBTRACT:
        other = intervals.mirrored(other)
    ends = [
        None if a is None or b is None else intervals.saturate(a + b)
        for a, b in zip(one, other, strict=True)
    ]
    return ends[0], ends[1]


def _quotient_reach(call: Call) -> Reach:
    one, other = (interval_of(operand.facts) for operand in call.operands)
    if one is None or other is None:
        return UNKNOWN
    return intervals.divided(
        one, other, lambda a, b: arithmetic.computed(call, (a, b)) or 0
    )


def _remainder_reach(call: Call) -> Reach:
    """Return bounds by the dividend's sign and both operands' sizes."""
    (low, high), divisor = (
        reach_of(call.operands[0].facts),
        interval_of(call.operands[1].facts),
    )
    most = None if divisor is None else max(abs(divisor[0]), abs(divisor[1]), 1) - 1
    below = _smaller(most, None if low is None else max(-low, 0))
    above = _smaller(most, None if high is None else max(high, 0))
    return None if below is None else -below, above


def _smaller(one: int | None, other: int | None) -> int | None:
    return min((size for size in (one, other) if size is not None), default=None)


def _size_reach(call: Call) -> Reach:
    low, high = reach_of(call.operands[0].facts)
    if low is not None and low >= 0:
        return low, high
    if high is not None and high <= 0:
        return (
            intervals.saturate(-high),
            None if low is None else intervals.saturate(-low),
        )
    if low is None or high is None:
        return 0, None
    return 0, intervals.saturate(max(-low, high))


def _sign_reach(call: Call) -> Reach:
    low, high = reach_of(call.operands[0].facts)
    least, most = (
        end if known is None else (known > 0) - (known < 0)
        for known, end in ((low, -1), (high, 1))
    )
    return least, most


def _bucket_reach(call: Call) -> Reach:
    low, high = reach_of(call.operands[0].facts)
    last = call.parameters[2]
    if not isinstance(last, int):  # pragma: no cover - binding wrote it
        raise TypeError
    return (
        0 if low is None else _at(call, 0, low),
        last + 1 if high is None else _at(call, 0, high),
    )


_REACHES: Mapping[Function, Callable[[Call], Reach]] = {
    Function.MODULO: _remainder_reach,
    Function.ABS: _size_reach,
    Function.SIGN: _sign_reach,
    Function.WIDTH_BUCKET: _bucket_reach,
}
"""Of what one operand decides, unless it rises or falls all the way."""

_REACHES_OF_TWO: Mapping[Function, Callable[[Call], Reach]] = {
    Function.ADD: _sum_reach,
    Function.SUBTRACT: _sum_reach,
    Function.MULTIPLY: _of_two(intervals.multiplied),
    Function.DIVIDE: _quotient_reach,
    Function.DIVIDE_DECIMAL: _quotient_reach,
    Function.MODULO: _remainder_reach,
}


# -- functions ---------------------------------------------------------------


def number_function(tree: FunctionCall, binder: Binder) -> Expression:
    """Bind ABS, SIGN, FLOOR, ROUND, MOD, WIDTH_BUCKET and their like.

    Raises:
        SqlNotAllowedError: An argument is no number, or a parameter no literal.
    """
    values = [operand(argument, binder) for argument in tree.arguments]
    for value, argument in zip(values, tree.arguments, strict=True):
        if value.facts.type not in NUMBERS:
            kind, name = value.facts.type.value, tree.name.upper()
            raise refuse(
                rules.NUMBER_NEEDED,
                argument.position,
                detail=f"{name} takes numbers, not {kind}",
            )
    found = _BINDERS[tree.name](tree, values)
    if tree.name == "round" and found.facts.type is INTEGER:
        warn_of_halves(tree.arguments[0], values[0], binder.environment)
    return found


def _modulo(tree: FunctionCall, values: list[Expression]) -> Expression:
    return calculated("%", values[0], values[1], tree.position)


def _whole_quotient(tree: FunctionCall, values: list[Expression]) -> Expression:
    if any(value.facts.type is not INTEGER for value in values):
        raise refuse(rules.NUMBER_NEEDED, tree.position, detail="DIV takes integers")
    return calculated("/", values[0], values[1], tree.position)


def _power(tree: FunctionCall, values: list[Expression]) -> Expression:
    exponent = small_number(tree.arguments[1], 4)
    if not exponent:
        raise refuse(rules.POWER, tree.position)
    found = base = values[0]
    for _ in range(exponent - 1):
        found = calculated("*", found, base, tree.position)
    return found


def _size(_: FunctionCall, values: list[Expression]) -> Expression:
    return _call(Function.ABS, (values[0],), values[0].facts.scale)


def _sign(_: FunctionCall, values: list[Expression]) -> Expression:
    return _call(Function.SIGN, (values[0],), 0)


def _rounding(
    function: Function,
) -> Callable[[FunctionCall, list[Expression]], Expression]:
    def bind(tree: FunctionCall, values: list[Expression]) -> Expression:
        written = tree.arguments[1] if len(tree.arguments) > 1 else None
        return to_places(function, values[0], _places(written))

    return bind


def _places(written: Tree | None) -> int:
    """Return how many decimal places are kept; negative ones are zeros before."""
    if written is None:
        return 0
    text = written.text if isinstance(written, NumberLiteral) else ""
    digits = text.removeprefix("-")
    if not digits.isdigit() or len(digits) > 2 or int(digits) > MAX_SCALE:  # noqa: PLR2004 - of 18
        raise refuse(rules.ROUND_PLACES, written.position)
    return int(text)


def to_places(function: Function, value: Expression, places: int) -> Expression:
    """Return a number with so many decimal places; with none it is an integer."""
    scale = value.facts.scale
    if places >= scale and (places > 0 or value.facts.type is INTEGER):
        return value
    divisor = 10 ** (scale - places)
    factor = 10 ** max(0, -places)
    return _call(function, (value,), max(0, places), (divisor, factor))


def _bucket(tree: FunctionCall, values: list[Expression]) -> Expression:
    value, *ends = values
    count = small_number(tree.arguments[3], MOST_BUCKETS)
    start, end = (
        each.value if isinstance(each, Constant) else None for each in ends[:2]
    )
    if not isinstance(start, int | Decimal) or not isinstance(end, int | Decimal):
        raise refuse(rules.WIDTH_BUCKET, tree.position)
    if not count or start >= end:
        raise refuse(rules.WIDTH_BUCKET, tree.position)
    scale = max(value.facts.scale, *(each.facts.scale for each in ends[:2]))
    limits = tuple(int(Fraction(each) * 10**scale) for each in (start, end))
    return _call(Function.WIDTH_BUCKET, (rescaled(value, scale),), 0, (*limits, count))


_BINDERS: Mapping[str, Callable[[FunctionCall, list[Expression]], Expression]] = {
    "abs": _size,
    "ceil": _rounding(Function.CEILING),
    "ceiling": _rounding(Function.CEILING),
    "div": _whole_quotient,
    "floor": _rounding(Function.FLOOR),
    "mod": _modulo,
    "power": _power,
    "round": _rounding(Function.ROUND),
    "sign": _sign,
    "trunc": _rounding(Function.TRUNCATE),
    "width_bucket": _bucket,
}
NUMBER_FUNCTIONS = frozenset(_BINDERS)
