"""Populations, projects, principals and keys as they are sent."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from server.use_cases.services.documents import Document


class LossRange(TypedDict):
    """What one query may spend."""

    min: str
    max: str


class PopulationShape(TypedDict):
    """A population: whom it protects, its cap, what is spent."""

    name: str
    unit: str
    unit_type: str
    unit_fold: list[str]
    max_units: int
    epsilon_cap: str
    delta_cap: str
    spent: str
    remaining: str
    epsilon_per_query: LossRange
    datasets: list[str]
    shares_units_with: list[str]
    custodians: list[str]
    created: str


class CustodianShape(TypedDict):
    """Who holds a population."""

    population: str
    principal: str


class RemovedCustodianShape(CustodianShape):
    """Who held a population."""

    removed: Literal[True]


class HeldDataset(TypedDict):
    """A dataset and its active snapshot."""

    name: str
    population: str
    snapshot: str


class ListedDataset(HeldDataset):
    """A dataset in a list."""

    created: str


class SnapshotItem(TypedDict):
    """A snapshot."""

    id: str
    created: str


class HeldDatasetDetail(HeldDataset):
    """A dataset with its snapshots and its public schema."""

    snapshots: list[SnapshotItem]
    tables: list[Document]


class ProjectShape(TypedDict):
    """A project: who may ask what, why, until when, and what is left."""

    name: str
    id: str
    population: str
    expires: str | None
    private_history: bool
    purpose: str | None
    protocol: str | None
    created: str
    created_by: str
    datasets: list[str]
    principals: list[str]
    allotment: str
    spent: str
    remaining: str


class MadeShape(TypedDict):
    """The name and the random id of what was made."""

    id: str
    name: str


class BeyondCap(TypedDict):
    """A warning to whoever sets an allotment."""

    note: NotRequired[
        Annotated[
            str, Field(description="There where the allotment is more than the cap.")
        ]
    ]


class MadeProjectShape(MadeShape, BeyondCap):
    """A project that was made."""


class ChangedProjectShape(ProjectShape, BeyondCap):
    """A project that was changed."""


class GrantedPrincipal(TypedDict):
    """Who was let into a project."""

    project: str
    principal: str


class GrantedDataset(TypedDict):
    """Which dataset was let into a project."""

    project: str
    dataset: str


class RevokedPrincipal(GrantedPrincipal):
    """Who was taken out of a project."""

    revoked: Literal[True]


class RevokedDataset(GrantedDataset):
    """Which dataset was taken out of a project."""

    revoked: Literal[True]


class PrincipalShape(TypedDict):
    """A principal."""

    name: str
    id: str
    role: str
    disabled: bool
    populations: list[str]
    created: str
    created_by: str


class DisabledShape(TypedDict):
    """Whether a principal is disabled now."""

    name: str
    disabled: bool


class KeyShape(TypedDict):
    """A key, never its token."""

    id: str
    principal: str
    revoked: bool
    created: str
    issued_by: str


class IssuedKeyShape(TypedDict):
    """A new key; its token is shown this once."""

    id: str
    key: str


class RevokedKeyShape(TypedDict):
    """A key that stopped."""

    id: str
    revoked: Literal[True]
