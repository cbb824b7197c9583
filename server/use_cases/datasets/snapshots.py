"""A dataset's snapshots: list them, switch between them, erase one.

Switching and erasing are recorded changes that act from the next request on. An erased
snapshot's answers and charges stay, and so do its unit ids in the overlap file: what
was told about those patients stays told (PRIVACY 5). What a snapshot publishes is held
against who is recorded each time that it becomes active.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, Row, select

from budget.ledger import RecordedTransaction
from budget.storage.tables import charge
from privacy.times import shown_time
from server.persistence import tables
from server.use_cases.approvals.changes import Altered, Change, Subject
from server.use_cases.approvals.declarations import declared_in, differences_from_active
from server.use_cases.approvals.second_persons import (
    asking_second_person,
    check_second_person,
    require_second_person,
)
from server.use_cases.datasets.replies import RemovedSnapshotShape, SnapshotShape
from server.use_cases.identity.catalogue import existing
from server.use_cases.loading.activations import Held, held_against_units
from server.use_cases.loading.comparisons import (
    Comparison,
    recording_refusal,
    require_reason,
)
from server.use_cases.loading.lock import load_lock, lock_beside_loads
from server.use_cases.loading.versions import OvertakenError, Versions
from server.use_cases.services.errors import BusyError, CommandRefusedError
from server.use_cases.services.paging import ListOf, Page, listed, read_page
from server.use_cases.services.secret_files import sync_folder
from server.use_cases.services.services import OneEach, Services, now_text

SnapshotRow = Row[tuple[object, ...]]


class SnapshotService:
    """Works on snapshots; each change is one chain entry."""

    def __init__(self, services: Services, actor: str) -> None:
        self._services = services
        self._actor = actor

    def snapshots(self, dataset: str) -> list[SnapshotShape]:
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

    def page(self, dataset: str, page: Page) -> ListOf[SnapshotShape]:
        """Return a page of a dataset's snapshots, newest first.

        Raises:
            NoSuchThingError: There is no such dataset.
        """
        with self._services.databases.reader.connect() as connection:
            active = existing(connection, tables.dataset, dataset).active_snapshot
            visible = tables.snapshot.c.dataset == dataset
            rows, following = read_page(connection, tables.snapshot, page, visible)
        return listed([_shown(row, str(active)) for row in rows], following)

    def activate(
        self,
        snapshot: str,
        *,
        dataset: str | None = None,
        reason: str | None = None,
        override_overlap: bool = False,
    ) -> SnapshotShape:
        """Let questions be answered from another snapshot, from the next request on.

        What it publishes is compared with who is recorded by now, as a load's is: by
        one activation of a population at a time, since each reads files in a process of
        its own. None waits for another population's: nobody else is told when that
        ends (PRIVACY 2).

        Args:
            snapshot: Its id.
            dataset: Whose it must be; None: whosever it is.
            reason: Needed where declarations differ from the active snapshot's, or of
                what that one lacks from any earlier one's.
            override_overlap: Let it pass although it names another population's units.

        Raises:
            CommandRefusedError: It is unknown or erased, declares other facts, or
                something public of it names people.
            BusyError: Another one of the population is compared now.
            ProposalOpenError: A second person must approve first.
        """
        require_reason(reason, override_overlap=override_overlap)
        wanted = _Wanted(snapshot, dataset, reason, override_overlap)
        facts: dict[str, object] = {"snapshot": snapshot, "reason": reason}
        with (
            _alone(self._services.activating, self._population(wanted)),
            asking_second_person(self._services, self._actor),
            lock_beside_loads(self._services.settings),
        ):
            row = recording_refusal(
                self._services.ledger,
                self._actor,
                facts,
                lambda: self._activated(wanted, facts),
            )
            return _shown(row, snapshot)

    def _population(self, wanted: "_Wanted") -> str:
        """Return whose snapshot is wanted; its dataset never gets another."""
        with self._services.databases.reader.connect() as connection:
            _, dataset = _kept(connection, wanted)
        return str(dataset.population)

    def _activated(self, wanted: "_Wanted", facts: dict[str, object]) -> SnapshotRow:
        """Record an activation, once it was compared with all that is recorded."""
        while True:
            held = self._held(wanted)
            try:
                with self._services.ledger.recorded(
                    "snapshot.activate", self._actor, facts
                ) as change:
                    return self._recorded(change, wanted, held, facts)
            except OvertakenError:
                continue

    def _held(self, wanted: "_Wanted") -> Held:
        """Compare a snapshot, if it may be activated but for that."""
        with self._services.databases.reader.connect() as connection:
            row, active = _kept(connection, wanted)
            change = _declared(connection, active, row, wanted.reason)
            if change is not None:
                check_second_person(connection, self._actor, change)
        return held_against_units(self._services, row)

    def _recorded(
        self,
        change: RecordedTransaction,
        wanted: "_Wanted",
        held: Held,
        facts: dict[str, object],
    ) -> SnapshotRow:
        """Decide and switch, inside the transaction.

        Raises:
            OvertakenError: It was not compared with what is recorded by now.
        """
        row, dataset = _kept(change.connection, wanted)
        population = str(dataset.population)
        now = Versions.now(change.connection, population, str(dataset.name))
        if now != held.versions:
            raise OvertakenError
        altered = _declared(change.connection, dataset, row, wanted.reason)
        if altered is not None:
            require_second_person(change, self._actor, altered)
        reason = wanted.reason if wanted.override_overlap else None
        compared = held.compared(wanted.snapshot, dataset, reason)
        others = sorted(now.populations)
        comparison = Comparison(change, self._actor, others, compared)
        facts |= {"population": population, "overlap": comparison.allowed_overlap()}
        pointer = {"active_snapshot": wanted.snapshot}
        change.update(tables.dataset, {"name": str(dataset.name)}, pointer)
        return row

    def remove(
        self, snapshot: str, *, dataset: str | None = None
    ) -> RemovedSnapshotShape:
        """Erase a snapshot's file for good; questions under way finish on it.

        Those that wait for a file that cannot be read fail.

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
            if self._services.engine.can_open(snapshot):  # else they wait for ever
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


@dataclass(frozen=True, slots=True)
class _Wanted:
    """An activation that is asked for."""

    snapshot: str
    dataset: str | None
    reason: str | None
    override_overlap: bool


@contextmanager
def _alone(activating: OneEach, population: str) -> Iterator[None]:
    """Hold a population's name, if nobody does.

    Raises:
        BusyError: Somebody does.
    """
    with activating.alone(population) as is_alone:
        if not is_alone:
            message = (
                f"another snapshot of population {population} is being activated: try "
                "again once that is done"
            )
            raise BusyError(message)
        yield


def _kept(connection: Connection, wanted: _Wanted) -> tuple[SnapshotRow, SnapshotRow]:
    """Return the rows of a snapshot and of its dataset.

    Raises:
        CommandRefusedError: It is unknown or erased.
    """
    row = _snapshot(connection, wanted.snapshot, wanted.dataset)
    if row.removed is not None:
        message = f"the snapshot {row.id} was removed; load the data again"
        raise CommandRefusedError(message)
    return row, existing(connection, tables.dataset, str(row.dataset))


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
    pointer = Subject("active_snapshot", str(dataset.name))
    target = Altered("active snapshot", dataset.active_snapshot, row.id, pointer)
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


def _shown(row: SnapshotRow, active: str) -> SnapshotShape:
    kept: Literal["active", "kept"] = "active" if row.id == active else "kept"
    return {
        "id": row.id,
        "dataset": row.dataset,
        "created": shown_time(str(row.created)),
        "state": kept if row.removed is None else "removed",
    }
