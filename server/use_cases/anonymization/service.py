"""What custodians do with anonymized copies: list, show, hand out, delete."""

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, select

from privacy.errors import InvalidOptionError
from privacy.wording import counted
from server.persistence import tables
from server.use_cases.anonymization.copies import MANIFEST, Copy, CopyFolders, job_of
from server.use_cases.anonymization.grants import (
    WARNING,
    Grant,
    HandOut,
    change_of,
    others_of,
    read_grants,
    said_of,
)
from server.use_cases.anonymization.replies import (
    CopyDetail,
    CopyItem,
    OtherShape,
)
from server.use_cases.approvals.changes import Change
from server.use_cases.approvals.proposals import ProposalService
from server.use_cases.approvals.second_persons import (
    ProposalOpenError,
    asking_second_person,
    check_second_person,
    require_second_person,
)
from server.use_cases.approvals.stale_changes import COPY_DELETED, COPY_GRANTED
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

DELETE: Final = COPY_DELETED
_PART = ".part-"
_LONGEST = 200  # characters of a recipient or a purpose


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
            grants = list(read_grants(connection))
        items = [_item(one, grants) for one in shown]
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
            grants = list(read_grants(connection))
        return {
            **_item(copy, grants),
            "warning": WARNING,
            "manifest": copy.manifest,
            "hand_outs": [one.shown for one in grants if one.copy == copy.id],
            "others": others_of(grants, self._folders, copy.population, copy.id),
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
            CommandRefusedError: The folder is there, lies among what is kept here or
                cannot be made, or a file of the copy is missing or changed: nothing
                was recorded.
        """
        copy = self._visible(viewer, wanted)
        with self._services.databases.reader.connect() as connection:
            grants = list(read_grants(connection))
        self._check_folder(folder, copy, to, grants)
        files = list(self._folders.files(copy))
        others = others_of(grants, self._folders, copy.population, copy.id)
        part = _left_by_a_kill(folder, copy, to, grants)
        if part is None:
            named = {one.files for one in grants}
            for left in folder.parent.glob(f".{folder.name}{_PART}*"):
                if left.name.partition(_PART)[2] not in named:
                    shutil.rmtree(left, ignore_errors=True)  # of a killed command
            part = self._approved(viewer, copy, to, others, folder)
        part.replace(folder)
        return {
            "copy": copy.id,
            "to": to.recipient,
            "folder": str(folder),
            "files": [path.name for path in files],
            "sha256": copy.sha256,
            "warning": WARNING,
            "others": others,
        }

    def _check_folder(
        self, folder: Path, copy: Copy, to: HandOut, grants: Iterable[Grant]
    ) -> None:
        """Look whether files can come to a folder, before anybody approves of it.

        Raises:
            CommandRefusedError: They cannot.
        """
        message = ""
        inside = self._services.settings.data.resolve()
        given = [one for one in grants if one.is_of(copy, to)]
        if given and _holds(folder, copy):
            message = (
                f"{folder} has it already: handed out to {to.recipient} on "
                f"{given[-1].shown['time']}"
            )
        elif os.path.lexists(folder):
            message = f"{folder} exists: nothing was handed out; name a new folder"
        elif not folder.parent.is_dir():
            message = f"there is no folder {folder.parent}: make it first"
        elif folder.resolve().is_relative_to(inside):
            message = (
                f"{folder} lies in {inside}, where what nobody else may read is kept: "
                "name a folder elsewhere"
            )
        if message:
            raise CommandRefusedError(message)

    def _approved(
        self,
        viewer: Viewer,
        copy: Copy,
        to: HandOut,
        others: Sequence[OtherShape],
        folder: Path,
    ) -> Path:
        """Copy the files beside a folder where a second person approved.

        Raises:
            ProposalOpenError: Nobody did yet; it says what the proposer should know.
            CommandRefusedError: They cannot be copied: nothing was recorded.
        """
        change = change_of(copy, to, others)
        try:
            with asking_second_person(self._services, viewer.actor):
                with self._services.databases.reader.connect() as connection:
                    check_second_person(connection, viewer.actor, change)
                return self._given(viewer, copy, to, change, folder)
        except ProposalOpenError as error:
            told = [*map(said_of, others), *self._also_proposed(copy, error)]
            raise ProposalOpenError(error.proposal, "; ".join(told)) from None
        raise AssertionError  # what asks never goes on without an approval

    def _also_proposed(self, copy: Copy, error: ProposalOpenError) -> list[str]:
        """Return in words what else of a copy waits, such as another spelling."""
        waiting = [
            one
            for one in ProposalService(self._services).listed(waiting=True)
            if one["action"] == COPY_GRANTED
            and one["proposal"] != error.proposal["proposal"]
            and copy.id in one["words"][0]
        ]
        if not waiting:
            return []
        told = [f"{one['proposal']} ({', '.join(one['words'][:2])})" for one in waiting]
        count = counted(len(waiting), "proposal")
        return [f"beside it {count} of this copy waits, otherwise: {', '.join(told)}"]

    def _given(
        self, viewer: Viewer, copy: Copy, to: HandOut, change: Change, folder: Path
    ) -> Path:
        """Copy the files beside a folder and write the entry, which names them.

        Raises:
            CommandRefusedError: They cannot be copied: nothing was recorded.
        """
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
            with self._services.ledger.recorded(
                COPY_GRANTED, viewer.actor, facts
            ) as entry:
                require_second_person(entry, viewer.actor, change)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        return part

    def delete(self, viewer: Viewer, wanted: str) -> Document:
        """Delete a copy here; what was handed out of it stays where it is.

        Who was in which of its classes is kept, by keyed hashes, where somebody has it:
        copies that are handed out later are compared with it.

        Raises:
            NotFoundError: There is no such copy.
        """
        copy = self._visible(viewer, wanted)
        facts = {"population": copy.population, "copy": copy.id, "name": copy.name}
        with self._services.ledger.recorded(DELETE, viewer.actor, facts) as entry:
            item = _item(copy, read_grants(entry.connection))
        self._folders.delete(copy.id, keeping_members=item["handed_out"] > 0)
        return {
            "deleted": copy.name,
            "id": copy.id,
            "handed_out": item["handed_out"],
        }

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


def _item(copy: Copy, grants: Iterable[Grant]) -> CopyItem:
    return {
        "id": copy.id,
        "name": copy.name,
        "population": copy.population,
        "kind": copy.kind,
        "created": copy.created,
        "created_by": copy.created_by,
        "handed_out": sum(one.copy == copy.id for one in grants),
    }


def _left_by_a_kill(
    folder: Path, copy: Copy, to: HandOut, grants: Iterable[Grant]
) -> Path | None:
    """Return files that an entry names and that never came to their folder."""
    for one in grants:
        part = folder.with_name(f".{folder.name}{_PART}{one.files}")
        if one.is_of(copy, to) and part.is_dir():
            return part
    return None


def _holds(folder: Path, copy: Copy) -> bool:
    """Whether a folder has the manifest of a copy."""
    try:
        told = (folder / MANIFEST).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(told).hexdigest() == copy.sha256


def _make(part: Path) -> Path:
    try:
        part.mkdir(mode=0o700)
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
