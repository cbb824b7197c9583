"""Windows beside GROUP BY below the top: over a table that has the groups."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from query_lang.rewriting.trees import (
    called,
    has_window,
    names_in,
    new_name,
    own_name,
    parts,
    place_of,
    plain_select,
    wording,
)
from query_lang.syntax.nodes import (
    AggregateCall,
    CommonTable,
    CountRows,
    DerivedTable,
    Expression,
    Name,
    NumberLiteral,
    Position,
    Select,
    SelectItem,
    Star,
    UnionAll,
    WindowCall,
)

_Tree = TypeVar("_Tree")


def grouped_below(node: object) -> object:
    """Return a table whose queries have their windows over their groups.

    ``ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY COUNT(*) DESC)`` beside GROUP
    BY patient_id, ward numbers a patient's wards: groups first, then the windows.
    """
    if not isinstance(node, DerivedTable | CommonTable):
        return node
    query = node.query
    if isinstance(query, UnionAll):
        parts_of_it = tuple(map(_over_groups, query.parts))
        return replace(node, query=replace(query, parts=parts_of_it))
    return replace(node, query=_over_groups(query))


def _over_groups(tree: Select) -> Select:
    starred = any(isinstance(item.expression, Star) for item in tree.items)
    plain = [not has_window(item.expression) for item in tree.items]
    keys = [_moved(key, plain) for key in tree.group_by]
    if not keys or all(plain) or tree.kept is not None or starred:
        return tree
    written = tuple(key for key in keys if key is not None)
    if len(written) < len(keys):
        return tree  # refused where it stands
    groups = _Groups(tree)
    items = tuple(groups.item_above(item) for item in tree.items)
    inner = replace(tree, distinct=False, items=tuple(groups.shown), group_by=written)
    outer = plain_select(items, DerivedTable(inner, groups.called, tree.position))
    return replace(outer, distinct=tree.distinct)


def _moved(key: Expression, plain: Sequence[bool]) -> Expression | None:
    """Return a key of GROUP BY where items with windows are left out of the list.

    Args:
        key: An expression, or the place of an item.
        plain: Of each item, whether it stays in the list.

    Returns:
        None where it is the place of no item that stays.
    """
    if not isinstance(key, NumberLiteral):
        return key
    place = place_of(key)
    if not place or place > len(plain) or not plain[place - 1]:
        return None
    return replace(key, text=str(sum(plain[:place])))


class _Groups:
    """The groups of a SELECT: what they are called where windows stand over them.

    All that is no window is computed beside the groups, where its names mean what they
    mean in the text: of tables, and in subqueries. Windows read it by names of its own.

    Attributes:
        called: What the table of the groups is called.
        shown: What the SELECT of the groups has in its list: its own items without
            windows, as they were written, and what windows read.
    """

    def __init__(self, tree: Select) -> None:
        plain = [item for item in tree.items if not has_window(item.expression)]
        self._taken = {*names_in(tree), *map(_output, plain)}
        self._source = "" if tree.joins else called(tree.source)
        self.called = new_name("grouped", self._taken)
        self.shown = plain
        self._known = {
            wording(item.expression, self._source): _output(item)
            for item in reversed(plain)
        }

    def item_above(self, item: SelectItem) -> SelectItem:
        """Return an item of the list over the groups."""
        tree = item.expression
        if has_window(tree):
            return replace(item, expression=self._above(tree))
        name = _output(item)
        return replace(item, expression=self._read(name, tree), alias=name)

    def _read(self, name: str, tree: Expression) -> Name:
        return Name(name, self.called, tree.position)

    def _above(self, part: _Tree) -> _Tree:
        """Return a part that holds a window, or stands in one, over the groups."""
        return cast("_Tree", self._turned(part))

    def _turned(self, part: object) -> object:  # noqa: PLR0911 - an arm a form
        if isinstance(part, tuple):
            return tuple(map(self._turned, part))
        if not is_dataclass(part) or isinstance(part, (type, Position)):
            return part
        if isinstance(part, WindowCall):
            function = cast("AggregateCall", self._inside(part.function))
            part = replace(part, function=function)
            keys, order = self._above(part.partition_by), self._above(part.order_by)
            return replace(part, partition_by=keys, order_by=order)
        if has_window(part) or not isinstance(part, Expression):
            return self._inside(part)
        return self._read(self._column(part), part) if _varies(part) else part

    def _inside(self, part: object) -> object:
        if not is_dataclass(part) or isinstance(part, type):
            return part
        changed = {f.name: self._turned(getattr(part, f.name)) for f in fields(part)}
        return replace(part, **changed)

    def _column(self, part: Expression) -> str:
        """Return the name of what is computed beside the groups."""
        wanted = wording(part, self._source)
        if wanted not in self._known:
            name = part.name if isinstance(part, Name) else None
            if name is None or name in map(_output, self.shown):
                name = new_name(name or "part", self._taken)
            self._known[wanted] = name
            self.shown.append(SelectItem(part, name, part.position))
        return self._known[wanted]


def _output(item: SelectItem) -> str:
    """Return the name of an item; one without is refused among the groups."""
    return item.alias or own_name(item.expression) or ""


def _varies(part: Expression) -> bool:
    """Whether groups may differ in it: literals, as of LAG(x, 1), stay literals."""
    kinds = Name | AggregateCall | CountRows | Select
    return any(isinstance(each, kinds) for each in parts(part))
