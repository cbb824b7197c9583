"""Announcements for custodians: that a release is planned, and by which day.

They say what a spec and public declarations say: no row is read, nothing is charged,
and no budget has to be there yet.
"""

import json
from collections.abc import Mapping
from datetime import date

from sqlalchemy import ColumnElement, Connection, case, func, select, true

from privacy.measures import Measure
from privacy.times import shown_time
from privacy.wording import counted
from server.persistence import tables
from server.use_cases.approvals.changes import because
from server.use_cases.jobs.actors import check_custodian
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.losses.measures import measure_of, measures_of_populations
from server.use_cases.losses.releases import paid_for
from server.use_cases.publishing.job import require_free_name, require_known_readers
from server.use_cases.publishing.planner import ReleasePlanner
from server.use_cases.publishing.plans import ReleasePlan
from server.use_cases.publishing.replies import (
    AdminAnnouncement,
    AdminAnnouncementItem,
    AnnouncementState,
)
from server.use_cases.releases.announced import (
    MOST_OPEN,
    AnnouncementRow,
    has_come,
    has_lapsed,
    is_open,
)
from server.use_cases.services.errors import CommandRefusedError, NotFoundError
from server.use_cases.services.paging import ListOf, Page, listed, read_page
from server.use_cases.services.services import Services, now_text, random_id, today

_TABLE = tables.announcement


class ReleaseAnnouncer:
    """Announcements of a viewer's populations; what is not theirs is not there."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._planner = ReleasePlanner(services)

    def announce(
        self, viewer: Viewer, given: Mapping[str, object], by: date
    ) -> AdminAnnouncement:
        """Tell a release's readers that it is planned.

        Args:
            viewer: Who announces it.
            given: The spec, as ``ReleasePlanner.plan`` takes it.
            by: The day by which it is to be published.

        Raises:
            CuratorError: As ``ReleasePlanner.plan``.
            CommandRefusedError: The day has passed; a release or a standing
                announcement has the name; or too many stand for the dataset.
        """
        if by < today():
            message = f"{by} has passed: give the day by which it is to be published"
            raise CommandRefusedError(message)
        planned = self._planner.planned(viewer, given)
        row = _row(planned, by, viewer.actor)
        with self._services.ledger.recorded(
            "announcement.create", viewer.actor
        ) as change:
            population = planned.dataset.population
            check_custodian(change.connection, viewer.actor, population)
            require_known_readers(change.connection, planned)
            require_free_name(change.connection, planned)
            _require_room(change.connection, planned)
            change.insert(_TABLE, row)
        return self.show(viewer, str(row["id"]))

    def page(
        self, viewer: Viewer, page: Page, dataset: str | None = None
    ) -> ListOf[AdminAnnouncementItem]:
        """List announcements, of one dataset or of all, newest first.

        Raises:
            InvalidOptionError: The cursor is none that a list gave.
        """
        wanted = true() if dataset is None else _TABLE.c.dataset == dataset
        with self._services.databases.reader.connect() as connection:
            rows, cursor = read_page(connection, _TABLE, page, _of(viewer) & wanted)
            states = _states(connection, [str(row.id) for row in rows])
            measures = measures_of_populations(connection)
        items = [
            _item(row, states[str(row.id)], measures[str(row.population)])
            for row in rows
        ]
        return listed(items, cursor)

    def show(self, viewer: Viewer, announcement: str) -> AdminAnnouncement:
        """Return one announcement, by its id.

        Raises:
            NotFoundError: Unknown, or of somebody else's population.
        """
        with self._services.databases.reader.connect() as connection:
            row = _by_id(connection, viewer, announcement)
            state = _states(connection, [announcement])[announcement]
            measure = measure_of(connection, str(row.population))
        spec = json.loads(str(row.spec))
        return {**_item(row, state, measure), "spec": spec}

    def withdraw(
        self, viewer: Viewer, announcement: str, reason: str | None = None
    ) -> AdminAnnouncement:
        """Take an announcement back: the release is not to come, or not so.

        Raises:
            NotFoundError: As ``show``.
            CommandRefusedError: It does not stand any more.
        """
        facts = {"announcement": announcement, **because(reason)}
        with self._services.ledger.recorded(
            "announcement.withdraw", viewer.actor, facts
        ) as change:
            row = _by_id(change.connection, viewer, announcement)
            check_custodian(change.connection, viewer.actor, str(row.population))
            state = _states(change.connection, [announcement])[announcement]
            if state != "open":
                message = f"{row.name} is {state}: only what stands is withdrawn"
                raise CommandRefusedError(message)
            change.update(_TABLE, {"id": announcement}, {"withdrawn": True})
        return self.show(viewer, announcement)


def _require_room(connection: Connection, planned: ReleasePlan) -> None:
    """Refuse a name that is announced, and more announcements than plans look at."""
    of_name = select(_TABLE.c.id).where(
        _TABLE.c.name == planned.spec.name,
        _TABLE.c.population == planned.dataset.population,
        is_open(),
    )
    if connection.execute(of_name).first() is not None:
        message = (
            f"{planned.spec.name} is announced already: withdraw that announcement "
            "first, or take another name"
        )
        raise CommandRefusedError(message)
    open_ones = select(func.count()).where(
        _TABLE.c.dataset == planned.spec.dataset, is_open()
    )
    if connection.execute(open_ones).scalar_one() >= MOST_OPEN:
        message = (
            f"{counted(MOST_OPEN, 'announcement')} of {planned.spec.dataset} stand "
            "already, which is the most: withdraw one first"
        )
        raise CommandRefusedError(message)


def _row(planned: ReleasePlan, by: date, actor: str) -> dict[str, str | bool]:
    spec = planned.spec
    readers = [reader.model_dump(exclude_none=True) for reader in spec.reader_specs()]
    return {
        "id": random_id("ann"),
        "name": spec.name,
        "population": planned.dataset.population,
        "dataset": spec.dataset,
        "spec": spec.canonical_json(),
        "public": spec.is_public,
        "readers": json.dumps(readers, sort_keys=True),
        "due": by.isoformat(),
        "withdrawn": False,
        "created": now_text(),
        "created_by": actor,
    }


def _states(connection: Connection, ids: list[str]) -> dict[str, AnnouncementState]:
    """Return what became of announcements, by id."""
    state = case(
        (_TABLE.c.withdrawn.is_(True), "withdrawn"),
        (has_come(), "published"),
        (has_lapsed(), "lapsed"),
        else_="open",
    )
    wanted = select(_TABLE.c.id, state).where(_TABLE.c.id.in_(ids))
    return {str(name): found for name, found in connection.execute(wanted)}


def _by_id(
    connection: Connection, viewer: Viewer, announcement: str
) -> AnnouncementRow:
    wanted = select(_TABLE).where(_TABLE.c.id == announcement, _of(viewer))
    row = connection.execute(wanted).one_or_none()
    if row is None:
        raise NotFoundError
    return row


def _of(viewer: Viewer) -> ColumnElement[bool]:
    if viewer.populations is None:
        return true()
    return _TABLE.c.population.in_(sorted(viewer.populations))


def _item(
    row: AnnouncementRow, state: AnnouncementState, measure: Measure
) -> AdminAnnouncementItem:
    return {
        "id": row.id,
        "name": row.name,
        "population": row.population,
        "dataset": row.dataset,
        **paid_for(json.loads(str(row.spec)), measure),
        "by": row.due,
        "state": state,
        "public": row.public,
        "created": shown_time(str(row.created)),
        "created_by": row.created_by,
    }
