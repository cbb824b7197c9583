"""Anonymized copies as they are sent to custodians."""

from typing_extensions import TypedDict

from server.use_cases.services.documents import Document


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


class CopyDetail(CopyItem):
    """A copy: its manifest, who got it, and who got others of the same people."""

    warning: str
    manifest: Document
    hand_outs: list[HandOutShape]
    others: list[str]
