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


class TogetherShape(TypedDict):
    """What copies of the same people tell together.

    ``patients_in_both`` is how many are in two of them (or more), ``patients_in_one``
    in one alone, ``fewest_together`` the fewest that fit what all publish of one,
    ``average_risk`` the mean of 1 over that. All are null where it cannot be told, and
    ``why_unknown`` says why: another one was deleted and nothing was kept, one does
    not tell patients apart or puts none in classes, their sources name no patient
    alike, or they were not compared yet, which jobs and commands on the host do.
    """

    patients_in_both: int | None
    patients_in_one: int | None
    fewest_together: int | None
    average_risk: float | None
    why_unknown: WhyUnknown | None


class OtherShape(TogetherShape):
    """Another copy of the same people that somebody got, beside this one."""

    recipient: str
    name: str
    copy: str


class OthersShape(TypedDict):
    """Who got other copies of the same people, and what those tell with this one.

    ``all_others`` is of all that can be compared, where there are several.
    """

    others: list[OtherShape]
    all_others: TogetherShape | None


class CopyDetail(CopyItem, OthersShape):
    """A copy: its manifest, who got it, and who got others of the same people."""

    warning: str
    manifest: Document
    hand_outs: list[HandOutShape]
