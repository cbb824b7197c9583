"""A dataset's snapshots: list them, switch between them, erase one.

Switching and erasing are recorded changes that act from the next request on. An erased
snapshot's answers and charges stay, and so do its unit ids in the overlap file: what
was told about those patients stays told (PRIVACY 5).
"""

from sqlalchemy import Connection, Row, select

from budget.tables import charge
from server.persistence import tables
from server.use_cases.answers import Document
from server.use_cases.catalogue import existing
from server.use_cases.changes import Altered, Change
from server.use_cases.declarations import declared_in, differences_from_active
from server.use_cases.errors import CommandRefusedError
from server.use_cases.load_lock import load_lock
from server.use_cases.paging import Page, read_page
from server.use_cases.second_persons import (
    asking_second_person,
    require_second_person,
)
from server.use_cases.secret_files import sync_folder
from server.use_cases.services import Services, now_text

SnapshotRow = Row[tuple[object, ...]]


class SnapshotOffice:
    """Works on snapshots; each change is one chain entry."""

    def __init__(self, services: Services, actor: str) -> None:
        self._services = services
        self._actor = actor

    def snapshots(self, dataset: str) -> list[Document]:
        """List a dataset's snapshots, oldest first.

        Raises:
            CommandRefusedError: There is no such dataset.
        """
        with self._services.databases.reader.connect() as connection:
            active = existing(connection, tables.dataset, dataset).active_snapshot
            rows = connection.execute(
                select(tables.snapshot)
                .where(tables.snapshot.c.dataset == dataset)
                .order_by(tables.snapshot.c.created)
            ).all()
        return [_shown(row, active) for row in rows]

    def page(self, dataset: str, page: Page) -> tuple[list[Document], str | None]:
        """Return a page of a dataset's snapshots, newest first, and the next cursor.

        Raises:
            NoSuchThingError: There is no such dataset.
        """
        with self._services.databases.reader.connect() as connection:
            active = existing(connection, tables.dataset, dataset).active_snapshot
            visible = tables.snapshot.c.dataset == dataset
            rows, following = read_page(connection, tables.snapshot, page, visible)
        return [_shown(row, str(active)) for row in rows], following

    def activate(
        self, snapshot: str, *, dataset: str | None = None, reason: str | None = None
    ) -> Document:
        """Let questions be answered from another snapshot, from the next request on.

        Args:
            snapshot: Its id.
            dataset: Whose it must be; None: whosever it is.
            reason: Needed where declarations differ from the active snapshot's, or of
                what that one lacks from any earlier one's.

        Raises:
            CommandRefusedError: It is unknown or erased, or declares other facts.
            ProposalOpenError: It declares other facts: a second person must approve.
        """
        facts = {"snapshot": snapshot, "reason": reason}
        with (
            asking_second_person(self._services, self._actor),
            self._services.ledger.recorded(
                "snapshot.activate", self._actor, facts
            ) as change,
        ):
            row = _snapshot(change.connection, snapshot, dataset)
            if row.removed is not None:
                message = f"the snapshot {snapshot} was removed; load the data again"
                raise CommandRefusedError(message)
            active = existing(change.connection, tables.dataset, str(row.dataset))
            wanted = _declared(change.connection, active, row, reason)
            if wanted is not None:
                require_second_person(change, self._actor, wanted)
            change.update(
                tables.dataset,
                {"name": str(row.dataset)},
                {"active_snapshot": snapshot},
            )
        return _shown(row, snapshot)

    def remove(self, snapshot: str, *, dataset: str | None = None) -> Document:
        """Erase a snapshot's file for good; questions under way finish on it.

        Raises:
            CommandRefusedError: It is unknown, or the active one.
        """
        with self._services.ledger.recorded(
            "snapshot.remove", self._actor, {"snapshot": snapshot}
        ) as change:
            row = _snapshot(change.connection, snapshot, dataset)
            active = existing(change.connection, tables.dataset, str(row.dataset))
            if active.active_snapshot == snapshot:
                message = (
                    f"{snapshot} is the active snapshot of {row.dataset}: activate "
                    "another one, or load one, first"
                )
                raise CommandRefusedError(message)
            _require_idle(change.connection, snapshot)
            change.update(
                tables.snapshot,
                {"id": snapshot},
                {"removed": row.removed or now_text()},
            )
        with load_lock(self._services.settings, str(active.population)):
            self._erase(snapshot)  # no backup is reading it
        return {"id": snapshot, "dataset": row.dataset, "state": "removed"}

    def _erase(self, snapshot: str) -> None:
        """Delete the file; where a crash comes first, the next start deletes it."""
        folder = self._services.settings.snapshots
        (folder / f"{snapshot}.duckdb").unlink(missing_ok=True)
        sync_folder(folder)


def _declared(
    connection: Connection, dataset: SnapshotRow, row: SnapshotRow, reason: str | None
) -> Change | None:
    """Return what two persons must agree on: other declarations (PRIVACY 5).

    Raises:
        CommandRefusedError: There are some, and no reason.
    """
    found = differences_from_active(connection, dataset, declared_in(row))
    changes = found.changed
    if not found.altered():
        return None
    if changes and not reason:
        message = (
            f"declarations stay fixed across snapshots, and {changes[0].place} differs "
            f"({len(changes)} in all): pass --reason TEXT to change them back; two "
            "persons must agree, unless the installation has a single custodian"
        )
        raise CommandRefusedError(message)
    target = Altered("active snapshot", dataset.active_snapshot, row.id)
    return Change(
        "snapshot.activate",
        str(dataset.population),
        (target, *found.altered()),
        reason,
    )


def _require_idle(connection: Connection, snapshot: str) -> None:
    """Refuse while paid questions wait for the file: they would end unanswered.

    Raises:
        CommandRefusedError: Some do.
    """
    waiting = select(charge.c.query_id).where(
        charge.c.snapshot == snapshot, charge.c.state == "running"
    )
    if connection.execute(waiting.limit(1)).first() is not None:
        message = (
            f"questions on {snapshot} are being answered: try again in a minute (a "
            "server that is up answers those that a crash left)"
        )
        raise CommandRefusedError(message)


def _snapshot(
    connection: Connection, snapshot: str, dataset: str | None
) -> SnapshotRow:
    wanted = select(tables.snapshot).where(tables.snapshot.c.id == snapshot)
    row = connection.execute(wanted).one_or_none()
    if row is None or dataset not in {None, row.dataset}:
        raise CommandRefusedError(_no_snapshot(connection, snapshot))
    return row


def _no_snapshot(connection: Connection, given: str) -> str:
    """Say what else was given in the place of a snapshot's id, and what lists them."""
    named = select(tables.dataset.c.name).where(tables.dataset.c.name == given)
    if connection.execute(named).first() is not None:
        return (
            f"{given!r} is a dataset; give the id of one of its snapshots, which "
            f"'curator dataset snapshot list {given}' lists"
        )
    listing = "'curator dataset snapshot list DATASET'"
    return f"there is no snapshot {given!r}; {listing} lists a dataset's"


def _shown(row: SnapshotRow, active: str) -> Document:
    state = "active" if row.id == active else "kept"
    return {
        "id": row.id,
        "dataset": row.dataset,
        "created": row.created,
        "state": state if row.removed is None else "removed",
    }
