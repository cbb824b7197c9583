"""Where in a query's text stands what takes most of its cost."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Final

from query_lang.syntax.nodes import (
    Exists,
    InQuery,
    Join,
    Position,
    Query,
    UnionAll,
    WindowCall,
)

_KINDS: Final[Mapping[str, type]] = {
    "joins": Join,
    "public joins": Join,
    "EXISTS": Exists,
    "IN (SELECT ...)": InQuery,
    "windows": WindowCall,
    "UNION ALL": UnionAll,
}
_PLACED: Final = (Exists, InQuery, Join, UnionAll, WindowCall)


def place_of(construct: str, tree: Query) -> Position:
    """Return where the last of the constructs of a kind stands, else the query.

    Of joins the last multiplies the rows of all before it.
    """
    kind = _KINDS.get(construct)
    found = [] if kind is None else list(_positions(tree, kind))
    return max(found, default=tree.select.position, key=_in_text)


def _in_text(position: Position) -> tuple[int, int]:
    return position.line, position.column


def _positions(tree: object, kind: type) -> Iterator[Position]:
    if isinstance(tree, tuple):
        for part in tree:
            yield from _positions(part, kind)
    elif is_dataclass(tree):
        if isinstance(tree, kind) and isinstance(tree, _PLACED):
            yield tree.position
        for field in fields(tree):
            yield from _positions(getattr(tree, field.name), kind)
