"""Functions of numbers as DuckDB SQL: exact in 64 or 128 bits, then clamped."""

from collections.abc import Callable, Mapping
from typing import Protocol

from query_lang.plans.expressions import Call, Expression, Facts, Function
from query_lang.plans.intervals import interval_of
from query_lang.rendering.duckdb.wide import END, clamped, unless_any_null, wide
from query_lang.rendering.fragments import Fragment, listed
from query_lang.rendering.integer_widths import is_small

_LARGEST_NARROW = 10**18  # powers of ten within 64 bits


class Renderer(Protocol):
    """What renders the operands."""

    def render(self, expression: Expression) -> Fragment:
        """Return the SQL of an expression."""
        ...

    def named(self, expression: Expression) -> Fragment:
        """Return the SQL of what is needed more than once."""
        ...


def _extreme(renderer: Renderer, call: Call) -> Fragment:
    """Write LEAST or GREATEST, which pass over NULL."""
    items = listed(map(renderer.render, call.operands))
    return Fragment(f"{call.function.value.upper()}(") + items + Fragment(")")


def _rescale(renderer: Renderer, call: Call) -> Fragment:
    (value,), factor = call.operands, _parameter(call, 0)
    if _holds_small(value.facts, call.facts) and not isinstance(value, Call):
        return Fragment("(") + renderer.render(value) + Fragment(f" * {factor})")
    own = renderer.named(value)
    return unless_any_null((own,), clamped(wide(own) + _times(factor)))


def _times(factor: int) -> Fragment:
    return Fragment(f" * CAST({factor} AS HUGEINT)")


def _parameter(call: Call, place: int) -> int:
    found = call.parameters[place]
    if not isinstance(found, int):  # pragma: no cover - binding wrote it
        raise TypeError
    return found


def _holds_small(*facts: Facts) -> bool:
    bounds = map(interval_of, facts)
    return all(known is not None and is_small(known) for known in bounds)


def _size(renderer: Renderer, call: Call) -> Fragment:
    own = renderer.named(call.operands[0])
    if _holds_small(call.operands[0].facts):
        return Fragment("ABS(") + own + Fragment(")")
    return unless_any_null(
        (own,), clamped(Fragment("ABS(") + wide(own) + Fragment(")"))
    )


def _sign(renderer: Renderer, call: Call) -> Fragment:
    own = renderer.render(call.operands[0])
    return Fragment("CAST(SIGN(") + own + Fragment(") AS BIGINT)")


def _rounded(renderer: Renderer, call: Call) -> Fragment:
    """Write a division by a power of ten in the function's own rounding."""
    value, (divisor, factor) = call.operands[0], map(int, call.parameters)  # type: ignore[arg-type]
    own = renderer.named(value)
    narrow = _holds_small(value.facts) and divisor <= _LARGEST_NARROW
    kind = "BIGINT" if narrow else "HUGEINT"
    number = own if narrow else wide(own)
    by = Fragment(f" // CAST({divisor} AS {kind})")
    rest = number + Fragment(f" % CAST({divisor} AS {kind})")
    match call.function:
        case Function.FLOOR:
            cut = (
                number + by + Fragment(" - CAST(") + rest + Fragment(f" < 0 AS {kind})")
            )
        case Function.CEILING:
            cut = (
                number + by + Fragment(" + CAST(") + rest + Fragment(f" > 0 AS {kind})")
            )
        case Function.ROUND:
            half = divisor // 2
            toward = (
                Fragment("(CASE WHEN ")
                + own
                + Fragment(f" < 0 THEN CAST({-half} AS {kind})")
                + Fragment(f" ELSE CAST({half} AS {kind}) END)")
            )
            cut = Fragment("(") + number + Fragment(" + ") + toward + Fragment(")") + by
        case _:
            cut = number + by
    found = Fragment("((") + cut + Fragment(")")
    if factor == 1 and narrow:
        return found + Fragment(")")
    found += Fragment(f" * CAST({factor} AS {kind}))")
    if narrow and factor <= _LARGEST_NARROW:
        return found
    return unless_any_null((own,), clamped(found))


def _modulo(renderer: Renderer, call: Call) -> Fragment:
    one, other = call.operands
    if _holds_small(one.facts):
        sides = renderer.render(one), renderer.render(other)
        return (
            Fragment("(") + sides[0] + Fragment(" % NULLIF(") + sides[1]
        ) + Fragment(", 0))")
    sides = wide(renderer.named(one)), wide(renderer.named(other))
    rest = sides[0] + Fragment(" % NULLIF(") + sides[1] + Fragment(", 0)")
    return Fragment("CAST(") + rest + Fragment(" AS BIGINT)")


def _decimal_quotient(renderer: Renderer, call: Call) -> Fragment:
    """Round half away from zero: ``(2 |n| + |d|) // 2 |d|`` with its sign."""
    one, other = map(renderer.named, call.operands)
    number = (
        Fragment("ABS(") + wide(one) + Fragment(")") + _times(2 * _parameter(call, 0))
    )
    size = Fragment("ABS(") + wide(other) + Fragment(")")
    found = (
        Fragment("((") + number + Fragment(" + ") + size + Fragment(") // NULLIF(2 * ")
    )
    found += size + Fragment(", 0))")
    signs = Fragment("(CASE WHEN (") + one + Fragment(" < 0) <> (") + other
    signed = signs + Fragment(" < 0) THEN -1 ELSE 1 END)")
    value = clamped(found + Fragment(" * ") + signed)
    return unless_any_null((one, other), value, first=other + Fragment(" = 0 OR "))


def _bucket(renderer: Renderer, call: Call) -> Fragment:
    own = renderer.named(call.operands[0])
    start, end, count = (_parameter(call, place) for place in range(3))
    inside = Fragment("CAST(((") + wide(own)
    inside += Fragment(
        f" - CAST({start} AS HUGEINT)) * {count} // CAST({end - start} AS HUGEINT)) + 1"
        " AS BIGINT)"
    )
    text = (
        Fragment("(CASE WHEN ") + own + Fragment(" IS NULL THEN CAST(NULL AS BIGINT)")
    )
    text += Fragment(" WHEN ") + own + Fragment(" < ?", (start,))
    text += (
        Fragment(" THEN 0 WHEN ")
        + own
        + Fragment(f" >= ? THEN {count + 1} ELSE ", (end,))
    )
    return text + inside + END


RENDERERS: Mapping[Function, Callable[[Renderer, Call], Fragment]] = {
    Function.LEAST: _extreme,
    Function.GREATEST: _extreme,
    Function.RESCALE: _rescale,
    Function.ABS: _size,
    Function.SIGN: _sign,
    Function.MODULO: _modulo,
    Function.DIVIDE_DECIMAL: _decimal_quotient,
    Function.WIDTH_BUCKET: _bucket,
    **dict.fromkeys(
        (Function.FLOOR, Function.CEILING, Function.ROUND, Function.TRUNCATE), _rounded
    ),
}
