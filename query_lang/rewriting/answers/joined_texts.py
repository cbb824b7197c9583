"""STRING_AGG of a few values that WHERE names: which of them a group has."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from query_lang.rewriting.trees import conjuncts, outermost, parts, wording
from query_lang.syntax import rules
from query_lang.syntax.functions import instead_of
from query_lang.syntax.idioms import JoinedTexts, NamedWindow
from query_lang.syntax.nodes import (
    AggregateCall,
    And,
    Case,
    CaseBranch,
    Comparison,
    Expression,
    InList,
    Not,
    Select,
    StringLiteral,
    WindowCall,
)
from query_lang.syntax.refusals import refuse

MOST_VALUES: Final = 5
"""Values that are joined: each set of them is a text, and a cell where it is a key."""


def with_flags(select: Select) -> Select:
    """Return a SELECT whose STRING_AGG is CASE over which values its rows have.

    Raises:
        SqlNotAllowedError: WHERE does not name a few values, or the order is another.
    """
    found = [p for p in parts(select.items, (Select,)) if isinstance(p, JoinedTexts)]
    if not found:
        return select
    for part in parts(select.items, (Select,)):
        if isinstance(part, WindowCall | NamedWindow):
            _check_window(part)

    def written(node: JoinedTexts) -> Expression:
        return _case(node, _values(node, select.where))

    items = outermost(select.items, (JoinedTexts,), written)
    return replace(select, items=items)


def _check_window(tree: WindowCall | NamedWindow) -> None:
    """Refuse STRING_AGG over a window: which values a group has is said of groups.

    Raises:
        SqlNotAllowedError: Rule ``aggregate``.
    """
    if isinstance(tree.function, JoinedTexts):
        detail = "STRING_AGG(DISTINCT x, ...) is an aggregate of groups, not a window"
        hint = (
            "GROUP BY patient_id in a derived table, and join that to the rows: "
            "(SELECT patient_id, STRING_AGG(DISTINCT drug, '+') AS drugs FROM "
            "prescriptions WHERE drug IN ('a', 'b') GROUP BY patient_id) AS d"
        )
        raise refuse(rules.AGGREGATE, tree.position, detail=detail, hint=hint)


def _values(tree: JoinedTexts, where: Expression | None) -> list[str]:
    """Return the values that WHERE leaves, in order."""
    wanted = wording(tree.value, "")
    for each in conjuncts(where):
        items: Sequence[Expression] = ()
        if isinstance(each, InList) and not each.negated:
            items = each.items if wording(each.value, "") == wanted else ()
        elif isinstance(each, Comparison) and each.operator == "=":
            items = (each.right,) if wording(each.left, "") == wanted else ()
        texts = {item.text for item in items if isinstance(item, StringLiteral)}
        if items and len(texts) == len(items) and len(texts) <= MOST_VALUES:
            return sorted(texts)
    raise refused(tree)


def refused(tree: JoinedTexts) -> Exception:
    """Return the refusal of STRING_AGG where nothing says what it may join."""
    detail = (
        f"it joins at most {MOST_VALUES} values that WHERE names: drug IN ('a', 'b')"
    )
    hint = instead_of("STRING_AGG")[1]
    return refuse(rules.AGGREGATE, tree.position, detail=detail, hint=hint)


def _case(tree: JoinedTexts, values: Sequence[str]) -> Expression:
    place, separator = tree.position, tree.separator
    if not isinstance(separator, StringLiteral) or len(tree.order_by) > 1:
        raise refused(tree)
    is_turned = False
    for item in tree.order_by:
        if wording(item.expression, "") != wording(tree.value, ""):
            raise refused(tree)
        is_turned = item.descending
    shown = list(reversed(values)) if is_turned else list(values)
    has = [
        AggregateCall(
            "bool_or",
            False,  # noqa: FBT003 - fields in their order
            (Comparison("=", tree.value, StringLiteral(value, place), place),),
            (),
            place,
        )
        for value in shown
    ]
    branches: list[CaseBranch] = []
    for held in product((True, False), repeat=len(shown)):
        texts = [value for value, own in zip(shown, held, strict=True) if own]
        said = tuple(
            each if own else Not(each, place)
            for each, own in zip(has, held, strict=True)
        )
        text = StringLiteral(separator.text.join(texts), place)
        condition = said[0] if len(said) == 1 else And(said, place)
        branches.append(CaseBranch(condition, text))
    *some, last = branches[:-1]  # a group has a row, and WHERE leaves no other value
    if not some:
        return last.result
    return Case(None, tuple(some), last.result, place)
