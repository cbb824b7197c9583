"""Windows beside GROUP BY below the top: over a table that has the groups."""

from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from query_lang.rewriting.trees import (
    has_window,
    names_in,
    new_name,
    plain_select,
    wording,
)
from query_lang.syntax.nodes import (
    AggregateCall,
    CommonTable,
    CountRows,
    DerivedTable,
    Expression,
    FunctionCall,
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
    if not tree.group_by or tree.kept is not None or starred:
        return tree
    windowed = tuple(
        item.expression for item in tree.items if has_window(item.expression)
    )
    if not windowed or _renamed(tree) & set(names_in(windowed)):
        return tree
    groups = _Groups(tree)
    items = tuple(groups.above_item(item) for item in tree.items)
    inner = replace(
        tree, distinct=False, items=tuple(groups.shown), group_by=groups.keys
    )
    outer = plain_select(items, DerivedTable(inner, "grouped", tree.position))
    return replace(outer, distinct=tree.distinct)


def _renamed(tree: Select) -> set[str | None]:
    """Return the names of items that may be other columns' names, too."""
    return {
        item.alias
        for item in tree.items
        if not (
            isinstance(item.expression, Name) and item.expression.name == item.alias
        )
    } - {None}


class _Groups:
    """The groups of a SELECT: what they are called where windows stand over them.

    Attributes:
        keys: Of GROUP BY; what stood there as a position is written out.
        shown: What the SELECT of the groups has in its list: all that is no window, and
            what windows read.
    """

    def __init__(self, tree: Select) -> None:
        self._taken = {*names_in(tree)}
        self._taken |= {item.alias for item in tree.items if item.alias}
        self.shown: list[SelectItem] = []
        self._known: dict[object, str] = {}
        self.keys = tuple(_placed(key, tree) for key in tree.group_by)
        for item in tree.items:
            if not has_window(item.expression):
                self._named(item.expression, item.alias)
        for key in self.keys:
            if not self._is_shown(key):
                self._named(key, None)

    def _named(self, tree: Expression, alias: str | None) -> str:
        own = tree.name if isinstance(tree, Name) else None
        name = alias or own or new_name("part", self._taken)
        self.shown.append(SelectItem(tree, name, tree.position))
        return self._known.setdefault(wording(tree, ""), name)

    def _is_shown(self, key: Expression) -> bool:
        """Whether the list has a key, or an item that the key names."""
        if not isinstance(key, Name):
            return wording(key, "") in self._known
        aliases = {item.alias for item in self.shown}
        return key.name in aliases or any(
            _same(item.expression, key) for item in self.shown
        )

    def above_item(self, item: SelectItem) -> SelectItem:
        """Return an item of the list over the groups."""
        own = item.expression.name if isinstance(item.expression, Name) else None
        alias = item.alias or own
        return replace(item, expression=self._above(item.expression), alias=alias)

    def _above(self, part: _Tree) -> _Tree:
        """Return a part over the groups, by the names of what they have."""
        return cast("_Tree", self._turned(part))

    def _turned(self, part: object) -> object:  # noqa: PLR0911 - an arm a form
        if isinstance(part, tuple):
            return tuple(map(self._turned, part))
        if not is_dataclass(part) or isinstance(part, (type, Position)):
            return part
        if isinstance(part, WindowCall):
            return self._window(part)
        known = self._called(part)
        if known is not None:
            return Name(known, None, cast("Expression", part).position)
        return self._inside(part)

    def _window(self, part: WindowCall) -> WindowCall:
        """Return a window whose own function is of no group."""
        function = part.function
        if not isinstance(function, CountRows):
            function = cast("FunctionCall", self._inside(function))
        keys, order = self._above(part.partition_by), self._above(part.order_by)
        return replace(part, function=function, partition_by=keys, order_by=order)

    def _called(self, part: object) -> str | None:
        """Return the name of what a group has; aggregates get one."""
        known = self._known.get(wording(part, ""))
        if known is None and isinstance(part, AggregateCall | CountRows):
            return self._named(part, None)
        if known is None and isinstance(part, Name):
            return next(filter(None, (_same(key, part) for key in self.keys)), None)
        return known

    def _inside(self, part: object) -> object:
        if not is_dataclass(part) or isinstance(part, type):
            return part
        changed = {
            field.name: self._turned(getattr(part, field.name))
            for field in fields(part)
        }
        return replace(part, **changed)


def _same(key: Expression, name: Name) -> str | None:
    """Return the name of a key that a name means, with a table in front or not."""
    if not isinstance(key, Name) or key.name != name.name:
        return None
    different = {key.qualifier, name.qualifier} - {None}
    return key.name if len(different) < 2 else None  # noqa: PLR2004 - of two tables


def _placed(key: Expression, tree: Select) -> Expression:
    """Return what a position counts."""
    if not isinstance(key, NumberLiteral) or not key.text.isdecimal():
        return key
    place = int(key.text) if len(key.text) < 4 else 0  # noqa: PLR2004 - more digits than items
    if not 1 <= place <= len(tree.items):
        return key
    return tree.items[place - 1].expression
