"""Releases, and answers from them, as they are sent."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from server.use_cases.services.documents import Document

CellValue = int | str | bool | None
"""Whole numbers are integers; decimals, days, times and text are strings."""

TypeName = Literal["integer", "decimal", "date", "timestamp", "text", "boolean"]


class ReleaseItem(TypedDict):
    """A release as its readers' lists show it."""

    id: str
    name: str
    kind: Literal["cube", "sequences"]
    dataset: str
    snapshot: str
    strategy: str
    epsilon: str
    counts: Literal["units", "rows"]
    public: bool
    created: str


class ReleaseDetail(ReleaseItem):
    """A release with its signed manifest."""

    manifest: Document


class TreeChild(TypedDict):
    """How many sequences go on in one way."""

    kind: Annotated[
        Literal["symbol", "end", "rest"],
        Field(description="rest: they go on, and the release does not know how."),
    ]
    symbol: CellValue
    count: str
    half_width: str
    children: int


class TreeBranch(TypedDict):
    """A path of a published tree, and where its sequences go on."""

    release: str
    prefix: list[CellValue]
    count: Annotated[
        str | None, Field(description="null: the release did not keep this path.")
    ]
    half_width: str | None
    children: list[TreeChild]


class OutputColumn(TypedDict):
    """A column of the answer."""

    name: str
    kind: Literal["group", "measure"]
    type: TypeName
    unit: Annotated[str | None, Field(examples=["patient"])]


class Intervals(TypedDict):
    """The 95 % intervals of one average, quantile or computed column; of noise alone.

    A pair a row: each by itself holds the exact value with at least this confidence. An
    end that is null is open: noise alone does not say how far the value may be.
    """

    column: str
    confidence: Annotated[str, Field(examples=["0.95"])]
    rows: Annotated[
        list[list[str | None] | None],
        Field(examples=[[["72.100000", "75.300000"], None]]),
    ]


class HalfWidths(TypedDict):
    """The half-widths of one count or sum from a release, a text a row."""

    column: str
    confidence: Annotated[str, Field(examples=["0.95"])]
    rows: Annotated[list[str], Field(examples=[["30", "30"]])]


class WarningShape(TypedDict):
    """Something to know before relying on the answer."""

    code: str
    detail: str


class Undecided(TypedDict):
    """How many more may match, where a release of sequences does not say."""

    column: str
    rows: list[str]


class Undecidedness(TypedDict):
    """What answers from releases of sequences have beside."""

    undecided: NotRequired[
        Annotated[
            list[Undecided],
            Field(
                description="Of counts of sequences alone: units of which the release "
                "does not say whether they match; intervals end higher by them."
            ),
        ]
    ]


class ReleaseAnswer(Undecidedness):
    """Estimates from a release; nothing was charged and no row was read."""

    release: str
    snapshot: str
    columns: list[OutputColumn]
    rows: Annotated[
        list[list[CellValue]],
        Field(
            description="In the order of the columns. Counts are integers, signed, "
            "where the release measured cells one by one, else decimal strings with "
            "six digits after the point."
        ),
    ]
    intervals: Annotated[list[Intervals], Field(description="Of every measure.")]
    half_widths: Annotated[list[HalfWidths], Field(description="Of counts and sums.")]
    price: Annotated[str, Field(examples=["0"])]
    derivation: str
    warnings: list[WarningShape]


class WidthsExpected(TypedDict):
    """The half-widths of one column of an answer that is made of paid ones.

    The least and the greatest of its cells, each at 95 %.
    """

    column: str
    least: Annotated[str, Field(examples=["14"])]
    greatest: Annotated[str, Field(examples=["21"])]


class FreeAnswer(TypedDict):
    """An answer that is on offer for nothing: one given before, or a release's.

    ``answer`` is the same question's and is given again by itself. ``release`` and
    ``paid``, which is made of noisy numbers that the project paid for, are taken by
    ``options.prefer``.
    """

    kind: Literal["answer", "release", "paid"]
    id: Annotated[
        str, Field(description="Of the release or query; of several the newest.")
    ]
    name: NotRequired[Annotated[str, Field(description="Of a release.")]]
    epsilon: Annotated[str, Field(description="That was paid for it.", examples=["1"])]
    queries: NotRequired[
        Annotated[
            list[str], Field(description="Of what the project paid: all that are used.")
        ]
    ]
    half_widths: NotRequired[
        Annotated[
            list[WidthsExpected], Field(description="Of what the project paid for.")
        ]
    ]


class ReleaseDifference(TypedDict):
    """One thing in which a release is not what a question asks."""

    what: Literal["snapshot", "source", "bounds", "filter", "counting", "dimension"]
    detail: str


class RelatedRelease(TypedDict):
    """A release that comes near to a question, but does not answer it."""

    kind: Literal["release"]
    id: str
    name: str
    epsilon: str
    differences: list[ReleaseDifference]


class ReleaseTaken(TypedDict):
    """The release that gave an answer."""

    kind: Literal["release"]
    id: str
    name: str
    epsilon: str


class PaidTaken(TypedDict):
    """The paid questions whose noisy numbers made an answer."""

    kind: Literal["paid"]
    queries: list[str]
    epsilon: Annotated[
        str, Field(description="That was paid for these, together.", examples=["0.5"])
    ]
