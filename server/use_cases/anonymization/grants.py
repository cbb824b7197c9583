"""Who got copies, as the ledger has it, and what copies of the same people tell."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from budget.reading.statements import EntryLine, read_entries
from privacy.times import shown_time
from server.use_cases.anonymization.copies import Copy, CopyFolders
from server.use_cases.anonymization.intersection import (
    UNKNOWN,
    Intersection,
    Members,
    intersection_of,
)
from server.use_cases.anonymization.replies import (
    HandOutShape,
    OtherShape,
    OthersShape,
    TogetherShape,
    WhyUnknown,
)
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
Comparing = Callable[[Sequence[str]], Compared]
_WHY: Final[dict[WhyUnknown, str]] = {
    "deleted": "the other was deleted, and nothing was kept to compare it by",
    "no_patients": "one of them does not tell whose its records are, or puts none in "
    "classes",
    "not_compared": "nobody compared them yet: 'curator anonymize show' does on the "
    "host",
    "no_names_in_both": "their sources name no patient alike",
}


_COMPARABLE: Final = (None, "no_names_in_both")


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


def others_of(held: Mapping[Holder, Grant], comparing: Comparing) -> list[OtherShape]:
    """Return who has other copies of the same people, and what two tell together.

    Args:
        held: Who has which.
        comparing: Returns by the ids of other copies what all tell.
    """
    compared = {other: comparing([other]) for other, _ in held}
    return [
        {
            "recipient": one.to.recipient,
            "name": one.name,
            "copy": one.copy,
            **shown_of(*compared[one.copy]),
        }
        for one in held.values()
    ]


def together(
    held: Mapping[Holder, Grant], comparing: Comparing
) -> TogetherShape | None:
    """Return what a copy tells with all others that can be compared, if several can.

    Two whose sources name nobody alike may be compared by a third that has both names.
    """
    every = sorted({other for other, _ in held})
    others = [one for one in every if comparing([one])[1] in _COMPARABLE]
    return shown_of(*comparing(others)) if len(others) > 1 else None


def shown_of(told: Intersection, why: WhyUnknown | None) -> TogetherShape:
    """Return what copies tell together as it is sent."""
    return {
        "patients_in_both": told.patients_in_both,
        "patients_in_one": told.patients_in_one,
        "fewest_together": told.fewest_together,
        "average_risk": told.average_risk,
        "why_unknown": why,
    }


def compared_before(folders: CopyFolders, copy: str, others: Sequence[str]) -> Compared:
    """Return what copies tell together, as it was found out once.

    It works on no patients' rows: whoever waits for it learns nothing by the time.
    """
    known = folders.compared(copy, others)
    if known is not None:
        why: WhyUnknown = "no_names_in_both"
        return known, why if known.patients_in_both is None else None
    if all(map(folders.has_members, (copy, *others))):
        return UNKNOWN, "not_compared"
    are_there = (folders.path(o).is_dir() or folders.has_members(o) for o in others)
    return UNKNOWN, "no_patients" if all(are_there) else "deleted"


def compare(
    folders: CopyFolders, copy: str, others: Sequence[str], own: Members | None
) -> Compared:
    """Find out what copies tell together, and keep it; for jobs and the host.

    Args:
        folders: Of all copies.
        copy: One.
        others: The others.
        own: Who is in which class of the one.
    """
    if own is None or folders.compared(copy, others) is not None:
        return compared_before(folders, copy, others)
    found = [one for other in others if (one := folders.members(other)) is not None]
    if len(found) == len(others):
        folders.keep_compared(copy, others, intersection_of(own, *found))
    return compared_before(folders, copy, others)


def said_of(other: OtherShape) -> str:
    """Return in a sentence what another copy and this one tell together."""
    got = f"{other['recipient']} has {other['name']} ({other['copy']})"
    why = other["why_unknown"]
    if why is not None:
        return f"{got}: what both tell together is not known, {_WHY[why]}"
    return f"{got}: {_together(other)}"


def _together(other: TogetherShape) -> str:
    return (
        f"{other['patients_in_both']} patients are in both, {other['patients_in_one']} "
        f"in one alone, and as few as {other['fewest_together']} fit what both say of "
        "one"
    )


def change_of(
    copy: Copy,
    to: HandOut,
    others: OthersShape,
    of_population: str | None,
) -> Change:
    """Return what a second person approves: these files, to this recipient.

    And knowing who has others of the same people: where somebody got one since, the
    approval is of something else.

    Args:
        copy: The copy.
        to: Who gets it, and what for.
        others: Who has others.
        of_population: How many of its patients the population knows, in a sentence.
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
    if of_population is not None:
        told["of the population"] = of_population
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
        for one in others["others"]
    ]
    if others["all_others"] is not None:
        what = "all of these copies and this one"
        subject = Subject("copy", copy.id, what)
        held.append(Altered(what, None, _of_all(others["all_others"]), subject))
    return Change(COPY_GRANTED, copy.population, (*facts, *held))


def _of_all(told: TogetherShape) -> str:
    return (
        f"{told['patients_in_both']} patients are in two or more, and as few as "
        f"{told['fewest_together']} fit what all say of one"
    )


def summary_of(copy: Copy) -> list[str]:
    """Return in sentences what a copy is, as its manifest says."""
    told = copy.manifest.get("summary")
    if isinstance(told, list):
        return [str(one) for one in told]
    return [copy.kind]
