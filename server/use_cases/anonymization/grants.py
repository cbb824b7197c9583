"""Who got copies, as the ledger has it, and what copies of the same people tell."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from budget.reading.statements import EntryLine, read_entries
from privacy.times import shown_time
from server.use_cases.anonymization.copies import Copy, CopyFolders
from server.use_cases.anonymization.intersection import (
    Intersection,
    Members,
    intersection_of,
)
from server.use_cases.anonymization.replies import HandOutShape, OtherShape, WhyUnknown
from server.use_cases.approvals.changes import Altered, Change, Subject
from server.use_cases.approvals.stale_changes import COPY_DELETED, COPY_GRANTED

WARNING: Final = (
    "no differential privacy: k-anonymity and its kin, and de-identified texts, are "
    "broken by what somebody knows besides, by what all of a group share, by two "
    "copies of the same people, and by knowing how the copy was made"
)
Holder = tuple[str, str]
"""A copy's id, and who got it."""
Compared = tuple[Intersection, WhyUnknown | None]
_UNKNOWN: Final = Intersection(None, None, None)
_WHY: Final[dict[WhyUnknown, str]] = {
    "deleted": "the other was deleted before it was handed out",
    "no_patients": "one of them does not tell whose its records are, or puts none in "
    "classes",
    "not_compared": "nobody compared them yet: 'curator anonymize show' does on the "
    "host",
    "no_names_in_both": "their sources name no patient alike",
}


@dataclass(frozen=True, slots=True)
class HandOut:
    """Who gets a copy, and what for: one line each."""

    recipient: str
    purpose: str


@dataclass(frozen=True, slots=True)
class Grant:
    """A hand-out that the ledger has.

    Attributes:
        population: Whose patients.
        copy: The copy's id.
        name: Its name.
        to: Who got it, and what for.
        sha256: Of its manifest.
        files: The token of the folder that the files were copied into.
        shown: As lists show it.
    """

    population: str
    copy: str
    name: str
    to: HandOut
    sha256: str
    files: str
    shown: HandOutShape

    def is_of(self, copy: Copy, to: HandOut) -> bool:
        """Whether it gave this very copy to this recipient for this purpose."""
        return (self.copy, self.sha256, self.to) == (copy.id, copy.sha256, to)


def read_grants(connection: Connection) -> Iterator[Grant]:
    """Yield all hand-outs, oldest first."""
    for entry in read_entries(connection, "admin", naming=f'"{COPY_GRANTED}"'):
        if entry.body.get("action") == COPY_GRANTED:
            yield _grant(entry)


def read_deleted(connection: Connection) -> set[str]:
    """Return the ids of the copies that were deleted."""
    entries = read_entries(connection, "admin", naming=f'"{COPY_DELETED}"')
    told = (
        one.body["facts"] for one in entries if one.body.get("action") == COPY_DELETED
    )
    return {str(facts["copy"]) for facts in told if isinstance(facts, dict)}


def _grant(entry: EntryLine) -> Grant:
    held = entry.body["facts"]
    facts = dict(held) if isinstance(held, dict) else {}
    approval = facts.get(f"approval of {COPY_GRANTED}")
    by = approval.get("approved_by") if isinstance(approval, dict) else None
    to = HandOut(str(facts["recipient"]), str(facts["purpose"]))
    return Grant(
        population=str(facts["population"]),
        copy=str(facts["copy"]),
        name=str(facts["name"]),
        to=to,
        sha256=str(facts["sha256"]),
        files=str(facts.get("files")),
        shown={
            "recipient": to.recipient,
            "purpose": to.purpose,
            "time": shown_time(entry.time),
            "by": str(entry.body["actor"]),
            "approved_by": None if by is None else str(by),
            "sha256": str(facts["sha256"]),
        },
    )


def holders(grants: Iterable[Grant], population: str, copy: str) -> dict[Holder, Grant]:
    """Return who has other copies of the same people: they can compare them."""
    return {
        (one.copy, one.to.recipient): one
        for one in grants
        if one.population == population and one.copy != copy
    }


def others_of(
    held: Mapping[Holder, Grant], comparing: Callable[[str], Compared]
) -> list[OtherShape]:
    """Return who has other copies of the same people, and what two tell together.

    Args:
        held: Who has which.
        comparing: Returns by the id of another copy what both tell.
    """
    compared = {other: comparing(other) for other, _ in held}
    found: list[OtherShape] = []
    for one in held.values():
        told, why = compared[one.copy]
        found.append(
            {
                "recipient": one.to.recipient,
                "name": one.name,
                "copy": one.copy,
                "patients_in_both": told.patients_in_both,
                "fewest_together": told.fewest_together,
                "average_risk": told.average_risk,
                "why_unknown": why,
            }
        )
    return found


def compared_before(folders: CopyFolders, copy: str, other: str) -> Compared:
    """Return what two copies tell together, as it was found out once.

    It works on no patients' rows: whoever waits for it learns nothing by the time.
    """
    known = folders.compared(copy, other)
    if known is not None:
        why: WhyUnknown = "no_names_in_both"
        return known, why if known.patients_in_both is None else None
    if folders.has_members(copy) and folders.has_members(other):
        return _UNKNOWN, "not_compared"
    is_there = folders.path(other).is_dir() or folders.has_members(other)
    return _UNKNOWN, "no_patients" if is_there else "deleted"


def compare(
    folders: CopyFolders, copy: str, other: str, own: Members | None
) -> Compared:
    """Find out what two copies tell together, and keep it; for jobs and the host.

    Args:
        folders: Of all copies.
        copy: One.
        other: The other.
        own: Who is in which class of the one.
    """
    known, why = compared_before(folders, copy, other)
    theirs = None if own is None or why is None else folders.members(other)
    if own is None or theirs is None or folders.compared(copy, other) is not None:
        return known, why
    folders.keep_compared(copy, other, intersection_of(own, theirs))
    return compared_before(folders, copy, other)


def said_of(other: OtherShape) -> str:
    """Return in a sentence what another copy and this one tell together."""
    got = f"{other['recipient']} has {other['name']} ({other['copy']})"
    why = other["why_unknown"]
    if why is not None:
        return f"{got}: what both tell together is not known, {_WHY[why]}"
    return f"{got}: {_together(other)}"


def _together(other: OtherShape) -> str:
    return (
        f"{other['patients_in_both']} patients are in both, and as few as "
        f"{other['fewest_together']} fit what both say of one"
    )


def change_of(copy: Copy, to: HandOut, others: Sequence[OtherShape]) -> Change:
    """Return what a second person approves: these files, to this recipient.

    And knowing who has others of the same people: where somebody got one since, the
    approval is of something else.
    """
    named = f"anonymized copy {copy.name} ({copy.id})"
    told: dict[str, str] = {
        "recipient": to.recipient,
        "purpose": to.purpose,
        "is": "; ".join(summary_of(copy)),
        "is no": WARNING,
        "sha256 of its manifest": copy.sha256,
        "whole": f"curator anonymize show {copy.id} --http",
    }
    facts = [
        Altered(f"{named}: {what}", None, text, Subject("copy", copy.id, what))
        for what, text in told.items()
    ]
    held = [
        Altered(
            f"{one['recipient']} has {one['name']} ({one['copy']}), of the same people",
            None,
            _together(one) if one["why_unknown"] is None else _WHY[one["why_unknown"]],
            Subject("copy_held", one["copy"], one["recipient"]),
        )
        for one in others
    ]
    return Change(COPY_GRANTED, copy.population, (*facts, *held))


def summary_of(copy: Copy) -> list[str]:
    """Return in sentences what a copy is, as its manifest says."""
    told = copy.manifest.get("summary")
    if isinstance(told, list):
        return [str(one) for one in told]
    return [copy.kind]
