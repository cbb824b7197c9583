"""UNION ALL of answers at the top: one answer, whose rows a column tells apart.

``SELECT 'all' AS step, COUNT(DISTINCT patient_id) FROM stays UNION ALL SELECT 'died',
COUNT(DISTINCT patient_id) FROM deaths`` counts over the rows of both tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from query_lang.rewriting.answers.arguments import (
    Arguments,
    evened,
    is_plain,
    keeps_first,
    of_units,
    rows_as,
)
from query_lang.rewriting.trees import (
    is_aggregate,
    new_name,
    own_name,
    parts,
    plain_select,
    wording,
)
from query_lang.syntax import rules
from query_lang.syntax.idioms import SetOperation, UnionAnswer, WrittenUnion
from query_lang.syntax.nodes import (
    AggregateCall,
    BooleanLiteral,
    CommonTable,
    DerivedTable,
    Expression,
    Name,
    NumberLiteral,
    Query,
    Select,
    SelectItem,
    StringLiteral,
    TypedLiteral,
    UnionAll,
)
from query_lang.syntax.refusals import refuse

_WITH = (WrittenUnion, SetOperation)
LITERALS: Final = (NumberLiteral, StringLiteral, TypedLiteral, BooleanLiteral)


def as_one_union(tree: Query) -> Query:
    """Return UNION at the top as UNION ALL: rows that a literal tells apart differ.

    Raises:
        SqlNotAllowedError: It is INTERSECT or EXCEPT.
    """
    select = tree.select
    if not isinstance(select, UnionAnswer):
        return tree
    query = select.source.query if isinstance(select.source, DerivedTable) else None
    if not isinstance(query, UnionAll):
        raise _refused(select)
    tables = query.common_tables if isinstance(query, _WITH) else ()
    union = UnionAll(_parts(query, select, tables), query.position)
    source = DerivedTable(union, "", query.position)
    return replace(
        tree,
        common_tables=(*tree.common_tables, *tables),
        select=replace(select, source=source),
    )


def _parts(
    query: Select | UnionAll, tree: UnionAnswer, tables: tuple[CommonTable, ...] = ()
) -> tuple[Select, ...]:
    if isinstance(query, Select):
        return (query,)
    if isinstance(query, _WITH) and query.common_tables != tables:
        raise _refused(tree)  # a WITH of one side alone
    if not isinstance(query, SetOperation):
        return query.parts
    if query.word != "UNION" or query.sides is None:
        raise _refused(tree)
    return tuple(part for side in query.sides for part in _parts(side, tree))


def stacked(tree: UnionAnswer, tables: Sequence[CommonTable]) -> Select:
    """Return a UNION ALL of answers as one SELECT.

    Raises:
        SqlNotAllowedError: Its parts aggregate otherwise, or no literal tells two of
            them apart.
    """
    query = tree.source.query if isinstance(tree.source, DerivedTable) else None
    if not isinstance(query, UnionAll):
        raise _refused(tree)
    units: tuple[int, ...] = ()
    known = _alike([of_units(part, tables) for part in query.parts])
    if not known:  # COUNT(*) of patients beside COUNT(*) of those who have something
        known = _alike(query.parts)
    if not known:  # beside COUNT(DISTINCT patient_id)
        counted, units = _with_units([of_units(part, tables) for part in query.parts])
        known = _alike(counted)
    if not known:
        raise _refused(tree)
    sources = [answer.select for answer in known]
    if not evened([answer.arguments for answer in known], sources):
        raise _refused(tree)
    names = _names(known[0])
    read = UnionAll(tuple(answer.part(names) for answer in known), query.position)
    source = DerivedTable(read, new_name("answers", set(names)), tree.position)
    items = tuple(
        SelectItem(
            item if label is None else Name(name, None, item.position),
            name,
            item.position,
        )
        for name, item, label in zip(
            names, known[0].computed, known[0].labels, strict=True
        )
    )
    keys = tuple(
        Name(name, None, tree.position)
        for name, label in zip(names, known[0].labels, strict=True)
        if label is not None
    )
    select = plain_select(items, source)
    return replace(
        select,
        group_by=keys,
        order_by=tree.order_by,
        limit=tree.limit,
        position=query.parts[0].position,
        stacks=True,
        units=units,
    )


def _with_units(selects: Sequence[Select]) -> tuple[Sequence[Select], tuple[int, ...]]:
    """Count rows of some parts as different values of what another counts.

    Returns the parts, and which of them were changed: each has to have one row a unit,
    and what is counted to be the unit key, which binding looks at.
    """
    found = {
        part.arguments[0].name
        for part in parts(tuple(select.items for select in selects))
        if isinstance(part, AggregateCall) and part.name == "count" and part.distinct
        if len(part.arguments) == 1 and isinstance(part.arguments[0], Name)
    }
    if len(found) != 1:
        return selects, ()
    (name,) = found
    changed = [
        rows_as(name, select) if keeps_first(select) else select for select in selects
    ]
    pairs = enumerate(zip(selects, changed, strict=True))
    return changed, tuple(at for at, (one, other) in pairs if one.items != other.items)


def _alike(selects: Sequence[Select]) -> list["_Answer"]:
    """Return what each part answers, where they fit together; else nothing."""
    answers = [_Answer.of(part) for part in selects]
    known = [answer for answer in answers if answer is not None]
    return known if len(known) == len(answers) and _fit(known) else []


def _refused(tree: UnionAnswer) -> Exception:
    return refuse(rules.SET_OPERATION, tree.place or tree.position)


@dataclass(frozen=True, slots=True)
class _Answer:
    """One part of the UNION ALL.

    Attributes:
        select: As written.
        labels: Of each column what it is, where it is no aggregate: a literal or a key.
        computed: Of each column what it is over the arguments' names.
        arguments: What its aggregates take.
    """

    select: Select
    labels: tuple[Expression | None, ...]
    computed: tuple[Expression, ...]
    arguments: Arguments

    @classmethod
    def of(cls, select: Select) -> "_Answer | None":
        """Return what a SELECT answers; None where it is none, or chooses groups."""
        shown = [item.expression for item in select.items]
        counted = [is_aggregate(tree) for tree in shown]
        if not is_plain(select) or not any(counted) or not _are_keys(select, counted):
            return None
        arguments = Arguments("value")
        pairs = list(zip(shown, counted, strict=True))
        computed = tuple(arguments.over(tree) if own else tree for tree, own in pairs)
        labels = tuple(None if own else tree for tree, own in pairs)
        return cls(select, labels, computed, arguments)

    def part(self, names: Sequence[str]) -> Select:
        """Return the rows that it is of, with what tells them apart."""
        own = [
            SelectItem(label, name, label.position)
            for name, label in zip(names, self.labels, strict=True)
            if label is not None
        ]
        items = (*own, *self.arguments.items())
        return replace(self.select, items=items, group_by=())


def _are_keys(select: Select, counted: Sequence[bool]) -> bool:
    """Whether what is no aggregate is a literal or a key, and every key is selected."""
    labels = {
        wording(item.expression, "")
        for item, own in zip(select.items, counted, strict=True)
        if not own and not isinstance(item.expression, LITERALS)
    }
    titles = {item.alias: item.expression for item in select.items}
    keys: set[object] = set()
    for key in select.group_by:
        meant: Expression = key
        if isinstance(key, NumberLiteral):
            place = int(key.text) if key.text.isdecimal() and len(key.text) < 4 else 0  # noqa: PLR2004 - digits of a place
            if not 1 <= place <= len(select.items):
                return False
            meant = select.items[place - 1].expression
        elif isinstance(key, Name) and key.qualifier is None:
            meant = titles.get(key.name, key)
        if not isinstance(meant, LITERALS):
            keys.add(wording(meant, ""))
    return keys == labels


def _fit(answers: Sequence[_Answer]) -> bool:
    """Whether all have the same aggregates in their places, and differ in a label."""
    if len(answers) < 2:  # noqa: PLR2004 - one is stacked on nothing
        return False
    first = answers[0]
    forms = [
        tuple(
            None if label is not None else wording(tree, "")
            for label, tree in zip(each.labels, each.computed, strict=True)
        )
        for each in answers
    ]
    if any(form != forms[0] for form in forms):
        return False
    has_labels = any(label is not None for label in first.labels)
    return has_labels and all(
        map(_differ, *zip(*combinations(answers, 2), strict=True))
    )


def _differ(one: _Answer, other: _Answer) -> bool:
    """Whether a column is a literal of one and not the same literal of the other."""
    for left, right in zip(one.labels, other.labels, strict=True):
        literals = [isinstance(each, LITERALS) for each in (left, right)]
        if left is None or right is None or not any(literals):
            continue
        if not all(literals) or wording(left, "") != wording(right, ""):
            return True
    return False


def _names(answer: _Answer) -> tuple[str, ...]:
    names: list[str] = []
    used = set(answer.arguments.taken)
    for place, item in enumerate(answer.select.items, start=1):
        name = item.alias or own_name(item.expression) or f"column{place}"
        names.append(new_name(name, used))
    return tuple(names)
