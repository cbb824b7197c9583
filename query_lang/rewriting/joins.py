"""Joins of other kinds: RIGHT turned round, commas and CROSS JOIN tied by WHERE."""

from collections.abc import Sequence
from dataclasses import replace

from query_lang.rewriting.trees import all_of, called, conjuncts, parts
from query_lang.syntax import rules
from query_lang.syntax.idioms import FirstRowJoin, WrittenJoin
from query_lang.syntax.nodes import (
    BooleanLiteral,
    Comparison,
    Expression,
    Join,
    Name,
    NumberLiteral,
    Query,
    Select,
    Star,
)
from query_lang.syntax.refusals import refuse


def plain_joins(tree: Select) -> Select:
    """Return a SELECT whose joins are INNER and LEFT ones, with ON or USING.

    Raises:
        SqlNotAllowedError: A RIGHT JOIN comes after another join, or no equality of
            WHERE ties a table that stands after a comma or CROSS JOIN.
    """
    if not any(isinstance(join, WrittenJoin) for join in tree.joins):
        return tree
    tree = _turned(tree)
    rest = conjuncts(tree.where)
    known, joins = {called(tree.source)}, []
    for join in tree.joins:
        name = called(join.source)
        if isinstance(join, WrittenJoin):
            ties = [part for part in rest if _ties(part, name, known)]
            rest = [part for part in rest if part not in ties]
            joins.append(_tied(join, ties))
        else:
            joins.append(join)
        known.add(name)
    return replace(tree, joins=tuple(joins), where=all_of(rest))


def check_natural_joins(tree: Query) -> None:
    """Refuse NATURAL JOIN beside tables of FROM that rewriting may take out of it.

    Its names are those of all tables before it, which binding knows: none may be gone
    by then, and after a comma SQL means the last one alone.

    Raises:
        SqlNotAllowedError: Rule ``natural_join``.
    """
    for select in parts(tree):
        joins = select.joins if isinstance(select, Select) else ()
        natural = [join for join in joins if join.is_natural]
        others = [join for join in joins if not join.is_natural]
        if natural and any(type(o) is not Join or ties_all(o) for o in others):
            raise refuse(rules.NATURAL_JOIN, natural[0].position)


def first_row_join(tree: FirstRowJoin) -> Join:
    """Return LATERAL or APPLY as a join with a first row, whose ON says nothing.

    Raises:
        SqlNotAllowedError: ON says something.
    """
    if not ties_all(tree):
        raise refuse(rules.LATERAL_JOIN, tree.position)
    return Join(tree.kind, tree.source, None, (), tree.position, is_of_first=True)


def ties_all(tree: Join) -> bool:
    """Whether a join says TRUE, 1 = 1, or nothing."""
    if tree.using or tree.is_natural:
        return False
    match tree.condition:
        case None | BooleanLiteral(True):
            return True
        case Comparison("=", NumberLiteral(one), NumberLiteral(other)):
            return one == other
        case _:
            return False


def _turned(tree: Select) -> Select:
    """Turn ``a RIGHT JOIN b`` into ``b LEFT JOIN a``."""
    for place, join in enumerate(tree.joins):
        if not isinstance(join, WrittenJoin) or join.word != "RIGHT":
            continue
        if place:
            raise refuse(rules.RIGHT_JOIN, join.position)
        stars = [
            item
            for item in tree.items
            if isinstance(item.expression, Star) and item.expression.qualifier is None
        ]
        if stars:
            raise refuse(
                rules.RIGHT_JOIN,
                stars[0].position,
                detail="* beside RIGHT JOIN would list the columns in another order",
                hint=f"{called(join.source)}.*, or write the join as LEFT JOIN",
            )
        left = Join("left", tree.source, join.condition, join.using, join.position)
        joins = (left, *tree.joins[1:])
        return replace(tree, source=join.source, joins=joins)
    return tree


def _ties(part: Expression, name: str, known: set[str]) -> bool:
    """Whether a condition equates a column of a table with one of those before it."""
    if not isinstance(part, Comparison) or part.operator != "=":
        return False
    sides = (part.left, part.right)
    tables = [side.qualifier for side in sides if isinstance(side, Name)]
    return len(tables) == len(sides) and name in tables and bool(known & {*tables})


def _tied(join: WrittenJoin, ties: Sequence[Expression]) -> Join:
    condition = all_of(ties)
    if condition is None:
        rule = rules.COMMA_JOIN if join.word == "," else rules.CROSS_JOIN
        raise refuse(rule, join.position)
    return Join("inner", join.source, condition, (), join.position)
