"""Functions of texts: by code points, without collation; what lists become by them.

Letters are folded in ASCII alone and blanks are U+0020 alone, so that every engine has
one meaning (CONTRACT 1).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import prod
from typing import Final

from privacy.schema import (
    ColumnType,
    Domain,
    HierarchyDomain,
    RangeDomain,
    Scalar,
    ValuesDomain,
)
from query_lang import hierarchies
from query_lang.binding.environment import Binder
from query_lang.binding.scalars.casts import as_text
from query_lang.hierarchies import BUILT_IN, CATEGORY
from query_lang.plans.domains import MAX_LISTED
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    Facts,
    Function,
    HalfRange,
)
from query_lang.plans.literals import constant_facts, small_number
from query_lang.plans.scalars.texts import computed, most_bytes
from query_lang.syntax import rules
from query_lang.syntax.hints.functions import BY_PLACE
from query_lang.syntax.nodes import (
    Case,
    CaseBranch,
    FunctionCall,
    Name,
    Position,
    StringLiteral,
)
from query_lang.syntax.nodes import Expression as Tree
from query_lang.syntax.refusals import refuse

TEXT, INTEGER = ColumnType.TEXT, ColumnType.INTEGER
MOST_CHARACTERS: Final = 10_000
"""The greatest place in a text, or length of a part, that can be written."""

MOST_WRITTEN: Final = 100
"""Characters of what is looked for in a text, or put into it."""

MOST_BYTES: Final = 65_536
"""Of a computed text: as many as a column may have."""

MOST_SPLIT: Final = 100
"""Values of a list that SPLIT_PART takes apart: each is a branch of CASE."""

_ALL: Final = 2 * MOST_BYTES  # code points that no text has
_Known = tuple[Scalar, ...]
_OF_NUMBERS: Final = frozenset({Function.LENGTH, Function.STRPOS})


# -- calls -------------------------------------------------------------------


def text_function(tree: FunctionCall, binder: Binder) -> Expression:
    """Bind UPPER, LEFT, TRIM, LENGTH, STARTS_WITH, CONCAT and their like.

    Raises:
        SqlNotAllowedError: An argument is no text, or a parameter no literal.
    """
    if tree.name == "concat":
        values = [_part(argument, binder) for argument in tree.arguments]
        return concatenated([_or_empty(v) for v in values], tree.position)
    if tree.name in _PADS:
        return _padded(tree, _part(tree.arguments[0], binder))
    value = _text(tree.arguments[0], binder)
    if tree.name == "split_part":
        return binder.value(_parts_of_list(tree, value))
    return _BINDERS[tree.name](tree, value)


def lowered(value: Expression, position: Position) -> Expression:
    """Return a text with its capital letters, of ASCII, as small ones."""
    return _call(Function.LOWER, value, (), position)


def beginning(value: Expression, length: int, position: Position) -> Expression:
    """Return the first characters of a text; one that is short already is itself."""
    longest = value.facts.longest
    if longest is not None and longest <= length:
        return value
    return _call(Function.SUBSTRING, value, (1, length), position)


def concatenation(left: Tree, right: Tree, binder: Binder) -> Expression:
    """Bind ``left || right``: NULL where one is.

    Raises:
        SqlNotAllowedError: One is neither a text nor a whole number, or the result
            would be too long.
    """
    values = [_part(side, binder) for side in (left, right)]
    return concatenated(values, left.position)


def _text(tree: Tree, binder: Binder) -> Expression:
    return _checked(tree, binder.value(tree), binder)


def _checked(tree: Tree, value: Expression, binder: Binder) -> Expression:
    is_null = isinstance(value, Constant) and value.value is None
    if value.facts.type is not TEXT or is_null:
        hint = None if is_null else _INSTEAD.get(value.facts.type)
        raise refuse(rules.TEXT_NEEDED, tree.position, hint=hint)
    binder.environment.warn_of_other(tree, value)
    return value


_INSTEAD: Mapping[ColumnType, str] = {
    ColumnType.BOOLEAN: "a truth is written out: CASE WHEN died THEN 'yes' ELSE 'no' "
    "END; || joins texts, OR joins conditions",
    ColumnType.DATE: "a day is written out: TO_CHAR(admitted, 'YYYY-MM')",
    ColumnType.TIMESTAMP: "a time is written out: TO_CHAR(arrived, 'YYYY-MM')",
}
"""How what is no text becomes one."""


def _part(tree: Tree, binder: Binder) -> Expression:
    """Bind what is put together: a text, or a whole number, whose digits are one."""
    value = binder.value(tree)
    if value.facts.type is INTEGER and not isinstance(value, Constant):
        return as_text(value, tree.position)
    return _checked(tree, value, binder)


def _or_empty(value: Expression) -> Expression:
    """Return a text, '' where it is NULL: CONCAT passes over NULL."""
    if not value.facts.nullable:
        return value
    domain = value.facts.domain
    listed = domain.all_values() if isinstance(domain, ValuesDomain) else None
    facts = replace(
        value.facts,
        nullable=False,
        domain=None if listed is None else ValuesDomain(_different((*listed, ""))),
    )
    return Call(Function.COALESCE, (value, _constant("")), facts)


def _constant(text: str) -> Constant:
    return Constant(text, constant_facts(text, TEXT))


def _different(values: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    return tuple(dict.fromkeys(values))


def concatenated(values: list[Expression], position: Position) -> Expression:
    """Return texts one after the other, brackets within them left out.

    Raises:
        SqlNotAllowedError: It would be too long.
    """
    flat: list[Expression] = []
    for value in values:
        is_one = isinstance(value, Call) and value.function is Function.CONCAT
        flat += value.operands if is_one and isinstance(value, Call) else (value,)
    call = Call(Function.CONCAT, tuple(flat), Facts(TEXT))
    return _known(call, position)


def _call(
    function: Function,
    value: Expression,
    parameters: _Known,
    position: Position,
) -> Expression:
    kind = INTEGER if function in _OF_NUMBERS else TEXT
    return _known(Call(function, (value,), Facts(kind), parameters), position)


def _known(call: Call, position: Position) -> Expression:
    """Return a call with what is publicly known of its results; constants are folded.

    Raises:
        SqlNotAllowedError: Its text would be too long.
    """
    operands = call.operands
    texts = [str(each.value) for each in operands if isinstance(each, Constant)]
    if len(texts) == len(operands):
        found = computed(call.function, call.parameters, tuple(texts))
        return Constant(found, constant_facts(found, call.facts.type))
    facts = Facts(
        call.facts.type,
        nullable=any(operand.facts.nullable for operand in operands),
        constant=all(operand.facts.constant for operand in operands),
        domain=_domain(call),
        longest=None if call.function in _OF_NUMBERS else _longest_result(call),
    )
    if facts.longest is not None and facts.longest > MOST_BYTES:
        raise refuse(rules.TEXT_WIDTH, position)
    return replace(call, facts=facts)


def _longest_result(call: Call) -> int | None:
    """Return the most bytes that the text of a call has, None where it is not known."""
    known = [operand.facts.longest for operand in call.operands]
    sizes = [size for size in known if size is not None]
    if len(sizes) != len(known):
        return None
    return most_bytes(call, sizes)


# -- domains -----------------------------------------------------------------


_MOST_BYTES_LISTED: Final = 1_000_000
"""Of all texts that a list becomes: each is made while the question is bound."""


def _domain(call: Call) -> Domain | HalfRange | None:
    """Return what each listed value becomes, in the order of the list."""
    lists = [_listed(operand) for operand in call.operands]
    known = [values for values in lists if values is not None]
    many = prod(map(len, known))
    longest = sum(max(map(len, values), default=0) for values in known)
    width = max(longest, _longest_result(call) or 0)
    is_short = many <= MAX_LISTED and many * width <= _MOST_BYTES_LISTED
    if len(known) == len(lists) and is_short:
        return _values(call.function, call.parameters, tuple(known))
    if call.function in _OF_NUMBERS:
        most = call.operands[0].facts.longest
        return HalfRange(minimum=0) if most is None else RangeDomain(0, most)
    return call.operands[0].facts.domain if _keeps_codes(call) else None


@lru_cache(64)  # a text may fold one long list hundreds of times
def _values(
    function: Function,
    parameters: tuple[Scalar, ...],
    lists: tuple[tuple[str, ...], ...],
) -> ValuesDomain:
    found = dict.fromkeys(
        computed(function, parameters, texts) for texts in product(*lists)
    )
    values: tuple[Scalar, ...] = tuple(found)
    if function in _OF_NUMBERS:
        values = tuple(sorted(n for n in values if isinstance(n, int)))
    return ValuesDomain(values)


def _keeps_codes(call: Call) -> bool:
    """Whether codes stay codes: in capital or small letters, dotted or not."""
    own = call.operands[0].facts.domain
    if not isinstance(own, HierarchyDomain) or own.name not in BUILT_IN:
        return False
    folds = call.function in {Function.UPPER, Function.LOWER}
    return folds or (call.function is Function.REPLACE and call.parameters == (".", ""))


def _listed(operand: Expression) -> tuple[str, ...] | None:
    """Return the texts that a value can be, if they are listed.

    Codes of a hierarchy are not: sources write one code in many ways, as ``e11.9`` and
    ``E119``, and a column keeps them as they are written.
    """
    domain = operand.facts.domain
    if not isinstance(domain, ValuesDomain):
        return None
    return tuple(map(str, domain.all_values()))


# -- parameters --------------------------------------------------------------


_Binder = Callable[[FunctionCall, Expression], Expression]


def _plain(function: Function) -> _Binder:
    return lambda tree, value: _call(function, value, (), tree.position)


def _number(tree: Tree) -> int:
    found = small_number(tree, MOST_CHARACTERS)
    if not found:
        raise refuse(rules.TEXT_PART, tree.position)
    return found


def _literal(tree: Tree, *, empty: bool = False) -> str:
    text = tree.text if isinstance(tree, StringLiteral) else ""
    fits = isinstance(tree, StringLiteral) and len(text) <= MOST_WRITTEN
    if not fits or not (text or empty):
        raise refuse(rules.TEXT_LITERAL, tree.position)
    return text


def _substring(tree: FunctionCall, value: Expression) -> Expression:
    _, start, *rest = tree.arguments
    length = _number(rest[0]) if rest else _ALL
    return _part_of(value, (_number(start), length), tree.position)


def _left(tree: FunctionCall, value: Expression) -> Expression:
    part = 1, _number(tree.arguments[1])
    return _part_of(value, part, tree.position)


def _part_of(
    value: Expression, part: tuple[int, int], position: Position
) -> Expression:
    """Return a part of a text; of a code within its category, that of the category.

    So it is read in capital letters, and has a public list.
    """
    start, length = part
    codes = value.facts.domain
    within = start - 1 + length <= CATEGORY
    if within and isinstance(codes, HierarchyDomain) and codes.name in BUILT_IN:
        listed = ValuesDomain(hierarchies.level_values(codes, "category", {}))
        facts = Facts(TEXT, constant=value.facts.constant, domain=listed)
        named = codes.name, "category"
        value = Call(Function.LEVEL, (value,), facts, named)
    texts = value.facts.domain
    if start == 1 and isinstance(texts, ValuesDomain):
        is_whole = all(len(str(text)) <= length for text in texts.all_values())
        if is_whole:
            return value
    return _call(Function.SUBSTRING, value, part, position)


def _right(tree: FunctionCall, value: Expression) -> Expression:
    part = (_number(tree.arguments[1]),)
    return _call(Function.RIGHT, value, part, tree.position)


def _padded(tree: FunctionCall, value: Expression) -> Expression:
    """Return a text filled up to a length, in front or behind, by one character.

    Raises:
        SqlNotAllowedError: It may be longer, and would be cut.
    """
    _, written, *rest = tree.arguments
    length = _number(written)
    sign = _literal(rest[0]) if rest else " "
    listed, longest = _listed(value), value.facts.longest
    known = longest if listed is None else max(map(len, listed), default=0)
    if len(sign) != 1 or length > MOST_WRITTEN or known is None or known > length:
        detail = (
            f"{tree.name.upper()} fills up a text by one character to a length that no "
            "value passes"
        )
        raise refuse(rules.TEXT_PART, tree.position, detail=detail)
    filler = _constant(sign * length)
    if tree.name == "rpad":
        both = concatenated([value, filler], tree.position)
        return _call(Function.SUBSTRING, both, (1, length), tree.position)
    both = concatenated([filler, value], tree.position)
    return _call(Function.RIGHT, both, (length,), tree.position)


def _replace(tree: FunctionCall, value: Expression) -> Expression:
    _, found, written = tree.arguments
    both = _literal(found), _literal(written, empty=True)
    return _call(Function.REPLACE, value, both, tree.position)


def _instead_of_parts(
    column: Name, domain: Domain | HalfRange | None, *, is_before_dot: bool
) -> str:
    """Say what stands for a part of a code that a sign takes apart.

    Args:
        column: The code's.
        domain: Of it.
        is_before_dot: Whether the part is that before a dot.
    """
    table = "" if column.qualifier is None else f"{column.qualifier}."
    name = f"{table}{column.name}"
    codes = domain.name if isinstance(domain, HierarchyDomain) else None
    if is_before_dot and (codes is None or codes in BUILT_IN):
        return (
            f"before the dot of an ICD code stands its category: icd_category({name}), "
            f"also a key to group by; of other texts LEFT({name}, 3)"
        )
    if codes is None:
        return BY_PLACE
    levels = f"level({name}, 'name')"
    if codes in BUILT_IN:
        levels = f"icd_category({name}), icd_block({name}) or icd_chapter({name})"
    return (
        f"a code has levels to group by, {levels}; its further signs are asked for: "
        f"SUBSTRING({name}, 5, 1) = '9'"
    )


def _parts_of_list(tree: FunctionCall, value: Expression) -> Case:
    """Return ``SPLIT_PART(x, '-', 2)`` of a listed text: CASE of the values' parts.

    Raises:
        SqlNotAllowedError: The text has no list, or too long a one.
    """
    of, sign, number = tree.arguments
    between, place = _literal(sign), _number(number)
    domain = value.facts.domain
    listed = domain.all_values() if isinstance(domain, ValuesDomain) else ()
    if not isinstance(of, Name) or not 1 <= len(listed) <= MOST_SPLIT:
        detail = f"SPLIT_PART takes columns apart that list at most {MOST_SPLIT} values"
        hint = BY_PLACE
        if isinstance(of, Name):
            first = (between, place) == (".", 1)
            hint = _instead_of_parts(of, domain, is_before_dot=first)
        raise refuse(rules.TEXT_PART, tree.position, detail=detail, hint=hint)
    parts = {str(text): str(text).split(between) for text in listed}
    at = tree.position
    branches = tuple(
        CaseBranch(
            StringLiteral(text, at),
            StringLiteral(found[place - 1] if place <= len(found) else "", at),
        )
        for text, found in parts.items()
    )
    return Case(of, branches, None, at)


def _place(tree: FunctionCall, value: Expression) -> Expression:
    part = (_literal(tree.arguments[1]),)
    return _call(Function.STRPOS, value, part, tree.position)


def _test(function: Function) -> _Binder:
    def bind(tree: FunctionCall, value: Expression) -> Expression:
        known = value.facts
        facts = Facts(
            ColumnType.BOOLEAN, nullable=known.nullable, constant=known.constant
        )
        if isinstance(value, Constant):
            raise refuse(rules.LIKE, tree.arguments[0].position)
        return Call(function, (value,), facts, (_literal(tree.arguments[1]),))

    return bind


_BINDERS: Mapping[str, _Binder] = {
    "upper": _plain(Function.UPPER),
    "lower": _plain(Function.LOWER),
    "trim": _plain(Function.TRIM),
    "ltrim": _plain(Function.LTRIM),
    "rtrim": _plain(Function.RTRIM),
    "length": _plain(Function.LENGTH),
    "substring": _substring,
    "left": _left,
    "right": _right,
    "replace": _replace,
    "strpos": _place,
    "starts_with": _test(Function.PREFIX),
    "ends_with": _test(Function.SUFFIX),
    "contains": _test(Function.INFIX),
}
_PADS: Final = frozenset({"lpad", "rpad"})
TEXT_FUNCTIONS: Final = frozenset((*_BINDERS, *_PADS, "concat", "split_part"))
