"""WITH below the top: its tables come to the front, under names of their own."""

from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TypeVar, cast

from query_lang.rewriting.trees import names_in, new_name
from query_lang.syntax.idioms import SetOperation, WrittenSelect, WrittenUnion
from query_lang.syntax.nodes import CommonTable, Position, Query, TableName

_Names = dict[str, str]
_Tree = TypeVar("_Tree")
_WITH = (WrittenSelect, WrittenUnion, SetOperation)


def with_tables_in_front(tree: Query) -> Query:
    """Return a query whose only WITH stands at its beginning.

    A table of an inner WITH is seen by what follows in that WITH and by its query, as
    it was written: it gets a name that nothing else has, and keeps its own as an alias.
    """
    if not any(_has_with(part) for part in _all(tree)):
        return tree
    mover = _Mover(set(names_in(tree)))
    for table in tree.common_tables:
        moved = replace(table, query=mover.moved(table.query, {}))
        mover.tables.append(moved)
    select = mover.moved(tree.select, {})
    return replace(tree, common_tables=tuple(mover.tables), select=select)


def _has_with(part: object) -> bool:
    return isinstance(part, _WITH) and bool(part.common_tables)


def _all(tree: object) -> list[object]:
    if isinstance(tree, tuple):
        return [part for item in tree for part in _all(item)]
    if not is_dataclass(tree) or isinstance(tree, (type, Position)):
        return []
    inner = [part for f in fields(tree) for part in _all(getattr(tree, f.name))]
    return [tree, *inner]


@dataclass(slots=True)
class _Mover:
    taken: set[str]
    tables: list[CommonTable] = field(default_factory=list)

    def moved(self, node: _Tree, names: _Names) -> _Tree:
        """Return a node whose tables of WITH were moved; ``names`` are in scope."""
        return cast("_Tree", self._moved(node, names))

    def _moved(self, node: object, names: _Names) -> object:
        if isinstance(node, tuple):
            return tuple([self._moved(item, names) for item in node])
        if not is_dataclass(node) or isinstance(node, (type, Position)):
            return node
        if isinstance(node, TableName):
            return self._table(node, names)
        if isinstance(node, _WITH):
            for table in node.common_tables:
                own = new_name(table.name, self.taken)
                query = self.moved(table.query, names)
                self.tables.append(replace(table, name=own, query=query))
                names = {**names, table.name: own}
            node = replace(node, common_tables=())
        changed = {
            f.name: self._moved(getattr(node, f.name), names) for f in fields(node)
        }
        return replace(node, **changed)

    def _table(self, node: TableName, names: _Names) -> TableName:
        own = names.get(node.name)
        if own is None:
            return node
        return TableName(own, node.alias or node.name, node.position)
