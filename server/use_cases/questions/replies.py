"""Answers and plans, in the shapes of CONTRACT 5."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from server.use_cases.losses.amounts import Amount
from server.use_cases.releases.replies import (
    CellValue,
    HalfWidths,
    Intervals,
    OutputColumn,
    PaidTaken,
    ReleaseTaken,
    WarningShape,
)
from server.use_cases.services.documents import LossText, NumberText


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
