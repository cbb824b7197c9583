"""The shapes of /v1/admin: bodies that are checked here, and replies as described.

Bodies come from ``server.use_cases.services.strict_json``, so numbers keep their exact
value; a loss is read only after the caller's role is known.
"""

import contextlib
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from server.use_cases.services.lines import one_line


def _iso_day(value: object) -> object:
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            day = date.fromisoformat(value)
            if day.isoformat() == value:
                return day
    message = "write the day as YYYY-MM-DD"
    raise ValueError(message)


Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
LossText = Annotated[
    str | int | Decimal,
    WithJsonSchema(
        {
            "anyOf": [{"type": "string"}, {"type": "number"}],
            "description": "A decimal, at most nine places; a string keeps it exact.",
            "examples": ["2.5"],
        }
    ),
]
Day = Annotated[
    date,
    BeforeValidator(_iso_day),
    WithJsonSchema({"type": "string", "format": "date", "examples": ["2027-06-30"]}),
]
Sentence = Annotated[
    str, StringConstraints(min_length=1, max_length=1000), AfterValidator(one_line)
]
Reason = Annotated[
    str, StringConstraints(min_length=1, max_length=500), AfterValidator(one_line)
]
Names = Annotated[list[Name], Field(min_length=1, max_length=1000)]


def _leave_out(schema: dict[str, Any]) -> None:
    """Say of members that may be left out that they may not be null."""
    for name, member in schema["properties"].items():
        if member.get("default", ...) is None:
            del member["default"]
        kinds = [kind for kind in member.get("anyOf", []) if kind != {"type": "null"}]
        if name != "expires" and len(kinds) == 1:
            del member["anyOf"]
            member.update(kinds[0])
        elif name != "expires" and kinds:
            member["anyOf"] = kinds


class AdminBody(BaseModel):
    """A body: unknown keys are errors, nothing is coerced."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_leave_out)

    @model_validator(mode="before")
    @classmethod
    def refuse_nulls(cls, value: Any) -> Any:  # noqa: ANN401 - not checked yet
        """Refuse null, but where it means something."""
        if isinstance(value, dict) and any(
            member is None and name != "expires" for name, member in value.items()
        ):
            message = "leave a key out rather than send null"
            raise ValueError(message)
        return value


class OptionalBody(AdminBody):
    """What may be left out; that is an empty object."""


class NoBody(OptionalBody):
    """Nothing, or an empty object."""


class ReasonBody(OptionalBody):
    """Why, where that must be on record."""

    reason: Reason | None = None


class ActivationBody(ReasonBody):
    """As ``ReasonBody``; also whether people of another population may be named."""

    override_overlap: bool = False


class CapBody(AdminBody):
    """A population's cap; the reason is recorded."""

    epsilon_cap: LossText
    reason: Reason | None = None


class CustodianBody(AdminBody):
    """Who is to hold a population."""

    principal: Name


class ProjectBody(AdminBody):
    """A new project."""

    name: Name
    datasets: Names
    principals: Names
    allotment: LossText
    expires: Day | None = Field(
        default=None, description="First day without access; null is never."
    )
    private_history: bool = False
    purpose: Sentence | None = None
    protocol: Sentence | None = None


class ProjectChangeBody(AdminBody):
    """What is to change of a project; what is left out stays."""

    allotment: LossText | None = None
    expires: Day | None = Field(
        default=None, description="First day without access; null is never."
    )
    purpose: Sentence | None = None
    protocol: Sentence | None = None
    reason: Reason | None = None

    @model_validator(mode="after")
    def require_something(self) -> "ProjectChangeBody":
        """Refuse a body that changes nothing."""
        if self.model_fields_set <= {"reason"}:
            message = "give what to change: allotment, expires, purpose or protocol"
            raise ValueError(message)
        return self


class GrantBody(AdminBody):
    """Exactly one of a principal (with an allotment, if given) and a dataset."""

    principal: Name | None = None
    allotment: LossText | None = None
    dataset: Name | None = None
    reason: Reason | None = None

    @model_validator(mode="after")
    def require_one(self) -> "GrantBody":
        """Refuse both and neither."""
        if (self.principal is None) == (self.dataset is None):
            message = "give exactly one of principal and dataset"
            raise ValueError(message)
        if self.dataset is not None and self.allotment is not None:
            message = "an allotment is a principal's"
            raise ValueError(message)
        if self.reason is not None and self.allotment is None:
            message = "a reason is of an allotment"
            raise ValueError(message)
        return self


class PrincipalBody(AdminBody):
    """A new principal."""

    name: Name
    role: Literal["analyst", "custodian", "auditor", "admin"]
    populations: Annotated[list[Name], Field(max_length=1000)] = Field(
        default=[], description="Of a custodian."
    )


class KeyBody(AdminBody):
    """Whose key it is to be."""

    principal: Name


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


class LossRange(_Shape):
    """What one query may spend."""

    min: str
    max: str


class PopulationShape(_Shape):
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


class PopulationPage(_Shape):
    """Populations, newest first."""

    items: list[PopulationShape]
    next_cursor: str | None


class CustodianShape(_Shape):
    """Who holds a population."""

    population: str
    principal: str


class RemovedCustodianShape(CustodianShape):
    """Who held a population."""

    removed: Literal[True]


class HeldDataset(_Shape):
    """A dataset and its active snapshot."""

    name: str
    population: str
    snapshot: str


class ListedDataset(HeldDataset):
    """A dataset in a list."""

    created: str


class RemovedSnapshotShape(_Shape):
    """A version of a dataset that was erased."""

    id: str
    dataset: str
    state: Literal["removed"]


class SnapshotShape(_Shape):
    """A version of a dataset: active, kept, or removed."""

    id: str
    dataset: str
    created: str
    state: Literal["active", "kept", "removed"]


class SnapshotPage(_Shape):
    """Snapshots, newest first."""

    items: list[SnapshotShape]
    next_cursor: str | None


class HeldDatasetPage(_Shape):
    """Datasets, newest first."""

    items: list[ListedDataset]
    next_cursor: str | None


class SnapshotItem(_Shape):
    """A snapshot."""

    id: str
    created: str


class HeldDatasetDetail(HeldDataset):
    """A dataset with its snapshots and its public schema."""

    snapshots: list[SnapshotItem]
    tables: list[dict[str, object]]


class ProjectShape(_Shape):
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


class ProjectPage(_Shape):
    """Projects, newest first."""

    items: list[ProjectShape]
    next_cursor: str | None


class MadeShape(_Shape):
    """The name and the random id of what was made."""

    id: str
    name: str


class MadeProjectShape(MadeShape):
    """A project that was made."""

    note: str | None = Field(
        None, description="There where the allotment is more than the cap."
    )


class ChangedProjectShape(ProjectShape):
    """A project that was changed."""

    note: str | None = Field(
        None, description="There where the new allotment is more than the cap."
    )


class GrantedPrincipal(_Shape):
    """Who was let into a project."""

    project: str
    principal: str


class GrantedDataset(_Shape):
    """Which dataset was let into a project."""

    project: str
    dataset: str


class RevokedPrincipal(GrantedPrincipal):
    """Who was taken out of a project."""

    revoked: Literal[True]


class RevokedDataset(GrantedDataset):
    """Which dataset was taken out of a project."""

    revoked: Literal[True]


class PrincipalShape(_Shape):
    """A principal."""

    name: str
    id: str
    role: str
    disabled: bool
    populations: list[str]
    created: str
    created_by: str


class PrincipalPage(_Shape):
    """Principals, newest first."""

    items: list[PrincipalShape]
    next_cursor: str | None


class DisabledShape(_Shape):
    """Whether a principal is disabled now."""

    name: str
    disabled: bool


class KeyShape(_Shape):
    """A key, never its token."""

    id: str
    principal: str
    revoked: bool
    created: str
    issued_by: str


class KeyPage(_Shape):
    """Keys, newest first."""

    items: list[KeyShape]
    next_cursor: str | None


class IssuedKeyShape(_Shape):
    """A new key; its token is shown this once."""

    id: str
    key: str


class RevokedKeyShape(_Shape):
    """A key that stopped."""

    id: str
    revoked: bool


class ProposalShape(_Shape):
    """A change that needs a second person, whole."""

    proposal: str
    state: Literal["open", "approved", "rejected", "used", "lapsed", "stale"]
    action: str
    population: str | None
    words: list[str] = Field(description="What it alters: old value -> new value.")
    stale: list[str] = Field(
        description="What it would alter and is otherwise by now: propose it again."
    )
    change: dict[str, object]
    digest: str = Field(description="sha256 of the change; the approval binds to it.")
    proposed_by: str
    created: str
    lapses: str
    decided_by: str | None
    decided: str | None
    decision_reason: str | None = Field(description="Why it was rejected, if said.")


class ProposalPage(_Shape):
    """Proposals, newest first."""

    items: list[ProposalShape]
    next_cursor: str | None


class EntryShape(_Shape):
    """One line of the ledger: a charge with its end, a refusal, or a change."""

    number: int | None = Field(description="Of a charge in its population, from 1.")
    kind: Literal["charge", "free", "refused", "admin", "reconcile"]
    time: str
    query_id: str | None
    state: Literal["in_flight", "answered", "failed"] | None = Field(
        description="Of a charge; its end shows once its reply has left."
    )
    population: str | None
    project: str | None
    principal: str | None
    epsilon: str | None
    action: str | None
    actor: str | None


class EntryPage(_Shape):
    """Lines of the ledger, newest first."""

    items: list[EntryShape]
    next_cursor: str | None


class VerificationShape(_Shape):
    """Whether the ledger is whole."""

    ok: bool
    entries: int = Field(description="Lines of the ledger's list.")
    problems: list[str]


class JobBody(AdminBody):
    """A job to be queued: its kind, and what that kind wants to know."""

    kind: str = Field(examples=["dataset.load"])
    parameters: dict[str, Any] = Field(examples=[{"manifest": "hospital.yaml"}])


BODIES: tuple[type[AdminBody], ...] = (
    CapBody,
    CustodianBody,
    ProjectBody,
    ProjectChangeBody,
    GrantBody,
    PrincipalBody,
    KeyBody,
    JobBody,
    ReasonBody,
    ActivationBody,
)
"""Bodies that routes read themselves, for the OpenAPI document."""
