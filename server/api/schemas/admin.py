"""The bodies of /v1/admin, which are checked here.

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


class JobBody(AdminBody):
    """A job to be queued: its kind, and what that kind wants to know."""

    kind: str = Field(examples=["dataset.load"])
    parameters: dict[str, Any] = Field(examples=[{"manifest": "hospital.yaml"}])


class VerdictBody(AdminBody):
    """What a clerk says of a doubtful pair."""

    verdict: Literal["match", "no_match", "unsure"] = Field(
        description="Whether both records are one patient's.", examples=["match"]
    )


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
