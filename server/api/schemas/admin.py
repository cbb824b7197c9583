"""The bodies of /v1/admin, which are checked here.

Bodies come from ``server.use_cases.services.strict_json``, so numbers keep their exact
value; a loss is read only after the caller's role is known.
"""

import contextlib
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

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
from typing_extensions import TypeAliasType

from server.use_cases.services.documents import LOSS_SCHEMA
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
LossText = TypeAliasType(
    "LossText", Annotated[str | int | Decimal, WithJsonSchema({**LOSS_SCHEMA})]
)
"""As replies write losses; a JSON number is read by the exact value of its text."""

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
Share = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9]{1,3}(\.[0-9]{1,6})?%$"),
    Field(examples=["2%"]),
]
Names = Annotated[list[Name], Field(min_length=1, max_length=1000)]


_NULLED = frozenset({"expires", "confirm_above"})
"""Members whose null says something: never."""


def _leave_out(schema: dict[str, Any]) -> None:
    """Say of members that may be left out that they may not be null."""
    for name, member in schema["properties"].items():
        if member.get("default", ...) is None:
            del member["default"]
        kinds = [kind for kind in member.get("anyOf", []) if kind != {"type": "null"}]
        if name not in _NULLED and len(kinds) == 1:
            del member["anyOf"]
            member.update(kinds[0])
        elif name not in _NULLED and kinds:
            member["anyOf"] = kinds


class AdminBody(BaseModel):
    """A body: unknown keys are errors, nothing is coerced."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_leave_out)

    @model_validator(mode="before")
    @classmethod
    def refuse_nulls(cls, value: Any) -> Any:  # noqa: ANN401 - not checked yet
        """Refuse null, but where it means something."""
        if isinstance(value, dict) and any(
            member is None and name not in _NULLED for name, member in value.items()
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
    """Why; recorded in the ledger."""


class ActivationBody(ReasonBody):
    """As ``ReasonBody``; also whether people of another population may be named."""

    override_overlap: bool = False
    """Whether people of another population may be named; needs a reason and a second
    person."""


class CapBody(AdminBody):
    """A population's cap; the reason is recorded."""

    epsilon_cap: LossText | None = None
    """The new cap: the most epsilon that all answers about the population may ever
    spend."""
    rho_cap: LossText | None = None
    """Of a population that counts rho: the new cap, instead of `epsilon_cap`."""
    reason: Reason | None = None
    """Why; recorded in the ledger."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.epsilon_cap is None) == (self.rho_cap is None):
            message = "give epsilon_cap; of a population that counts rho, rho_cap"
            raise ValueError(message)
        return self

    @property
    def cap(self) -> tuple[str, str | int | Decimal]:
        """What the caller takes its losses for, and the cap."""
        if self.epsilon_cap is not None:
            return "epsilon", self.epsilon_cap
        if self.rho_cap is None:  # the validator saw exactly one of the two
            raise AssertionError
        return "rho", self.rho_cap


class CustodianBody(AdminBody):
    """Who is to hold a population."""

    principal: Name
    """Name of a principal of the role custodian."""


class ProjectBody(AdminBody):
    """A new project."""

    name: Name
    """Unique in the installation."""
    datasets: Names
    """Names of datasets, all over one population."""
    principals: Names
    """Names of the analysts who may ask."""
    allotment: LossText
    """The most that it may spend, in what its population counts."""
    expires: Day | None = None
    """First day without access; null is never."""
    private_history: bool = False
    """Whether its answers are offered to no other project."""
    purpose: Sentence | None = None
    """Why it asks; reports quote it."""
    protocol: Sentence | None = None
    """The approved protocol, such as an ethics board's number."""
    confirm_above: Share | None = None
    """The share of its allotment above which a question has to be confirmed."""


class ProjectChangeBody(AdminBody):
    """What is to change of a project; what is left out stays."""

    allotment: LossText | None = None
    """The most that it may spend, in what its population counts; not below what is
    spent."""
    expires: Day | None = None
    """First day without access; null is never."""
    purpose: Sentence | None = None
    """Why it asks; reports quote it."""
    protocol: Sentence | None = None
    """The approved protocol, such as an ethics board's number."""
    confirm_above: Share | None = None
    """The share of its allotment above which a question has to be confirmed; null is
    never."""
    reason: Reason | None = None
    """Why it is changed; recorded in the ledger."""

    @model_validator(mode="after")
    def require_something(self) -> "ProjectChangeBody":
        """Refuse a body that changes nothing."""
        if self.model_fields_set <= {"reason"}:
            message = (
                "give what to change: allotment, expires, purpose, protocol or "
                "confirm_above"
            )
            raise ValueError(message)
        return self


class GrantBody(AdminBody):
    """Exactly one of a principal (with an allotment, if given) and a dataset."""

    principal: Name | None = None
    """Name of the analyst to be let in."""
    allotment: LossText | None = None
    """The most that this principal may spend of the project's; left out, it
    stays as it was, at first without such a limit."""
    dataset: Name | None = None
    """Name of the dataset to be let in."""
    reason: Reason | None = None
    """Why the principal gets the allotment; recorded in the ledger."""

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
    """Unique in the installation."""
    role: Literal["analyst", "custodian", "auditor", "admin"]
    """What it may do (docs/roles.md); it never changes."""
    populations: Annotated[list[Name], Field(max_length=1000)] = []
    """Of a custodian: names of the populations to be held."""


class KeyBody(AdminBody):
    """Whose key it is to be."""

    principal: Name
    """Name of the principal whose key it is."""


class JobBody(AdminBody):
    """A job to be queued: its kind, and what that kind wants to know."""

    kind: str = Field(examples=["dataset.load"])
    """What is to be done (docs/jobs.md)."""
    parameters: dict[str, Any] = Field(examples=[{"manifest": "hospital.yaml"}])
    """What the kind wants to know (docs/jobs.md)."""


class VerdictBody(AdminBody):
    """What a clerk says of a doubtful pair."""

    verdict: Literal["match", "no_match", "unsure"] = Field(examples=["match"])
    """Whether both records are one patient's."""


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
    VerdictBody,
)
"""Bodies that routes read themselves, for the OpenAPI document."""
