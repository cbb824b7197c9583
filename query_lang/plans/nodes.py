"""Relational nodes of a private plan.

Every row of every private node has exactly one owner (unit), never NULL, and the rows
that a node gives one owner are a function of that owner's input rows, public tables and
the stored row hashes alone. ``rows_per_unit`` is the most rows that one owner can have.

A node's rows are tuples of numbered slots. ``identity`` lists the slots that order the
rows of one unit when nothing else does: row hashes in join order, then part numbers of
UNION ALL, then public row numbers, NULL first.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from privacy.schema import Scalar, Table
from query_lang.plans import stability
from query_lang.plans.compiled import Bins, Presentation, Shown
from query_lang.plans.expressions import Expression, Facts

Item = tuple[int, Expression]  # the slot that is made, and from what


@dataclass(frozen=True, slots=True)
class Identity:
    """Slots that tell the rows of one unit apart, in order of precedence."""

    hashes: tuple[int, ...] = ()
    parts: tuple[int, ...] = ()
    public_rows: tuple[int, ...] = ()

    def slots(self) -> tuple[int, ...]:
        """Return all slots, the first most significant."""
        return (*self.hashes, *self.parts, *self.public_rows)

    def joined(self, other: "Identity") -> "Identity":
        """Return the identity of joined rows."""
        return Identity(
            self.hashes + other.hashes,
            self.parts + other.parts,
            self.public_rows + other.public_rows,
        )


@dataclass(frozen=True)
class Scan:
    """All rows of a private table, or those of rank up to ``max_rows`` in their unit.

    Attributes:
        table: The declared table; its row bound is enforced at ingestion.
        owner: Slot of the unit key.
        hash_slot: Slot of the stored row hash.
        first_slot: Slot of the first declared column; the others follow in order.
        declared_rows_per_unit: The table's own bound.
        max_rows: A bound before filters (``row_rank <= max_rows``) that is lower, or
            None.

    Proof: docs/proofs/scan.md.
    """

    table: Table
    owner: int
    hash_slot: int
    first_slot: int
    declared_rows_per_unit: int
    max_rows: int | None = None

    @cached_property
    def rows_per_unit(self) -> int:
        """The bound that applies: the request's, or the declared one."""
        return stability.scan_rows(self.declared_rows_per_unit, self.max_rows)

    @cached_property
    def identity(self) -> Identity:
        """The stored row hash."""
        return Identity((self.hash_slot,))

    @cached_property
    def slots(self) -> frozenset[int]:
        """Return the slots of this node's rows."""
        columns = range(self.first_slot, self.first_slot + len(self.table.columns))
        return frozenset((self.owner, self.hash_slot, *columns))


@dataclass(frozen=True)
class OneChild:
    """What nodes share that keep their child's rows, or some, perhaps made wider."""

    child: "Node"

    @property
    def owner(self) -> int:
        """The child's."""
        return self.child.owner

    @cached_property
    def identity(self) -> Identity:
        """The child's."""
        return self.child.identity

    @cached_property
    def slots(self) -> frozenset[int]:
        """Return the slots of this node's rows."""
        return slots_of(self.child)


@dataclass(frozen=True)
class Filter(OneChild):
    """The child's rows for which the condition is TRUE.

    Attributes:
        first: Set where a row number of the child, counted per unit, is held to at
            most this many by a conjunct.

    Proof: docs/proofs/filter.md, docs/proofs/numbering.md.
    """

    condition: Expression
    first: int | None = None

    @cached_property
    def rows_per_unit(self) -> int:
        """The child's: each row is kept or dropped by itself."""
        return stability.filter_rows(self.child.rows_per_unit, self.first)


@dataclass(frozen=True)
class Compute(OneChild):
    """The child's rows with further slots, each a function of the row.

    Proof: docs/proofs/filter.md.
    """

    items: tuple[Item, ...]

    @cached_property
    def rows_per_unit(self) -> int:
        """The child's."""
        return stability.computed_rows(self.child.rows_per_unit)

    @cached_property
    def slots(self) -> frozenset[int]:
        """Return the slots of this node's rows."""
        return slots_of(self.child) | {slot for slot, _ in self.items}


def conditions_of(node: "Node") -> Iterator[Expression]:
    """Yield conditions that are true of every row: WHERE of it and of those below.

    Down to the first join or roll-up. A slot keeps its value upwards.
    """
    while isinstance(node, OneChild):
        if isinstance(node, Filter):
            yield node.condition
        node = node.child


def computed_in(node: "Node") -> dict[int, Expression]:
    """Return what slots are made of, down to the first join or roll-up."""
    found: dict[int, Expression] = {}
    while isinstance(node, OneChild):
        if isinstance(node, Compute):
            found.update(node.items)
        node = node.child
    return found


@dataclass(frozen=True, slots=True)
class Order:
    """One term of an order of rows within a unit."""

    value: Expression
    descending: bool
    nulls_first: bool


WindowKind = Literal[
    "row_number",
    "lag",
    "lead",
    "first",
    "last",
    "count_rows",
    "count",
    "count_distinct",
    "sum",
    "min",
    "max",
    "bool_and",
    "bool_or",
]


@dataclass(frozen=True, slots=True)
class FrameEnd:
    """One end of a frame, in rows from the current one; None is unbounded."""

    offset: int | None


_OF_EACH_ROW: Final = frozenset({"row_number", "lag", "lead"})


@dataclass(frozen=True, slots=True)
class WindowItem:
    """One window function over the rows of one unit (and equal ``partition`` values).

    Attributes:
        slot: The slot that is made.
        kind: What is computed.
        value: Its argument; None for ``row_number`` and ``count_rows``.
        partition: Keys beside the unit key.
        order: Completed by the child's identity.
        start: First row of the frame; unbounded by default.
        end: Last row of the frame.
        offset: Of lag and lead.
        saturates: Whether the sum is cut to 64 bits (not where it feeds an average).
    """

    slot: int
    kind: WindowKind
    value: Expression | None
    partition: tuple[Expression, ...]
    order: tuple[Order, ...]
    start: FrameEnd
    end: FrameEnd
    offset: int = 0
    saturates: bool = True

    @property
    def is_of_partition(self) -> bool:
        """Whether all rows of a partition have one value: of all of them, or the first.

        Proof: docs/proofs/combinations.md.
        """
        if self.kind in _OF_EACH_ROW or self.start.offset is not None:
            return False
        end = self.end.offset
        return end is None or (self.kind == "first" and end >= 0)

    @property
    def is_constant(self) -> bool:
        """Whether all rows of a unit have one value (docs/proofs/constancy.md)."""
        of_unit = all(key.facts.constant for key in self.partition)
        return of_unit and self.is_of_partition


@dataclass(frozen=True)
class Windowed(OneChild):
    """The child's rows with window functions, each within one unit.

    Proof: docs/proofs/window.md.
    """

    items: tuple[WindowItem, ...]

    @cached_property
    def rows_per_unit(self) -> int:
        """The child's: a window adds no row."""
        return stability.computed_rows(self.child.rows_per_unit)

    @cached_property
    def slots(self) -> frozenset[int]:
        """Return the slots of this node's rows."""
        return slots_of(self.child) | {item.slot for item in self.items}


@dataclass(frozen=True, slots=True)
class RollupItem:
    """One aggregate of the rows of a unit's group.

    Attributes:
        slot: The slot that is made.
        kind: As of windows, without numbering, lag and lead.
        value: Its argument; None for ``count_rows``.
        order: Of first and last, completed by the child's identity.
        saturates: Whether a sum is cut to 64 bits (not where it feeds an average).
    """

    slot: int
    kind: WindowKind
    value: Expression | None
    order: tuple[Order, ...] = ()
    saturates: bool = True


@dataclass(frozen=True)
class Rollup:
    """GROUP BY unit key, perhaps with more keys: one row a group of each unit.

    Attributes:
        keys: Keys beside the unit key.
        hashes: Slots of the group's least identity, as many as the child's has.
        groups: The most groups of one unit, by what its keys can be.

    Proof: docs/proofs/rollup.md.
    """

    child: "Node"
    keys: tuple[Item, ...]
    items: tuple[RollupItem, ...]
    least: Identity
    groups: int

    @property
    def owner(self) -> int:
        """The child's."""
        return self.child.owner

    @cached_property
    def rows_per_unit(self) -> int:
        """As many as groups, and no more than the child's."""
        return stability.rollup_rows(self.child.rows_per_unit, self.groups)

    @cached_property
    def identity(self) -> Identity:
        """The least identity of the group's rows."""
        return self.least

    @cached_property
    def slots(self) -> frozenset[int]:
        """Return the slots of this node's rows."""
        made = (*(slot for slot, _ in self.keys), *(item.slot for item in self.items))
        return frozenset((self.owner, *made, *self.least.slots()))


@dataclass(frozen=True)
class UnitJoin:
    """Two private nodes joined on the unit key; the left one's rows own the result.

    Attributes:
        left_unit: Slot of a unit key of the left side.
        right_unit: Slot of the unit key of the right side that equals it.
        outer: Whether it is a LEFT join.
        condition: The rest of a LEFT join's ON; INNER joins are filtered above.
        left_by_key: Columns that tell the left side's rows of one unit apart, as a
            declared key does, are equated with values of the right side.
        right_by_key: The same of the right side.

    Proof: docs/proofs/join.md.
    """

    left: "Node"
    right: "Node"
    left_unit: int
    right_unit: int
    outer: bool
    condition: Expression | None = None
    left_by_key: bool = False
    right_by_key: bool = False

    @property
    def owner(self) -> int:
        """The left side's: never NULL."""
        return self.left.owner

    @cached_property
    def rows_per_unit(self) -> int:
        """The product, or the other side's where a key allows one match only."""
        left, right = self.left.rows_per_unit, self.right.rows_per_unit
        if self.outer:
            if self.right_by_key:
                return stability.keyed_join_rows(left)
            return stability.preserved_join_rows(left, right)
        bounds = [stability.unit_join_rows(left, right)]
        bounds += [stability.keyed_join_rows(left)] if self.right_by_key else []
        bounds += [stability.keyed_join_rows(right)] if self.left_by_key else []
        return min(bounds)

    @cached_property
    def identity(self) -> Identity:
        """Both sides', in join order."""
        return self.left.identity.joined(self.right.identity)

    @cached_property
    def slots(self) -> frozenset[int]:
        """Return the slots of this node's rows."""
        return slots_of(self.left) | slots_of(self.right)


@dataclass(frozen=True)
class PublicScan:
    """All rows of a public table: nobody owns them."""

    table: Table
    row_slot: int
    first_slot: int

    @cached_property
    def slots(self) -> frozenset[int]:
        """Return the slots of this node's rows."""
        columns = range(self.first_slot, self.first_slot + len(self.table.columns))
        return frozenset((self.row_slot, *columns))


@dataclass(frozen=True)
class PublicFilter:
    """A public node's rows for which the condition is TRUE."""

    child: "PublicNode"
    condition: Expression

    @cached_property
    def slots(self) -> frozenset[int]:
        """Return the slots of this node's rows."""
        return slots_of(self.child)


PublicNode = PublicScan | PublicFilter


@dataclass(frozen=True)
class PublicJoin:
    """A private node joined with a public table by a verified key.

    Attributes:
        outer: Whether it is a LEFT join, which preserves the private side.
        condition: The whole ON.
        fan_out: The most public rows that one private row meets.

    Proof: docs/proofs/public_join.md.
    """

    left: "Node"
    right: PublicScan
    outer: bool
    condition: Expression
    fan_out: int

    @property
    def owner(self) -> int:
        """The private side's."""
        return self.left.owner

    @cached_property
    def rows_per_unit(self) -> int:
        """The private side's, times the fan-out."""
        return stability.public_join_rows(self.left.rows_per_unit, self.fan_out)

    @cached_property
    def identity(self) -> Identity:
        """The private side's, then the public row number."""
        return self.left.identity.joined(Identity(public_rows=(self.right.row_slot,)))

    @cached_property
    def slots(self) -> frozenset[int]:
        """Return the slots of this node's rows."""
        return slots_of(self.left) | slots_of(self.right)


@dataclass(frozen=True, slots=True)
class UnionPart:
    """One part of a UNION ALL: its node and what it gives for each slot above."""

    node: "Node"
    items: tuple[Expression, ...]


@dataclass(frozen=True)
class Union:
    """The rows of two or more private nodes, one after the other.

    Attributes:
        columns: The slots of the columns, in the order of each part's items.
        owner: Slot of the unit key.
        own: Slots of the parts' identities, padded with NULL to the longest.
        part: Slot of the part's number, from 1.

    Proof: docs/proofs/union_all.md.
    """

    parts: tuple[UnionPart, ...]
    columns: tuple[int, ...]
    owner: int
    own: Identity
    part: int

    @cached_property
    def rows_per_unit(self) -> int:
        """The sum of the parts'."""
        rows = tuple(part.node.rows_per_unit for part in self.parts)
        return stability.union_rows(rows)

    @cached_property
    def identity(self) -> Identity:
        """Hashes first, then this part number and the parts' own."""
        own = self.own
        return Identity(own.hashes, (self.part, *own.parts), own.public_rows)

    @cached_property
    def slots(self) -> frozenset[int]:
        """Return the slots of this node's rows."""
        return frozenset((self.owner, *self.columns, *self.identity.slots()))


@dataclass(frozen=True)
class BoundContributions(OneChild):
    """Keep, per unit, its first groups, then its first rows, by identity.

    Groups of a unit are ordered by their least identity; NULL keys make a group.

    Attributes:
        keys: Slots of the group keys; a group is one tuple of them.
        max_groups: Groups that one unit keeps, or None.
        max_rows: Rows that one unit keeps over all its groups, or None.

    Proof: docs/proofs/bound_contributions.md.
    """

    keys: tuple[int, ...]
    max_groups: int | None
    max_rows: int | None

    @cached_property
    def rows_per_unit(self) -> int:
        """The smaller of the bound and the child's own."""
        return stability.bounded_rows(self.child.rows_per_unit, self.max_rows)


Node = (
    Scan
    | Filter
    | Compute
    | Windowed
    | Rollup
    | UnitJoin
    | PublicJoin
    | Union
    | BoundContributions
)


def slots_of(node: Node | PublicNode) -> frozenset[int]:
    """Return the slots of a node's rows."""
    return node.slots


def nodes_of(node: Node) -> Iterator[Node]:
    """Yield a node and all private ones below it, each as often as it is read."""
    yield node
    match node:
        case Scan():
            return
        case UnitJoin(left, right):
            yield from nodes_of(left)
            yield from nodes_of(right)
        case PublicJoin(left):
            yield from nodes_of(left)
        case Union(parts):
            for part in parts:
                yield from nodes_of(part.node)
        case _:
            yield from nodes_of(node.child)


def scans_of(node: Node) -> Iterator[Scan]:
    """Yield the private tables that a node reads, each as often as it does."""
    return (each for each in nodes_of(node) if isinstance(each, Scan))


def tie_break(node: Node) -> tuple[int, ...]:
    """Return the slots that order the rows of one unit where nothing else does.

    Of the identity, what cannot differ within a unit is left out. Proof:
    docs/proofs/row_order.md.
    """
    if node.rows_per_unit == 1:
        return ()
    return _tie_identity(node).slots()


def _tie_identity(node: Node) -> Identity:  # noqa: PLR0911 - an arm a form
    if node.rows_per_unit == 1:
        return Identity()
    match node:
        case UnitJoin(left, right):
            own, beside = _tie_identity(left), _tie_identity(right)
            if node.outer and (own.parts or own.public_rows):
                beside = right.identity  # NULL or not stands before those
            return own.joined(beside)
        case PublicJoin(left, right, _, _, fan_out):
            own = Identity(public_rows=(right.row_slot,)) if fan_out > 1 else Identity()
            return _tie_identity(left).joined(own)
        case Filter(child) | Compute(child) | Windowed(child):
            return _tie_identity(child)
        case BoundContributions(child):
            return _tie_identity(child)
        case _:
            return node.identity


@dataclass(frozen=True, slots=True)
class CountRowsMeasure:
    """COUNT(*): one count of rows a group. Proof: docs/proofs/count.md."""


@dataclass(frozen=True, slots=True)
class CountValuesMeasure:
    """COUNT(x): rows whose slot is not NULL. Proof: docs/proofs/count.md."""

    slot: int


@dataclass(frozen=True, slots=True)
class CountUnitsMeasure:
    """COUNT(DISTINCT unit key): one count of units a group.

    Attributes:
        slot: Of the unit key.
        nullable: Whether it comes from a LEFT join's nullable side.

    Proof: docs/proofs/count_distinct.md.
    """

    slot: int
    nullable: bool


@dataclass(frozen=True, slots=True)
class CountDistinctMeasure:
    """COUNT(DISTINCT x). Proof: count_distinct_values.md.

    Attributes:
        values: How many values a public domain has, NULL not counted; None without one.
        facts: Known of the slot.
    """

    slot: int
    values: int | None
    facts: Facts

    @property
    def possible(self) -> int:
        """How many values there can be, those that nobody declared too."""
        return 2**63 if self.values is None else self.values


@dataclass(frozen=True, slots=True)
class SumMeasure:
    """SUM(x) of values between ``lower`` and ``upper``, in steps of its grid.

    Proof: docs/proofs/sum.md.
    """

    slot: int
    lower: int
    upper: int
    scale: int


@dataclass(frozen=True, slots=True)
class HistogramMeasure:
    """How many values lie in each of the public bins. Proof: docs/proofs/quantile.md.

    Attributes:
        dates: Whether the slot holds dates, counted as days since 1970-01-01.
    """

    slot: int
    bins: Bins
    dates: bool


MeasureKind = (
    CountRowsMeasure
    | CountValuesMeasure
    | CountUnitsMeasure
    | CountDistinctMeasure
    | SumMeasure
    | HistogramMeasure
)


@dataclass(frozen=True, slots=True)
class Key:
    """A group key: its slot, its name for people, and its public cells.

    Attributes:
        slot: What it is of a row.
        name: For people.
        facts: What is known of it.
        values: Of its cells, in declared order, NULL last.
        left: Of them, those that WHERE can leave rows in, at least one; None: all.
    """

    slot: int
    name: str
    facts: Facts
    values: tuple[Scalar | None, ...]
    left: tuple[Scalar | None, ...] | None = None

    @property
    def reached(self) -> tuple[Scalar | None, ...]:
        """The values of cells that rows can lie in."""
        return self.values if self.left is None else self.left


@dataclass(frozen=True, slots=True)
class PlanColumn:
    """An output column: its name, what it shows, and how it is weighed and typed."""

    name: str
    shown: Shown
    facts: Facts  # of the key, or of the measured value
    function: str  # of a measure, for people; "" for a key


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The top of a plan: measures per cell of the public keys.

    Attributes:
        child: Whose rows are counted.
        keys: In the order of GROUP BY; the first varies slowest in the answer.
        measures: The distinct vectors, each measured once.
        columns: The output, in the order of SELECT.
        presentation: HAVING, ORDER BY and LIMIT.
    """

    child: Node
    keys: tuple[Key, ...]
    measures: tuple[MeasureKind, ...]
    columns: tuple[PlanColumn, ...]
    presentation: Presentation


def measured_slots(plan: Aggregate, measure: MeasureKind) -> tuple[int, ...]:
    """Return the slots that a measure reads: what is rendered, and what it costs."""
    match measure:
        case CountRowsMeasure():
            return ()
        case CountUnitsMeasure(slot, nullable):
            one_row = plan.child.rows_per_unit == 1
            return () if one_row and not nullable else (slot,)
        case _:
            return (measure.slot,)
