"""Conditions of other dialects: truth values, NULL-safe equality, rows, ANY and ALL.

Each has the three-valued meaning of what was written (docs/query-language.md). Only
``known_true`` loses something, and only where TRUE alone counts: WHERE, ON, HAVING,
WHEN and FILTER take unknown as false.
"""

from dataclasses import replace

from query_lang.rewriting.texts import check_listed
from query_lang.rewriting.trees import names_in, new_name, output_of, plain_select
from query_lang.syntax import rules
from query_lang.syntax.idioms import (
    IsDistinct,
    IsTruth,
    Quantified,
    QuantifiedList,
    RowIn,
    RowInQuery,
    SymmetricBetween,
)
from query_lang.syntax.nodes import (
    And,
    Between,
    BooleanLiteral,
    Comparison,
    DerivedTable,
    Exists,
    Expression,
    FunctionCall,
    InList,
    InQuery,
    IsNull,
    Name,
    Not,
    NullLiteral,
    NumberLiteral,
    Or,
    Position,
    Select,
    SelectItem,
    Star,
    StringLiteral,
    TypedLiteral,
    UnionAll,
)
from query_lang.syntax.refusals import refuse

_LITERALS = (NumberLiteral, StringLiteral, TypedLiteral, BooleanLiteral)


def known_true(tree: Expression) -> Expression:  # noqa: PLR0911 - an arm a form
    """Return a condition that is TRUE where this one is, in fewer words.

    ``COALESCE(c, FALSE)`` is c where unknown counts as false, and a row that is in the
    rows of a subquery is one that EXISTS.
    """
    match tree:
        case And(items, position):
            return And(tuple(map(known_true, items)), position)
        case Or(items, position):
            return Or(tuple(map(known_true, items)), position)
        case FunctionCall("coalesce", (condition, BooleanLiteral(value=False))):
            return known_true(condition)
        case RowInQuery():
            return _row_exists(tree)
        case InQuery(negated=False):
            return replace(tree, unknown_is_false=True)
        case _:
            return tree


def _truth(value: bool, position: Position) -> BooleanLiteral:  # noqa: FBT001 - what it is of
    return BooleanLiteral(value, position)


def _known(condition: Expression, unknown: Expression) -> FunctionCall:
    """Return a condition that is another one where it is unknown."""
    return FunctionCall("coalesce", (condition, unknown), condition.position)


def _perhaps_not(tree: Expression, *, negated: bool) -> Expression:
    return Not(tree, tree.position) if negated else tree


def is_truth(tree: IsTruth) -> Expression:
    """Rewrite ``c IS [NOT] TRUE | FALSE | UNKNOWN``."""
    position = tree.position
    if tree.truth is None:
        return IsNull(tree.value, tree.negated, position)
    held = _perhaps_not(tree.value, negated=not tree.truth)
    known = _known(held, _truth(value=False, position=position))
    return _perhaps_not(known, negated=tree.negated)


def is_distinct(tree: IsDistinct) -> Expression:
    """Rewrite ``a IS [NOT] DISTINCT FROM b``: equal, or both NULL."""
    left, right, position = tree.left, tree.right, tree.position
    if isinstance(left, (NullLiteral, *_LITERALS)):
        left, right = right, left
    if isinstance(right, NullLiteral):
        return IsNull(left, not tree.negated, position)
    compared = Comparison("=" if tree.negated else "<>", left, right, position)
    if isinstance(right, _LITERALS):
        return _known(compared, _truth(value=not tree.negated, position=position))
    missing = (
        IsNull(left, not tree.negated, position),
        IsNull(right, not tree.negated, position),
    )
    chain = And if tree.negated else Or
    return _known(compared, chain(missing, position))


def symmetric_between(tree: SymmetricBetween) -> Expression:
    """Rewrite ``x BETWEEN SYMMETRIC a AND b``: between them either way round."""
    value, low, high, position = tree.value, tree.low, tree.high, tree.position
    ways = (
        Between(value, low, high, negated=False, position=position),
        Between(value, high, low, negated=False, position=position),
    )
    return _perhaps_not(Or(ways, position), negated=tree.negated)


def row_in(tree: RowIn) -> Expression:
    """Rewrite ``(a, b) IN ((1, 2), ...)``: equal to one row, value by value.

    Raises:
        SqlNotAllowedError: A row is of another length.
    """
    rows: list[Expression] = []
    for row in tree.rows:
        if len(row) != len(tree.values):
            place = row[0].position if row else tree.position
            detail = "a row of the list has another length than the row before IN"
            raise refuse(rules.TUPLE, place, detail=detail)
        equal = tuple(
            Comparison("=", value, item, value.position)
            for value, item in zip(tree.values, row, strict=True)
        )
        rows.append(equal[0] if len(equal) == 1 else And(equal, tree.position))
    found = rows[0] if len(rows) == 1 else Or(tuple(rows), tree.position)
    return _perhaps_not(found, negated=tree.negated)


def _is_of_all(tree: QuantifiedList | Quantified) -> bool:
    """Whether ``<> ALL`` stands there, and not ``= ANY``.

    Raises:
        SqlNotAllowedError: It is another comparison.
    """
    is_all = tree.word == "ALL"
    if tree.operator != ("<>" if is_all else "="):
        raise refuse(rules.ANY_ALL, tree.position, hint=_extreme_of(tree))
    return is_all


def _extreme_of(tree: QuantifiedList | Quantified) -> str | None:
    """Say which end of the values is compared: by ANY the nearer, by ALL the farther.

    ALL holds where there is no value, and is unknown where one is NULL.
    """
    is_all = tree.word == "ALL"
    if tree.operator not in {"<", "<=", ">", ">="}:
        return None
    is_least = tree.operator.startswith(">") is not is_all
    sign = tree.operator
    if isinstance(tree, QuantifiedList):
        name = "LEAST" if is_least else "GREATEST"
        return f"write x {sign} {name}(a, b) where no item is NULL"
    name = "MIN" if is_least else "MAX"
    join, further = "JOIN", ""
    if is_all:
        join = "LEFT JOIN"
        further = (
            " OR m IS NULL: it holds of no rows; a y that is NULL makes it unknown in "
            "SQL"
        )
    return (
        f"x {sign} {tree.word} (SELECT y ...) over rows of the same patient compares "  # noqa: S608 - a hint
        f"with their {name}: {join} (SELECT patient_id, {name}(y) AS m FROM ... GROUP "
        f"BY patient_id) AS t USING (patient_id) WHERE x {sign} m{further}"
    )


def quantified_list(tree: QuantifiedList) -> Expression:
    """Rewrite ``= ANY (a, b)`` and ``<> ALL (a, b)``.

    Raises:
        SqlNotAllowedError: Another comparison stands before ANY or ALL.
    """
    is_all = _is_of_all(tree)
    if not tree.items:
        raise refuse(rules.EMPTY_LIST, tree.position)
    check_listed(tree.items[0], rules.ANY_ALL)
    items = tree.items if not tree.is_text else tuple(map(_text, tree.items))
    return InList(tree.value, items, is_all, tree.position)


def _text(item: Expression) -> Expression:
    """Return what ``'a'::text`` is in a list of texts: no day, as ``'a'`` may be."""
    if not isinstance(item, StringLiteral):
        return item
    return TypedLiteral("text", item.text, item.position)


def quantified(tree: Quantified) -> Expression:
    """Rewrite ``= ANY (SELECT ...)`` and ``<> ALL (SELECT ...)``.

    Raises:
        SqlNotAllowedError: Another comparison stands before ANY or ALL.
    """
    is_all = _is_of_all(tree)
    return InQuery(tree.value, tree.query, is_all, tree.position)


def _row_exists(tree: RowInQuery) -> Expression:
    """Return EXISTS of a row that equals this one.

    The subquery's columns get names that the values before IN do not have: these are
    of the rows around it.
    """
    query, position = _named(tree.query), tree.position
    first = query.parts[0] if isinstance(query, UnionAll) else query
    given = [output_of(item) or "" for item in first.items]
    if tree.negated or len(given) != len(tree.values) or not all(given):
        raise row_refusal(tree)
    taken = set(names_in(tree.values))
    named = [(name, new_name(f"{name}_in", taken)) for name in given]
    items = tuple(
        SelectItem(Name(name, None, position), own, position) for name, own in named
    )
    inner = plain_select(items, DerivedTable(query, "listed", query.position))
    equal = tuple(
        Comparison("=", Name(own, None, position), value, position)
        for (_, own), value in zip(named, tree.values, strict=True)
    )
    where = And(equal, position) if len(equal) > 1 else equal[0]
    star = (SelectItem(Star(position), None, position),)
    found = plain_select(star, DerivedTable(inner, "listed", query.position))
    return Exists(replace(found, where=where), position)


def _named(query: Select | UnionAll) -> Select | UnionAll:
    """Name what a subquery selects without a name: ``MIN(given_on)``.

    Parts of a UNION keep theirs: what differs between them is refused by its name.
    """
    if isinstance(query, UnionAll):
        return query
    taken = set(names_in(query))
    items = tuple(
        item
        if output_of(item) or isinstance(item.expression, Star)
        else replace(item, alias=new_name("listed", taken))
        for item in query.items
    )
    return replace(query, items=items)


def row_refusal(tree: RowInQuery) -> Exception:
    """Return the refusal of a row beside a subquery where it has no safe meaning."""
    return refuse(
        rules.TUPLE,
        tree.position,
        detail="a row is looked up in a subquery by IN without NOT, in WHERE: with NOT "
        "it would be unknown wherever a value is NULL",
        hint="[NOT] EXISTS (SELECT * FROM diagnoses AS d WHERE d.patient_id = "
        "e.patient_id AND d.encounter_id = e.encounter_id); what NOT IN leaves out "
        "where a value is NULL needs its condition: AND (d.code = e.code OR d.code IS "
        "NULL OR e.code IS NULL)",
    )
