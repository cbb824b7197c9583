"""Answers and plans, in the shapes of CONTRACT 5."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from server.use_cases.losses.amounts import Amount, Priced
from server.use_cases.releases.replies import (
    CellValue,
    FreeAnswer,
    HalfWidths,
    Intervals,
    OutputColumn,
    PaidTaken,
    RelatedRelease,
    ReleaseTaken,
    WarningShape,
)
from server.use_cases.services.documents import ConfidenceText, LossText, NumberText


class NoisePart(TypedDict):
    """What the noise is of, where a column is not itself measured."""

    part: NotRequired[Literal["sum", "count"]]
    """Of averages, and of what is computed of results: whether it is the noise of a sum
    or of a count."""
    per: NotRequired[Literal["bin"]]
    """Of a quantile alone: the noise is that of each bin's count."""


class NoiseScale(TypedDict):
    """How much noise one measured vector has."""

    mechanism: Annotated[str, Field(examples=["discrete_laplace"])]
    """How noise is drawn; `discrete_gaussian` where the population counts rho."""
    scale: NumberText
    """Of the noise, in the column's unit, never as a fraction; of Gaussian noise its
    sigma."""
    l1_sensitivity: NumberText
    """How far one unit can move the whole vector, as the sum of absolute changes, in
    the column's unit."""
    l2_sensitivity: NotRequired[NumberText]
    """Of Gaussian noise, whose scale follows from it: how far one unit can move the
    whole vector, as the root of the sum of squared changes, rounded up."""
    half_width_95: NumberText
    """The least w such that at least 95 % of a cell's noise lies within ±w, in the
    column's unit."""


class Noise(NoisePart, NoiseScale):
    """The noise of one measured column, per cell, in the column's unit.

    An average has two entries: its sum and its count. What is computed of results has
    one for each count and sum in it. A quantile's is of the count of each bin, in rows.
    """

    column: str
    """Name of the column."""


class TotalWidth(TypedDict):
    """The noise of one column in the rows of a grouping set."""

    column: str
    """Name of the column."""
    half_width_95: NumberText
    """The least w, as far as it is shown, such that at least 95 % of a row's noise lies
    within ±w, in the column's unit."""


class SetOfTotals(TypedDict):
    """The rows of one grouping set of ROLLUP, CUBE or GROUPING SETS."""

    keys: Annotated[list[str], Field(examples=[["sex"]])]
    """The columns of its keys; the others are NULL in its rows."""
    added: int
    """How many noisy cells each of its rows adds up."""
    half_widths: list[TotalWidth]
    """Of counts and sums, and of sums and differences of them."""


class ChargeShape(Amount):
    """What was paid: 0 where the answer was free."""

    reused: bool
    """Whether a stored answer was given again, for nothing."""


class Remaining(TypedDict):
    """What is left of the limits that the caller may see."""

    project: LossText | None
    """What is left to the project, in what its population counts."""
    principal: LossText | None
    """What is left to the caller in the project; null where there is no such
    limit."""


class WidthsOfRows(TypedDict):
    """What answers have beside whose rows have noise of their own."""

    release: NotRequired[ReleaseTaken]
    """Where a release answered, for nothing: which."""
    paid: NotRequired[PaidTaken]
    """Where earlier queries of the project answered, for nothing: which."""
    half_widths: NotRequired[list[HalfWidths]]
    """From a release, from paid questions, and of answers with totals (ROLLUP and the
    like): a row has its own."""


class Answer(WidthsOfRows):
    """Noisy rows: one a declared cell, but for what HAVING and LIMIT leave out."""

    query_id: str
    """Id of the query, by which it can be read again."""
    snapshot: str
    """Id of the snapshot that answered."""
    columns: list[OutputColumn]
    """The columns of `rows`."""
    rows: list[list[CellValue]]
    """In the order of the columns. Counts and sums of integers are signed integers as
    drawn; decimals are strings, averages and quantiles with six digits after the point;
    days and times are ISO strings; NULL is null."""
    noise: list[Noise]
    """Of each measured column; empty where a release or paid queries answered."""
    intervals: list[Intervals]
    """Of averages, quantiles and what is computed of results; from a release, of every
    measure."""
    charge: ChargeShape
    """What was paid."""
    remaining: Remaining
    """What is left of the limits that the caller may see."""
    derivation: str
    """How each measure's sensitivity follows from the declarations, in sentences."""
    warnings: list[WarningShape]
    """What to know before relying on the numbers."""


class ExpectedErrors(TypedDict):
    """How far an average or a quantile strays at most, said before it is asked.

    It depends on how many values a cell counts, so it is said for round numbers of
    them; null where noise may decide all.
    """

    column: str
    """Name of the column."""
    of: Literal["value", "share"]
    """`value`: an average lies within so much of the exact one. `share`, of a quantile
    of a fraction q, with so much as s: at least q - s of the exact values lie up to the
    end of its bin, and at most q + s before that bin, which may hold none."""
    confidence: ConfidenceText
    """With which the error of one cell stays within its half-width."""
    counted: Annotated[list[int], Field(examples=[[100, 1000, 10000, 100000]])]
    """Numbers of values that a cell may count."""
    half_widths: Annotated[
        list[NumberText | None],
        Field(examples=[[None, "4.210527", "0.382776", "0.037929"]]),
    ]
    """For each of `counted`, the largest error, in the column's unit or as a share;
    null where noise may decide all."""


class Attainable(Priced):
    """The noise of a question that spends all that its asker sees left."""

    noise: list[Noise]
    """Of each measured column, if all of it is spent."""


class Cost(TypedDict):
    """What executing takes at most: from the text and public sizes alone.

    A step is about a nanosecond of one thread of the engine.
    """

    steps: int
    """Steps at the declared numbers of units and rows; a step is about a nanosecond of
    one thread."""
    memory_bytes: int
    """Held at once, at the declared numbers of units and rows."""
    unit_steps: int
    """Steps that the rows of one unit can add."""
    unit_memory_bytes: int
    """Bytes that the rows of one unit can add."""
    startup_steps: int
    """Steps that the first rows begin, whoever's they are; `steps` holds them too."""
    startup_memory_bytes: int
    """Bytes that the first rows begin, whoever's they are; `memory_bytes` holds them
    too."""


class PricedBy(TypedDict):
    """What the price of an accuracy follows from: no exact number ever."""

    facts: Literal["public", "paid"]
    """`paid`: noisy numbers that the project paid for say how large cells are."""
    queries: list[str]
    """Ids of the paid queries whose noisy numbers say so; empty for public facts."""
    probe: LossText | None
    """A loss for which the same question, asked first, may make this accuracy
    cheaper: its noisy numbers are reckoned with. Null where it would not pay."""


class PricedWish(TypedDict):
    """What plans of an accuracy have beside."""

    priced_by: NotRequired[PricedBy]
    """Where an accuracy was wished for: what its price follows from."""


class PlannedTotals(TypedDict):
    """What plans of answers with totals have beside."""

    totals: NotRequired[list[SetOfTotals]]
    """Of ROLLUP, CUBE and GROUPING SETS: how noisy the rows of each set are. `noise` is
    of one cell."""


class PlannedBlocks(TypedDict):
    """What plans have beside where the population has blocks."""

    blocks: NotRequired[Annotated[list[str], Field(examples=[["north", "south"]])]]
    """Of a population with blocks: whose units the query can touch by its text. Asking
    charges the loss to the cap of each of them, and of no other."""


class Plan(PricedWish, PlannedTotals, PlannedBlocks, Amount):
    """What an answer would cost and how noisy it would be; no data was touched.

    The loss is what asking would charge.
    """

    affordable: bool
    """Whether every limit has enough left."""
    remaining: Remaining
    """What is left of the limits that the caller may see, before asking."""
    snapshot: str
    """Id of the snapshot that would answer."""
    cells: int
    """How many rows the answer has before HAVING and LIMIT."""
    columns: list[OutputColumn]
    """The columns that the answer would have."""
    noise: list[Noise]
    """Of each measured column."""
    expected: list[ExpectedErrors]
    """Of averages and quantiles, and of sums and differences of results."""
    attainable: Attainable | None
    """Where a limit that you see is passed: what the rest would bring."""
    cost: Cost
    """How much work answering is, at most."""
    derivation: str
    """How each measure's sensitivity follows from the declarations, in sentences."""
    warnings: list[WarningShape]
    """What to know before paying."""
    free: list[FreeAnswer]
    """What is on offer for nothing instead."""
    related: list[RelatedRelease]
    """Releases that come near, of those that you may read."""
