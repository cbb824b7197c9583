"""Plans of releases, and releases as their custodians see them, as they are sent."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from server.use_cases.questions.replies import Cost
from server.use_cases.services.documents import Document


class PartShape(TypedDict):
    """A named share of the loss."""

    name: str
    epsilon: str


class ExpectedShape(TypedDict):
    """What public facts say of one strategy's error, in the unit counted."""

    strategy: str
    cell_rmse: float | None
    total_rmse: float | None
    words: str


class CountedDimension(TypedDict):
    """A dimension: its name, how many values it has, what it is in the language."""

    name: str
    values: int
    expression: str


class Sizes(TypedDict):
    """How large a release is, by public facts."""

    cells: NotRequired[Annotated[int, Field(description="Of a cube.")]]
    symbols: NotRequired[Annotated[int, Field(description="Of sequences.")]]
    max_length: NotRequired[Annotated[int, Field(description="Of sequences.")]]
    trees: NotRequired[Annotated[int, Field(description="One a value of the split.")]]


class ReleaseRange(Sizes):
    """What a plan says of the release's range."""

    kind: Literal["cube", "sequences"]
    dimensions: NotRequired[
        Annotated[list[CountedDimension], Field(description="Of a cube.")]
    ]
    alphabet: NotRequired[
        Annotated[CountedDimension, Field(description="Of sequences.")]
    ]
    split: NotRequired[
        Annotated[CountedDimension | None, Field(description="Of sequences.")]
    ]


class Affordability(TypedDict):
    """Whether a release can be charged now, and be called so."""

    population: str
    affordable: bool
    remaining: str | None
    name_is_free: bool


class ReleasePlanShape(ReleaseRange, Affordability):
    """A priced release; nothing was charged and no row read."""

    name: str
    dataset: str
    snapshot: str
    strategy: str
    epsilon: str
    parts: list[PartShape]
    l1_sensitivity: int
    cost: Cost
    derivation: str
    warnings: list[str]
    expected_errors: list[ExpectedShape]


class AdminReleaseItem(TypedDict):
    """A release as its custodians' lists show it."""

    id: str
    name: str
    population: str
    dataset: str
    snapshot: str
    epsilon: str
    state: Literal["begun", "published", "withdrawn", "failed"]
    public: bool
    created: str
    created_by: str
    visible: Annotated[
        str | None, Field(description="From when on its readers see it.")
    ]
    job: str


class AdminRelease(AdminReleaseItem):
    """A release, with who may read it, what was asked for, and its manifest."""

    readers: list[dict[str, str]]
    spec: Document
    manifest: Document | None


class VerifiedShape(TypedDict):
    """What is wrong with a release's files; raw counts are not looked at."""

    release: str
    ok: bool
    problems: list[str]


class PublicKey(TypedDict):
    """The ed25519 key that verifies this installation's manifests."""

    public_key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
