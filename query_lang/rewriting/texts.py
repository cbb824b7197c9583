"""Functions and patterns of texts by other dialects' names."""

import re
from collections.abc import Callable, Mapping
from string import ascii_lowercase, ascii_uppercase
from typing import Final

from query_lang.syntax import patterns, rules
from query_lang.syntax.idioms import LikeEach, OtherCall, OtherLike
from query_lang.syntax.nodes import (
    And,
    Expression,
    FunctionCall,
    FunctionName,
    Like,
    Not,
    Or,
    Position,
    StringLiteral,
)
from query_lang.syntax.patterns import PatternError
from query_lang.syntax.refusals import refuse
from query_lang.syntax.rules import Rule

_SAME: Final[Mapping[str, FunctionName]] = {
    "BTRIM": "trim",
    "CHARACTER_LENGTH": "length",
    "CHAR_LENGTH": "length",
    "ENDSWITH": "ends_with",
    "INSTR": "strpos",
    "LCASE": "lower",
    "LEN": "length",
    "MID": "substring",
    "PREFIX": "starts_with",
    "REGEXP_CONTAINS": "regexp_like",
    "REGEXP_MATCHES": "regexp_like",
    "STARTSWITH": "starts_with",
    "SUBSTR": "substring",
    "SUFFIX": "ends_with",
    "UCASE": "upper",
}
_PART_FIRST: Final = frozenset({"CHARINDEX", "LOCATE", "POSITION"})
"""What has the part that is looked for in front."""

TEXT_CALLS: Final = frozenset(
    {*_SAME, *_PART_FIRST, "CONTAINS_SUBSTR", "REGEXP_FULL_MATCH"}
)
_ARRAY: Final = re.compile(r"\s*((\[[-+:\d]*\])+\s*=\s*)?\{")
_SMALL: Final = str.maketrans(ascii_uppercase, ascii_lowercase)


def text_call(tree: OtherCall) -> Expression:
    """Rewrite a function of texts by its other name.

    Raises:
        SqlNotAllowedError: A pattern is no string.
    """
    if tree.name == "REGEXP_FULL_MATCH":
        value, pattern = tree.arguments
        try:
            patterns.regular_pattern(_literal(pattern), folds=False)
        except PatternError as error:
            place = pattern.position
            raise refuse(rules.PATTERN, place, detail=str(error)) from None
        whole = f"^(?:{_literal(pattern)})$"
        return _matches(value, whole, pattern.position, tree.position)
    if tree.name == "CONTAINS_SUBSTR":  # whatever its capitals
        value, part = tree.arguments
        small = StringLiteral(_literal(part).translate(_SMALL), part.position)
        lower = FunctionCall("lower", (value,), tree.position)
        return FunctionCall("contains", (lower, small), tree.position)
    if tree.name in _PART_FIRST:
        arguments = tuple(reversed(tree.arguments))
        return FunctionCall("strpos", arguments, tree.position)
    return FunctionCall(_SAME[tree.name], tree.arguments, tree.position)


def other_like(tree: OtherLike) -> Expression:
    """Rewrite ILIKE, ESCAPE, SIMILAR TO and ``~`` to LIKE and REGEXP_LIKE.

    Raises:
        SqlNotAllowedError: The pattern or the escape sign is no string, or has no
            meaning.
    """
    found = _WORDS.get(tree.word, _regular)(tree)
    is_negated = tree.negated and not isinstance(found, Like)
    return Not(found, tree.position) if is_negated else found


def check_listed(first: Expression, rule: Rule) -> None:
    """Refuse PostgreSQL's array in a text, ``'{a,b}'``, where a list begins.

    Raises:
        SqlNotAllowedError: It is one, with blanks or bounds in front or without.
    """
    if isinstance(first, StringLiteral) and _ARRAY.match(first.text):
        hint = "write the list out: code = ANY (ARRAY['E10', 'E11']), or code IN (...)"
        if rule is rules.LIKE_PATTERN:
            hint = "write the list out: code LIKE ANY ('I2%', 'I50%')"
        raise refuse(rule, first.position, hint=hint)


def like_each(tree: LikeEach) -> Expression:
    """Rewrite ``LIKE ANY ('a%', 'b%')`` to conditions joined by OR, of ALL by AND.

    Raises:
        SqlNotAllowedError: A pattern is no string.
    """
    if not tree.patterns:
        raise refuse(rules.EMPTY_LIST, tree.position)
    check_listed(tree.patterns[0], rules.LIKE_PATTERN)
    each = tuple(
        _like(OtherLike(p.position, tree.value, p, tree.word, None, negated=False))
        for p in tree.patterns
    )
    if len(each) == 1:
        return each[0]
    join = And if tree.quantifier == "ALL" else Or
    return join(each, tree.position)


def _like(tree: OtherLike) -> Expression:
    pattern = _literal(tree.pattern)
    if tree.escape is not None:
        pattern = _read(_unescaped, tree)
    value = tree.value
    if tree.word == "ILIKE":
        value = FunctionCall("lower", (value,), tree.position)
        pattern = pattern.translate(_SMALL)
    literal = StringLiteral(pattern, tree.pattern.position)
    return Like(value, literal, tree.negated, tree.position)


def _unescaped(tree: OtherLike) -> str:
    escape = _literal(tree.escape)
    if len(escape) > 1:
        message = "the sign after ESCAPE is one character"
        raise PatternError(message)
    return patterns.like_escaped(_literal(tree.pattern), escape)


def _similar(tree: OtherLike) -> Expression:
    if tree.escape is not None and _literal(tree.escape) != "\\":
        hint = "write a backslash before the character, without ESCAPE"
        raise refuse(rules.PATTERN, tree.escape.position, hint=hint)
    found = _read(
        lambda _: patterns.written(patterns.similar_pattern(_literal(tree.pattern))),
        tree,
    )
    return _matches(tree.value, f"^(?:{found})$", tree.pattern.position, tree.position)


def _regular(tree: OtherLike) -> Expression:
    if tree.escape is not None:
        raise refuse(rules.PATTERN, tree.escape.position)
    text = _literal(tree.pattern)
    flag = "(?i)" if tree.word == "~*" and not text.startswith("(?i)") else ""
    return _matches(tree.value, flag + text, tree.pattern.position, tree.position)


def _matches(
    value: Expression, pattern: str, place: Position, position: Position
) -> Expression:
    literal = StringLiteral(pattern, place)
    return FunctionCall("regexp_like", (value, literal), position)


_Change = Callable[[OtherLike], Expression]
_WORDS: Final[Mapping[str, _Change]] = {
    "LIKE": _like,
    "ILIKE": _like,
    "SIMILAR": _similar,
}


def _literal(tree: Expression | None) -> str:
    if not isinstance(tree, StringLiteral):
        position = Position(1, 1) if tree is None else tree.position
        raise refuse(rules.LIKE, position)
    return tree.text


def _read(reader: Callable[[OtherLike], str], tree: OtherLike) -> str:
    try:
        return reader(tree)
    except PatternError as error:
        raise refuse(rules.PATTERN, tree.pattern.position, detail=str(error)) from None
