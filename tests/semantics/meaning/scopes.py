"""Names in scope, and the identity of expressions after names are resolved."""

from dataclasses import dataclass, fields

from tests.semantics.meaning.domains import Info
from tests.semantics.meaning.tree import Col, Select, UnionAll


class NotAnswerableError(Exception):
    """The tree is outside what this evaluator gives a meaning."""


@dataclass(frozen=True)
class Entry:
    """One column in scope; ``hidden`` is found only with its table in front."""

    name: str
    table: str | None
    info: Info
    hidden: bool = False


class Scope:
    """The columns of one SELECT, inside those of the SELECTs around it.

    ``slots`` maps canonical expressions to places behind the columns: values of
    windows, or, in a grouped SELECT (``grouped``: columns cannot be read), its keys
    and aggregates.
    """

    def __init__(self, world, entries, parent=None, *, slots=None, grouped=False):
        self.world = world
        self.entries = entries
        self.parent = parent
        self.slots = slots or {}
        self.grouped = grouped
        self.level = 0 if parent is None else parent.level + 1
        self._found = {}

    def place(self, name, table):
        """Return the place of a column among the entries, or None."""
        key = (name, table)
        if key not in self._found:
            places = [
                place
                for place, entry in enumerate(self.entries)
                if entry.name == name
                and (entry.table == table if table is not None else not entry.hidden)
            ]
            if len(places) > 1:
                message = f"{name} is ambiguous"
                raise NotAnswerableError(message)
            self._found[key] = places[0] if places else None
        return self._found[key]

    def resolve(self, column):
        """Return (level, place, Info) of a column, looking outwards."""
        place = self.place(column.name, column.table)
        if place is not None:
            return self.level, place, self.entries[place].info
        if self.parent is None:
            message = f"unknown column {column}"
            raise NotAnswerableError(message)
        return self.parent.resolve(column)

    def over(self, slots, *, grouped=False):
        """Return this scope with values behind its columns."""
        return Scope(
            self.world, self.entries, self.parent, slots=slots, grouped=grouped
        )

    def canonical(self, node):  # noqa: PLR0911 - one return a kind
        """Return what two expressions share exactly when they are the same."""
        if isinstance(node, Col):
            return ("column", *self.resolve(node)[:2])
        if isinstance(node, Select | UnionAll):
            return node
        if isinstance(node, tuple):
            return tuple(self.canonical(part) for part in node)
        if hasattr(node, "__dataclass_fields__"):
            parts = (self.canonical(getattr(node, f.name)) for f in fields(node))
            return (type(node).__name__, *parts)
        return (type(node).__name__, node)  # 1, True and Decimal(1) differ
