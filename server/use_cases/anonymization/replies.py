"""Anonymized copies as they are sent to custodians."""

from typing import Literal

from typing_extensions import TypedDict

from server.use_cases.services.documents import Document, TimeText

WhyUnknown = Literal["deleted", "no_patients", "no_names_in_both", "not_compared"]


class CopyItem(TypedDict):
    """A copy in a list. ``handed_out``: to how many recipients so far."""

    id: str
    """Id of the copy, `anon_` and 24 hexadecimal digits."""
    name: str
    """Its name in the population."""
    population: str
    """Name of the population whose people it is about."""
    kind: str
    """What is copied, such as `texts` or `table`."""
    created: TimeText
    """When it was made."""
    created_by: str
    """Name of the principal who made it."""
    handed_out: int
    """How many recipients got it so far."""


class HandOutShape(TypedDict):
    """A copy that somebody got; ``approved_by`` is null where one person sufficed."""

    recipient: str
    """Who got the copy."""
    purpose: str
    """What for, as it was recorded."""
    time: TimeText
    """When it was handed out."""
    by: str
    """Name of the principal who handed it out."""
    approved_by: str | None
    """Name of the second person; null where one person sufficed."""
    sha256: str
    """SHA-256 of what was handed out, in hexadecimal."""


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
    """How many patients are in two of the copies, or more; null where it cannot be
    told."""
    patients_in_one: int | None
    """How many patients are in one copy alone; null where it cannot be told."""
    fewest_together: int | None
    """The fewest patients that fit all that the copies publish of one; null where it
    cannot be told."""
    average_risk: float | None
    """The mean, over patients, of 1 over those who fit; from 0 to 1, null where it
    cannot be told."""
    why_unknown: WhyUnknown | None
    """Why the numbers are null; null where they are not."""


class OtherShape(TogetherShape):
    """Another copy of the same people that somebody got, beside this one."""

    recipient: str
    """Who got the other copy."""
    name: str
    """Name of the other copy."""
    copy: str
    """Id of the other copy."""


class OthersShape(TypedDict):
    """Who got other copies of the same people, and what those tell with this one.

    ``all_others`` is of all that can be compared, where there are several.
    """

    others: list[OtherShape]
    """Other copies of the same people that somebody got."""
    all_others: TogetherShape | None
    """The same over all that can be compared, where there are several; else null."""


class CopyDetail(CopyItem, OthersShape):
    """A copy: its manifest, who got it, and who got others of the same people."""

    warning: str
    """That the copy is not differentially private, and what follows from that."""
    manifest: Document
    """How it was made and what was measured; it counts raw texts or rows."""
    hand_outs: list[HandOutShape]
    """Who got it, and for what."""
