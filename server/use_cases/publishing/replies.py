"""Plans of releases, and releases as their custodians see them, as they are sent."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from server.use_cases.losses.amounts import Priced
from server.use_cases.questions.plan_replies import (
    Cost,
)
from server.use_cases.services.documents import (
    DayText,
    Document,
    LossText,
    TimeText,
)


class PartShape(Priced):
    """A named share of the loss; all together are the release's."""

    name: str
    """What the share pays for."""


class ExpectedShape(TypedDict):
    """What public facts say of one strategy's error, in the unit counted."""

    strategy: str
    """Name of the strategy."""
    cell_rmse: float | None
    """Expected root mean square error of one cell, in what is counted; null where
    public facts do not tell."""
    total_rmse: float | None
    """Expected root mean square error of the total, in what is counted; null where
    public facts do not tell."""
    words: str
    """The same in a sentence, and how errors of sums grow."""


class CountedDimension(TypedDict):
    """A dimension: its name, how many values it has, what it is in the language."""

    name: str
    """Its name in the release."""
    values: int
    """How many values it has, NULL among them where it may be."""
    expression: str
    """What it is in the query language."""


class Sizes(TypedDict):
    """How large a release is, by public facts."""

    cells: NotRequired[int]
    """Of a cube: how many counts are published."""
    symbols: NotRequired[int]
    """Of sequences: how many symbols the alphabet has."""
    max_length: NotRequired[int]
    """Of sequences: the most symbols of one unit; longer ones are cut."""
    trees: NotRequired[int]
    """Of sequences: one tree for each value of the split."""


class ReleaseRange(Sizes):
    """What a plan says of the release's range."""

    kind: Literal["cube", "sequences"]
    """`cube`: counts of cells. `sequences`: prefix trees."""
    dimensions: NotRequired[list[CountedDimension]]
    """Of a cube: what its cells are grouped by."""
    alphabet: NotRequired[CountedDimension]
    """Of sequences: what its symbols are."""
    split: NotRequired[CountedDimension | None]
    """Of sequences: by which value trees are parted; null where one tree is of all."""


class BlocksTouched(TypedDict):
    """What plans of releases have beside where the population has blocks."""

    blocks: NotRequired[Annotated[list[str], Field(examples=[["north", "south"]])]]
    """Of a population with blocks: whose units the release can touch by its spec. Each
    is charged the whole; `remaining` is what is left of the least of their caps."""


class Affordability(BlocksTouched):
    """Whether a release can be charged now, and be called so."""

    population: str
    """Name of the population that would be charged."""
    affordable: bool
    """Whether the cap has enough left."""
    remaining: LossText | None
    """What is left of the cap, in the population's measure; null where it has none."""
    name_is_free: bool
    """Whether no other release of the population has the name."""


class ReleasePlanShape(ReleaseRange, Affordability, Priced):
    """A priced release; nothing was charged and no row read.

    The loss is what publishing it charges, once.
    """

    name: str
    """Name of the release."""
    dataset: str
    """Name of the dataset to be counted."""
    snapshot: str
    """Id of the snapshot to be counted."""
    strategy: str
    """How the loss is spent."""
    parts: list[PartShape]
    """How the loss divides."""
    l1_sensitivity: int
    """How far one unit can move all counts together, as the sum of absolute changes."""
    cost: Cost
    """How much work counting is, at most."""
    derivation: str
    """In sentences, how the sensitivity and the noise follow."""
    warnings: list[str]
    """What to know before publishing it, in sentences."""
    expected_errors: list[ExpectedShape]
    """What each strategy that fits would bring."""


class AdminReleaseItem(Priced):
    """A release as its custodians' lists show it; the loss was charged, once."""

    id: str
    """Id of the release, `rel_` and 24 hexadecimal digits."""
    name: str
    """By which SQL and commands name it."""
    population: str
    """Name of the population that was charged."""
    dataset: str
    """Name of the dataset that was counted."""
    snapshot: str
    """Id of the snapshot that was counted."""
    state: Literal["begun", "published", "withdrawn", "failed"]
    """`begun`: charged, and in work. `published`: readers see it from `visible` on.
    `withdrawn`: hidden for good."""
    public: bool
    """Whether every analyst may read it."""
    created: TimeText
    """When it was charged."""
    created_by: str
    """Name of the principal who published it."""
    visible: TimeText | None
    """From when on its readers see it; null until it is published."""
    job: str
    """Id of the job that publishes it."""


class AdminRelease(AdminReleaseItem):
    """A release, with who may read it, what was asked for, and its manifest."""

    readers: list[dict[str, str]]
    """Who may read it beside its custodians: a `project` or a `principal` each."""
    spec: Document
    """What was asked for, as it was sent."""
    manifest: Document | None
    """The signed manifest; null until it is published."""


AnnouncementState = Literal["open", "published", "withdrawn", "lapsed"]


class AdminAnnouncementItem(Priced):
    """An announcement as custodians' lists show it; nothing is charged for it."""

    id: str
    """Id of the announcement, `ann_` and 24 hexadecimal digits."""
    name: str
    """What the release will be called."""
    population: str
    """Name of the population that the release will charge."""
    dataset: str
    """Name of the dataset that it will count."""
    by: DayText
    """The day by which it is planned to be there."""
    state: AnnouncementState
    """`open`: its readers see it. `published`: a release of its name has appeared.
    `withdrawn`: it was taken back. `lapsed`: its day passed 30 days ago, and more."""
    public: bool
    """Whether every analyst will be able to read the release."""
    created: TimeText
    """When it was announced."""
    created_by: str
    """Name of the principal who announced it."""


class AdminAnnouncement(AdminAnnouncementItem):
    """An announcement, with the spec of its release."""

    spec: Document
    """What is planned, as it was sent."""


class VerifiedShape(TypedDict):
    """What is wrong with a release's files; raw counts are not looked at."""

    release: str
    """Id of the release."""
    ok: bool
    """Whether its files are complete, unchanged and signed."""
    problems: list[str]
    """What is wrong, a sentence each; empty where nothing is."""


class PublicKey(TypedDict):
    """The ed25519 key that verifies this installation's manifests."""

    public_key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """In hexadecimal, 32 bytes."""
