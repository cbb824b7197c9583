"""What custodians do with anonymized copies: list, show, hand out, delete."""

import json
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from sqlalchemy import Connection, select

from privacy.errors import InvalidOptionError
from privacy.wording import counted
from server.persistence import tables
from server.use_cases.anonymization.copies import Copy, CopyFolders, job_of
from server.use_cases.anonymization.grants import (
    WARNING,
    Comparing,
    Grant,
    Holder,
    compare,
    compared_before,
    holders,
    others_of,
    read_deleted,
    read_grants,
    together,
)
from server.use_cases.anonymization.replies import (
    CopyDetail,
    CopyItem,
    OthersShape,
)
from server.use_cases.approvals.stale_changes import COPY_DELETED
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import (
    CommandRefusedError,
    NoSuchThingError,
    NotFoundError,
)
from server.use_cases.services.paging import NO_CURSOR, ListOf, Page, listed
from server.use_cases.services.services import Services

DELETE: Final = COPY_DELETED
OF_POPULATION: Final = "patients_of_population"
"""In the result of a copy's job: how many of its patients the population knows."""


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
        copy = self.visible(viewer, wanted)
        with self._services.databases.reader.connect() as connection:
            grants = list(read_grants(connection))
        held = holders(grants, copy.population, copy.id)
        is_host = viewer.populations is None
        return {
            **_item(copy, grants),
            "warning": WARNING,
            "manifest": copy.manifest,
            "hand_outs": [one.shown for one in grants if one.copy == copy.id],
            **self.others(copy, held, finds_out=is_host),
        }

    def others(
        self, copy: Copy, held: Mapping[Holder, Grant], *, finds_out: bool
    ) -> OthersShape:
        """Return who has others; where it may, find out what is not known yet."""
        known: Comparing = partial(compared_before, self._folders, copy.id)
        if finds_out:
            own = self._folders.members(copy.id)
            known = partial(compare, self._folders, copy.id, own=own)
        return {
            "others": others_of(held, known),
            "all_others": together(held, known),
        }

    def delete(self, viewer: Viewer, wanted: str) -> Document:
        """Delete a copy here; what was handed out of it stays where it is.

        Who was in which of its classes is kept, by keyed hashes, where somebody has it:
        copies that are handed out later are compared with it.

        Raises:
            NotFoundError: There is no such copy.
        """
        copy = self.visible(viewer, wanted)
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
        """Return the copies of a viewer's populations that are whole."""
        with self._services.databases.reader.connect() as connection:
            found = live_copies(connection, self._folders)
        return [one for one in found if _is_theirs(viewer, one)]

    def visible(self, viewer: Viewer, wanted: str) -> Copy:
        """Return a copy by its id, on the host also by its name.

        Raises:
            NotFoundError: There is none, or it is another custodian's.
            CommandRefusedError: There is none, or several have the name.
        """
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


def live_copies(connection: Connection, folders: CopyFolders) -> list[Copy]:
    """Return the copies whose jobs are done and that nobody deleted, newest first."""
    done, deleted = done_jobs(connection), read_deleted(connection)
    return [
        one for one in folders.all() if job_of(one.id) in done and one.id not in deleted
    ]


def done_jobs(connection: Connection) -> set[str]:
    """Return the jobs that made a copy, and ended with it."""
    job = tables.job
    made = select(job.c.id).where(job.c.kind.like("anonymize.%"), job.c.state == "done")
    return set(connection.execute(made).scalars())


def of_population(connection: Connection, copy: Copy) -> str | None:
    """Say how many of a copy's patients its population knows, for custodians alone.

    The result of the copy's job has it: in its files it would tell whoever gets two
    copies who came between them.
    """
    job = tables.job
    held = select(job.c.result).where(job.c.id == job_of(copy.id))
    told = json.loads(connection.execute(held).scalar_one_or_none() or "{}")
    known = told.get(OF_POPULATION)
    if known is None:
        return None
    people = counted(told["patients"], "patient")
    return f"{known:,} of its {people} are known to the population by their ids"


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
