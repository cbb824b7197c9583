"""What is publicly known of a value: its type, its domain, whether it can be NULL.

A domain is a tuple of pieces in order of appearance, each a ``Range`` or a tuple of
values; cells list them one by one without repeats, intervals take their hull.

Choices where CONTRACT 3 leaves room (each also listed in docs of ``evaluator``):
 N1 MIN, MAX, SUM, AVG, BOOL_*, FIRST and LAST of a roll-up or window are always
    nullable (MAX is in the list of what can be NULL), though no group is empty.
 N2 FIRST_VALUE and LAST_VALUE are always nullable (a frame may be empty); LAG, LEAD
    too. COUNT and ROW_NUMBER never are.
 N3 age_band is nullable as its argument; icd_* and level always.
 N4 a condition is nullable as its operands: AND and OR if any item is, IS NULL and
    EXISTS never, IN (subquery) if the value or the subquery's column is.
"""

from dataclasses import dataclass, replace
from datetime import date, timedelta

from privacy.schema import ColumnType, RangeDomain, ValuesDomain
from tests.semantics.meaning import values


@dataclass(frozen=True)
class Range:
    """Every value of its type from ``low`` to ``high``."""

    low: object
    high: object


@dataclass(frozen=True)
class Info:
    """The public side of an expression. ``type`` is a ColumnType's text, or one of
    "unit" (the unit key) and "average" (an exact ratio, for comparison only)."""

    type: str
    nullable: bool
    domain: tuple | None = None
    scale: int = 0
    hierarchy: str | None = None
    half: tuple = (None, None)
    """Without a domain: its least and greatest value, of which one may be known."""
    longest: int | None = None
    """The most bytes of a text, where it is known."""

    def or_null(self):
        return replace(self, nullable=True)


LONGEST_LIST = 10_000  # of values that a written key is listed for
UNIT = Info("unit", nullable=False)
BOOLEANS = ((False, True),)


def boolean(*, nullable):
    return Info("boolean", nullable, BOOLEANS)


def integer(domain, *, nullable):
    return Info("integer", nullable, domain)


def whole(low, high):
    """Return the domain of integers from ``low`` to ``high``, None if empty."""
    return (Range(low, high),) if low <= high else None


def info_of_column(column):
    """Return what a declaration says."""
    hierarchy = None
    match column.domain:
        case RangeDomain(low, high):
            domain = (Range(low, high),)
        case ValuesDomain():
            domain = (column.domain.all_values(),)
        case None:
            domain = None
        case _:
            domain, hierarchy = None, column.domain.name
    if column.type is ColumnType.BOOLEAN:
        domain = BOOLEANS
    longest = column.max_length if column.type is ColumnType.TEXT else None
    kind = column.type.value
    return Info(kind, column.nullable, domain, column.scale, hierarchy, longest=longest)


def info_of_literal(value):
    kinds = {int: "integer", str: "text"}
    if isinstance(value, bool):
        return boolean(nullable=False)  # false, true: of constants too
    if type(value) in kinds:
        longest = len(value.encode()) if isinstance(value, str) else None
        kind = kinds[type(value)]
        return Info(kind, nullable=False, domain=((value,),), longest=longest)
    if isinstance(value, date):
        kind = "timestamp" if hasattr(value, "hour") else "date"
        return Info(kind, nullable=False, domain=((value,),))
    scale = max(0, -value.as_tuple().exponent)
    return Info("decimal", nullable=False, domain=((value,),), scale=scale)


# -- lists and hulls -----------------------------------------------------------


def hull(domain):
    """Return the least and the greatest value, or None without a domain."""
    if domain is None:
        return None
    lows = [p.low if isinstance(p, Range) else min(p) for p in domain if p != ()]
    highs = [p.high if isinstance(p, Range) else max(p) for p in domain if p != ()]
    return (min(lows), max(highs)) if lows else None


def size_at_most(domain, limit):
    """Whether the domain surely lists at most ``limit`` values, repeats counted."""
    total = 0
    for piece in domain:
        if not isinstance(piece, Range):
            total += len(piece)
        elif isinstance(piece.low, date):
            total += (piece.high - piece.low).days + 1
        else:
            total += int(piece.high - piece.low) + 1
    return total <= limit


def size(info):
    """Return how many cells a key has, NULL among them; None if it has no list."""
    if info.domain is None or info.type in {"unit", "average"}:
        return None
    if info.type in {"decimal", "timestamp"}:
        return None
    if size_at_most(info.domain, 100_000):
        return len(listed(info)) + info.nullable
    return 100_000  # more than one unit has rows


def listed(info):
    """Return the values of the cells of a key, in declared order, without NULL."""
    found = {}
    for piece in info.domain:
        found.update(dict.fromkeys(_piece(piece, info.type)))
    return tuple(found)


def _piece(piece, kind):
    if not isinstance(piece, Range):
        return piece
    if kind == "integer":
        return range(piece.low, piece.high + 1)
    if kind == "date":
        days = (piece.high - piece.low).days
        return [piece.low + timedelta(days=n) for n in range(days + 1)]
    message = f"a range of type {kind} has no list of values"
    raise ValueError(message)


def can_be_listed(info, limit):
    """Whether a key of this kind has cells, at most ``limit``."""
    if info.domain is None or info.type in {"unit", "average"}:
        return False
    if info.type in {"decimal", "timestamp"}:
        ranged = any(isinstance(piece, Range) for piece in info.domain)
        return not ranged and size_at_most(info.domain, limit)
    return size_at_most(info.domain, limit)


def holds(domain, value):
    """Whether the domain has the value."""
    return any(
        piece.low <= value <= piece.high if isinstance(piece, Range) else value in piece
        for piece in domain
    )


def with_domain(info, domain):
    return replace(info, domain=domain, half=(None, None))


def with_half(info, ends):
    return replace(info, domain=None, half=ends)


def merged(infos, *, nullable):
    """Return one of several alternatives: the first's values, then new ones."""
    first = infos[0]
    domain, half = None, (None, None)
    if all(info.domain is not None for info in infos):
        domain = tuple(piece for info in infos for piece in info.domain)
    elif first.type in {"integer", "decimal", "date"}:
        lows, highs = zip(*(hull(i.domain) or i.half for i in infos), strict=True)
        half = (
            None if None in lows else min(lows),
            None if None in highs else max(highs),
        )
        if None not in half:
            domain, half = (Range(*half),), (None, None)
    scale = max(info.scale for info in infos)
    kinds = {info.type for info in infos}
    kind = "decimal" if kinds == {"integer", "decimal"} else first.type
    if kind == "decimal" and len({info.domain for info in infos}) > 1:
        domain = _unless_ranged(domain)
    known = [info.longest for info in infos]
    longest = None if None in known else max(known)
    return Info(kind, nullable, domain, scale, half=half, longest=longest)


def _unless_ranged(domain):
    """Return a domain of decimals: one with a range is all between its ends."""
    if domain is None or not any(isinstance(piece, Range) for piece in domain):
        return domain
    return (Range(*hull(domain)),)


# -- intervals -----------------------------------------------------------------


def date_arithmetic(operator, left, right):
    """Return the info of d + n, d - n, or d - e."""
    a, b = hull(left.domain), hull(right.domain)
    known = a is not None and b is not None
    if right.type == "date":
        nullable = left.nullable or right.nullable
        span = known and whole((a[0] - b[1]).days, (a[1] - b[0]).days)
        return integer(span or None, nullable=nullable)
    if not known:
        return Info("date", nullable=True)
    numbers = (a[0].toordinal(), a[1].toordinal())
    moved = (
        (numbers[0] + b[0], numbers[1] + b[1])
        if operator == "+"
        else (numbers[0] - b[1], numbers[1] - b[0])
    )
    low, high = max(moved[0], 1), min(moved[1], date.max.toordinal())
    if low > high:
        return Info("date", nullable=True)
    ends = Range(date.fromordinal(low), date.fromordinal(high))
    return Info("date", nullable=True, domain=(ends,))


def boundaries_interval(part, a, b):
    return (
        values.crossed(part, a[1], b[0]),
        values.crossed(part, a[0], b[1]),
    )


def age_interval(birth, at):
    """Return the least interval of completed years, None if every pair is NULL."""
    if at[1] < birth[0]:
        return None
    youngest = values.completed_years(birth[1], at[0])
    return (youngest or 0, values.completed_years(birth[0], at[1]))


def sum_interval(bounds, rows):
    """SUM of a roll-up over 1 to ``rows`` rows, saturated once."""
    low, high = bounds
    return (
        values.saturated(min(low, rows * low)),
        values.saturated(max(high, rows * high)),
    )
