"""What compiling a query gives: enough to price, execute, measure and present it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from math import prod
from typing import Literal

from privacy.events import VectorSensitivity
from privacy.schema import ColumnType, Scalar
from query_lang.plans.costs import PlanCost
from query_lang.plans.rendered import RenderedPlan
from query_lang.syntax.logic import Logical
from query_lang.syntax.nodes import ComparisonOperator

Part = Literal["sum", "count"]


@dataclass(frozen=True, slots=True)
class KeyShown:
    """A group key: position ``index`` of the cell."""

    index: int


@dataclass(frozen=True, slots=True)
class GroupingShown:
    """GROUPING(a, b): which keys a row is a total over.

    Attributes:
        indexes: Of the keys; the last is worth 1, the one before it 2, and so on.
    """

    indexes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NamedTotal:
    """A key's value as text, and a word in its place where the row is a total over it.

    Attributes:
        index: Of the key.
        word: ``'all wards'``.
        of_null: Whether the word stands for the key's NULL as well, as COALESCE has it.
    """

    index: int
    word: str
    of_null: bool


@dataclass(frozen=True, slots=True)
class DependentShown:
    """What follows from a group key, as a month's name from its number.

    Attributes:
        index: Of the key.
        pairs: Each value of the key, and what follows from it.
        listed: What follows, in declared order, which it sorts by.
    """

    index: int
    pairs: tuple[tuple[Scalar | None, Scalar | None], ...]
    listed: tuple[Scalar | None, ...]


@dataclass(frozen=True, slots=True)
class NumberShown:
    """A count or sum: the noisy value of ``vector``, on the vector's grid."""

    vector: int


@dataclass(frozen=True, slots=True)
class AverageShown:
    """``sum / count`` of two noisy vectors; the sum is on its own vector's grid.

    Attributes:
        sum_vector: Of the sum.
        count_vector: Of the count of the values that are not NULL.
        lower: Least value that an average can have, in steps of the sum's grid; the
            shown average is clamped to it. Nothing without bounds is averaged.
        upper: Greatest, likewise.
    """

    sum_vector: int
    count_vector: int
    lower: int
    upper: int


@dataclass(frozen=True, slots=True)
class Bins:
    """The publicly fixed bins of a histogram over numbers or days.

    Attributes:
        lower: L, in steps of the column's grid (days since 1970-01-01 for dates).
        upper: U, likewise.
        count: B, how many bins a cell has.
        one_per_value: Whether bin i holds the one value L + i; else bin i holds
            [L + i(U-L)/B, L + (i+1)(U-L)/B), the last closed.
        scale: Decimals of the column's grid.
        of_days: Whether the column holds dates.
    """

    lower: int
    upper: int
    count: int
    one_per_value: bool
    scale: int = 0
    of_days: bool = False


@dataclass(frozen=True, slots=True)
class QuantileShown:
    """The ``fraction`` quantile of a noisy histogram.

    The vector holds ``bins.count`` values for each cell, cell by cell.
    """

    vector: int
    fraction: Fraction
    bins: Bins


@dataclass(frozen=True, slots=True)
class LiteralShown:
    """A number of the text, the same in every row; None is NULL."""

    value: Fraction | None


class Operation(StrEnum):
    """What is computed of the numbers that an answer shows."""

    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    NEGATE = "negate"
    ROUND = "round"  # half away from zero
    FLOOR = "floor"
    CEILING = "ceiling"
    TRUNCATE = "truncate"  # towards zero
    ABS = "abs"
    LEAST = "least"
    GREATEST = "greatest"
    WITHIN = "within"  # set between the second and third; nobody types it
    COALESCE = "coalesce"
    NULLIF = "nullif"
    LN = "ln"
    EXP = "exp"
    SQRT = "sqrt"


@dataclass(frozen=True, slots=True)
class ComputedShown:
    """Arithmetic on what a row shows: exact, and rounded once, where it is shown.

    Attributes:
        operation: Of all operands, in order.
        operands: What is shown, or literals.
        digits: After the point, that the value is rounded to where it is shown; what
            is computed of it further reads it exactly. Of roundings, those they keep.
        least: Of a division: a divisor below it makes the value NULL, as 0 does. 1 of
            counts, 0 of what can in truth not be negative; None of everything else.
    """

    operation: Operation
    operands: tuple["Shown", ...]
    digits: int
    least: Fraction | None = None


_Framed = Literal["sum", "avg", "min", "max", "first_value", "last_value"]
WindowName = Literal[_Framed, "lag", "lead", "row_number", "rank", "dense_rank"]


@dataclass(frozen=True, slots=True)
class WindowShown:
    """A window over the rows of the answer that HAVING keeps.

    Attributes:
        name: Of the function.
        operand: What it takes of each row; None of those that number rows.
        partition: Rows that agree in these are a window.
        order: Within it; ties in declared order.
        frame: First and last row, counted from the current one, None for the end of
            the window; of all but ranks, LAG and LEAD. Without ``ROWS`` rows that tie
            with the last are in it, too.
        is_by_rows: Whether the frame was written in ROWS.
        offset: Of LAG and LEAD.
        rows: HAVING, on keys alone; None where all rows stay.
        digits: As of what is computed.
    """

    name: WindowName
    operand: "Shown | None"
    partition: tuple["PublicShown", ...]
    order: tuple["OrderTerm", ...]
    frame: tuple[int | None, int | None]
    is_by_rows: bool
    offset: int
    rows: "NoisyCondition | None"
    digits: int


PublicShown = KeyShown | GroupingShown | NamedTotal | DependentShown
"""What a row shows that no noise is in."""

Shown = (
    KeyShown
    | GroupingShown
    | NamedTotal
    | DependentShown
    | NumberShown
    | AverageShown
    | QuantileShown
    | LiteralShown
    | ComputedShown
    | WindowShown
)


def leaves(shown: Shown) -> Iterator[Shown]:
    """Yield what a shown value is computed of, itself if it is not computed.

    >>> two = ComputedShown(Operation.ADD, (NumberShown(0), LiteralShown(None)), 0)
    >>> list(leaves(two))
    [NumberShown(vector=0), LiteralShown(value=None)]
    """
    match shown:
        case ComputedShown(_, operands):
            parts: tuple[Shown, ...] = operands
        case WindowShown(_, operand, partition, order):
            taken = () if operand is None else (operand,)
            parts = (*taken, *partition, *(term.value for term in order))
        case _:
            yield shown
            return
    for part in parts:
        yield from leaves(part)


def windows_in(shown: Shown) -> Iterator[WindowShown]:
    """Yield the windows that a shown value is computed of."""
    if isinstance(shown, WindowShown):
        yield shown
    elif isinstance(shown, ComputedShown):
        for operand in shown.operands:
            yield from windows_in(operand)


def is_noisy(shown: Shown) -> bool:
    """Whether anything noisy is read to show it."""
    public = PublicShown | LiteralShown
    return any(not isinstance(leaf, public) for leaf in leaves(shown))


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One column of the answer.

    Attributes:
        name: As the answer shows it.
        kind: A group key or a measure.
        type: Of its values; counts are integers, averages decimals, quantiles decimals
            or dates.
        unit: ``"rows"`` for COUNT(*) and COUNT(x), the population's word for its
            privacy unit for COUNT(DISTINCT unit key), else None.
        scale: Decimals of the grid that the values lie on; 0 unless they are decimal.
        shown: Where the values come from.
    """

    name: str
    kind: Literal["group", "measure"]
    type: ColumnType
    unit: str | None
    scale: int
    shown: Shown


@dataclass(frozen=True, slots=True)
class Measure:
    """One distinct vector, measured and paid once however many columns show it.

    Attributes:
        sensitivity: In steps of the vector's grid, under add or remove all rows of one
            unit.
        weight: Its relative share of the loss, positive.
        scale: Decimals of its grid: one step is 10**-scale of the column's unit.
        size: How many values a cell has: the number of bins of a histogram, else 1.
        part: What it is to a computed column.
        never_negative: Whether no exact value can be: of counts, and of sums of what is
            never negative.
    """

    sensitivity: VectorSensitivity
    weight: Fraction
    scale: int = 0
    size: int = 1
    part: Part = "count"
    never_negative: bool = True


@dataclass(frozen=True, slots=True)
class NoisyComparison:
    """``left operator right`` over shown values and literals; NULL makes it NULL."""

    operator: ComparisonOperator
    left: "Shown | Scalar"
    right: "Shown | Scalar"


@dataclass(frozen=True, slots=True)
class NoisyIn:
    """``value IN (values)``, no value NULL."""

    value: Shown
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class NoisyIsNull:
    """``value IS NULL``."""

    value: Shown


@dataclass(frozen=True, slots=True)
class NoisyTruth:
    """A boolean key as a condition."""

    value: KeyShown


@dataclass(frozen=True, slots=True)
class NoisyConstant:
    """A condition on literals alone: it holds for every cell, or for none."""

    truth: bool


NoisyAtom = NoisyComparison | NoisyIn | NoisyIsNull | NoisyTruth | NoisyConstant
NoisyCondition = Logical[NoisyAtom]


@dataclass(frozen=True, slots=True)
class OrderTerm:
    """One term of the top ORDER BY.

    A key is ordered as declared (``descending``: the reverse). NULL is last in both
    directions unless ``nulls_first``.
    """

    value: Shown
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class Presentation:
    """What is done to the noisy cells before they are shown: costs nothing.

    Attributes:
        having: Cells for which it is not TRUE are left out.
        order: Terms in order; ties keep the declared order of cells.
        limit: The most rows shown, or None.
        kept: Of the rows that HAVING keeps, and windows are over, those stay for which
            it is TRUE.
        sets: Of an answer with totals: the keys, by their index, that the rows of each
            grouping set have; of others none.
    """

    having: NoisyCondition | None = None
    order: tuple[OrderTerm, ...] = ()
    limit: int | None = None
    kept: NoisyCondition | None = None
    sets: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class KeyPlaces:
    """A key of an answer with totals.

    Attributes:
        size: How many values it has.
        added: The places of those that totals are made of, in order: the others' cells
            are empty whatever the data are.
    """

    size: int
    added: tuple[int, ...]


def row_count(sets: Sequence[Sequence[int]], sizes: Sequence[int]) -> int:
    """Return how many rows grouping sets have, 0 of none.

    >>> row_count([(0, 1), (0,), ()], [3, 5])
    19
    """
    return sum(prod(sizes[index] for index in each) for each in sets)


@dataclass(frozen=True, slots=True)
class QueryWarning:
    """Something the analyst may not have meant; says nothing about rows."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """A whole query, ready to be priced and executed.

    Attributes:
        columns: The answer's columns, in order.
        measures: The distinct measured vectors.
        rendered: What the engine runs.
        canonical: JSON text that is equal for equal questions: plan, bounds, output
            names and weights; the snapshot is the caller's to add.
        derivation: Why the sensitivities are what they are, in words.
        warnings: In the order of the text.
        cost: What executing it takes at most.
        presentation: HAVING, ORDER BY and LIMIT, on noisy values.
        key_bytes: Of the keys in its answer at most, as JSON: all cells, all columns.
        showing_steps: Of the server to show what is computed, at most.
        key_places: Of each key of an answer with totals: how many values it has, and
            the places of those that totals add up; of others nothing.
        blocks: Whose units it can touch; empty where the population has none.
    """

    columns: tuple[OutputColumn, ...]
    measures: tuple[Measure, ...]
    rendered: RenderedPlan
    canonical: str
    derivation: str
    warnings: tuple[QueryWarning, ...]
    cost: PlanCost
    presentation: Presentation = field(default_factory=Presentation)
    key_bytes: int = 0
    showing_steps: int = 0
    key_places: tuple[KeyPlaces, ...] = ()
    blocks: tuple[str, ...] = ()

    @property
    def row_count(self) -> int:
        """How many rows an answer has before HAVING and the like."""
        sizes = [key.size for key in self.key_places]
        return row_count(self.presentation.sets, sizes) or len(self.rendered.cells)
