"""LIKE and regular expressions: the plainest test that means the same.

A pattern without alternatives inside is a comparison, or asks how a text begins, ends
or what it holds; so many spellings are one question, and cost no more than that.
"""

import re
from dataclasses import replace

from privacy.schema import ColumnType, ValuesDomain
from query_lang.binding.environment import Binder
from query_lang.binding.outside_domain import declared_instead
from query_lang.binding.scalars.code_texts import warn_of_pattern
from query_lang.binding.scalars.narrowing import matches_none
from query_lang.binding.scalars.texts import beginning, lowered
from query_lang.plans.expressions import Call, Constant, Expression, Function, truth_of
from query_lang.plans.literals import LITERALS, constant_facts
from query_lang.syntax import rules
from query_lang.syntax.automata import has_few_states
from query_lang.syntax.nodes import Expression as Tree
from query_lang.syntax.nodes import FunctionCall, Like, Name, StringLiteral
from query_lang.syntax.patterns import (
    ANYTHING,
    Choice,
    Pattern,
    PatternError,
    Row,
    like_pattern,
    literal_text,
    looked_at,
    regular_pattern,
    written,
)
from query_lang.syntax.refusals import refuse

_CLASS = re.compile(r"\[[^\]]+\]")
_FLAGS = frozenset({"", "c", "i"})


def like(tree: Like, binder: Binder) -> Expression:
    """Bind ``value LIKE pattern``; its negation is left to the caller.

    Raises:
        SqlNotAllowedError: The value is no text, or the pattern no string.
    """
    value = _value(tree.value, binder)
    if not isinstance(tree.pattern, StringLiteral):
        raise refuse(rules.LIKE, tree.pattern.position)
    if _CLASS.search(tree.pattern.text):
        binder.environment.warn(
            "like_class",
            "brackets are characters in LIKE, as in PostgreSQL; a class of characters: "
            "REGEXP_LIKE(code, '^C[0-9]')",
        )
    try:
        pattern = like_pattern(tree.pattern.text)
    except PatternError as error:
        detail, place = str(error), tree.pattern.position
        raise refuse(rules.LIKE_PATTERN, place, detail=detail) from None
    if isinstance(value, Call) and value.function is Function.LOWER:
        beginning_of_it = _cut(value.operands[0], pattern, tree.pattern)
        value = lowered(beginning_of_it, tree.position)
    found = _found(value, pattern, tree.pattern)
    needed = _needed(found, value, pattern)
    _warn_of_none(needed, value, tree.value, tree.pattern, binder)
    return found


def _warn_of_none(
    found: Expression,
    value: Expression,
    tree: Tree,
    pattern: StringLiteral,
    binder: Binder,
) -> None:
    """Note a pattern that no value of a list matches, as ``code LIKE 'e11%'``."""
    domain, environment = value.facts.domain, binder.environment
    if not isinstance(domain, ValuesDomain):
        shown = tree.name if isinstance(tree, Name) else "it"
        warn_of_pattern(found, value, pattern, shown, environment)
        return
    count = environment.sizes.add_tried
    if not matches_none(found, value, environment.patterns, count):
        return
    near = environment.tells_outside()
    if near is None:
        return
    meant = pattern.text.removeprefix("(?i)").strip("%^$")
    instead = declared_instead(meant, value.facts, is_near_wanted=near)
    place = pattern.position
    environment.warn(
        "literal_outside_domain",
        f"no value of its list matches the pattern at line {place.line}, column "
        f"{place.column}{instead}",
    )


def regexp_like(tree: FunctionCall, binder: Binder) -> Expression:
    """Bind ``REGEXP_LIKE(value, pattern [, flags])``: a part of the text matches.

    Raises:
        SqlNotAllowedError: The value is no text, or the pattern has no meaning here.
    """
    value = _value(tree.arguments[0], binder)
    for argument in tree.arguments[1:]:
        if not isinstance(argument, StringLiteral):
            raise refuse(rules.LIKE, argument.position)
    text, *flags = (a for a in tree.arguments[1:] if isinstance(a, StringLiteral))
    if flags and flags[0].text not in _FLAGS:
        detail = "the flags are 'i', for any case, and 'c'"
        raise refuse(rules.PATTERN, flags[0].position, detail=detail)
    folds = bool(flags) and flags[0].text == "i"
    folds = folds or text.text.startswith("(?i)")
    try:
        pattern = regular_pattern(text.text, folds=folds)
    except PatternError as error:
        raise refuse(rules.PATTERN, text.position, detail=str(error)) from None
    if folds:
        value = lowered(_cut(value, pattern, text), tree.position)
    found = _found(value, pattern, text)
    needed = _needed(found, value, pattern)
    _warn_of_none(needed, value, tree.arguments[0], text, binder)
    return found


def _value(tree: Tree, binder: Binder) -> Expression:
    bound = binder.value(tree)
    if bound.facts.type is not ColumnType.TEXT or isinstance(tree, LITERALS):
        raise refuse(rules.LIKE, tree.position)
    binder.environment.warn_of_other(tree, bound)
    return bound


def _cut(value: Expression, pattern: Pattern, written_as: StringLiteral) -> Expression:
    """Return the beginning of a text that tells whether it matches, where one does."""
    most = looked_at(pattern)
    if most is None or isinstance(value.facts.domain, ValuesDomain):
        return value
    return beginning(value, max(1, most), written_as.position)


def _found(
    value: Expression, pattern: Pattern, written_as: StringLiteral
) -> Expression:
    """Return whether all of a text matches a pattern, in the plainest form.

    Raises:
        SqlNotAllowedError: Rule ``pattern``: its time would not be linear.
    """
    options = pattern.options if isinstance(pattern, Choice) else (pattern,)
    texts = [literal_text(option) for option in options]
    listed = [text for text in texts if text is not None]
    if len(listed) == len(options):
        items = [Constant(t, constant_facts(t, ColumnType.TEXT)) for t in listed]
        if len(items) == 1:
            return truth_of(Function.EQ, (value, items[0]))
        return truth_of(Function.IN, (value, *items))
    tests = [_plain(value, option) for option in options]
    plain = [test for test in tests if test is not None]
    if len(plain) == len(options):
        return plain[0] if len(plain) == 1 else truth_of(Function.OR, tuple(plain))
    if not has_few_states(pattern):
        detail = "this pattern can match a text in too many ways at once"
        hint = "anchor it, '^E1', or repeat what stands after .* less often"
        raise refuse(rules.PATTERN, written_as.position, detail=detail, hint=hint)
    value = _cut(value, pattern, written_as)
    found = truth_of(Function.MATCHES, (value,))
    return Call(Function.MATCHES, (value,), found.facts, (written(pattern),))


def _needed(found: Expression, value: Expression, pattern: Pattern) -> Expression:
    """Return what holds of each text that matches, and can be tried on many of them.

    Of a pattern that is no plainer test: how such texts begin, if that is known.
    """
    if not isinstance(found, Call) or found.function is not Function.MATCHES:
        return found
    options = pattern.options if isinstance(pattern, Choice) else (pattern,)
    starts = [_start(option) for option in options]
    if not all(starts):
        return found
    truth = truth_of(Function.PREFIX, (value,))
    tests = [replace(truth, parameters=(start,)) for start in dict.fromkeys(starts)]
    return tests[0] if len(tests) == 1 else truth_of(Function.OR, tuple(tests))


def _start(pattern: Pattern) -> str:
    """Return what all texts begin with that match a pattern, as far as it is plain."""
    start = ""
    for item in pattern.items if isinstance(pattern, Row) else (pattern,):
        text = literal_text(item)
        if text is None:
            break
        start += text
    return start


def _plain(value: Expression, pattern: Pattern) -> Expression | None:
    """Return how a text begins or ends, what it holds or is; None if it is more."""
    text = literal_text(pattern)
    if text is not None:
        constant = Constant(text, constant_facts(text, ColumnType.TEXT))
        return truth_of(Function.EQ, (value, constant))
    items = pattern.items if isinstance(pattern, Row) else (pattern,)
    opens, closes = items[0] == ANYTHING, items[-1] == ANYTHING
    inner = literal_text(Row(items[opens : len(items) - (closes and len(items) > 1)]))
    if len(items) == 1:
        inner = "" if opens else None
    if inner is None:
        return None
    function = Function.INFIX if opens and closes else Function.PREFIX
    function = function if closes else Function.SUFFIX
    found = truth_of(function, (value,))
    return Call(function, (value,), found.facts, (inner,))
