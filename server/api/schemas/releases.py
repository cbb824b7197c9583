"""The shapes of releases over HTTP, for their custodians and their readers."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from server.api.schemas.admin import AdminBody, Sentence
from server.api.schemas.questions import Cost


class ReleaseBody(AdminBody):
    """A release's spec, as a spec file has it (docs/releases.md)."""

    release: dict[str, Any]


class WithdrawBody(AdminBody):
    """Why a release is withdrawn; recorded."""

    reason: Sentence


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


class PartShape(_Shape):
    """A named share of the loss."""

    name: str
    epsilon: str


class ExpectedShape(_Shape):
    """What public facts say of one strategy's error, in the unit counted."""

    strategy: str
    cell_rmse: float | None
    total_rmse: float | None
    words: str


class CountedDimension(_Shape):
    """A dimension: its name, how many values it has, what it is in the language."""

    name: str
    values: int
    expression: str


class ReleasePlanShape(_Shape):
    """A priced release; nothing was charged and no row read."""

    name: str
    dataset: str
    snapshot: str
    strategy: str
    epsilon: str
    parts: list[PartShape]
    kind: Literal["cube", "sequences"]
    cells: int | None = Field(None, description="Of a cube.")
    dimensions: list[CountedDimension] | None = Field(None, description="Of a cube.")
    symbols: int | None = Field(None, description="Of sequences.")
    max_length: int | None = Field(None, description="Of sequences.")
    trees: int | None = Field(None, description="One a value of the split.")
    alphabet: CountedDimension | None = Field(None, description="Of sequences.")
    split: CountedDimension | None = Field(None, description="Of sequences.")
    l1_sensitivity: int
    cost: Cost
    derivation: str
    warnings: list[str]
    expected_errors: list[ExpectedShape]
    population: str
    affordable: bool
    remaining: str | None
    name_is_free: bool


class AdminReleaseItem(_Shape):
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
    visible: str | None = Field(description="From when on its readers see it.")
    job: str


class AdminReleaseList(_Shape):
    """Releases of the caller's populations, newest first."""

    items: list[AdminReleaseItem]
    next_cursor: str | None


class AdminRelease(AdminReleaseItem):
    """A release, with who may read it, what was asked for, and its manifest."""

    readers: list[dict[str, str]]
    spec: dict[str, Any]
    manifest: dict[str, Any] | None


class VerifiedShape(_Shape):
    """What is wrong with a release's files; raw counts are not looked at."""

    release: str
    ok: bool
    problems: list[str]


class ReleaseItem(_Shape):
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


class ReleaseList(_Shape):
    """Releases that the caller may read, newest first."""

    items: list[ReleaseItem]
    next_cursor: str | None


class ReleaseDetail(ReleaseItem):
    """A release with its signed manifest."""

    manifest: dict[str, Any]


class PublicKey(_Shape):
    """The ed25519 key that verifies this installation's manifests."""

    public_key: str = Field(pattern=r"^[0-9a-f]{64}$")
