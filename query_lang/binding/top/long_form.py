"""Numbers of a table in long form, where the range is that of all kinds of values.

A table of results has a row for each: a text says what was measured, ``analyte``, and
one number what came out. Its declared range holds potassium and NT-proBNP, 0 to 5000,
and noise goes by it also where WHERE asks for potassium alone.

What tells such a table follows from its declaration alone: a unit has several rows; the
text differs between them, and has no short list; the number is a decimal with a wide
range, and every other number with one, such as the ends of normal, has the same one.
So costs by sex, or doses beside days, are not taken for one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from privacy.schema import (
    Column,
    ColumnType,
    HierarchyDomain,
    RangeDomain,
    Table,
    ValuesDomain,
)
from query_lang.hierarchies.code_systems import BUILT_IN
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    FieldRef,
    Function,
    conjuncts,
    slots_read,
    truth_of,
)
from query_lang.plans.intervals import Interval, grid_value, measured_interval
from query_lang.plans.literals import NUMBERS
from query_lang.plans.nodes import (
    Compute,
    Filter,
    Node,
    Rollup,
    Scan,
    UnitJoin,
    Windowed,
    nodes_of,
    scans_of,
)

_FEWEST_KINDS: Final = 3
"""Values of a list that may say what a number is: two are a sex, or yes and no."""
_WIDE: Final = 1_000
"""Steps of a range that may be that of several kinds of values."""
SCALED: Final = frozenset(
    (
        *(Function.ADD, Function.SUBTRACT, Function.NEGATE, Function.MULTIPLY),
        *(Function.DIVIDE, Function.DIVIDE_DECIMAL, Function.RESCALE),
        *(Function.FLOOR, Function.CEILING, Function.ROUND, Function.TRUNCATE),
        *(Function.CAST_NUMBER, Function.ABS),
    )
)
CHOOSING: Final = frozenset({Function.CASE, Function.SWITCH, Function.COALESCE})
_NAMING: Final = frozenset({Function.EQ, Function.IN, Function.PREFIX})
_SAME_RANGE: Final = frozenset({"min", "max", "first", "last", "lag", "lead"})


@dataclass(frozen=True)
class LongForm:
    """What the plan below says of the columns that values come from.

    Attributes:
        node: Makes the rows.
    """

    node: Node

    def told_of(self, value: Expression, bounds: Interval) -> Iterator[str]:
        """Yield what to say of numbers by whose declared ends a value is bounded.

        Args:
            value: That is added up.
            bounds: That are known of it.
        """
        conditions: list[Expression] = []
        slots = {*self._whole_in(value, bounds, conditions, set())}
        kinds = self._kinds_in(conditions)
        for slot in sorted(slots & self._columns.keys()):
            scan, number = self._columns[slot]
            ends = _range_of_all(scan.table, number)
            kind = self._kinds.get(scan.first_slot) or kinds.get(scan.first_slot)
            if ends and kind:
                yield _said(scan.table.columns[number], ends, kind)

    def _whole_in(
        self,
        value: Expression,
        bounds: Interval | None,
        conditions: list[Expression],
        read: set[int],
    ) -> Iterator[int]:
        """Yield slots below by whose ends a value is bounded.

        Args:
            value: What is made of them.
            bounds: That are known of it in this place; of an operand, none but its own,
                since what is computed of less reaches less far.
            conditions: Is given those of each CASE on the way.
            read: The slots that were looked at.
        """
        if not _is_whole(value, bounds):
            return
        if isinstance(value, FieldRef):
            made = self._made.get(value.slot)
            if made is None:
                yield value.slot
            elif value.slot not in read:
                read.add(value.slot)
                yield from self._whole_in(made, bounds, conditions, read)
        elif isinstance(value, Call):
            conditions += _conditions_of(value)
            chooses = value.function in CHOOSING
            operands = value.operands if chooses or value.function in SCALED else ()
            for operand in operands:
                own = bounds if chooses else measured_interval(operand.facts)
                yield from self._whole_in(operand, own, conditions, read)

    def _kinds_in(self, conditions: Iterable[Expression]) -> dict[int, Column]:
        """Return the texts of tables of which conditions name a value, or few."""
        found: dict[int, Column] = {}
        for named, texts in _named_in(conditions):
            scan, number = self._columns.get(self._origin(named), (None, 0))
            if scan is not None and _says_kind(scan.table.columns[number], texts):
                found.setdefault(scan.first_slot, scan.table.columns[number])
        return found

    def _origin(self, slot: int) -> int:
        while isinstance(made := self._made.get(slot), FieldRef):
            slot = made.slot
        return slot

    @cached_property
    def _columns(self) -> dict[int, tuple[Scan, int]]:
        return {
            scan.first_slot + number: (scan, number)
            for scan in scans_of(self.node)
            for number in range(len(scan.table.columns))
        }

    @cached_property
    def _made(self) -> dict[int, Expression]:
        found: dict[int, Expression] = {}
        for node in nodes_of(self.node):
            if isinstance(node, Compute):
                found.update(node.items)
            elif isinstance(node, Rollup | Windowed):
                for item in node.items:
                    if item.kind in _SAME_RANGE and item.value is not None:
                        found[item.slot] = item.value
        return found

    @cached_property
    def _kinds(self) -> dict[int, Column]:
        return self._kinds_in(
            node.condition
            for node in nodes_of(self.node)
            if isinstance(node, Filter | UnitJoin) and node.condition is not None
        )


def _conditions_of(value: Call) -> Iterator[Expression]:
    """Yield the conditions of a CASE, if it is one."""
    if value.function is Function.CASE:
        yield from value.operands[:-1:2]
    elif value.function is Function.SWITCH:
        switched, *branches = value.operands
        for branch in branches[:-1:2]:
            yield truth_of(Function.EQ, (switched, branch))


def _named_in(conditions: Iterable[Expression]) -> Iterator[tuple[int, int]]:
    """Yield the slots that conditions name values of, and how many they name."""
    for condition in conditions:
        for each in conjuncts(condition):
            found = _named_by(each)
            if found is not None:
                yield found


def _named_by(condition: Expression) -> tuple[int, int] | None:
    if not isinstance(condition, Call):
        return None
    if condition.function is Function.OR:
        found = [_named_by(each) or (None, 0) for each in condition.operands]
        slots = {slot for slot, _ in found}
        slot = slots.pop()
        many = sum(texts for _, texts in found)
        return None if slot is None or slots else (slot, many)
    value, *texts = condition.operands or (condition,)
    read = [*slots_read(value)]
    is_named = condition.function in _NAMING and len(read) == 1
    if not is_named or not all(isinstance(each, Constant) for each in texts):
        return None
    return read[0], max(1, len(texts))


def _is_whole(value: Expression, bounds: Interval | None) -> bool:
    """Whether bounds reach as far as if nothing had been said of a value."""
    declared = measured_interval(value.facts)
    if bounds is None or declared is None:
        return bounds is declared
    return max(map(abs, bounds)) >= max(map(abs, declared))


def _said(column: Column, ends: RangeDomain, kind: Column) -> str:
    low, high = (f"{end:,}" for end in (ends.minimum, ends.maximum))
    return (
        f"{column.name} is declared {low} to {high} for every {kind.name}, and noise "
        "goes by the farther end: where the values that are meant reach less far, "
        f"LEAST(GREATEST({column.name}, a), b), or {column.name} BETWEEN a AND b in "
        "WHERE (of what a roll-up gives, above it), makes it smaller in proportion"
    )


def _range_of_all(table: Table, number: int) -> RangeDomain | None:
    """Return a number's range if it may be that of several kinds of values."""
    column = table.columns[number]
    ends = column.domain
    if column.type is not ColumnType.DECIMAL or not isinstance(ends, RangeDomain):
        return None
    low, high = (grid_value(end, column.scale) for end in (ends.minimum, ends.maximum))
    numbers = [
        other
        for other in table.columns
        if other.type in NUMBERS and isinstance(other.domain, RangeDomain)
    ]
    is_alone = all(other.domain == ends for other in numbers)
    is_wide = table.max_rows_per_unit != 1 and high - low >= _WIDE
    return ends if is_wide and is_alone else None


def _says_kind(column: Column, texts: int) -> bool:
    """Whether a text of which so many are named may say what a number is."""
    if column.type is not ColumnType.TEXT or column.constant_in_unit:
        return False
    match column.domain:
        case ValuesDomain() as listed:
            return max(_FEWEST_KINDS, texts + 1) <= len(listed.all_values())
        case HierarchyDomain(name):
            return name not in BUILT_IN  # a diagnosis is no kind of number
        case _:
            return True
