"""Proposals as they are sent."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from server.use_cases.services.documents import Document

ProposalState = Literal["open", "approved", "rejected", "used", "lapsed", "stale"]


class ProposalShape(TypedDict):
    """A change that needs a second person, whole."""

    proposal: str
    state: ProposalState
    action: str
    population: str | None
    words: Annotated[
        list[str], Field(description="What it alters: old value -> new value.")
    ]
    differences: Annotated[
        list[str],
        Field(description="What it alters, a line for each part that differs."),
    ]
    does: Annotated[
        list[str], Field(description="What it does to the promise, in sentences.")
    ]
    leaves: Annotated[
        list[str], Field(description="What stays as it is, in sentences.")
    ]
    stale: Annotated[
        list[str],
        Field(
            description="What it would alter and is otherwise by now: propose it again."
        ),
    ]
    change: Document
    digest: Annotated[
        str, Field(description="sha256 of the change; the approval binds to it.")
    ]
    proposed_by: str
    created: str
    lapses: str
    decided_by: str | None
    decided: str | None
    decision_reason: Annotated[
        str | None, Field(description="Why it was rejected, if said.")
    ]
