"""Plans, in the shapes of CONTRACT 5."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from server.use_cases.losses.amounts import Amount, Priced
from server.use_cases.questions.replies import Noise, Remaining
from server.use_cases.releases.replies import (
    FreeAnswer,
    OutputColumn,
    PaidTaken,
    RelatedRelease,
    WarningShape,
)
from server.use_cases.services.documents import (
    ConfidenceText,
    DayText,
    LossText,
    NumberText,
)


class ColumnWidth(TypedDict):
    """The noise of one column, in the rows that are spoken of."""

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
    half_widths: list[ColumnWidth]
    """Of counts and sums, and of sums and differences of them."""


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


class RequestedBounds(TypedDict):
    """Bounds on what one unit adds, as a request gives them."""

    tables: NotRequired[dict[str, int]]
    """Rows of one unit that each named table gives, before filters."""
    max_rows_per_unit: NotRequired[int]
    """Rows of one unit that are counted."""
    max_groups_per_unit: NotRequired[int]
    """Groups in which one unit is counted."""


class RequestedOptions(TypedDict):
    """Options of a request that a way needs."""

    prefer: NotRequired[Literal["release", "paid"]]
    """What answers in the place of fresh noise."""
    bounds: NotRequired[RequestedBounds]
    """Bounds on what one unit adds."""
    weights: NotRequired[dict[str, float]]
    """Shares of the loss by column."""


class WayRequest(TypedDict):
    """A body that `POST /v1/datasets/{dataset}/queries` takes as it is."""

    sql: str
    """The text to ask."""
    project: str
    """That asks."""
    epsilon: NotRequired[LossText]
    """What to spend, where the population counts epsilon."""
    rho: NotRequired[LossText]
    """What to spend, where it counts rho."""
    options: NotRequired[RequestedOptions]
    """What the way needs beside."""


class Way(Priced):
    """One way to the number asked for, or to one that comes near.

    The loss is what it would charge: 0 where it is free.
    """

    kind: Literal[
        "answer",
        "release",
        "paid",
        "probe",
        "values",
        "units",
        "period",
        "key",
        "rows",
        "groups",
    ]
    """`answer`: stored; `release`: published; `paid`: from paid answers; `probe`: the
    same question with little loss first; `values`: groups for columns of one value
    each; `units`: people for rows; `period`: longer
    ones; `key`: one less; `rows`, `groups`: fewer of each unit."""
    detail: str
    """What it is, and in what it is not what was asked."""
    half_widths: list[ColumnWidth]
    """Of its counts and sums, the widest cell's; empty where the answer tells them."""
    request: WayRequest
    """Ready to be asked."""


class AnnouncedWay(Priced):
    """A way that is not there yet: a release that is planned, and will be free.

    The loss is 0.
    """

    kind: Literal["announced"]
    """Always `announced`."""
    detail: str
    """What to wait for."""
    half_widths: list[ColumnWidth]
    """Of its counts and sums, the widest cell's, as the release will tell them."""
    release: str
    """What the release will be called."""
    by: DayText
    """The day by which it is planned to be there."""


AnyWay = TypeAliasType(
    "AnyWay",
    Annotated[
        Way | AnnouncedWay,
        Field(
            discriminator="kind",
            description="A way to the number asked for, or to one that comes near.",
        ),
    ],
)


class PricedBy(TypedDict):
    """What the price of an accuracy follows from: no exact number ever."""

    facts: Literal["public", "paid", "release"]
    """`paid`: noisy numbers that the project paid for say how large cells are;
    `release`: those of a release that its asker may read do."""
    queries: list[str]
    """Ids of the paid queries whose noisy numbers say so, or say at least how large
    cells are at most (`at_best`)."""
    probe: LossText | None
    """A loss for which the same question, asked first, may make this accuracy
    cheaper: its noisy numbers are reckoned with. Null where it would not pay."""
    at_best: LossText | None
    """What the accuracy would be charged if all numbers were as large as they may be by
    what is known: where that is too much, no probe helps. Null where nothing is
    known."""


class PricedWish(TypedDict):
    """What plans of an accuracy have beside."""

    priced_by: NotRequired[PricedBy]
    """Where an accuracy was wished for: what its price follows from."""


class PlannedTotals(TypedDict):
    """What plans of answers with totals have beside."""

    totals: NotRequired[list[SetOfTotals]]
    """Of ROLLUP, CUBE and GROUPING SETS: how noisy the rows of each set are. `noise` is
    of one cell."""


class RefiningPlan(TypedDict):
    """What plans have beside of questions that were paid for in part."""

    refines: NotRequired[PaidTaken]
    """Paid answers to the same question, to which it adds: it costs the difference.
    `noise` is that of all of it."""


class PlannedBlocks(TypedDict):
    """What plans have beside where the population has blocks."""

    blocks: NotRequired[Annotated[list[str], Field(examples=[["north", "south"]])]]
    """Of a population with blocks: whose units the query can touch by its text. Asking
    charges the loss to the cap of each of them, and of no other."""


class Plan(PricedWish, PlannedTotals, PlannedBlocks, RefiningPlan, Amount):
    """What an answer would cost and how noisy it would be; no data was touched.

    The loss is what asking would charge.
    """

    affordable: bool
    """Whether every limit has enough left."""
    needs_confirmation: bool
    """Whether the project wants so dear a question confirmed (`options.confirm`)."""
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
    ways: list[AnyWay]
    """The cheapest ways to these numbers or to ones that come near, each ready to be
    asked: what is free first, then coarser questions that cost or are off by less.
    Last come releases that are announced, which cannot be asked yet."""
