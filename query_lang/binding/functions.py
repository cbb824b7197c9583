"""Functions and operators: types, nullability and public domain of each result."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from privacy.schema import (
    ColumnType,
    HierarchyDomain,
    ValuesDomain,
)
from query_lang import hierarchies
from query_lang.binding.dates.arithmetic import of_moments, with_interval
from query_lang.binding.environment import Binder, Environment
from query_lang.binding.outside_domain import nearest_value
from query_lang.binding.scalars import numbers
from query_lang.binding.scalars.narrowing import narrowed
from query_lang.plans import intervals
from query_lang.plans.dates import calendar
from query_lang.plans.domains import longest_of
from query_lang.plans.expressions import Call, Constant, Expression, Facts, Function
from query_lang.plans.intervals import interval_of
from query_lang.plans.literals import (
    FORMS,
    NUMBERS,
    check_on_grid,
    constant_facts,
    small_number,
)
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    AggregateCall,
    Arithmetic,
    ArithmeticOperator,
    Extract,
    FunctionCall,
    Negative,
    NumberLiteral,
    Position,
    StringLiteral,
)
from query_lang.syntax.nodes import (
    Expression as Tree,
)
from query_lang.syntax.refusals import refuse
from query_lang.syntax.text_values import read_day, read_text

MAX_BAND_WIDTH = 10_000
INTEGER = ColumnType.INTEGER


# -- arithmetic --------------------------------------------------------------


def arithmetic(
    operator: ArithmeticOperator, left: Tree, right: Tree, binder: Binder
) -> Expression:
    """Bind ``left operator right`` over numbers, dates, timestamps and intervals.

    Raises:
        SqlNotAllowedError: The types do not fit.
    """
    if operator == "/":
        right = _without_nullif(right)
    moved = with_interval(operator, left, right, binder)
    if moved is not None:
        return moved
    one, other = numbers.operand(left, binder), numbers.operand(right, binder)
    if operator == "/" and (_is_rounded(left) or _is_rounded(right)):
        one = numbers.rescaled(one, max(1, one.facts.scale))
    kinds = one.facts.type, other.facts.type
    if operator == "/" and set(kinds) == {INTEGER}:
        is_of_part = _is_of_part(left) or _is_of_part(right)
        binder.environment.warn("integer_division", _CUT_PARTS if is_of_part else _CUT)
    if set(kinds) <= NUMBERS:
        return numbers.calculated(operator, one, other, right.position)
    found = of_moments(operator, one, other)
    if found is not None:
        return found
    raise refuse(
        rules.ARITHMETIC,
        left.position,
        detail=f"{kinds[0].value} {operator} {kinds[1].value} is not in the language",
        hint=_JOINED if set(kinds) == {ColumnType.TEXT} else None,
    )


_CUT = (
    "/ between whole numbers of a row is cut towards zero, as PostgreSQL cuts "
    "integers: 7 / 2 is 3; write 7 / 2.0 for 3.5"
)
_CUT_PARTS = (
    "/ between whole numbers of a row is cut towards zero: EXTRACT(YEAR FROM d) / 10 "
    "is 202 in 2024, where PostgreSQL, whose EXTRACT and DATE_PART are no integers, "
    "has 202.4; write EXTRACT(YEAR FROM d) / 10.0 for 202.4, or "
    "CAST(EXTRACT(YEAR FROM d) AS INTEGER) / 10 for 202 in both"
)


_ROUNDED = frozenset({"ceil", "ceiling", "floor", "round", "trunc"})
_KEEPING = frozenset({"sum", "min", "max", "abs", "coalesce", "least", "greatest"})


def _is_rounded(tree: Tree) -> bool:
    """Whether whole numbers were rounded: PostgreSQL divides these as decimals."""
    return any(map(_is_rounding, _terms(tree)))


def _is_rounding(term: Tree) -> bool:
    if not isinstance(term, FunctionCall | AggregateCall):
        return False
    is_passed_on = term.name in _KEEPING and any(map(_is_rounded, term.arguments))
    return term.name in _ROUNDED or is_passed_on


def _is_of_part(tree: Tree) -> bool:
    """Whether PostgreSQL computes with a part of a day, which is no integer there."""
    return any(
        isinstance(term, Extract)
        or (isinstance(term, FunctionCall) and term.name == "date_part")
        for term in _terms(tree)
    )


def _terms(tree: Tree) -> Iterator[Tree]:
    """Yield what arithmetic computes with."""
    match tree:
        case Arithmetic(_, left, right):
            yield from _terms(left)
            yield from _terms(right)
        case Negative(value):
            yield from _terms(value)
        case _:
            yield tree


_JOINED = "texts are joined by ||: sex || '/' || ward"


def _without_nullif(divisor: Tree) -> Tree:
    """Return b of ``NULLIF(b, 0)``: what is divided by 0 is NULL as it is."""
    is_nullif = isinstance(divisor, FunctionCall) and divisor.name == "nullif"
    arguments = divisor.arguments if isinstance(divisor, FunctionCall) else ()
    zero = arguments[1] if is_nullif and len(arguments) == 2 else None  # noqa: PLR2004 - NULLIF(b, 0)
    is_zero = isinstance(zero, NumberLiteral) and zero.text == "0"
    return arguments[0] if is_zero else divisor


_MOMENTS = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})
_ORDERED = NUMBERS | _MOMENTS


# -- hierarchies -------------------------------------------------------------


def hierarchy_function(tree: FunctionCall, binder: Binder) -> Expression:
    """Bind icd_chapter, icd_block, icd_category, level and age_band.

    Raises:
        SqlNotAllowedError: The arguments do not fit.
    """
    if tree.name == "age_band":
        return _age_band(tree, binder)
    if tree.name == "level":
        wanted = tree.arguments[1:]
        named = wanted[0] if len(wanted) == 1 else None
        if not isinstance(named, StringLiteral):
            raise refuse(rules.LEVEL, tree.position)
        return _level(tree, named.text, binder)
    if len(tree.arguments) != 1:
        raise refuse(rules.LEVEL, tree.position)
    return _level(tree, tree.name.removeprefix("icd_"), binder)


def _level(tree: FunctionCall, level: str, binder: Binder) -> Expression:
    code = binder.value(tree.arguments[0])
    domain, own = code.facts.domain, binder.environment.dataset.hierarchies
    if not isinstance(domain, HierarchyDomain):
        raise refuse(rules.HIERARCHY_NEEDED, tree.position)
    levels, is_own = hierarchies.levels_of(domain, own), domain.name in own
    if is_own is not (tree.name == "level"):
        meant = nearest_value(level, levels) or levels[0]
        written = f"level(code, '{meant}')" if is_own else f"icd_{meant}(code)"
        whose = "a hierarchy of this dataset" if is_own else "built in"
        detail = f"{domain.name} is {whose}: write {written}"
        raise refuse(rules.LEVEL, tree.position, detail=detail)
    if level not in levels:
        near = nearest_value(level, levels)
        hint = f": did you mean '{near}'?" if near else ""
        known = f"{domain.name} has the levels {', '.join(levels)}{hint}"
        raise refuse(rules.LEVEL, tree.position, detail=known)
    facts = Facts(
        ColumnType.TEXT,
        constant=code.facts.constant,
        domain=ValuesDomain(hierarchies.level_values(domain, level, own)),
    )
    return Call(Function.LEVEL, (code,), facts, (domain.name, level))


def _age_band(tree: FunctionCall, binder: Binder) -> Expression:
    width = _band_width(tree)
    age = binder.value(tree.arguments[0])
    bounds = interval_of(age.facts)
    if age.facts.type is not INTEGER or bounds is None or bounds[0] < 0:
        raise refuse(rules.AGE_BAND, tree.position)
    first, last = bounds[0] // width, bounds[1] // width
    if last - first > MAX_BAND_WIDTH:
        raise refuse(rules.AGE_BAND, tree.position)
    bands = tuple(
        f"{band * width}-{band * width + width - 1}" for band in range(first, last + 1)
    )
    facts = replace(
        age.facts, type=ColumnType.TEXT, scale=0, domain=ValuesDomain(bands)
    )
    return Call(Function.AGE_BAND, (age,), facts, (width,))


def _band_width(tree: FunctionCall) -> int:
    width = tree.arguments[1] if len(tree.arguments) == 2 else None  # noqa: PLR2004 - age and width
    found = small_number(width, MAX_BAND_WIDTH)
    if not found:
        raise refuse(rules.AGE_BAND, tree.position)
    return found


# -- one of several ----------------------------------------------------------


def coalesce(
    items: Sequence[Expression], tree: FunctionCall, environment: Environment
) -> Expression:
    """Bind COALESCE: the first item that is not NULL.

    Raises:
        SqlNotAllowedError: No items, or their types differ.
    """
    if not items:
        raise refuse(rules.RESULT_TYPES, tree.position)
    places = [argument.position for argument in tree.arguments]
    facts, values = unified(items, places, environment)
    known = replace(
        facts,
        nullable=all(item.facts.nullable for item in values),
        constant=all(item.facts.constant for item in values),
    )
    return Call(Function.COALESCE, tuple(values), known)


def extreme(items: Sequence[Expression], tree: FunctionCall) -> Expression:
    """Bind LEAST and GREATEST: of the items that are not NULL.

    Raises:
        SqlNotAllowedError: The items are no numbers, dates or times of one type.
    """
    function = Function.LEAST if tree.name == "least" else Function.GREATEST
    places = [argument.position for argument in tree.arguments]
    for item, place in zip(items, places, strict=True):
        if _is_null(item):
            raise refuse(rules.NULL_LITERAL, place)
    facts, values = _in_one_type(items, places)
    if facts.type not in _ORDERED:
        raise refuse(rules.EXTREME, tree.position)
    known: dict[Expression, None] = {}
    for value in values:
        if isinstance(value, Call) and value.function is function:
            known.update(dict.fromkeys(value.operands))
        else:
            known[value] = None
    operands = sorted(known, key=lambda value: isinstance(value, Constant))
    if len(operands) == 1:
        return operands[0]
    reaches = [(calendar.reach_of(v.facts), v.facts.nullable) for v in operands]
    reach = (
        intervals.least(reaches)
        if function is Function.LEAST
        else intervals.greatest(reaches)
    )
    facts = replace(
        facts,
        nullable=all(value.facts.nullable for value in operands),
        constant=all(value.facts.constant for value in operands),
        domain=calendar.domain_of(reach, facts),
    )
    return Call(function, tuple(operands), facts)


def unified(
    items: Sequence[Expression],
    places: Sequence[Position],
    environment: Environment,
    conditions: Sequence[Expression] = (),
) -> tuple[Facts, list[Expression]]:
    """Return the facts of "one of these", and the items in one type and scale.

    Args:
        items: What may be yielded.
        places: Of each in the text.
        environment: Counts the values that are listed.
        conditions: Of each item but the last, where the first true one decides.

    Raises:
        SqlNotAllowedError: The types differ, or all items are NULL.
    """
    facts, adapted = _in_one_type(items, places)
    shown = [item.facts for item in adapted if not _is_null(item)]
    if conditions:
        near = narrowed(conditions, adapted, environment.tries)
        shown = [
            known
            for item, known in zip(adapted, near, strict=True)
            if known is not None and not _is_null(item)
        ] or shown
    domain = environment.sizes.combined(shown, places[0])
    return replace(facts, domain=domain, longest=longest_of(shown)), adapted


def _in_one_type(
    items: Sequence[Expression], places: Sequence[Position]
) -> tuple[Facts, list[Expression]]:
    """Return the type of "one of these" and what can be NULL; and the items in it."""
    items = _with_moments(items, places)
    known = [item.facts for item in items if not _is_null(item)]
    if not known:
        raise refuse(rules.NULL_LITERAL, places[0])
    scale = max(facts.scale for facts in known)
    mixed = {facts.type for facts in known} == NUMBERS
    kind = ColumnType.DECIMAL if scale or mixed else known[0].type
    adapted = [
        _adapted(item, kind, scale, place)
        for item, place in zip(items, places, strict=True)
    ]
    nullable = any(item.facts.nullable for item in adapted)
    return Facts(kind, scale, nullable=nullable), adapted


def _with_moments(
    items: Sequence[Expression], places: Sequence[Position]
) -> Sequence[Expression]:
    """Return the items; strings of the query beside dates alone are dates.

    Beside timestamps they are these. So it is in PostgreSQL: a string has the type of
    what stands beside it.

    Raises:
        SqlNotAllowedError: Rule ``literal_type``: a string that is no such day or time.
    """
    kinds = {i.facts.type for i in items if not (_is_null(i) or _is_string(i))}
    kind = kinds.pop() if len(kinds) == 1 else ColumnType.TEXT
    if kind not in _MOMENTS:
        return items
    return [
        _moment(item.value, kind, place)
        if isinstance(item, Constant) and isinstance(item.value, str)
        else item
        for item, place in zip(items, places, strict=True)
    ]


def _is_string(item: Expression) -> bool:
    return isinstance(item, Constant) and isinstance(item.value, str)


def _moment(text: str, kind: ColumnType, place: Position) -> Constant:
    value = read_day(text) if kind is ColumnType.DATE else read_text(text, kind)
    if value is None:
        raise refuse(
            rules.LITERAL_TYPE,
            place,
            detail=f"this text stands beside a {kind.value} and is none",
            hint=f"write {FORMS[kind]}; or make texts of all: COALESCE(CAST(ended AS "
            "TEXT), 'never')",
        )
    return Constant(value, constant_facts(value, kind))


def _is_null(item: Expression) -> bool:
    return isinstance(item, Constant) and item.value is None


def _adapted(
    item: Expression, kind: ColumnType, scale: int, place: Position
) -> Expression:
    """Return an item in the common type: numbers may be given more places."""
    if isinstance(item, Constant) and item.value is None:
        return Constant(None, replace(item.facts, type=kind, scale=scale))
    facts = item.facts
    if (facts.type, facts.scale) == (kind, scale):
        return item
    if not {facts.type, kind} <= NUMBERS:
        raise refuse(
            rules.RESULT_TYPES,
            place,
            detail=f"{facts.type.value} and {kind.value} do not mix here",
        )
    if isinstance(item, Constant) and item.value is not None:
        check_on_grid(item.value, scale, place)
        return Constant(item.value, replace(facts, type=kind, scale=scale))
    return numbers.rescaled(item, scale)
