"""What custodians do with anonymized copies: list, show, hand out, delete."""

import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, select

from budget.reading.statements import EntryLine, read_entries
from privacy.errors import InvalidOptionError
from privacy.times import shown_time
from server.persistence import tables
from server.use_cases.anonymization.copies import Copy, CopyFolders, job_of
from server.use_cases.anonymization.intersection import (
    Intersection,
    intersection_of,
)
from server.use_cases.anonymization.replies import (
    CopyDetail,
    CopyItem,
    HandOutShape,
    OtherShape,
)
from server.use_cases.approvals.changes import Altered, Change
from server.use_cases.approvals.second_persons import (
    asking_second_person,
    check_second_person,
    require_second_person,
)
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import (
    CommandRefusedError,
    NoSuchThingError,
    NotFoundError,
)
from server.use_cases.services.paging import NO_CURSOR, ListOf, Page, listed
from server.use_cases.services.private_files import copy_private
from server.use_cases.services.services import Services

GRANT: Final = "anonymized.grant"
"""The action of an entry: somebody gets a copy."""
DELETE: Final = "anonymized.delete"
WARNING: Final = (
    "no differential privacy: k-anonymity and its kin, and de-identified texts, are "
    "broken by what somebody knows besides, by what all of a group share, by two "
    "copies of the same people, and by knowing how the copy was made"
)
_PART = ".part-"
_LONGEST = 200  # characters of a recipient or a purpose


@dataclass(frozen=True, slots=True)
class HandOut:
    """Who gets a copy, and what for: one line each."""

    recipient: str
    purpose: str


class CopyService:
    """Anonymized copies, for custodians; what is not theirs is not there."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._folders = CopyFolders(services.settings.anonymized)

    def page(self, viewer: Viewer, page: Page) -> ListOf[CopyItem]:
        """List the copies of the viewer's populations, newest first.

        Raises:
            InvalidOptionError: The cursor is none that a list gave.
        """
        copies = self._copies(viewer)
        ids = [one.id for one in copies]
        if page.cursor is not None and page.cursor not in ids:
            raise InvalidOptionError(NO_CURSOR)
        start = 0 if page.cursor is None else ids.index(page.cursor) + 1
        shown = copies[start : start + page.limit]
        with self._services.databases.reader.connect() as connection:
            granted = list(_granted(connection))
        items = [_item(one, _of_copy(granted, one.id)) for one in shown]
        is_more = start + page.limit < len(copies)
        return listed(items, shown[-1].id if is_more else None)

    def show(self, viewer: Viewer, wanted: str) -> CopyDetail:
        """Describe a copy: its manifest, who got it, who got others of its people.

        Args:
            viewer: Who asks.
            wanted: Its id; on the host also its name, if one copy alone has it.

        Raises:
            NotFoundError: There is none, or it is another custodian's.
        """
        copy = self._visible(viewer, wanted)
        with self._services.databases.reader.connect() as connection:
            granted = list(_granted(connection))
        own = _of_copy(granted, copy.id)
        return {
            **_item(copy, own),
            "warning": WARNING,
            "manifest": copy.manifest,
            "hand_outs": own,
            "others": self._others(granted, copy),
        }

    def hand_out(
        self, viewer: Viewer, wanted: str, to: HandOut, folder: Path
    ) -> Document:
        """Give a copy to somebody: a second person approves, an entry is written.

        The files are copied once that is recorded; they lie in a new folder.

        Args:
            viewer: Whoever works on the host.
            wanted: The copy's name or its id.
            to: Who gets it.
            folder: Where its files are put; it must not be there.

        Raises:
            NotFoundError: There is no such copy.
            ProposalOpenError: A second person has to approve.
            CommandRefusedError: The folder is there, or cannot be made, or a file of
                the copy is missing or changed: nothing was recorded.
        """
        copy = self._visible(viewer, wanted)
        if os.path.lexists(folder):
            message = f"{folder} exists: nothing was handed out"
            raise CommandRefusedError(message)
        files = list(self._folders.files(copy))
        with self._services.databases.reader.connect() as connection:
            granted = list(_granted(connection))
        before = self._others(granted, copy)
        part = _left_by_a_kill(folder, copy, to, granted)
        if part is None:
            change = self._change(copy, to, before)
            with asking_second_person(self._services, viewer.actor):
                with self._services.databases.reader.connect() as connection:
                    check_second_person(connection, viewer.actor, change)
                part = self._given(viewer, copy, to, change, folder)
        part.replace(folder)
        return {
            "copy": copy.id,
            "to": to.recipient,
            "folder": str(folder),
            "files": [path.name for path in files],
            "sha256": copy.sha256,
            "warning": WARNING,
            "others": before,
        }

    def _given(
        self, viewer: Viewer, copy: Copy, to: HandOut, change: Change, folder: Path
    ) -> Path:
        """Copy the files beside a folder and write the entry, which names them.

        Raises:
            CommandRefusedError: They cannot be copied: nothing was recorded.
        """
        for left in folder.parent.glob(f".{folder.name}{_PART}*"):
            shutil.rmtree(left, ignore_errors=True)  # of a killed command
        token = secrets.token_hex(8)
        part = _make(folder.with_name(f".{folder.name}{_PART}{token}"))
        try:
            for path in self._folders.files(copy):
                _copied(path, part / path.name)
            facts: dict[str, object] = {
                "population": copy.population,
                "copy": copy.id,
                "name": copy.name,
                "sha256": copy.sha256,
                **asdict(to),
                "files": token,
            }
            with self._services.ledger.recorded(GRANT, viewer.actor, facts) as entry:
                require_second_person(entry, viewer.actor, change)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        return part

    def delete(self, viewer: Viewer, wanted: str) -> Document:
        """Delete a copy here; what was handed out of it stays where it is.

        Raises:
            NotFoundError: There is no such copy.
        """
        copy = self._visible(viewer, wanted)
        facts = {"population": copy.population, "copy": copy.id, "name": copy.name}
        with self._services.ledger.recorded(DELETE, viewer.actor, facts):
            pass
        self._folders.delete(copy.id)
        return {"deleted": copy.name, "id": copy.id}

    def _others(self, granted: list[EntryLine], copy: Copy) -> list[OtherShape]:
        """Return who got other copies of the same people: they can compare them."""
        given = [
            one
            for one in map(_facts, granted)
            if one["population"] == copy.population and one["copy"] != copy.id
        ]
        own = self._folders.members(copy.id)
        compared: dict[str, Intersection] = {}
        for other in {str(one["copy"]) for one in given}:
            theirs = self._folders.members(other)
            compared[other] = Intersection(None, None, None)
            if own is not None and theirs is not None:
                compared[other] = intersection_of(own, theirs)
        found: list[OtherShape] = []
        for one in given:
            told = compared[str(one["copy"])]
            found.append(
                {
                    "recipient": str(one["recipient"]),
                    "name": str(one["name"]),
                    "copy": str(one["copy"]),
                    "patients_in_both": told.patients_in_both,
                    "fewest_together": told.fewest_together,
                    "average_risk": told.average_risk,
                }
            )
        return found

    @staticmethod
    def _change(copy: Copy, to: HandOut, others: list[OtherShape]) -> Change:
        """Return what a second person approves: these files, to this recipient.

        And knowing who has others of the same people: where somebody got one since,
        the approval is of something else.
        """
        given: Document = {
            **asdict(to),
            "sha256": copy.sha256,
            "others": [_said(one) for one in others],
        }
        what = f"anonymized copy {copy.name} ({copy.id})"
        return Change(GRANT, copy.population, (Altered(what, None, given),))

    def _copies(self, viewer: Viewer) -> list[Copy]:
        """Return the copies of a viewer's populations whose jobs are done."""
        found = [one for one in self._folders.all() if _is_theirs(viewer, one)]
        with self._services.databases.reader.connect() as connection:
            done = done_jobs(connection)
        return [one for one in found if job_of(one.id) in done]

    def _visible(self, viewer: Viewer, wanted: str) -> Copy:
        copies = self._copies(viewer)
        is_host = viewer.populations is None
        found = [o for o in copies if wanted == o.id or (is_host and wanted == o.name)]
        if len(found) > 1:
            ids = ", ".join(one.id for one in found)
            message = f"{len(found)} copies have the name {wanted!r}: say {ids}"
            raise CommandRefusedError(message)
        if not found and is_host:
            message = f"no copy {wanted!r}: see 'curator anonymize list'"
            raise NoSuchThingError(message)
        if not found:
            raise NotFoundError
        return found[0]


def done_jobs(connection: Connection) -> set[str]:
    """Return the jobs that made a copy, and ended with it."""
    job = tables.job
    made = select(job.c.id).where(job.c.kind.like("anonymize.%"), job.c.state == "done")
    return set(connection.execute(made).scalars())


def checked_line(text: str) -> str:
    """Return a recipient or a purpose.

    Raises:
        ValueError: It is empty, too long, or more than one line.
    """
    told = text.strip()
    if not told or len(told) > _LONGEST or not told.isprintable():
        message = f"write one line of at most {_LONGEST} characters"
        raise ValueError(message)
    return told


def _is_theirs(viewer: Viewer, copy: Copy) -> bool:
    return viewer.populations is None or copy.population in viewer.populations


def _granted(connection: Connection) -> Iterator[EntryLine]:
    for entry in read_entries(connection, "admin", naming=f'"{GRANT}"'):
        if entry.body.get("action") == GRANT:
            yield entry


def _facts(entry: EntryLine) -> Document:
    facts = entry.body["facts"]
    return dict(facts) if isinstance(facts, dict) else {}


def _of_copy(granted: list[EntryLine], copy: str) -> list[HandOutShape]:
    return [_hand_out(one) for one in granted if _facts(one).get("copy") == copy]


def _said(other: OtherShape) -> str:
    """Return in a sentence what another copy and this one tell together."""
    got = f"{other['recipient']} got {other['name']} ({other['copy']})"
    if other["patients_in_both"] is None:
        return f"{got}: what both tell together is not known, they share no names"
    return (
        f"{got}: {other['patients_in_both']} patients are in both, and as few as "
        f"{other['fewest_together']} fit what both say of one"
    )


def _hand_out(entry: EntryLine) -> HandOutShape:
    facts = _facts(entry)
    approval = facts.get(f"approval of {GRANT}")
    by = approval.get("approved_by") if isinstance(approval, dict) else None
    return {
        "recipient": str(facts["recipient"]),
        "purpose": str(facts["purpose"]),
        "time": shown_time(entry.time),
        "by": str(entry.body["actor"]),
        "approved_by": None if by is None else str(by),
        "sha256": str(facts["sha256"]),
    }


def _item(copy: Copy, hand_outs: list[HandOutShape]) -> CopyItem:
    return {
        "id": copy.id,
        "name": copy.name,
        "population": copy.population,
        "kind": copy.kind,
        "created": copy.created,
        "created_by": copy.created_by,
        "handed_out": len(hand_outs),
    }


def _left_by_a_kill(
    folder: Path, copy: Copy, to: HandOut, granted: list[EntryLine]
) -> Path | None:
    """Return files that an entry names and that never came to their folder."""
    given: Document = {"copy": copy.id, "sha256": copy.sha256, **asdict(to)}
    for facts in map(_facts, granted):
        part = folder.with_name(f".{folder.name}{_PART}{facts.get('files')}")
        if given.items() <= facts.items() and part.is_dir():
            return part
    return None


def _make(part: Path) -> Path:
    try:
        part.mkdir(mode=0o700, parents=True)
    except OSError as error:
        message = f"{part} cannot be made: {error.strerror}; nothing was handed out"
        raise CommandRefusedError(message) from None
    return part


def _copied(path: Path, target: Path) -> None:
    try:
        copy_private(path, target)
    except OSError as error:
        message = f"{target} cannot be written: {error.strerror}; nothing was recorded"
        raise CommandRefusedError(message) from None
