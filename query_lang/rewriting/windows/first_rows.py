"""QUALIFY and DISTINCT ON: windows in a derived table, and a condition on them.

So ``= 1`` on a ROW_NUMBER over exactly the unit key bounds a unit's rows, however it
is written (docs/proofs/numbering.md).
"""

from dataclasses import fields, replace
from typing import TypeVar

from query_lang.rewriting.conditions import known_true
from query_lang.rewriting.trees import (
    aggregates,
    called,
    names_in,
    new_name,
    outermost,
    output_of,
    parts,
    place_of,
    plain_select,
)
from query_lang.syntax import rules
from query_lang.syntax.idioms import WrittenSelect
from query_lang.syntax.nodes import (
    AggregateCall,
    Comparison,
    CountRows,
    DerivedTable,
    Exists,
    Expression,
    FunctionCall,
    InQuery,
    Name,
    NumberLiteral,
    Select,
    SelectItem,
    Star,
    WindowCall,
)
from query_lang.syntax.refusals import refuse

Tree = TypeVar("Tree")


def written_select(tree: WrittenSelect) -> Select:
    """Rewrite the clauses of a SELECT that other dialects have; WITH was moved before.

    Raises:
        SqlNotAllowedError: QUALIFY or DISTINCT ON stands beside GROUP BY, or their
            columns have no name.
    """
    own = [getattr(tree, field.name) for field in fields(Select)]
    plain = Select(*own)
    if tree.groups_by_all:
        plain = replace(plain, group_by=_keys(tree))
    if tree.distinct_on:
        _refuse_groups(plain, tree)
        return _first_of_each(plain, tree)
    if tree.qualify is not None and aggregates(plain):
        return replace(plain, kept=tree.qualify)  # if it is what is shown
    if tree.qualify is not None:
        _refuse_groups(plain, tree)
        return _qualified(plain, tree.qualify)
    return plain


def _keys(tree: Select) -> tuple[Expression, ...]:
    """Return what GROUP BY ALL groups by: every item without an aggregate."""
    return tuple(
        item.expression
        for item in tree.items
        if not any(isinstance(part, AggregateCall | CountRows) for part in parts(item))
    )


def _refuse_groups(plain: Select, tree: WrittenSelect) -> None:
    if plain.group_by or plain.having is not None or plain.distinct:
        rule = rules.DISTINCT_ON if tree.distinct_on else rules.QUALIFY
        raise refuse(rule, tree.position)


# -- DISTINCT ON -------------------------------------------------------------


def _first_of_each(plain: Select, tree: WrittenSelect) -> Select:
    """Keep the row that is numbered 1 among those of equal keys."""
    keys = tuple(_meant(key, plain) for key in tree.distinct_on)
    order = tuple(
        replace(item, expression=_meant(item.expression, plain))
        for item in tree.order_by
    )
    leading = [item.expression for item in order[: len(keys)]]
    if order and not all(_among(term, keys) for term in leading):
        raise refuse(
            rules.DISTINCT_ON,
            order[0].position,
            detail="ORDER BY begins with the keys of DISTINCT ON",
            hint="DISTINCT ON (patient_id) ... ORDER BY patient_id, admitted",
        )
    position = tree.distinct_on[0].position
    number = FunctionCall("row_number", (), position)
    window = WindowCall(number, keys, order[len(keys) :], None, position)
    one = NumberLiteral("1", position)
    first = Comparison("=", window, one, position)
    return _qualified(replace(plain, order_by=()), first)


def _meant(tree: Expression, select: Select) -> Expression:
    """Return what a position or an alias stands for."""
    items = select.items
    place = place_of(tree)
    if place is not None:
        if any(isinstance(item.expression, Star) for item in items[:place]):
            raise refuse(
                rules.DISTINCT_ON,
                tree.position,
                detail="a position counts columns, and * stands for several",
                hint="name the column: ORDER BY patient_id, admitted",
            )
        return items[place - 1].expression if 1 <= place <= len(items) else tree
    if isinstance(tree, Name) and tree.qualifier is None:
        named = (item.expression for item in items if item.alias == tree.name)
        return next(named, tree)
    return tree


def _among(term: Expression, keys: tuple[Expression, ...]) -> bool:
    return any(_same(term, key) for key in keys)


def _same(one: Expression, other: Expression) -> bool:
    """Whether two expressions are written alike, wherever they stand."""
    if isinstance(one, Name) and isinstance(other, Name):
        qualifiers = {one.qualifier, other.qualifier} - {None}
        return one.name == other.name and len(qualifiers) < 2  # noqa: PLR2004 - of two
    return one == other


# -- QUALIFY -----------------------------------------------------------------


def _qualified(plain: Select, condition: Expression) -> Select:
    """Return a SELECT whose windows are computed below its condition on them."""
    names = [_output(item, place) for place, item in enumerate(plain.items)]
    if not all(names):
        raise refuse(rules.NAME_NEEDED, plain.position)
    inner = _Inner(plain, dict(zip(names, plain.items, strict=True)))
    above = inner.above(condition)
    if any(isinstance(part, Exists | InQuery) for part in parts(above)):
        raise refuse(rules.SUBQUERY_PLACE, condition.position)
    items = tuple(
        SelectItem(Name(name, None, item.position), None, item.position)
        for name, item in zip(names, plain.items, strict=True)
    )
    if _has_star(plain):  # of the one below, which is of all that stands beside it too
        without = tuple(inner.added())
        star = Star(plain.position, None, without)
        items = (SelectItem(star, None, plain.position),)
    given = replace(
        plain,
        items=tuple(inner.items()),
        aliases=(*plain.aliases, *inner.aliases),
    )
    outer = plain_select(items, DerivedTable(given, "numbered", plain.position))
    return replace(outer, where=known_true(above))


class _Inner:
    """The SELECT below: what it shows, and what the condition above it needs more."""

    def __init__(self, plain: Select, shown: dict[str, SelectItem]) -> None:
        self._taken = set(names_in(plain)) | shown.keys()
        self._shown = shown
        self._has_star = _has_star(plain)
        sources = (plain.source, *(join.source for join in plain.joins))
        self._tables = {called(source) for source in sources}
        self._more: dict[Expression, str] = {}
        self.aliases: list[Name] = []  # that the condition names, outside of windows

    def above(self, tree: Tree) -> Tree:
        """Return a condition whose windows and columns have the names from below."""
        return outermost(tree, (WindowCall, Name), self._above)

    def _above(self, node: object) -> object:
        if isinstance(node, WindowCall):
            return Name(self._name(node, "window"), None, node.position)
        return self._column(node) if isinstance(node, Name) else node

    def _column(self, node: Name) -> Name:
        shown = self._shown
        if node.qualifier is None and node.name in shown:
            if not self._means(shown[node.name], node):
                self.aliases.append(node)
            return node
        if node.qualifier is not None and node.qualifier not in self._tables:
            return node  # of a query around, or of none
        if self._has_star and len(self._tables) == 1 and not self._left_out(node.name):
            return replace(node, qualifier=None)  # it is among those of the *
        same = (name for name, item in shown.items() if self._means(item, node))
        name = next(same, None) or self._name(node, node.name)
        return Name(name, None, node.position)

    def _left_out(self, name: str) -> bool:
        trees = [item.expression for item in self._shown.values()]
        return any(isinstance(tree, Star) and name in tree.without for tree in trees)

    def _means(self, item: SelectItem, node: Name) -> bool:
        """Whether an item is a column; of one table age and e.age are the same."""
        if len(self._tables) == 1 and _same(item.expression, node):
            return True
        return item.expression == replace(node, position=item.expression.position)

    def _name(self, tree: Expression, stem: str) -> str:
        if tree not in self._more:
            name = new_name(stem, self._taken)
            # Behind a * there may be any name that can be written: this one cannot.
            self._more[tree] = f"{name} of QUALIFY" if self._has_star else name
        return self._more[tree]

    def added(self) -> list[str]:
        """Return the names of what the condition needs more."""
        return [*self._more.values()]

    def items(self) -> list[SelectItem]:
        """Return the items of the SELECT below."""
        more = [SelectItem(t, name, t.position) for t, name in self._more.items()]
        own = [
            item if isinstance(item.expression, Star) else replace(item, alias=name)
            for name, item in self._shown.items()
        ]
        return [*own, *more]


def _has_star(plain: Select) -> bool:
    return any(isinstance(item.expression, Star) for item in plain.items)


def _output(item: SelectItem, place: int) -> str:
    if isinstance(item.expression, Star) and item.alias is None:
        return f"{place}.*"  # no name: it keeps those of its columns
    return output_of(item) or ""
