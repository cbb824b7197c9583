"""Trees rebuilt from below, and how large they become."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar, cast

from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    AggregateCall,
    And,
    Arithmetic,
    Case,
    Cast,
    CountRows,
    DerivedTable,
    Expression,
    Extract,
    FunctionCall,
    IsNull,
    Name,
    Negative,
    Not,
    NumberLiteral,
    Or,
    Position,
    Select,
    SelectItem,
    StringLiteral,
    TableName,
    WindowCall,
)
from query_lang.syntax.refusals import refuse

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MOST_NODES: Final = 10_000
"""Nodes of a tree, each counted as often as it is repeated. A text of 2,000 tokens has
fewer than 4,000 unless operands are repeated within what is repeated."""

CHARACTERS_PER_NODE: Final = 64
"""Of a text in quotes, which is repeated with its node."""

_Tree = TypeVar("_Tree")


def mapped(tree: _Tree, change: Callable[[object], object]) -> _Tree:
    """Return a tree in which ``change`` was applied to every node, from below.

    A node gets its children as they were changed; what changes nothing stays the same
    object.
    """
    return cast("_Tree", _mapped(tree, change))


def _mapped(value: object, change: Callable[[object], object]) -> object:
    if isinstance(value, tuple):
        items = tuple([_mapped(item, change) for item in value])
        same = all(one is other for one, other in zip(items, value, strict=True))
        return value if same else items
    kind: type = type(value)
    names = _field_names(kind)
    if names is None:
        return value
    changed: dict[str, object] = {}
    for name in names:
        before = getattr(value, name)
        after = _mapped(before, change)
        if after is not before:
            changed[name] = after
    node = cast("DataclassInstance", value)
    return change(replace(node, **changed) if changed else value)


def outermost(
    tree: _Tree, kinds: tuple[type, ...], change: Callable[..., object]
) -> _Tree:
    """Return a tree in which parts of some kinds were changed, none within another."""
    return cast("_Tree", _outermost(tree, kinds, change))


def _outermost(
    part: object, kinds: tuple[type, ...], change: Callable[..., object]
) -> object:
    if isinstance(part, tuple):
        return tuple([_outermost(each, kinds, change) for each in part])
    if isinstance(part, kinds):
        return change(part)
    kind: type = type(part)
    names = _field_names(kind)
    if names is None:
        return part
    made = {name: _outermost(getattr(part, name), kinds, change) for name in names}
    return replace(cast("DataclassInstance", part), **made)


def with_fields(
    tree: _Tree, change: Callable[[object], object], apart: AbstractSet[str]
) -> _Tree:
    """Return a node of which each field was changed, but those that stay apart."""
    return cast("_Tree", _with_fields(tree, change, apart))


def _with_fields(
    part: object, change: Callable[[object], object], apart: AbstractSet[str]
) -> object:
    if not is_dataclass(part) or isinstance(part, type):
        return part
    names = [f.name for f in fields(part) if f.name not in apart]
    return replace(part, **{name: change(getattr(part, name)) for name in names})


def conjuncts(tree: Expression | None) -> list[Expression]:
    """Return the top-level conjuncts of a condition; of none there are none.

    Those that stand under NOT as well: NOT NOT, NOT of OR and NOT IS NULL mean what
    they return here, where NULL is met too.
    """
    if tree is None:
        return []
    if isinstance(tree, And):
        return [part for item in tree.items for part in conjuncts(item)]
    if isinstance(tree, Not):
        return _denied(tree)
    return [tree]


def _denied(tree: Not) -> list[Expression]:
    inner = tree.item
    if isinstance(inner, Not):
        return conjuncts(inner.item)
    if isinstance(inner, Or):
        return [
            part for item in inner.items for part in _denied(Not(item, tree.position))
        ]
    if isinstance(inner, IsNull):
        return [replace(inner, negated=not inner.negated)]
    return [tree]


def all_of(conditions: Sequence[Expression]) -> Expression | None:
    """Return what holds where all of these do; None where there is nothing."""
    if len(conditions) > 1:
        return And(tuple(conditions), conditions[0].position)
    return conditions[0] if conditions else None


def called(source: TableName | DerivedTable) -> str:
    """Return what FROM calls one of its items."""
    if isinstance(source, DerivedTable):
        return source.alias
    return source.alias or source.name


def parts(tree: object, closed: tuple[type, ...] = ()) -> Iterator[object]:
    """Yield every node of a tree, itself first; none within those of a closed type."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        kind: type = type(part)
        if isinstance(part, tuple):
            waiting.extend(reversed(part))
        elif (names := _field_names(kind)) is not None:
            yield part
            if not isinstance(part, closed):
                waiting.extend([getattr(part, name) for name in reversed(names)])


@cache  # of as many types as trees have
def _field_names(kind: type) -> tuple[str, ...] | None:
    if not is_dataclass(kind) or kind is Position:
        return None
    return tuple(field.name for field in fields(kind))


def has_window(tree: object) -> bool:
    """Whether a window stands in a part of a SELECT, its subqueries left out."""
    return any(isinstance(part, WindowCall) for part in parts(tree, (Select,)))


def wording(part: object, called: str) -> Hashable:
    """Return what is written, wherever it stands; without a table in front of names.

    But in subqueries, where a name alone may be of their own tables.
    """
    if isinstance(part, Select):
        called = ""
    if isinstance(part, tuple):
        return tuple(wording(each, called) for each in part)
    if isinstance(part, Name) and part.qualifier == called:
        return Name, part.name, None
    if not is_dataclass(part) or isinstance(part, type):
        return part
    shown = (getattr(part, field.name) for field in fields(part))
    kept = (wording(s, called) for s in shown if not isinstance(s, Position))
    return type(part), *kept


class Sizes:
    """Counts nodes of trees; one that stands in two places counts twice."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, object]] = {}

    def check(self, tree: object, position: Position) -> None:
        """Refuse a tree that repeats operands within operands that are repeated.

        Raises:
            SqlNotAllowedError: Rule ``too_complex``.
        """
        if self._nodes(tree) > MOST_NODES:
            raise refuse(rules.TOO_COMPLEX, position)

    def _nodes(self, value: object) -> int:
        if isinstance(value, tuple):
            return sum(map(self._nodes, value))
        kind: type = type(value)
        names = _field_names(kind)
        if names is None:
            return 0
        found = self._known.get(id(value))
        if found is None:
            nodes = 1 + sum([self._nodes(getattr(value, name)) for name in names])
            if isinstance(value, StringLiteral):
                nodes += len(value.text) // CHARACTERS_PER_NODE
            if isinstance(value, FunctionCall) and value.name == "nullif":
                nodes += self._nodes(value.arguments[0])  # binding repeats it
            found = nodes, value  # kept, or another could have its id
            self._known[id(value)] = found
        return found[0]


def names_in(tree: object) -> frozenset[str]:
    """Return every name that a tree holds: of tables, columns, aliases."""
    found: set[str] = set()
    for part in parts(tree):
        for attribute in ("name", "alias", "qualifier"):
            name = getattr(part, attribute, None)
            if isinstance(name, str):
                found.add(name)
    return frozenset(found)


def aggregates(select: Select) -> bool:
    """Whether a SELECT has GROUP BY, or an aggregate in its list."""
    items = tuple(item.expression for item in select.items)
    return bool(select.group_by) or any(map(is_aggregate, items))


def is_aggregate(tree: Expression) -> bool:
    """Whether an expression holds an aggregate that is no window's."""
    windows = {id(p.function) for p in parts(tree) if isinstance(p, WindowCall)}
    return any(
        isinstance(part, AggregateCall | CountRows) and id(part) not in windows
        for part in parts(tree)
    )


def output_of(item: SelectItem) -> str | None:
    """Return the name that an item of a SELECT list is called by, if it has one."""
    named = item.expression.name if isinstance(item.expression, Name) else None
    return item.alias or named


def selected(tree: Expression, shown: Mapping[str, Expression]) -> Expression | None:
    """Return what a name alone in ORDER BY is if it is selected: first of all that."""
    if isinstance(tree, Name) and tree.qualifier is None:
        return shown.get(tree.name)
    return None


def own_name(tree: Expression) -> str | None:  # noqa: PLR0911 - a table of forms
    """Return what an output without an alias is called: a column, or the function."""
    match tree:
        case Name(name) | AggregateCall(name) | FunctionCall(name):
            return name
        case CountRows():
            return "count"
        case WindowCall(function):
            return own_name(function)
        case Case():
            return "case"
        case Extract():
            return "extract"
        case Cast():
            return "cast"
        case Arithmetic() | Negative():
            return "computed"
        case _:
            return None


def place_of(tree: Expression) -> int | None:
    """Return which item of a SELECT list a number counts, from 1; None if it is none.

    One with more digits than any list has items counts none: 0.
    """
    if not isinstance(tree, NumberLiteral) or not tree.text.isdecimal():
        return None
    return int(tree.text) if len(tree.text) < 5 else 0  # noqa: PLR2004 - digits


def new_name(stem: str, taken: set[str]) -> str:
    """Return a name that is not taken, and take it.

    >>> new_name("first", {"first", "first_2"})
    'first_3'
    """
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    taken.add(name)
    return name


def plain_select(
    items: tuple[SelectItem, ...], source: TableName | DerivedTable
) -> Select:
    """Return ``SELECT items FROM source``, placed where the source stands."""
    position = source.position
    return Select(False, items, source, (), None, (), None, (), None, position)  # noqa: FBT003 - fields in their order
