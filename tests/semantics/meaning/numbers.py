"""Arithmetic of integers and decimals: exact fractions, then the grid of the result.

Values are int or Decimal. Each operator brings its operands to one grid, is exact
there, and is held within 64 bits of steps. ``Reach`` is a pair of ends of which each
may be None: what is known of a value without a domain.
"""

from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import ceil, floor, trunc

from tests.semantics.meaning import domains, tree, values
from tests.semantics.meaning.domains import Info, Range
from tests.semantics.meaning.scopes import NotAnswerableError

MOST_MAPPED = 1_000
UNKNOWN = (None, None)
QUOTIENT_PLACES = 6
MOST_PLACES = 18


def away(exact):
    """Round half away from zero."""
    size = floor(abs(exact) + Fraction(1, 2))
    return size if exact >= 0 else -size


ROUNDING = {
    "floor": floor,
    "ceil": ceil,
    "ceiling": ceil,
    "trunc": trunc,
    "round": away,
}


def held(exact, scale):
    """Return the whole number of steps that lie within 64 bits."""
    steps = Fraction(exact) * 10**scale
    assert steps.denominator == 1, "off the grid"
    return values.saturated(int(steps))


def shown(steps, kind, scale):
    """Return what steps stand for."""
    return steps if kind == "integer" else Decimal(steps).scaleb(-scale)


def of_literal(node, info):
    """A decimal literal counts with the places that say something."""
    if not isinstance(node, tree.Lit) or info.type != "decimal":
        return info
    places = max(0, -node.value.normalize().as_tuple().exponent)
    return Info("decimal", nullable=False, domain=info.domain, scale=places)


# -- what is known of a value --------------------------------------------------


def countable(info):
    """Return a number's values where they are few and each is known, else None."""
    if info.type not in {"integer", "decimal"}:
        return None
    if not domains.can_be_listed(info, 10_000):
        return None
    found = set(domains.listed(info))
    return found if 0 < len(found) <= MOST_MAPPED else None


def reach(info):
    """Return the least and greatest value, None where that end is unknown."""
    return domains.hull(info.domain) or info.half


def bounded(info, ends):
    """Return an info with these ends; both must be there to be a domain."""
    low, high = ends
    if low is None or high is None:
        return domains.with_half(info, ends)
    return domains.with_domain(info, (Range(low, high),))


def image(info, function, varied):
    """Return the info of ``function`` of each of few values, or None if many."""
    known = countable(varied)
    if known is None:
        return None
    found = sorted({y for y in map(function, known) if y is not None})
    if not found:
        return bounded(info, (0, 0)) if info.type == "integer" else None
    if info.type == "integer" and found[-1] - found[0] == len(found) - 1:
        return bounded(info, (found[0], found[-1]))
    return domains.with_domain(info, (tuple(found),))


def ends_of(function, info, *, falls=False):
    """Return the ends of a function that rises, or falls, all the way."""
    ends = [None if end is None else function(end) for end in reach(info)]
    return tuple(reversed(ends)) if falls else tuple(ends)


# -- operators -----------------------------------------------------------------


def operate(operator, nodes, infos):
    """Return (function of two values, Info) of an operator on numbers."""
    a, b = (of_literal(n, i) for n, i in zip(nodes, infos, strict=True))
    is_whole = a.type == b.type == "integer"
    scale = {
        "+": max(a.scale, b.scale),
        "-": max(a.scale, b.scale),
        "%": max(a.scale, b.scale),
        "*": a.scale + b.scale,
        "/": 0 if is_whole else max(QUOTIENT_PLACES, a.scale, b.scale),
    }[operator]
    tens = [10**n for n in range(1, QUOTIENT_PLACES)]
    if operator == "/" and not is_whole and _literal(nodes[1]) in tens:
        scale = min(scale, a.scale + tens.index(_literal(nodes[1])) + 1)
    kind = "integer" if is_whole else "decimal"
    if scale > MOST_PLACES or (
        operator == "/" and scale + b.scale - a.scale > MOST_PLACES
    ):
        message = "too many decimal places"
        raise NotAnswerableError(message)

    def function(x, y):
        steps = _STEPS[operator](x, y, scale, is_whole)
        return None if steps is None else shown(values.saturated(steps), kind, scale)

    literal = [isinstance(node, int | tree.Lit) for node in nodes]
    sure = literal[1] and b.domain[0] != (0,)
    nullable = (operator in "/%" and not sure) or a.nullable or b.nullable
    info = Info(kind, nullable, scale=scale)
    return values.strict(function), _known(operator, function, (a, b), literal, info)


def _literal(node):
    return node.value if isinstance(node, tree.Lit) else node


def _quotient(x, y, scale, is_whole):
    if y == 0:
        return None
    exact = Fraction(x) / Fraction(y)
    return trunc(exact) if is_whole else away(exact * 10**scale)


def _rest(x, y, scale, _):
    one, other = held(x, scale), held(y, scale)
    return None if other == 0 else one - other * trunc(Fraction(one, other))


_STEPS = {
    "+": lambda x, y, scale, _: held(x, scale) + held(y, scale),
    "-": lambda x, y, scale, _: held(x, scale) - held(y, scale),
    "*": lambda x, y, scale, _: int(Fraction(x) * Fraction(y) * 10**scale),
    "/": _quotient,
    "%": _rest,
}


def _known(operator, function, infos, literal, info):
    a, b = infos
    if literal == [False, True]:
        (end,) = b.domain[0]
        return _known_of_one(
            operator, lambda x: function(x, end), (a, b), info, falls=end < 0
        )
    if literal == [True, False]:
        (start,) = a.domain[0]
        found = image(info, lambda y: function(start, y), b)
        if found is not None:
            return found
        if operator in "+-*":
            falls = operator == "-" or (operator == "*" and start < 0)
            ends = ends_of(lambda y: function(start, y), b, falls=falls)
            return bounded(info, ends)
    return bounded(info, _ends_of_two(operator, function, infos, info.scale))


def _known_of_one(operator, function, infos, info, *, falls):
    found = image(info, function, infos[0])
    if found is not None:
        return found
    if operator == "%":
        return bounded(info, _ends_of_rest(*infos, info.scale))
    falls = falls and operator in "*/"
    return bounded(info, ends_of(function, infos[0], falls=falls))


def _ends_of_two(operator, function, infos, scale):  # noqa: PLR0911 - one return a kind
    a, b = infos
    if operator == "%":
        return _ends_of_rest(a, b, scale)
    if operator in "+-":
        one, other = reach(a), reach(b)
        other = other if operator == "+" else other[::-1]
        pairs = zip(one, other, strict=True)
        return tuple(None if None in pair else function(*pair) for pair in pairs)
    one, other = domains.hull(a.domain), domains.hull(b.domain)
    if one is None or other is None:
        return UNKNOWN
    if operator == "*":
        corners = [function(x, y) for x, y in product(one, other)]
        return min(corners), max(corners)
    step = Fraction(1, 10**b.scale)
    divisors = [d for d in (*other, -step, step) if d and other[0] <= d <= other[1]]
    dividends = [*one, *([0] if one[0] <= 0 <= one[1] else [])]
    corners = [function(x, y) for x, y in product(dividends, divisors)]
    return (min(corners), max(corners)) if corners else (0, 0)


def _ends_of_rest(a, b, scale):
    """Return ends by the sign of the dividend and the size of both."""
    kind = "integer" if a.type == b.type == "integer" else "decimal"
    (low, high), divisor = reach(a), domains.hull(b.domain)
    sizes = []
    if divisor is not None:
        most = max(abs(held(end, scale)) for end in divisor)
        sizes.append(max(most, 1) - 1)
    below = [] if low is None else [max(0, -held(low, scale))]
    above = [] if high is None else [max(0, held(high, scale))]
    below, above = min(sizes + below, default=None), min(sizes + above, default=None)
    return (
        None if below is None else shown(-below, kind, scale),
        None if above is None else shown(above, kind, scale),
    )


# -- functions -----------------------------------------------------------------


def finer(info, kind, scale):
    """Return (function, Info) of a number that is given more decimal places."""
    if (info.type, info.scale) == (kind, scale) or kind != "decimal":
        return (lambda x: x), info

    def function(x):
        return shown(held(x, scale), kind, scale)

    return _function_of(function, info, kind, scale)


def minus(info):
    """Return (function, Info) of ``-x``."""
    kind, scale = info.type, info.scale

    def function(x):
        return shown(values.saturated(-held(x, scale)), kind, scale)

    return _function_of(function, info, kind, scale, falls=True)


def _function_of(function, varied, kind, scale, *, falls=False):
    info = Info(kind, varied.nullable, scale=scale)
    found = image(info, function, varied)
    if found is None:
        found = bounded(info, ends_of(function, varied, falls=falls))
    return values.strict(function), found


def is_idle(info, places):
    """Whether rounding to decimal places leaves every value as it is."""
    return places >= info.scale and (places > 0 or info.type == "integer")


def rounded(name, info, places):
    """Return (function, Info) of FLOOR, CEIL, TRUNC and ROUND to decimal places."""
    if is_idle(info, places):
        return (lambda x: x), info
    step = ROUNDING[name]
    kind, scale = ("integer", 0) if places <= 0 else ("decimal", places)

    def function(x):
        count = step(Fraction(x) * Fraction(10) ** places)
        steps = int(count * Fraction(10) ** -places * 10**scale)
        return shown(values.saturated(steps), kind, scale)

    found, known = _function_of(function, info, kind, scale)
    return found, _multiples(known, 10**-places) if places < 0 else known


def _multiples(info, step):
    """Return the info of what is rounded to tens or more: its values, where few."""
    low, high = reach(info)
    if low is None or high is None or not isinstance(info.domain[0], Range):
        return info
    if low % step or high % step or (high - low) // step >= MOST_MAPPED:
        return info
    return domains.with_domain(info, (tuple(range(low, high + 1, step)),))


def size(info):
    """Return (function, Info) of ABS."""
    kind, scale = info.type, info.scale

    def function(x):
        return shown(values.saturated(abs(held(x, scale))), kind, scale)

    made = Info(kind, info.nullable, scale=scale)
    found = image(made, function, info)
    if found is None:
        low, high = reach(info)
        if low is not None and low >= 0:
            ends = low, high
        elif high is not None and high <= 0:
            ends = function(high), None if low is None else function(low)
        elif low is None or high is None:
            ends = shown(0, kind, scale), None
        else:
            ends = shown(0, kind, scale), max(function(low), function(high))
        found = bounded(made, ends)
    return values.strict(function), found


def sign(info):
    """Return (function, Info) of SIGN."""

    def function(x):
        return (x > 0) - (x < 0)

    made = Info("integer", info.nullable)
    found = image(made, function, info)
    if found is None:
        low, high = reach(info)
        low = -1 if low is None else function(low)
        found = bounded(made, (low, 1 if high is None else function(high)))
    return values.strict(function), found


def bucket(info, start, end, count):
    """Return (function, Info) of WIDTH_BUCKET."""

    def function(x):
        share = (Fraction(x) - Fraction(start)) / (Fraction(end) - Fraction(start))
        return max(0, min(count + 1, floor(share * count) + 1))

    made = Info("integer", info.nullable)
    found = image(made, function, info)
    if found is None:
        low, high = reach(info)
        low = 0 if low is None else function(low)
        found = bounded(made, (low, count + 1 if high is None else function(high)))
    return values.strict(function), found


def extreme(name, infos):
    """Return (function of values, Info) of LEAST or GREATEST: NULLs are passed over.

    The operands have one type and scale.
    """
    pick = min if name == "least" else max

    def function(*found):
        return pick((x for x in found if x is not None), default=None)

    ends = [reach(info) for info in infos]
    near, far = (0, 1) if name == "least" else (1, 0)
    sure = [e[far] for e, i in zip(ends, infos, strict=True) if not i.nullable]
    sure = [end for end in sure if end is not None]
    outer = [e[near] for e in ends]
    inner = [e[far] for e in ends]
    limit = None if None in outer else pick(outer)
    opposite = max if name == "least" else min
    other = pick(sure) if sure else (None if None in inner else opposite(inner))
    found = (limit, other) if name == "least" else (other, limit)
    nullable = all(info.nullable for info in infos)
    info = Info(infos[0].type, nullable, scale=infos[0].scale)
    return function, info if info.type == "timestamp" else bounded(info, found)


# -- what a condition says of a value -------------------------------------------


def met(one, other):
    """Return the ends of what lies within both, None if nothing does."""
    if one is None or other is None:
        return None
    lows = [end[0] for end in (one, other) if end[0] is not None]
    highs = [end[1] for end in (one, other) if end[1] is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    return None if lows and highs and low > high else (low, high)


def either(ends):
    """Return the ends of what lies within any."""
    ends = [end for end in ends if end is not None]
    if not ends:
        return None
    lows, highs = zip(*ends, strict=True)
    return (
        None if None in lows else min(lows),
        None if None in highs else max(highs),
    )


def within(info, limits):  # noqa: PLR0911 - one return a kind
    """Return an info of values that lie within limits too; None if none can."""
    if limits == UNKNOWN:
        return info
    if limits is None:
        return None
    if info.type != "date":
        ends = (
            shown(e, info.type, info.scale) for e in (values.LEAST, values.GREATEST)
        )
        if met(limits, tuple(ends)) is None:
            return None
    low, high = limits
    if info.domain is not None:
        pieces = tuple(p for p in (_cut(p, low, high) for p in info.domain) if p)
        return domains.with_domain(info, pieces) if pieces else None
    both = met(limits, info.half)
    return None if both is None else bounded(info, both)


def _cut(piece, low, high):
    if not isinstance(piece, Range):
        return tuple(
            v
            for v in piece
            if (low is None or v >= low) and (high is None or v <= high)
        )
    start = piece.low if low is None else max(piece.low, low)
    end = piece.high if high is None else min(piece.high, high)
    return Range(start, end) if start <= end else None


__all__ = ["bounded", "operate", "reach"]
