"""Populations, projects, principals and keys as they are sent."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from privacy.measures import MeasureName
from server.use_cases.losses.amounts import PerQuery
from server.use_cases.services.documents import DayText, Document, LossText, TimeText


class HeldCap(TypedDict):
    """A cap, in its population's measure and as an epsilon."""

    epsilon_cap: LossText
    """The most epsilon that all answers about these people may ever spend; of a
    population that counts rho, what `rho_cap` amounts to at `delta_cap`. Of a
    population with blocks: the cap of each."""
    delta_cap: LossText
    """At which `epsilon_cap` holds; 0 where losses are pure."""
    rho_cap: NotRequired[LossText]
    """Of a population that counts rho: the most that may ever be spent."""


class BlockShape(HeldCap):
    """One block of a population: its cap, and what is spent of it."""

    block: str
    """Its value of the column that divides the population."""
    spent: LossText
    """What was charged for queries and releases that can touch its units."""
    remaining: LossText
    """What is left of its cap."""


class PopulationShape(PerQuery, HeldCap):
    """A population: whom it protects, its cap, what is spent."""

    name: str
    """As manifests write it; unique in the installation."""
    unit: str
    """What the privacy unit is called, such as `patient`."""
    unit_type: str
    """Type of the unit ids, `integer` or `text`."""
    unit_fold: list[str]
    """By which rules text ids are made alike before they are compared, in order; empty
    for none."""
    max_units: int
    """The declared upper bound on the number of units; public."""
    measure: MeasureName
    """What its losses count: epsilon (`pure`), or rho (`zcdp`)."""
    spent: LossText
    """What was charged so far, for all projects and releases, in its measure; of a
    population with blocks the most that was charged to any of them."""
    remaining: LossText
    """What is left of the cap, in its measure; of a population with blocks what a query
    about all of them may still spend."""
    blocks: list[BlockShape]
    """Of a population with blocks: each one's cap, in declared order; else empty."""
    datasets: list[str]
    """Names of the datasets over this population."""
    shares_units_with: list[str]
    """Names of populations that may hold the same people: losses in both add up."""
    custodians: list[str]
    """Names of the principals who hold it."""
    created: TimeText
    """When it was declared."""


class CustodianShape(TypedDict):
    """Who holds a population."""

    population: str
    """Name of the population."""
    principal: str
    """Name of its custodian."""


class RemovedCustodianShape(CustodianShape):
    """Who held a population."""

    removed: Literal[True]
    """Always true."""


class HeldDataset(TypedDict):
    """A dataset and its active snapshot."""

    name: str
    """By which queries and commands name the dataset."""
    population: str
    """Name of the population whose cap its charges count towards."""
    snapshot: str
    """Id of the active snapshot, which queries are answered from."""


class ListedDataset(HeldDataset):
    """A dataset in a list."""

    created: TimeText
    """When it was first loaded."""


class SnapshotItem(TypedDict):
    """A snapshot."""

    id: str
    """Id of the snapshot."""
    created: TimeText
    """When it was loaded."""


class HeldDatasetDetail(HeldDataset):
    """A dataset with its snapshots and its public schema."""

    snapshots: list[SnapshotItem]
    """Its snapshots."""
    tables: list[Document]
    """Its tables as the active snapshot's manifest declares them."""


class ProjectShape(TypedDict):
    """A project: who may ask what, why, until when, and what is left."""

    name: str
    """Unique in the installation."""
    id: str
    """Random id."""
    population: str
    """Name of the population that its datasets are over."""
    expires: DayText | None
    """First day without access; null is never."""
    private_history: bool
    """Whether its answers are offered to no other project."""
    purpose: str | None
    """Why it asks, as reports quote it; null where nobody said."""
    protocol: str | None
    """The approved protocol, such as a board's number; null where nobody said."""
    confirm_above: Annotated[str, Field(examples=["2%"])] | None
    """The share of its allotment above which a question has to be confirmed; null where
    none has."""
    created: TimeText
    """When it was created."""
    created_by: str
    """Name of the principal who created it."""
    datasets: list[str]
    """Names of the datasets that it may ask."""
    principals: list[str]
    """Names of the principals who may ask."""
    allotment: LossText
    """The most that it may spend, in what its population counts."""
    spent: LossText
    """Epsilon that it spent so far."""
    remaining: LossText
    """What is left of the allotment."""


class MadeShape(TypedDict):
    """The name and the random id of what was made."""

    id: str
    """Random id of what was made."""
    name: str
    """Name of what was made."""


class BeyondCap(TypedDict):
    """A warning to whoever sets an allotment."""

    note: NotRequired[str]
    """There where the allotment is more than the cap."""


class MadeProjectShape(MadeShape, BeyondCap):
    """A project that was made."""


class ChangedProjectShape(ProjectShape, BeyondCap):
    """A project that was changed."""


class GrantedPrincipal(TypedDict):
    """Who was let into a project."""

    project: str
    """Name of the project."""
    principal: str
    """Name of the principal."""


class GrantedDataset(TypedDict):
    """Which dataset was let into a project."""

    project: str
    """Name of the project."""
    dataset: str
    """Name of the dataset."""


class RevokedPrincipal(GrantedPrincipal):
    """Who was taken out of a project."""

    revoked: Literal[True]
    """Always true."""


class RevokedDataset(GrantedDataset):
    """Which dataset was taken out of a project."""

    revoked: Literal[True]
    """Always true."""


class PrincipalShape(TypedDict):
    """A principal."""

    name: str
    """Unique in the installation."""
    id: str
    """Random id."""
    role: str
    """`analyst`, `custodian`, `auditor` or `admin`; it never changes."""
    disabled: bool
    """Whether its keys are refused."""
    populations: list[str]
    """Of a custodian, the names of the populations held; empty for other roles."""
    created: TimeText
    """When it was created."""
    created_by: str
    """Name of the principal who created it."""


class DisabledShape(TypedDict):
    """Whether a principal is disabled now."""

    name: str
    """Name of the principal."""
    disabled: bool
    """Whether its keys are refused now."""


class KeyShape(TypedDict):
    """A key, never its token."""

    id: str
    """Id of the key, by which it is revoked."""
    principal: str
    """Name of the principal whose key it is."""
    revoked: bool
    """Whether it is refused for good."""
    created: TimeText
    """When it was issued."""
    issued_by: str
    """Name of the principal who issued it."""


class IssuedKeyShape(TypedDict):
    """A new key; its token is shown this once."""

    id: str
    """Id of the key, by which it is revoked."""
    key: str
    """The token, to be sent as `Authorization: Bearer`; it cannot be read again."""


class RevokedKeyShape(TypedDict):
    """A key that stopped."""

    id: str
    """Id of the key."""
    revoked: Literal[True]
    """Always true."""
