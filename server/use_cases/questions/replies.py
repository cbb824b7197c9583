"""Answers and plans, in the shapes of CONTRACT 5."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

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


class NoisePart(TypedDict):
    """What the noise is of, where a column is not itself measured."""

    part: NotRequired[
        Annotated[
            Literal["sum", "count"],
            Field(description="Of averages, and of what is computed of results."),
        ]
    ]
    per: NotRequired[
        Annotated[Literal["bin"], Field(description="Of a quantile alone.")]
    ]


class NoiseScale(TypedDict):
    """How much noise one measured vector has."""

    mechanism: Annotated[str, Field(examples=["discrete_laplace"])]
    scale: Annotated[str, Field(examples=["10.000000000000002"])]
    l1_sensitivity: Annotated[str, Field(examples=["1"])]
    half_width_95: Annotated[str, Field(examples=["30"])]


class Noise(NoisePart, NoiseScale):
    """The noise of one measured column, per cell, in the column's unit.

    An average has two entries: its sum and its count. What is computed of results has
    one for each count and sum in it. A quantile's is of the count of each bin, in rows.
    """

    column: str


class ChargeShape(TypedDict):
    """What was paid."""

    epsilon: Annotated[str, Field(examples=["0.1"])]
    delta: Annotated[str, Field(examples=["0"])]
    reused: bool


class Remaining(TypedDict):
    """What is left of the limits that the caller may see."""

    project: Annotated[str | None, Field(examples=["4.9"])]
    principal: Annotated[str | None, Field(examples=[None])]


class Answer(TypedDict):
    """Noisy rows: one a declared cell, but for what HAVING and LIMIT leave out."""

    query_id: str
    snapshot: str
    columns: list[OutputColumn]
    rows: Annotated[
        list[list[CellValue]],
        Field(
            description="In the order of the columns. Counts and sums of integers are "
            "signed integers as drawn; decimals are strings, averages and quantiles "
            "with six digits after the point; days and times are ISO strings; NULL is "
            "null."
        ),
    ]
    noise: list[Noise]
    intervals: Annotated[
        list[Intervals],
        Field(
            description="Of averages, quantiles and what is computed of results; from "
            "a release, of every measure."
        ),
    ]
    release: NotRequired[
        Annotated[
            ReleaseTaken, Field(description="Where a release answered, for nothing.")
        ]
    ]
    paid: NotRequired[
        Annotated[
            PaidTaken,
            Field(description="Where earlier questions of the project answered."),
        ]
    ]
    half_widths: NotRequired[
        Annotated[
            list[HalfWidths],
            Field(
                description="From a release or from paid questions alone: a cell has "
                "its own."
            ),
        ]
    ]
    charge: ChargeShape
    remaining: Remaining
    derivation: str
    warnings: list[WarningShape]


class ExpectedErrors(TypedDict):
    """How far an average or a quantile strays at most, said before it is asked.

    It depends on how many values a cell counts, so it is said for round numbers of
    them; null where noise may decide all.
    """

    column: str
    of: Annotated[
        Literal["value", "share"],
        Field(
            description="`value`: an average lies within so much of the exact one. "
            "`share`, of a quantile of a fraction q, with so much as s: at least q - s "
            "of the exact values lie up to the end of its bin, and at most q + s "
            "before that bin, which may hold none."
        ),
    ]
    confidence: Annotated[str, Field(examples=["0.95"])]
    counted: Annotated[list[int], Field(examples=[[100, 1000, 10000, 100000]])]
    half_widths: Annotated[
        list[str | None],
        Field(examples=[[None, "4.210527", "0.382776", "0.037929"]]),
    ]


class Attainable(TypedDict):
    """The noise of a question that spends all that its asker sees left."""

    epsilon: Annotated[str, Field(examples=["0.2"])]
    noise: list[Noise]


class Cost(TypedDict):
    """What executing takes at most: from the text and public sizes alone.

    A step is about a nanosecond of one thread of the engine.
    """

    steps: Annotated[
        int, Field(description="At the declared numbers of units and rows.")
    ]
    memory_bytes: Annotated[
        int, Field(description="At the declared numbers, held at once.")
    ]
    unit_steps: Annotated[int, Field(description="That the rows of one unit can add.")]
    unit_memory_bytes: Annotated[
        int, Field(description="That the rows of one unit can add.")
    ]
    startup_steps: Annotated[
        int,
        Field(
            description="That the first rows begin, whoever's they are; in steps too."
        ),
    ]
    startup_memory_bytes: Annotated[
        int, Field(description="Likewise; in memory_bytes too.")
    ]


class PricedBy(TypedDict):
    """What the price of an accuracy follows from: no exact number ever."""

    facts: Annotated[
        Literal["public", "paid"],
        Field(
            description="`paid`: noisy numbers that the project paid for say how large "
            "cells are."
        ),
    ]
    queries: Annotated[list[str], Field(description="That these are of.")]
    probe: Annotated[
        str | None,
        Field(
            description="An epsilon for which the same question, asked first, may make "
            "this accuracy cheaper: its noisy numbers are reckoned with.",
            examples=["0.02"],
        ),
    ]


class PricedWish(TypedDict):
    """What plans of an accuracy have beside."""

    priced_by: NotRequired[PricedBy]


class Plan(PricedWish):
    """What an answer would cost and how noisy it would be; no data was touched."""

    epsilon: str
    delta: str
    affordable: bool
    remaining: Remaining
    snapshot: str
    cells: int
    columns: list[OutputColumn]
    noise: list[Noise]
    expected: Annotated[
        list[ExpectedErrors],
        Field(
            description="Of averages and quantiles, and of sums and differences of "
            "results."
        ),
    ]
    attainable: Annotated[
        Attainable | None,
        Field(
            description="Where a limit that you see is passed: what the rest would "
            "bring."
        ),
    ]
    cost: Cost
    derivation: str
    warnings: list[WarningShape]
    free: list[FreeAnswer]
    related: Annotated[
        list[RelatedRelease],
        Field(description="Releases that come near, of those that you may read."),
    ]
