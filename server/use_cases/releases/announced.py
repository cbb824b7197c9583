"""Releases that are announced: planned by a custodian, and not there yet.

An announcement follows from a spec and public declarations: nothing is charged, drawn
or counted for it. It ends when a release of its name appears, when it is withdrawn, or
a while after its day.
"""

import json
from datetime import timedelta
from typing import Final

from sqlalchemy import ColumnElement, Connection, Row, and_, exists, not_, or_, select

from privacy.measures import Measure
from privacy.times import shown_time
from server.persistence import tables
from server.use_cases.identity.access import Caller, populations_of, projects_of
from server.use_cases.losses.measures import measures_of_populations
from server.use_cases.losses.releases import paid_for
from server.use_cases.releases.catalogue import is_granted
from server.use_cases.releases.replies import AnnouncedRelease
from server.use_cases.releases.times import has_appeared
from server.use_cases.services.paging import ListOf, Page, listed, read_page
from server.use_cases.services.services import Services, today

DAYS_KEPT: Final = 30
"""Days after its own on which an announcement still stands: work may be late."""

MOST_OPEN: Final = 16
"""Announcements of one dataset that may stand at once: every plan looks at all."""

AnnouncementRow = Row[tuple[object, ...]]


def has_come() -> ColumnElement[bool]:
    """Return the condition that a release of an announcement's name has appeared.

    A name is a population's once and for all: nothing else can come of it.
    """
    release, announced = tables.publication, tables.announcement
    return exists(
        select(release.c.id).where(
            release.c.name == announced.c.name,
            release.c.population == announced.c.population,
            release.c.state.in_(("published", "withdrawn")),
            has_appeared(),
        )
    )


def has_lapsed() -> ColumnElement[bool]:
    """Return the condition that an announcement's day has passed by too much."""
    last = today() - timedelta(days=DAYS_KEPT)
    return tables.announcement.c.due < last.isoformat()


def is_open() -> ColumnElement[bool]:
    """Return the condition on announcements that stand now."""
    withdrawn = tables.announcement.c.withdrawn
    return not_(or_(withdrawn.is_(True), has_lapsed(), has_come()))


def announced_to(connection: Connection, caller: Caller) -> ColumnElement[bool]:
    """Return the condition on announcements that a caller may read now.

    Those who may ask the dataset, and will be able to read the release: to others it
    would promise what they do not get. And the population's custodians.
    """
    announced = tables.announcement
    projects = projects_of(connection, caller.name)
    names = {project.name for project in projects}
    held = {dataset for project in projects for dataset in project.datasets}
    populations = populations_of(connection, caller.name)
    rows = connection.execute(
        select(announced.c.id, announced.c.readers).where(
            announced.c.dataset.in_(sorted(held)), is_open()
        )
    )
    granted = [
        row.id
        for row in rows
        if is_granted(json.loads(row.readers), caller.name, names)
    ]
    theirs = or_(
        and_(announced.c.public.is_(True), announced.c.dataset.in_(sorted(held))),
        announced.c.id.in_(granted),
        announced.c.population.in_(sorted(populations)),
    )
    return and_(is_open(), theirs)


class AnnouncedReleases:
    """Lists what is announced to a caller; what is not theirs is not there."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def page(self, caller: Caller, page: Page) -> ListOf[AnnouncedRelease]:
        """List the announcements that a caller may read, newest first.

        Raises:
            InvalidOptionError: The cursor is none that a list gave.
        """
        with self._services.databases.reader.connect() as connection:
            theirs = announced_to(connection, caller)
            rows, cursor = read_page(connection, tables.announcement, page, theirs)
            measures = measures_of_populations(connection)
        items = [announced_item(row, measures[str(row.population)]) for row in rows]
        return listed(items, cursor)

    def of_dataset(self, caller: Caller, dataset: str) -> list[AnnouncementRow]:
        """Return what is announced of a dataset to a caller, by its day."""
        announced = tables.announcement
        with self._services.databases.reader.connect() as connection:
            wanted = select(announced).where(announced.c.dataset == dataset, is_open())
            if connection.execute(wanted.limit(1)).first() is None:
                return []  # as a rule: who may read what is asked where there is some
            wanted = wanted.where(announced_to(connection, caller))
            first = wanted.order_by(announced.c.due, announced.c.created)
            return list(connection.execute(first.limit(MOST_OPEN)).all())


def announced_item(row: AnnouncementRow, measure: Measure) -> AnnouncedRelease:
    """Return an announcement as its readers' lists show it."""
    spec = json.loads(str(row.spec))
    return {
        "id": row.id,
        "name": row.name,
        "kind": spec["kind"],
        "dataset": row.dataset,
        "strategy": spec["strategy"],
        **paid_for(spec, measure),
        "counts": spec.get("count", "units"),
        "public": row.public,
        "by": row.due,
        "created": shown_time(str(row.created)),
    }
