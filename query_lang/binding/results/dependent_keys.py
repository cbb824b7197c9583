"""Keys that follow from another key: they make no cells of their own.

``GROUP BY month, month_name``: a cell's month says what its name is. Each value of the
one key is tried, whatever the rows are. Proof: docs/proofs/dependent_keys.md.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final

from privacy.schema import ColumnType, RangeDomain
from query_lang.binding.results.day_parts import part_of
from query_lang.binding.results.lookups import Lookup, lookups_in
from query_lang.binding.results.values_at import (
    FORMS,
    UnknownError,
    Value,
    at,
    nodes,
)
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    Facts,
    FieldRef,
    Function,
    is_same_value,
)
from query_lang.plans.intervals import day, day_bounds
from query_lang.plans.nodes import (
    BoundContributions,
    Compute,
    Filter,
    Node,
    Union,
    UnionPart,
)

Pairs = tuple[tuple[Value, Value], ...]
"""Each value of a key, and what follows from it."""

Written = Mapping[int, tuple[Constant, ...]]
"""Columns of a UNION ALL that are a literal in each part, by their slots."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What is known of values that stand in one row.

    Attributes:
        written: Literals of the parts of a UNION ALL.
        lookups: Listed public tables that the rows were joined to.
    """

    written: Written = field(default_factory=dict)
    lookups: tuple[Lookup, ...] = ()

    @classmethod
    def of(cls, node: Node) -> "Beside":
        """Return what is known of the rows that come from a node."""
        return cls(literals_of_parts(node), lookups_in(node))


MOST_DAYS: Final = 4_000
"""Of a column of days that two keys are parts of, tried one by one: ten years."""

MOST_KEYS: Final = 6
"""Keys of a question that are held against each other: 30 times as many days."""

MOST_TRIED: Final = 1_000
"""Values of a key that another is tried at."""


@dataclass(slots=True)
class Trying:
    """How much may still be tried while a question is bound: a third of a second.

    Attributes:
        left: Steps, of some 6 microseconds.
        count: Is told of each that is taken: they are part of the public cost.
    """

    left: int = 50_000
    count: Callable[[int], None] = lambda _: None

    def takes(self, steps: int) -> bool:
        """Take so many steps, if they are left."""
        if steps > self.left:
            return False
        self.left -= steps
        self.count(steps)
        return True


def following(
    one: Expression,
    values: Sequence[Value],
    other: Expression,
    beside: Beside,
    trying: Trying,
) -> Pairs | None:
    """Return what a value is at each value of a key, where it follows from the key.

    Args:
        one: The key.
        values: Of its cells.
        other: Of the same row.
        beside: What is known of the rows that both are of.
        trying: Is told what is tried, and may end it: then nothing is known.
    """
    if len(values) > MOST_TRIED:
        return None
    found = _by_part(one, values, other, beside.written)
    if found is None:
        found = _by_lookup(one, values, other, beside, trying)
    for way in (_by_value, _by_branch, _by_day):
        found = way(one, values, other, trying) if found is None else found
    return found


def chained(pairs: Pairs, known: Pairs) -> Pairs:
    """Return what follows from a key by what follows from it.

    Args:
        pairs: Each value of the key, and what follows.
        known: Each value that follows, and what follows from that. One that is not
            there no row can have: its cells stay empty.
    """
    later = dict(known)
    return tuple((value, later.get(other)) for value, other in pairs)


def in_order(values: Sequence[Value]) -> tuple[Value, ...]:
    """Return numbers or days from the least to the greatest, NULL last."""
    found = [value for value in values if value is not None]
    rest = (None,) * (len(found) < len(values))
    return (*sorted(found), *rest)


def _paired(
    values: Iterable[Value], known: Mapping[Value, Value], *, whole: bool = True
) -> Pairs | None:
    """Return pairs; None where one is missing, unless no row can have the value."""
    pairs = [(value, known.get(value)) for value in values]
    if whole and any(value not in known for value, _ in pairs):
        return None
    return tuple(pairs)


def _functional(pairs: Iterable[tuple[Value, Value]]) -> dict[Value, Value] | None:
    """Return a mapping; None where one value goes with several."""
    found: dict[Value, Value] = {}
    for value, other in pairs:
        if found.setdefault(value, other) != other:
            return None
    return found


# -- computed of the key alone ---------------------------------------------------


def _by_value(
    one: Expression, values: Sequence[Value], other: Expression, trying: Trying
) -> Pairs | None:
    size = nodes(other)
    if isinstance(other, Constant) or not trying.takes(size * min(nodes(one), size)):
        return None
    alone = _over(other, one)
    if alone is None or not trying.takes(len(values) * size):
        return None
    try:
        return tuple((value, at(alone, value)) for value in values)
    except UnknownError:
        return None


_KEY: Final = -1
"""The slot that stands for a key where another value is computed of it."""


def _over(tree: Expression, one: Expression) -> Expression | None:
    """Return a value as one of a key alone; None where it reads more of the row."""
    if is_same_value(tree, one):
        return FieldRef(_KEY, one.facts)
    if isinstance(tree, Constant):
        return tree
    if not isinstance(tree, Call) or tree.function not in FORMS:
        return None
    operands = [_over(each, one) for each in tree.operands]
    known = [each for each in operands if each is not None]
    return replace(tree, operands=tuple(known)) if len(known) == len(operands) else None


# -- literals of the same branch, or of the same part ------------------------------


def _by_branch(
    one: Expression, values: Sequence[Value], other: Expression, trying: Trying
) -> Pairs | None:
    """Read two CASE whose conditions are the same, branch by branch."""
    if not trying.takes(nodes(one)):
        return None
    first, second = _branches(one), _branches(other)
    if first is None or second is None or first[0] != second[0]:
        return None
    if len(first[1]) != len(second[1]):  # the same tuple, of which one is an operand
        return None
    known = _functional(zip(first[1], second[1], strict=True))
    return None if known is None else _paired(values, known)


def _branches(
    tree: Expression,
) -> tuple[tuple[Expression, ...], tuple[Value, ...]] | None:
    """Return what a CASE asks, and its literals, the last one's of ELSE."""
    if not isinstance(tree, Call) or tree.function not in {
        Function.CASE,
        Function.SWITCH,
    }:
        return None
    start = 1 if tree.function is Function.SWITCH else 0
    *branches, otherwise = tree.operands[start:]
    results = [*branches[1::2], otherwise]
    found = [each.value for each in map(_literal, results) if each is not None]
    if len(found) < len(results):
        return None
    return (*tree.operands[:start], *branches[::2]), tuple(found)


def _literal(tree: Expression) -> Constant | None:
    while isinstance(tree, Call) and tree.function is Function.RESCALE:
        (tree,) = tree.operands
    return tree if isinstance(tree, Constant) else None


def _by_part(
    one: Expression, values: Sequence[Value], other: Expression, written: Written
) -> Pairs | None:
    """Read two columns of a UNION ALL that are literals in each part."""
    if not isinstance(one, FieldRef) or not isinstance(other, FieldRef):
        return None
    first, second = written.get(one.slot), written.get(other.slot)
    if first is None or second is None:
        return None
    pairs = zip(first, second, strict=True)
    known = _functional((left.value, right.value) for left, right in pairs)
    return None if known is None else _paired(values, known)


def literals_of_parts(node: Node) -> Written:
    """Return the columns of a UNION ALL, as rows come from it, that are literals."""
    union = union_below(node)
    if union is None:
        return {}
    found: dict[int, tuple[Constant, ...]] = {}
    for place, slot in enumerate(union.columns):
        literals = [literal_of(part, place) for part in union.parts]
        known = [each for each in literals if each is not None]
        if len(known) == len(literals):
            found[slot] = tuple(known)
    return found


def union_below(node: Node) -> Union | None:
    """Return the UNION ALL that rows come from as they are, if from one."""
    while isinstance(node, Filter | Compute | BoundContributions):
        node = node.child
    return node if isinstance(node, Union) else None


def literal_of(part: UnionPart, place: int) -> Constant | None:
    """Return the literal that a column is in a part of a UNION ALL, if it is one."""
    item, node = part.items[place], part.node
    while isinstance(item, FieldRef) and isinstance(node, Filter | Compute):
        made = dict(node.items) if isinstance(node, Compute) else {}
        item, node = made.get(item.slot, item), node.child
    return _literal(item)


# -- columns of a listed table, or computed of one ----------------------------------


def _by_lookup(
    one: Expression,
    values: Sequence[Value],
    other: Expression,
    beside: Beside,
    trying: Trying,
) -> Pairs | None:
    """Read the rows of a listed table: a code says what is computed of its name."""
    for lookup in beside.lookups:
        for leaf in _leaves(other):
            cells = (
                lookup.cells(one, leaf) if trying.takes(1 + len(lookup.rows)) else None
            )
            if cells is None:
                continue
            known = _functional((row[0], row[1]) for row in cells)
            if known is None:
                continue
            pairs = tuple((value, known.get(value)) for value in values)
            if leaf == other:
                return pairs
            told = [value for _, value in pairs]
            computed = _by_value(leaf, told, other, trying)
            return None if computed is None else chained(pairs, computed)
    return None


def _leaves(tree: Expression) -> Sequence[Expression]:
    """Return a value, and the column that all of it is computed of, if it is one."""
    waiting, found = [tree], dict[int, Expression]()
    while waiting:
        part = waiting.pop()
        if isinstance(part, Call):
            waiting += part.operands
        elif isinstance(part, FieldRef):
            found[part.slot] = part
        elif not isinstance(part, Constant):
            return [tree]
    return [tree, *found.values()] if len(found) == 1 else [tree]


# -- parts of the same day ---------------------------------------------------------


def _by_day(
    one: Expression, values: Sequence[Value], other: Expression, trying: Trying
) -> Pairs | None:
    """Read two parts of one column of days, at every day that tells them apart."""
    first, second = part_of(one), part_of(other)
    if first is None or second is None or not is_same_value(first.day, second.day):
        return None
    days = _days(first.day.facts, first.cycle, second.cycle)
    if days is None or not trying.takes(2 * len(days)):
        return None
    known = _functional((first.of(each), second.of(each)) for each in days)
    if known is None:
        return None
    known[None] = None  # of no day there is no part
    return _paired(values, known, whole=False)


def _days(facts: Facts, first: str | None, second: str | None) -> list[date] | None:
    """Return the days to try: of a year where both parts come again with each."""
    if facts.type not in {ColumnType.DATE, ColumnType.TIMESTAMP}:
        return None
    start, many = date(2024, 1, 1), 366
    if first is None or first != second:
        bounds = day_bounds(facts) if isinstance(facts.domain, RangeDomain) else None
        if bounds is None:
            return None
        start, many = day(bounds[0]), bounds[1] - bounds[0] + 1
    return [start + timedelta(n) for n in range(many)] if many <= MOST_DAYS else None
