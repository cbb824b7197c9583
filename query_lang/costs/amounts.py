"""Amounts of two kinds at once: of any one unit, and of the whole at declared sizes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from privacy.schema import Hierarchy
from query_lang.costs.constants import (
    LIVE_STEPS,
    READ_ON_STEPS,
    ROWS_A_VECTOR,
    TEXT_BYTES,
    TEXT_SHARE,
    VECTOR_ROWS,
    WIDE_ROW_BYTES,
    WRITTEN_STEPS,
)
from query_lang.syntax.automata import Reading


@dataclass(frozen=True, slots=True)
class Amount:
    """How much one unit can add at most, and how much all of it is at most.

    Attributes:
        unit: By the number of its rows.
        whole: At the declared sizes.
        startup: Of the whole, what the first rows begin, whoever's they are.
    """

    unit: int
    whole: int
    startup: int = 0

    def __add__(self, other: "Amount") -> "Amount":
        """Return both together."""
        return Amount(
            self.unit + other.unit,
            self.whole + other.whole,
            self.startup + other.startup,
        )

    def times(self, many: int) -> "Amount":
        """Return it that many times."""
        return Amount(self.unit * many, self.whole * many)

    def at_most(self, other: "Amount") -> "Amount":
        """Return the lesser of each."""
        return Amount(min(self.unit, other.unit), min(self.whole, other.whole))


NOTHING = Amount(0, 0)
_VECTOR = Amount(VECTOR_ROWS, VECTOR_ROWS)

Widths = Mapping[int, int]
"""Bytes that a value of a slot has at most."""


@dataclass(frozen=True, slots=True)
class Relation:
    """The rows that a node gives, and how wide each of their slots is.

    Attributes:
        rows: How many there are.
        widths: Bytes of each slot.
        is_stored: Whether they come as they are stored, one unit's rows together.
    """

    rows: Amount
    widths: Widths
    is_stored: bool = False

    @property
    def row_bytes(self) -> int:
        """Return the bytes of one row's values."""
        return sum(self.widths.values())

    @property
    def vectors(self) -> Amount:
        """Return how many vectors there are at most that hold any of the rows."""
        most = self.rows.unit
        unit = min(most, most // ROWS_A_VECTOR + 2) if self.is_stored else most
        return Amount(unit, max(unit, self.rows.whole // ROWS_A_VECTOR + 1))

    @property
    def has_texts(self) -> bool:
        """Whether any value may lie beside its row, as longer texts do."""
        return any(width > TEXT_BYTES for width in self.widths.values())


@dataclass(slots=True)
class Meter:
    """A running total of one statement's steps and of the bytes that it may hold.

    Attributes:
        units: The declared number of units.
        own: The dataset's own hierarchies.
        table_rows: Rows of a table that each unit is taken to keep, where a bound is
            tried; else what the plan has.
        scanned: Names of the private tables that are read.
        by_construct: Steps and bytes by what spends them, for hints.
    """

    units: int
    own: Mapping[str, Hierarchy]
    table_rows: Mapping[str, int] = field(default_factory=dict)
    steps: Amount = NOTHING
    memory: Amount = NOTHING
    scanned: list[str] = field(default_factory=list)
    by_construct: dict[str, tuple[Amount, Amount]] = field(default_factory=dict)

    def spend(self, construct: str, rows: Amount, steps: int) -> None:
        """Count steps for each of these rows."""
        self._add(construct, rows.times(steps), NOTHING)

    def hold(self, construct: str, rows: Amount, size: int) -> None:
        """Count bytes for each of these rows, held to the statement's end."""
        self._add(construct, NOTHING, rows.times(size))

    def start(self, construct: str, steps: int, size: int = 0) -> None:
        """Count steps and bytes that are taken once, by the first rows to arrive."""
        self._add(construct, Amount(0, steps, steps), Amount(0, size, size))

    def read_on(
        self, construct: str, read: Amount, reading: Reading, times: int
    ) -> None:
        """Count the states of patterns: each byte that is read may make another."""
        steps = read.at_most(Amount(reading.steps, reading.steps))
        size = Amount(0, reading.size, reading.size)
        each = READ_ON_STEPS + LIVE_STEPS * reading.live
        made = steps.times(each * times)
        self.start(construct, WRITTEN_STEPS * reading.program * times)
        self._add(construct, made, size.times(times))

    def unpack(self, construct: str, rows: Amount, size: int) -> None:
        """Count bytes that are made for each row, a vector of rows at a time."""
        self.hold(construct, rows.at_most(_VECTOR), size)

    def _add(self, construct: str, steps: Amount, memory: Amount) -> None:
        self.steps += steps
        self.memory += memory
        known = self.by_construct.get(construct, (NOTHING, NOTHING))
        self.by_construct[construct] = (known[0] + steps, known[1] + memory)


def paged(size: int) -> int:
    """Return what rows of so many bytes take: pages of wide ones are not full.

    >>> paged(100), paged(1_000)
    (100, 1250)
    """
    return size + size // TEXT_SHARE if size > WIDE_ROW_BYTES else size
