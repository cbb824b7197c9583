"""Proposals as they are sent."""

from typing import Literal

from typing_extensions import TypedDict

from server.use_cases.services.documents import Document, TimeText

ProposalState = Literal["open", "approved", "rejected", "used", "lapsed", "stale"]


class ProposalShape(TypedDict):
    """A change that needs a second person, whole."""

    proposal: str
    """Id of the proposal, `pr_` and 24 hexadecimal digits."""
    state: ProposalState
    """`open`: nobody decided. `used`: approved, and the change was made. `lapsed`: too
    old. `stale`: see `stale`."""
    action: str
    """Which kind of change, such as `population.cap`."""
    population: str | None
    """Name of the population that it is about; null where it is of none."""
    words: list[str]
    """What it alters: old value -> new value."""
    differences: list[str]
    """What it alters, a line for each part that differs."""
    does: list[str]
    """What it does to the promise, in sentences."""
    leaves: list[str]
    """What stays as it is, in sentences."""
    stale: list[str]
    """What it would alter and is otherwise by now: propose it again."""
    change: Document
    """The whole change, which the approval binds to."""
    digest: str
    """SHA-256 of the change, in hexadecimal; the approval binds to it."""
    proposed_by: str
    """Name of the principal who proposed it."""
    created: TimeText
    """When it was proposed."""
    lapses: TimeText
    """Until when it may be approved and used."""
    decided_by: str | None
    """Name of the principal who approved or rejected it; null while nobody did."""
    decided: TimeText | None
    """When it was approved or rejected; null while nobody did."""
    decision_reason: str | None
    """Why it was rejected; null where nobody said."""
