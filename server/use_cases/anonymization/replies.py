"""Anonymized copies as they are sent to custodians."""

from typing import Literal

from typing_extensions import TypedDict

from server.use_cases.services.documents import Document

WhyUnknown = Literal["deleted", "no_patients", "no_names_in_both", "not_compared"]


class CopyItem(TypedDict):
    """A copy in a list. ``handed_out``: to how many recipients so far."""

    id: str
    name: str
    population: str
    kind: str
    created: str
    created_by: str
    handed_out: int


class HandOutShape(TypedDict):
    """A copy that somebody got; ``approved_by`` is null where one person sufficed."""

    recipient: str
    purpose: str
    time: str
    by: str
    approved_by: str | None
    sha256: str


class OtherShape(TypedDict):
    """Another copy of the same people that somebody got.

    ``patients_in_both`` is how many are in both copies, ``fewest_together`` the fewest
    of them that fit what both publish of one, ``average_risk`` the mean of 1 over that.
    All are null where it cannot be told, and ``why_unknown`` says why: the other was
    deleted before it was handed out, one of both does not tell patients apart or puts
    none in classes, their sources name no patient alike, or they were not compared
    yet, which jobs and commands on the host do.
    """

    recipient: str
    name: str
    copy: str
    patients_in_both: int | None
    fewest_together: int | None
    average_risk: float | None
    why_unknown: WhyUnknown | None


class CopyDetail(CopyItem):
    """A copy: its manifest, who got it, and who got others of the same people."""

    warning: str
    manifest: Document
    hand_outs: list[HandOutShape]
    others: list[OtherShape]
