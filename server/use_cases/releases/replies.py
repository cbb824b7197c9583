"""Releases, and answers from them, as they are sent."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from server.use_cases.losses.amounts import Priced
from server.use_cases.services.documents import (
    ConfidenceText,
    DayText,
    Document,
    LossText,
    NumberText,
    TimeText,
)

CellValue = TypeAliasType(
    "CellValue",
    Annotated[
        int | str | bool | None,
        Field(
            description="Whole numbers are integers; decimals, days, times and text "
            "are strings; NULL is null."
        ),
    ],
)

TypeName = Literal["integer", "decimal", "date", "timestamp", "text", "boolean"]


class ReleaseItem(Priced):
    """A release as its readers' lists show it; the loss was charged, once."""

    id: str
    """Id of the release, `rel_` and 24 hexadecimal digits."""
    name: str
    """By which SQL and commands name it."""
    kind: Literal["cube", "sequences"]
    """`cube`: noisy counts of cells. `sequences`: noisy prefix trees."""
    dataset: str
    """Name of the dataset that it was counted from."""
    snapshot: str
    """Id of the snapshot that it was counted from."""
    strategy: str
    """How its loss was spent, such as `cells`."""
    counts: Literal["units", "rows"]
    """Whether cells count units (people) or rows."""
    public: bool
    """Whether every analyst may read it."""
    created: TimeText
    """When it was charged."""


class ReleaseDetail(ReleaseItem):
    """A release with its signed manifest."""

    manifest: Document
    """The signed manifest: what was counted, how noise was added, and the SHA-256 of
    each file."""


class AnnouncedRelease(Priced):
    """A release that its custodian plans to publish; its loss is not charged yet."""

    id: str
    """Id of the announcement, `ann_` and 24 hexadecimal digits."""
    name: str
    """What the release will be called."""
    kind: Literal["cube", "sequences"]
    """`cube`: noisy counts of cells. `sequences`: noisy prefix trees."""
    dataset: str
    """Name of the dataset that will be counted."""
    strategy: str
    """How its loss will be spent, such as `cells`."""
    counts: Literal["units", "rows"]
    """Whether cells will count units (people) or rows."""
    public: bool
    """Whether every analyst will be able to read it."""
    by: DayText
    """The day by which it is planned to be there."""
    created: TimeText
    """When it was announced."""


class TreeChild(TypedDict):
    """How many sequences go on in one way."""

    kind: Literal["symbol", "end", "rest"]
    """`symbol`: sequences go on with it. `end`: they end here. `rest`: they go on, and
    the release does not know how."""
    symbol: CellValue
    """The next symbol; null for `end` and `rest`, and where the symbol itself is NULL.
    """
    count: NumberText
    """Estimated units that go on so."""
    half_width: NumberText
    """95 % half-width of `count`, in units, for the noise alone."""
    children: int
    """In how many ways the published tree goes on from here."""


class TreeBranch(TypedDict):
    """A path of a published tree, and where its sequences go on."""

    release: str
    """Id of the release."""
    prefix: list[CellValue]
    """The symbols of the path, first to last; empty for everybody."""
    count: NumberText | None
    """Estimated units whose sequences begin so; null where the release did not keep
    this path."""
    half_width: NumberText | None
    """95 % half-width of `count`, in units, for the noise alone; null where `count` is.
    """
    children: list[TreeChild]
    """Where they go on, end, or are not known."""


class OutputColumn(TypedDict):
    """A column of the answer."""

    name: str
    """As the query names it."""
    kind: Literal["group", "measure"]
    """`group`: a declared key. `measure`: made of noisy numbers."""
    type: TypeName
    """Type of its values, which says how `rows` write them."""
    unit: Annotated[str | None, Field(examples=["patient"])]
    """What is counted, such as `patient`; null where the number has no unit that the
    server knows."""


class Intervals(TypedDict):
    """The 95 % intervals of one average, quantile or computed column; of noise alone.

    A pair a row: each by itself holds the exact value with at least this confidence. An
    end that is null is open: noise alone does not say how far the value may be.
    """

    column: str
    """Name of the column."""
    confidence: ConfidenceText
    """With which each pair, by itself, holds the exact value."""
    rows: Annotated[
        list[list[str | None] | None],
        Field(examples=[[["72.100000", "75.300000"], None]]),
    ]
    """A pair of ends for each row, in the column's unit; null where the value is, and
    an open end is null."""


class HalfWidths(TypedDict):
    """The half-widths of one count or sum from a release, a text a row."""

    column: str
    """Name of the column."""
    confidence: ConfidenceText
    """With which the exact value of each row, by itself, lies within the half-width."""
    rows: Annotated[list[NumberText], Field(examples=[["30", "30"]])]
    """A half-width for each row, in the column's unit."""


class WarningShape(TypedDict):
    """Something to know before relying on the answer."""

    code: str
    """Stable name of the warning, such as `rows_chosen`."""
    detail: str
    """A sentence for people; it may be worded anew."""


class Undecided(TypedDict):
    """How many more may match, where a release of sequences does not say."""

    column: str
    """Name of the counting column."""
    rows: list[NumberText]
    """For each row, how many more units may match."""


class Undecidedness(TypedDict):
    """What answers from releases of sequences have beside."""

    undecided: NotRequired[list[Undecided]]
    """Of counts of sequences alone: units of which the release does not say whether
    they match; intervals end higher by them."""


class ReleaseAnswer(Undecidedness):
    """Estimates from a release; nothing was charged and no row was read."""

    release: str
    """Id of the release that answered."""
    snapshot: str
    """Id of the snapshot that the release was counted from."""
    columns: list[OutputColumn]
    """The columns of `rows`."""
    rows: list[list[CellValue]]
    """In the order of the columns. Counts are integers, signed, where the release
    measured cells one by one, else decimal strings with six digits after the point."""
    intervals: list[Intervals]
    """Of every measure."""
    half_widths: list[HalfWidths]
    """Of counts and sums."""
    price: LossText
    """Epsilon that this answer cost: always 0."""
    derivation: str
    """In sentences, how the numbers follow from what is published."""
    warnings: list[WarningShape]
    """What to know before relying on the numbers."""


class WidthsExpected(TypedDict):
    """The half-widths of one column of an answer that is made of paid ones.

    The least and the greatest of its cells, each at 95 %.
    """

    column: str
    """Name of the column."""
    least: NumberText
    """The smallest 95 % half-width of its cells, in the column's unit."""
    greatest: NumberText
    """The largest 95 % half-width of its cells, in the column's unit."""


class ReleaseTaken(Priced):
    """The release that gives an answer, or would; the loss was paid for it, once."""

    kind: Literal["release"]
    """Always `release`."""
    id: str
    """Id of the release."""
    name: str
    """Name of the release."""


class StoredAnswer(Priced):
    """The stored answer to the same question, which is given again by itself.

    The loss is what was paid for it.
    """

    kind: Literal["answer"]
    """Always `answer`."""
    id: str
    """Id of the query that was answered; of several the newest."""


class PaidOffer(Priced):
    """An answer that is made of noisy numbers that the project paid for.

    It is taken by ``options.prefer``, and by itself where it suffices. The loss is what
    was paid for them together.
    """

    kind: Literal["paid"]
    """Always `paid`."""
    id: str
    """Id of the newest of `queries`."""
    queries: list[str]
    """Ids of the paid queries, all that would be used."""
    half_widths: list[WidthsExpected]
    """How noisy each column would be."""
    suffices: bool
    """Whether it keeps to the accuracy that is wished for: then it is given by
    itself."""


FreeAnswer = TypeAliasType(
    "FreeAnswer",
    Annotated[
        StoredAnswer | ReleaseTaken | PaidOffer,
        Field(
            discriminator="kind",
            description="An answer that is on offer for nothing. A release and paid "
            "answers are taken by `options.prefer`.",
        ),
    ],
)


class ReleaseDifference(TypedDict):
    """One thing in which a release is not what a question asks."""

    what: Literal["snapshot", "source", "bounds", "filter", "counting", "dimension"]
    """Which part of the question differs."""
    detail: str
    """A sentence for people on how it differs."""


class RelatedRelease(Priced):
    """A release that comes near to a question, but does not answer it.

    The loss was paid for it, once.
    """

    kind: Literal["release"]
    """Always `release`."""
    id: str
    """Id of the release."""
    name: str
    """Name of the release."""
    differences: list[ReleaseDifference]
    """In what it is not what the question asks."""


class PaidTaken(Priced):
    """The paid questions whose noisy numbers made an answer, and what they cost."""

    kind: Literal["paid"]
    """Always `paid`."""
    queries: list[str]
    """Ids of the paid queries, all that were used."""
