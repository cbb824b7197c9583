"""Expressions as functions of rows.

``compiled(node, scope)`` returns a function of an environment and the ``Info`` of its
values. An environment is a tuple of rows, outermost SELECT first; a row is a tuple of
values in the order of the scope's entries, then its slots.
"""

from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from operator import itemgetter

from tests.semantics.meaning import domains, numbers, texts, tree, values
from tests.semantics.meaning.domains import Info, boolean, integer, whole
from tests.semantics.meaning.scopes import NotAnswerableError


def compiled(node, scope):
    """Return (function of the environment, Info)."""
    if scope.slots:
        slot = scope.slots.get(scope.canonical(node))
        if slot is not None:
            place, info = slot
            return reader(scope.level, place), info
    if isinstance(node, bool | int | str):
        node = tree.Lit(node)
    return COMPILERS[type(node)](node, scope)


def compiled_all(nodes, scope):
    """Return the functions and the infos of several expressions."""
    pairs = [compiled(node, scope) for node in nodes]
    return [function for function, _ in pairs], [info for _, info in pairs]


def reader(level, place):
    return lambda env: env[level][place]


def column(node, scope):
    level, place, info = scope.resolve(node)
    if scope.grouped and level == scope.level:
        message = f"{node} is neither a key nor in an aggregate"
        raise NotAnswerableError(message)
    return reader(level, place), info


def literal(node, scope):
    value = node.value
    return (lambda _: value), domains.info_of_literal(value)


def today(node, scope):
    day = scope.world.dataset.snapshot_date
    return (lambda _: day), domains.info_of_literal(day)


# -- conditions ----------------------------------------------------------------


def exactly(function, info, other):
    """Beside an average, numbers are compared as fractions."""
    if other.type != "average" or info.type == "average":
        return function

    def as_fraction(env):
        value = function(env)
        return None if value is None else Fraction(value)

    return as_fraction


def compare(node, scope):
    (left, right), (a, b) = compiled_all((node.left, node.right), scope)
    if b.type == "length":
        right = length_beside(a, node.right)
    if a.type == "length":
        left = length_beside(b, node.left)
    if {a.type, b.type} == MOMENTS:
        left, right = as_moments(left), as_moments(right)
    left, right = exactly(left, a, b), exactly(right, b, a)
    test = values.COMPARE[node.operator]

    def truth(env):
        x, y = left(env), right(env)
        return None if x is None or y is None else test(x, y)

    return truth, boolean(nullable=a.nullable or b.nullable)


def as_moments(function):
    return lambda env: values.as_timestamp(function(env))


def length(node, scope):
    return (lambda _: None), Info("length", nullable=False)


def length_beside(info, node):
    """Return an interval's days or seconds, as the difference beside it counts."""
    found = node.days
    if info.type == "decimal":
        found = values.seconds(node.days * 86_400 * 10**6 + node.micros)
    return lambda _: found


def between(node, scope):
    low = tree.Compare(">=", node.value, node.low)
    high = tree.Compare("<=", node.value, node.high)
    both = tree.And((low, high))
    return compiled(tree.Not(both) if node.negated else both, scope)


def in_list(node, scope):
    value, info = compiled(node.value, scope)
    items, infos = compiled_all(node.items, scope)
    items = [exactly(i, own, info) for i, own in zip(items, infos, strict=True)]
    negated = node.negated

    def truth(env):
        found = values.member(value(env), [item(env) for item in items])
        return values.negation(found) if negated else found

    return truth, boolean(nullable=info.nullable)


def is_null(node, scope):
    value, _ = compiled(node.value, scope)
    negated = node.negated
    return (lambda env: (value(env) is None) is not negated), boolean(nullable=False)


def is_truth(node, scope):
    value, _ = compiled(node.value, scope)
    truth, negated = node.truth, node.negated
    test = lambda env: (value(env) is truth) is not negated  # noqa: E731 - one line
    return test, boolean(nullable=False)


def is_distinct(node, scope):
    (left, right), (a, b) = compiled_all((node.left, node.right), scope)
    left, right = exactly(left, a, b), exactly(right, b, a)
    negated = node.negated

    def truth(env):
        x, y = left(env), right(env)
        same = x is y if x is None or y is None else values.COMPARE["="](x, y)
        return same is negated

    return truth, boolean(nullable=False)


def null_if(node, scope):
    (value, other), (info, _) = compiled_all((node.value, node.other), scope)

    def left(env):
        x, y = value(env), other(env)
        if x is None or y is None:
            return x
        return None if values.COMPARE["="](x, y) else x

    equal = tree.Compare("=", node.value, node.other)
    as_case = tree.Case(None, ((equal, node.value),), node.value)
    *_, kept = narrowed(as_case, [info, info], scope)  # NULLIF is that CASE
    return left, kept.or_null()


def like(node, scope):
    value, info = compiled(node.value, scope)
    pattern, negated, folds = node.pattern, node.negated, node.folds

    def truth(env):
        text = value(env)
        if text is None:
            return None
        return texts.like(text, pattern, folds=folds) is not negated

    return truth, boolean(nullable=info.nullable)


def text_test(node, scope):
    """STARTS_WITH, ENDS_WITH, CONTAINS, REGEXP_LIKE."""
    value, info = compiled(node.arguments[0], scope)
    test = texts.TESTS.get(node.name, texts.matches)
    more = node.arguments[1:]
    step = values.strict(lambda text: test(text, *more))
    return (lambda env: step(value(env))), boolean(nullable=info.nullable)


def text_call(node, scope):
    value, info = compiled(node.arguments[0], scope)
    name, parameters = node.name, node.arguments[1:]
    if texts.is_part_of_a_category(name, info, parameters):
        whole = tree.Call("icd_category", (node.arguments[0],))
        value, info = compiled(whole, scope)
    step, made = texts.applied(name, info, parameters, _codes(info, scope))
    return (lambda env: step(value(env))), made


def _codes(info, scope):
    """Return the codes of the dataset's own hierarchy as its file has them."""
    own = scope.world.dataset.hierarchies.get(info.hierarchy)
    return None if own is None else tuple(own.codes)


def concat(node, scope):
    """CONCAT passes over NULL, || does not; whole numbers are written first."""
    skips_null = isinstance(node, tree.Call)
    parts = node.arguments if skips_null else (node.left, node.right)
    kinds = [info.type for _, info in (compiled(part, scope) for part in parts)]
    written = [
        tree.Cast(part, "text", None) if kind == "integer" else part
        for part, kind in zip(parts, kinds, strict=True)
    ]
    items, infos = compiled_all(written, scope)
    made = texts.joined(infos, lambda info: _codes(info, scope), skips_null=skips_null)

    def text(env):
        found = [item(env) for item in items]
        if skips_null:
            return "".join(x for x in found if x is not None)
        return None if None in found else "".join(found)

    return text, made


def negate(node, scope):
    item, info = compiled(node.item, scope)
    return (lambda env: values.negation(item(env))), boolean(nullable=info.nullable)


def conjoin(node, scope):
    items, infos = compiled_all(node.items, scope)
    nullable = any(info.nullable for info in infos)
    return (
        lambda env: values.conjunction(item(env) for item in items),
        boolean(nullable=nullable),
    )


def disjoin(node, scope):
    items, infos = compiled_all(node.items, scope)
    nullable = any(info.nullable for info in infos)
    return (
        lambda env: values.disjunction(item(env) for item in items),
        boolean(nullable=nullable),
    )


def in_query(node, scope):
    value, info = compiled(node.value, scope)
    relation = scope.world.bind(node.query, scope)
    negated = node.negated
    remembered = []  # IN (subquery) is uncorrelated: one run serves all

    def truth(env):
        if not remembered:
            remembered.append([row.values[0] for row in relation.run(env)])
        found = values.member(value(env), remembered[0])
        return values.negation(found) if negated else found

    nullable = info.nullable or relation.infos[0].nullable
    return truth, boolean(nullable=nullable)


def exists(node, scope):
    relation = scope.world.bind(node.query, scope)
    return (lambda env: bool(relation.run(env))), boolean(nullable=False)


# -- numbers and dates ---------------------------------------------------------


def arithmetic(node, scope):
    if node.operator == "||":
        return concat(node, scope)
    (left, right), (a, b) = compiled_all((node.left, node.right), scope)
    pair = {a.type, b.type}
    if pair <= MOMENTS and pair != {"date"}:
        return time_between(left, right, a, b)
    if b.type == "date" and a.type == "integer":
        left, right, a, b = right, left, b, a
    if a.type == "date":
        return _of_dates(node.operator, (left, right), (a, b))
    nodes = node.left, node.right
    step, info = numbers.operate(node.operator, nodes, (a, b))
    return (lambda env: step(left(env), right(env))), info


def _of_dates(operator, sides, infos):
    left, right = sides
    step = values.shifted if operator == "+" else _shifted_back
    if infos[1].type == "date":
        step = _days_between
    step = values.strict(step)
    info = domains.date_arithmetic(operator, *infos)
    return (lambda env: step(left(env), right(env))), info


MOMENTS = {"date", "timestamp"}


def time_between(left, right, a, b):
    """Seconds between moments, with six decimals."""

    def between(end, start):
        pair = (values.microseconds(values.as_timestamp(x)) for x in (end, start))
        last, first = pair
        return values.seconds(last - first)

    step = values.strict(between)
    ends = domains.hull(a.domain), domains.hull(b.domain)
    domain = None
    if None not in ends:
        last, first = ends
        domain = (domains.Range(step(last[0], first[1]), step(last[1], first[0])),)
    info = seconds(domain, nullable=a.nullable or b.nullable)
    return (lambda env: step(left(env), right(env))), info


def _days_between(a, b):
    return values.boundaries("day", b, a)


def _shifted_back(day, days):
    return values.shifted(day, -days)


def divide(node, scope):
    return arithmetic(tree.Arith("/", node.left, node.right), scope)


def _applied(value, found):
    """Return a function of one number over the environment."""
    step, info = found
    return (lambda env: step(value(env))), info


def minus(node, scope):
    value, info = compiled(node.value, scope)
    return _applied(value, numbers.minus(info))


FIXED_PARTS = {
    "quarter": (1, 4),
    "month": (1, 12),
    "day": (1, 31),
    "isodow": (1, 7),
    "dow": (0, 6),
    "dayofweek": (1, 7),
    "doy": (1, 366),
    "week": (1, 53),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
}


def extract(node, scope):
    value, info = compiled(node.value, scope)
    if info.type in {"integer", "decimal"}:
        return part_of_difference(node.part, value, info)
    if node.part == "epoch":
        return epoch(value, info)
    part = values.strict(values.PARTS[node.part])
    ends = domains.hull(info.domain)
    of_ends = ends and tuple(map(values.PARTS.get(node.part), ends))
    bounds = FIXED_PARTS.get(node.part, of_ends)
    found = integer(bounds and whole(*bounds), nullable=info.nullable)
    return (lambda env: part(value(env))), found


def part_of_difference(part, value, info):
    """EXTRACT of days between dates, or of seconds between timestamps."""
    if info.type == "decimal":
        if part == "epoch":
            return value, info
        step = values.strict(lambda x: int(Fraction(x) / 86_400))
    else:
        step = values.strict(lambda x: x if part == "day" else x * 86_400)
    ends = domains.hull(info.domain)
    domain = ends and whole(*map(step, ends))
    return (lambda env: step(value(env))), integer(domain, nullable=info.nullable)


def epoch(value, info):
    """Seconds since 1970, of a date as an integer."""
    if info.type == "date":
        zero, made = date(1970, 1, 1).toordinal(), integer
        step = values.strict(lambda d: (d.toordinal() - zero) * 86_400)
    else:
        zero, made = values.microseconds(datetime(1970, 1, 1)), seconds  # noqa: DTZ001
        step = values.strict(lambda t: values.seconds(values.microseconds(t) - zero))
    ends = domains.hull(info.domain)
    domain = ends and (domains.Range(*map(step, ends)),)
    return (lambda env: step(value(env))), made(domain, nullable=info.nullable)


def seconds(domain, *, nullable):
    return Info("decimal", nullable, domain, 6)


def cast(node, scope):
    value, info = compiled(node.value, scope)
    made = info_of_cast(node, info)
    step = values.strict(lambda x: values.cast(x, info.scale, made.type, made.scale))
    return (lambda env: step(value(env))), made


def info_of_cast(node, info):
    """Return what is known of a cast's values: those of a list or range, cast."""
    scale = {"integer": 0, "decimal": node.scale}.get(node.type, 0)
    if scale is None:
        scale = info.scale if info.type != "text" else _most_places(info)
    if (info.type, info.scale) == (node.type, scale):
        return info

    def made(value):
        return values.cast(value, info.scale, node.type, scale)

    nullable = info.nullable or info.type == "text"
    is_grid = {info.type, node.type} <= {"integer", "decimal"}
    if is_grid:
        ends = domains.hull(info.domain)
        lost = scale > info.scale if ends is None else None in map(made, ends)
        nullable = nullable or lost
    domain = None
    if node.type == "boolean":
        domain = domains.BOOLEANS
    elif (info.type, node.type) == ("boolean", "decimal"):
        domain = (domains.Range(made(False), made(True)),)
    elif info.domain is not None:
        domain = tuple(_cast_piece(p, made, node.type) for p in info.domain)
        domain = None if None in domain else domain
    return Info(node.type, nullable, domain, scale)


def _cast_piece(piece, made, kind):
    """Return a piece of a domain with its values cast, None if it has none then."""
    if not isinstance(piece, domains.Range):
        found = dict.fromkeys(made(value) for value in piece)
        return tuple(value for value in found if value is not None)
    if kind != "text":
        low, high = (values.nearest(made, end) for end in (piece.low, piece.high))
        return domains.Range(low, high)
    whole = isinstance(piece.low, int) or type(piece.low) is date
    if not whole or not domains.size_at_most((piece,), domains.LONGEST_LIST):
        return None
    kind = "integer" if isinstance(piece.low, int) else "date"
    listed = domains.listed(Info(kind, nullable=False, domain=(piece,)))
    return tuple(map(made, listed))


def _most_places(info):
    texts = [text for piece in info.domain or () for text in piece]
    numbers = [text for text in texts if values.NUMBER.fullmatch(text)]
    return max((len(text.partition(".")[2]) for text in numbers), default=0)


# -- alternatives --------------------------------------------------------------


def case(node, scope):
    conditions = [
        c if node.operand is None else tree.Compare("=", node.operand, c)
        for c, _ in node.branches
    ]
    tests, _ = compiled_all(conditions, scope)
    results, infos = compiled_all([r for _, r in node.branches], scope)
    otherwise = None
    if node.otherwise is not None:
        otherwise, last = compiled(node.otherwise, scope)
        infos = [*infos, last]
    results, infos = unified([*results, *([otherwise] if otherwise else [])], infos)
    if otherwise is not None:
        *results, otherwise = results
    pairs = list(zip(tests, results, strict=True))
    nullable = otherwise is None or any(info.nullable for info in infos)
    if node.operand is None:
        infos = narrowed(node, infos, scope)

    def chosen(env):
        for test, result in pairs:
            if test(env) is True:
                return result(env)
        return None if otherwise is None else otherwise(env)

    return chosen, domains.merged(infos, nullable=nullable)


def narrowed(node, infos, scope):
    """Return what is known of each result where its branch is taken.

    A result that is a column or computed, and not NULL there, is never unknown beside
    a literal: its own condition holds, those before it do not.
    """
    conditions = [_as_a_branch(condition) for condition, _ in node.branches]
    results = [result for _, result in node.branches]
    results += [] if node.otherwise is None else [node.otherwise]
    found = []
    for place, (result, info) in enumerate(zip(results, infos, strict=True)):
        limits = numbers.UNKNOWN
        if info.type == "text" and not _is_literal(result):
            own = conditions[place : place + 1]
            is_it = is_same(result, scope)
            text = texts_left(is_it, info, conditions[:place], own)
            found.append(
                _as_written(text, result, conditions[: place + 1], scope, place)
            )
            continue
        if info.type in {"integer", "decimal", "date"} and not _is_literal(result):
            limits = _limits_of(result, info, conditions[: place + 1], place, scope)
        found.append(numbers.within(info, limits))
    return [info for info in found if info is not None] or infos


def _as_a_branch(condition):
    """Return what a branch asks: that it IS TRUE says the same."""
    match condition:
        case tree.IsTruth(value, True, False):
            return _as_a_branch(value)
    return condition


def _limits_of(value, info, conditions, place, scope):
    """Return the ends of a value where the last of some conditions alone holds."""
    limits = numbers.UNKNOWN
    for number, condition in enumerate(conditions):
        says = _says(value, condition, info, scope, holds=number == place)
        limits = numbers.met(limits, says)
    return limits


def _as_written(text, result, conditions, scope, place):
    """Return what is left of the text of a number or day by what is left of that."""
    if text is None or not isinstance(result, tree.Cast) or text.domain is None:
        return text
    _, info = compiled(result.value, scope)
    if info.type not in {"integer", "decimal", "date"}:
        return text
    limits = _limits_of(result.value, info, conditions, place, scope)
    near = numbers.within(info, limits)
    if near is None:
        return None
    cast = info_of_cast(result, near)
    written = set(domains.listed(text if cast.domain is None else cast))
    left = tuple(each for each in domains.listed(text) if each in written)
    return replace(text, domain=(left,)) if left else None


def is_same(target, scope):
    name = scope.canonical(target)
    return lambda node: not _is_literal(node) and scope.canonical(node) == name


def texts_left(is_it, info, before, own):
    """Return a text's values where its own condition may hold, and none before does.

    ``is_it`` tells whether a node is that text.
    """
    if info.domain is not None:
        known = domains.listed(info)
    else:
        known = _one_of(is_it, own[0]) if own else None
    if known is None:
        return info
    left = [
        text
        for text in known
        if all(_truth_for(is_it, text, c) is not False for c in own)
        and not any(_truth_for(is_it, text, c) is True for c in before)
    ]
    return replace(info, domain=(tuple(left),)) if left else None


def _one_of(is_it, condition):  # noqa: PLR0911 - one return a kind
    """Return the literals of which a text is one where a condition holds, or None."""
    match _flipped(condition):
        case tree.Compare("=", value, tree.Lit(text)) if is_it(value):
            return [text]
        case tree.InList(value, items, False) if is_it(value):
            return [item.value for item in items]
        case tree.And(items):
            found = (_one_of(is_it, item) for item in items)
            return next((known for known in found if known is not None), None)
        case tree.Or(items):
            found = [_one_of(is_it, item) for item in items]
            return None if None in found else [text for part in found for text in part]
        case _:
            return None


def _flipped(condition):
    if isinstance(condition, tree.Compare) and isinstance(condition.left, tree.Lit):
        flipped = FLIPPED[condition.operator], condition.right, condition.left
        return tree.Compare(*flipped)
    return condition


def _truth_for(is_it, text, condition):  # noqa: C901, PLR0911, PLR0912 - one return a kind
    """Return whether a condition holds where a text is this, None if it may or not."""
    match _flipped(condition):
        case tree.Not(item):
            return values.negation(_truth_for(is_it, text, item))
        case tree.And(items):
            return values.conjunction(_truth_for(is_it, text, i) for i in items)
        case tree.Or(items):
            return values.disjunction(_truth_for(is_it, text, i) for i in items)
        case tree.Compare("=" | "<>" as sign, value, tree.Lit(other)) if is_it(value):
            return (text == other) is (sign == "=")
        case tree.InList(value, items, negated) if is_it(value):
            return (text in [item.value for item in items]) is not negated
        case tree.Like(value, pattern, negated, False) if is_it(value):
            if set(pattern) & set("_\\") or "%" in pattern[1:-1]:
                return None
            return texts.like(text, pattern) is not negated
        case tree.Call(name, (value, str(part))) if name in texts.TESTS:
            return texts.TESTS[name](text, part) if is_it(value) else None
        case _:
            return None


def _is_literal(node):
    return isinstance(node, bool | int | str | tree.Lit | tree.Today)


def _says(target, condition, info, scope, *, holds):  # noqa: C901, PLR0911, PLR0912 - one branch a kind
    match condition:
        case tree.Not(item):
            return _says(target, item, info, scope, holds=not holds)
        case tree.And(items) | tree.Or(items):
            parts = [_says(target, item, info, scope, holds=holds) for item in items]
            if isinstance(condition, tree.And) is not holds:
                return numbers.either(parts)
            limits = numbers.UNKNOWN
            for part in parts:
                limits = numbers.met(limits, part)
            return limits
        case tree.Between(value, low, high, negated):
            ends = (tree.Compare(">=", value, low), tree.Compare("<=", value, high))
            if isinstance(value, tree.Col):
                both = tree.And(ends)
                return _says(target, both, info, scope, holds=holds is not negated)
            if holds is negated:
                return numbers.UNKNOWN
            return _says(target, tree.And(ends), info, scope, holds=True)
        case tree.InList(value, items, negated) if holds is not negated:
            parts = [tree.Compare("=", value, item) for item in items]
            return numbers.either(
                [_says(target, part, info, scope, holds=True) for part in parts]
            )
        case tree.Compare(operator, left, right):
            if _is_literal(left):
                operator, left, right = FLIPPED[operator], right, left
            if not _is_literal(right) or isinstance(right, tree.Today):
                return numbers.UNKNOWN
            if _is_literal(left) or scope.canonical(left) != scope.canonical(target):
                return numbers.UNKNOWN
            value = right.value if isinstance(right, tree.Lit) else right
            return _limits(operator if holds else OPPOSITE[operator], value, info)
        case _:
            return numbers.UNKNOWN


FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _limits(operator, value, info):
    """Return the ends of what a comparison leaves, on the grid of the value."""
    unit = timedelta(days=1) if info.type == "date" else Fraction(1, 10**info.scale)
    below = above = value
    if info.type != "date":
        below = floor(Fraction(value) / unit) * unit
        above = ceil(Fraction(value) / unit) * unit
    shown = _back(info)
    try:
        return {
            "=": lambda: (shown(above), shown(below)),
            "<>": lambda: numbers.UNKNOWN,
            "<": lambda: (None, shown(above - unit)),
            "<=": lambda: (None, shown(below)),
            ">": lambda: (shown(below + unit), None),
            ">=": lambda: (shown(above), None),
        }[operator]()
    except OverflowError:  # a day before the first, or after the last
        return None


def _back(info):
    if info.type == "date":
        return lambda day: day
    if info.type == "integer":
        return int
    return lambda number: Decimal(int(number * 10**info.scale)).scaleb(-info.scale)


def unified(functions, infos):
    """Return functions and infos in one type: numbers are given the most places."""
    kinds = {info.type for info in infos}
    kind = "decimal" if kinds == {"integer", "decimal"} else infos[0].type
    scale = max(info.scale for info in infos)
    found = [numbers.finer(info, kind, scale) for info in infos]
    pairs = zip(functions, found, strict=True)
    return [_then(f, step) for f, (step, _) in pairs], [info for _, info in found]


def _then(function, step):
    step = values.strict(step)
    return lambda env: step(function(env))


def coalesce(node, scope):
    items, infos = unified(*compiled_all(node.items, scope))

    def chosen(env):
        for item in items:
            value = item(env)
            if value is not None:
                return value
        return None

    nullable = all(info.nullable for info in infos)
    return chosen, domains.merged(infos, nullable=nullable)


# -- functions -----------------------------------------------------------------


def age_band(node, scope):
    value, info = compiled(node.arguments[0], scope)
    width = node.arguments[1]
    step = values.strict(lambda x: values.band(x, width))
    low, high = domains.hull(info.domain)
    starts = range(low // width * width, high + 1, width)
    bands = tuple(values.band(start, width) for start in starts)
    return (lambda env: step(value(env))), Info("text", info.nullable, (bands,))


def age_years(node, scope):
    (birth, at), (a, b) = compiled_all(node.arguments, scope)
    step = values.strict(values.completed_years)
    ends = domains.hull(a.domain), domains.hull(b.domain)
    span = domains.age_interval(*ends) if None not in ends else None
    info = integer(span and whole(*span), nullable=True)
    return (lambda env: step(birth(env), at(env))), info


def date_diff(node, scope):
    part = node.arguments[0]
    (start, end), (a, b) = compiled_all(node.arguments[1:], scope)
    step = values.strict(lambda x, y: values.crossed(part, x, y))
    ends = domains.hull(a.domain), domains.hull(b.domain)
    span = domains.boundaries_interval(part, *ends) if None not in ends else None
    nullable = a.nullable or b.nullable
    info = integer(span and whole(*span), nullable=nullable)
    return (lambda env: step(start(env), end(env))), info


def date_trunc(node, scope):
    part = node.arguments[0]
    value, info = compiled(node.arguments[1], scope)
    step = values.strict(lambda x: values.period(part, x))
    domain = None
    ends = domains.hull(info.domain)
    if ends is not None:
        days = map(values.as_date, ends)
        domain = _list_or_hull(lambda day: values.period(part, day), *days, part)
    nullable = info.nullable or part == "sunday week"
    return (lambda env: step(value(env))), Info("date", nullable, domain)


def _list_or_hull(step, low, high, part):
    """Return the values of all days from low to high; too many, what holds them."""
    first, last = step(low) or date(1, 1, 7), step(high)
    if last is None or last < first:
        return None
    shortest = {"day": 1, "month": 28, "quarter": 90, "year": 365}.get(part, 7)
    if (last - first).days // shortest >= domains.LONGEST_LIST:
        return (domains.Range(first, last),)
    days = (date.fromordinal(n) for n in range(low.toordinal(), high.toordinal() + 1))
    found = dict.fromkeys(map(step, days))
    return (tuple(day for day in found if day is not None),)


def to_char(node, scope):
    value, info = compiled(node.arguments[0], scope)
    pattern = node.arguments[1]
    step = values.strict(lambda x: values.day_text(x, pattern))
    ends, domain = domains.hull(info.domain), None
    if ends is not None:
        low, high = (values.as_date(end).toordinal() for end in ends)
        if high - low < domains.LONGEST_LIST:
            texts = [
                values.day_text(date.fromordinal(n), pattern)
                for n in range(low, high + 1)
            ]
            found = tuple(dict.fromkeys(texts))
            is_run = all(a == b or b not in texts[:n] for n, (a, b) in _pairs(texts))
            domain = (found if is_run else tuple(sorted(found)),)
    return (lambda env: step(value(env))), Info("text", info.nullable, domain)


def _pairs(texts):
    return enumerate(pairwise(texts), start=1)


def shift(node, scope):
    """A date or timestamp plus months, days and microseconds, times an integer."""
    moment, months, days, micros, factor = node.arguments
    value, info = compiled(moment, scope)
    times, known = compiled(1 if factor is None else factor, scope)

    def step(x, n):
        n = max(-(10**9), min(10**9, n)) if n is not None else None
        if x is None or n is None:
            return None
        return values.moved(x, months * n, days * n, micros * n)

    kind = "timestamp" if micros else info.type
    ends, by = domains.hull(info.domain), domains.hull(known.domain)
    domain = _shifted_domain(step, ends, by, kind) if ends and by else None
    made = Info(kind, nullable=True, domain=domain)
    if isinstance(moment, tree.Today | tree.Lit) and factor is None and domain:
        made = domains.info_of_literal(domain[0].low)
    return (lambda env: step(value(env), times(env))), made


def _shifted_domain(step, ends, by, kind):
    ends = [values.as_timestamp(e) if kind == "timestamp" else e for e in ends]
    found = [step(end, n) for end in ends for n in by]
    if None in found:  # some of it leaves the calendar
        return None
    return (domains.Range(min(found), max(found)),)


def add_months(node, scope):
    moment, months = node.arguments
    found = tree.Call("shift", (moment, 1, 0, 0, months))
    value, info = shift(found, scope)
    return value, info


def elapsed(node, scope):
    part = node.arguments[0]
    (start, end), (a, b) = compiled_all(node.arguments[1:], scope)
    step = values.strict(lambda x, y: values.elapsed(part, x, y))
    backwards = part in {"year", "month", "quarter"}
    info = integer(None, nullable=backwards or a.nullable or b.nullable)
    return (lambda env: step(start(env), end(env))), info


def last_day(node, scope):
    value, info = compiled(node.arguments[0], scope)
    step = values.strict(values.month_end)
    ends = domains.hull(info.domain)
    domain = None
    if ends is not None:
        domain = _list_or_hull(values.month_end, *map(values.as_date, ends), "month")
    return (lambda env: step(value(env))), Info("date", info.nullable, domain)


def hierarchy(node, scope):
    """icd_chapter, icd_block, icd_category, and level(column, 'name')."""
    value, info = compiled(node.arguments[0], scope)
    level = node.name.removeprefix("icd_")
    if node.name == "level":
        level = node.arguments[1]
    codes = scope.world.hierarchies[info.hierarchy]
    listed = codes.levels.get(level)
    domain = None if listed is None else (listed,)

    def found(env):
        code = value(env)
        return None if code is None else codes.value(code, level)

    return found, Info("text", nullable=True, domain=domain)


def rounding(node, scope):
    value, info = compiled(node.arguments[0], scope)
    return _applied(value, numbers.rounded(node.name, info, _places(node)))


def _places(node):
    return node.arguments[1] if len(node.arguments) > 1 else 0


def without_idle_rounding(node, scope):
    """Return an expression without what rounds no value of it: the same vector."""
    while isinstance(node, tree.Call) and node.name in numbers.ROUNDING:
        _, info = compiled(node.arguments[0], scope)
        if not numbers.is_idle(info, _places(node)):
            break
        node = node.arguments[0]
    return node


def of_one(function):
    def found(node, scope):
        value, info = compiled(node.arguments[0], scope)
        return _applied(value, function(info))

    return found


def remainder(node, scope):
    return arithmetic(tree.Arith("%", *node.arguments), scope)


def width_bucket(node, scope):
    value, info = compiled(node.arguments[0], scope)
    limits = [a.value if isinstance(a, tree.Lit) else a for a in node.arguments[1:]]
    return _applied(value, numbers.bucket(info, *limits))


def extreme(node, scope):
    items, infos = unified(*compiled_all(node.arguments, scope))
    step, info = numbers.extreme(node.name, infos)
    return (lambda env: step(*(item(env) for item in items))), info


CALLS = {
    **dict.fromkeys(texts.FUNCTIONS, text_call),
    **dict.fromkeys((*texts.TESTS, "regexp_like"), text_test),
    "concat": concat,
    "abs": of_one(numbers.size),
    "sign": of_one(numbers.sign),
    "mod": remainder,
    "width_bucket": width_bucket,
    **dict.fromkeys(numbers.ROUNDING, rounding),
    **dict.fromkeys(("least", "greatest"), extreme),
    "age_band": age_band,
    "age_years": age_years,
    "date_diff": date_diff,
    "date_trunc": date_trunc,
    "to_char": to_char,
    "shift": shift,
    "add_months": add_months,
    "timestampdiff": elapsed,
    "last_day": last_day,
    "icd_chapter": hierarchy,
    "icd_block": hierarchy,
    "icd_category": hierarchy,
    "level": hierarchy,
}


def call(node, scope):
    return CALLS[node.name](node, scope)


def misplaced(node, scope):
    message = f"{type(node).__name__} cannot stand here"
    raise NotAnswerableError(message)


COMPILERS = {
    tree.Col: column,
    tree.Lit: literal,
    tree.Today: today,
    tree.Compare: compare,
    tree.Between: between,
    tree.InList: in_list,
    tree.IsNull: is_null,
    tree.Like: like,
    tree.Not: negate,
    tree.And: conjoin,
    tree.Or: disjoin,
    tree.InQuery: in_query,
    tree.Exists: exists,
    tree.Arith: arithmetic,
    tree.Divide: divide,
    tree.Minus: minus,
    tree.Extract: extract,
    tree.IsTruth: is_truth,
    tree.IsDistinct: is_distinct,
    tree.NullIf: null_if,
    tree.Cast: cast,
    tree.Length: length,
    tree.Case: case,
    tree.Coalesce: coalesce,
    tree.Call: call,
    tree.Agg: misplaced,
    tree.Window: misplaced,
    tree.Star: misplaced,
}


# -- aggregates ----------------------------------------------------------------


def ordered(rows, terms):
    """Sort rows by terms, then by tie: NULLS LAST in both directions unless written.

    Args:
        rows: Rows with ``tie``.
        terms: (OrderItem, function of the row) in order.
    """
    rows = sorted(rows, key=tie_of)
    for item, value in reversed(terms):
        pairs = [(value(row), row) for row in rows]
        nulls = [row for found, row in pairs if found is None]
        filled = [pair for pair in pairs if pair[0] is not None]
        filled.sort(key=itemgetter(0), reverse=item.descending)  # stable both ways
        rest = [row for _, row in filled]
        rows = nulls + rest if item.nulls_first else rest + nulls
    return rows


def tie_of(row):
    return row.tie


def folded(agg, info):
    """Return a function from the argument's values, NULL included, to the result.

    FIRST and LAST take values in order; the others in any order.
    """
    name = agg.name
    if name == "sum":
        return lambda found: _sum(found, info.scale)
    if agg.distinct:
        return lambda found: len({v for v in found if v is not None})
    return FOLDS[name]


def _sum(found, scale):
    found = [v for v in found if v is not None]
    if not found:
        return None
    total = sum(found)
    if isinstance(total, int):
        return values.saturated(total)
    steps = int(total.scaleb(scale))
    return type(total)(values.saturated(steps)).scaleb(-scale)


def _average(found):
    found = [v for v in found if v is not None]
    return Fraction(sum(found)) / len(found) if found else None


def _of_filled(step):
    def result(found):
        found = [v for v in found if v is not None]
        return step(found) if found else None

    return result


FOLDS = {
    "count": lambda found: sum(v is not None for v in found),
    "min": _of_filled(min),
    "max": _of_filled(max),
    "bool_and": _of_filled(all),
    "bool_or": _of_filled(any),
    "avg": _average,
    "first": lambda found: found[0] if found else None,
    "last": lambda found: found[-1] if found else None,
    "first_value": lambda found: found[0] if found else None,
    "last_value": lambda found: found[-1] if found else None,
}


def info_of_fold(name, info, rows, *, least_count=0):  # noqa: PLR0911 - one return a kind
    """Return the info of a roll-up or window aggregate over at most ``rows`` rows."""
    if name == "count":
        return integer(whole(least_count, rows), nullable=False)
    if name == "sum":
        ends = domains.hull(info.domain)
        span = ends and (domains.Range(*domains.sum_interval(ends, rows)),)
        return Info(info.type, nullable=True, domain=span, scale=info.scale)
    if name == "avg":
        return Info("average", nullable=True)
    if name in {"bool_and", "bool_or"}:
        return boolean(nullable=True)
    return info.or_null()
