"""Releases for custodians: listing, verifying, withdrawing; planner.py prices them.

What reads their files is imported where they are read: it brings engine and noise, and
listing releases needs neither.
"""

import json
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, select, true

from privacy.measures import Measure
from privacy.times import shown_time
from release.store.manifest_files import read_manifest
from release.store.signing import InstallationKey
from server.persistence import tables
from server.persistence.release_names import is_called
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.losses.measures import measure_of, measures_of_populations
from server.use_cases.losses.releases import paid_for
from server.use_cases.publishing.replies import (
    AdminRelease,
    AdminReleaseItem,
    VerifiedShape,
)
from server.use_cases.releases.folders import ReleaseFolders
from server.use_cases.releases.times import PublicationRow
from server.use_cases.services.errors import CommandRefusedError, NotFoundError
from server.use_cases.services.paging import ListOf, Page, read_page
from server.use_cases.services.secret_files import read_secret
from server.use_cases.services.services import Services


class ReleaseService:
    """Releases of a viewer's populations; what is not theirs is not there."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._folders = ReleaseFolders(services.settings.releases)

    def page(self, viewer: Viewer, page: Page) -> ListOf[AdminReleaseItem]:
        """List releases, newest first.

        Raises:
            InvalidOptionError: The cursor is none that a list gave.
        """
        with self._services.databases.reader.connect() as connection:
            rows, cursor = read_page(connection, tables.publication, page, _of(viewer))
            measures = measures_of_populations(connection)
        items = [listed(row, measures[str(row.population)]) for row in rows]
        return {"items": items, "next_cursor": cursor}

    def show(self, viewer: Viewer, release: str) -> AdminRelease:
        """Describe one release, by its id or name.

        Raises:
            NotFoundError: Unknown, or of somebody else's population.
            CommandRefusedError: Releases of two populations are called so.
        """
        row = self._row(viewer, release)
        manifest = None
        if row.manifest_sha256 is not None:
            folder = self._folders.path(str(row.id), str(row.manifest_sha256))
            manifest = read_manifest(folder) if folder.is_dir() else None
        return {
            **listed(row, self._measure(row)),
            "readers": json.loads(str(row.readers)),
            "spec": json.loads(str(row.spec)),
            "manifest": manifest,
        }

    def _measure(self, row: PublicationRow) -> Measure:
        with self._services.databases.reader.connect() as connection:
            return measure_of(connection, str(row.population))

    def verify(self, viewer: Viewer, release: str) -> VerifiedShape:
        """Check the files of a published release.

        Raises:
            NotFoundError: As ``show``.
            CommandRefusedError: It was never published.
        """
        row = self._row(viewer, release)
        if row.manifest_sha256 is None:
            message = f"{row.name} was not published: there is nothing to verify"
            raise CommandRefusedError(message)
        return self.verified(row)

    def verified(self, row: PublicationRow) -> VerifiedShape:
        """Return what is wrong with a published release's folder."""
        from server.use_cases.publishing.verifying import folder_problems  # noqa: PLC0415

        folder = self._folders.path(str(row.id), str(row.manifest_sha256))
        problems = folder_problems(folder, str(row.manifest_sha256), self.public_key())
        return {"release": row.id, "ok": not problems, "problems": problems}

    def problems(self, rows: Sequence[PublicationRow]) -> list[str]:
        """Return where files of published releases are not the ledger's."""
        from server.use_cases.publishing.verifying import digest_problems  # noqa: PLC0415

        key = self.public_key()
        return [
            f"release {row.name}: {problem}"
            for row in rows
            for problem in digest_problems(
                self._folders.path(str(row.id), str(row.manifest_sha256)),
                str(row.manifest_sha256),
                key,
            )
        ]

    def public_key(self) -> str:
        """Return the key that verifies this installation's releases.

        Raises:
            CommandRefusedError: The master secret cannot be read.
        """
        try:
            secret = read_secret(self._services.settings.secret_file)
        except (OSError, ValueError):
            message = (
                "DATA/secret.key is missing or not this installation's: bring it back "
                "from its backup"
            )
            raise CommandRefusedError(message) from None
        return InstallationKey(secret).public_key

    def withdraw(self, viewer: Viewer, release: str, reason: str) -> AdminRelease:
        """Hide a release from its readers, for good; its charge and entry stay.

        Raises:
            NotFoundError: As ``show``.
            CommandRefusedError: It is not published, or no reason is given.
        """
        if not reason.strip():
            message = "say why: the reason is recorded with it, for good"
            raise CommandRefusedError(message)
        known = self._row(viewer, release)
        with self._services.ledger.recorded(
            "release.withdraw", viewer.actor, {"release": known.id, "reason": reason}
        ) as change:
            row = _by_id(change.connection, str(known.id))
            if row.state != "published":
                message = (
                    f"{row.name} is {row.state}: only what is published is withdrawn"
                )
                raise CommandRefusedError(message)
            change.update(tables.publication, {"id": row.id}, {"state": "withdrawn"})
        return self.show(viewer, str(known.id))

    def _row(self, viewer: Viewer, release: str) -> PublicationRow:
        table = tables.publication
        wanted = (
            select(table)
            .where(is_called(release), _of(viewer))
            .order_by(table.c.state == "failed", table.c.created.desc())
        )
        with self._services.databases.reader.connect() as connection:
            rows = connection.execute(wanted).all()
        if not rows:
            raise NotFoundError
        if len({row.population for row in rows}) > 1:
            message = f"several populations have a release {release}: give its id"
            raise CommandRefusedError(message)
        return rows[0]


def listed(row: PublicationRow, measure: Measure) -> AdminReleaseItem:
    """Return a release as lists show it."""
    return {
        "id": row.id,
        "name": row.name,
        "population": row.population,
        "dataset": row.dataset,
        "snapshot": row.snapshot,
        **paid_for(json.loads(str(row.spec)), measure),
        "state": row.state,
        "public": row.public,
        "created": shown_time(str(row.created)),
        "created_by": row.created_by,
        "visible": _visible(row),
        "job": row.job,
    }


def _visible(row: PublicationRow) -> str | None:
    """Return from when on readers see a release; None: they never do, or not yet."""
    hidden = row.state == "failed" or row.visible is None
    return None if hidden else shown_time(str(row.visible))


def _of(viewer: Viewer) -> ColumnElement[bool]:
    if viewer.populations is None:
        return true()
    return tables.publication.c.population.in_(sorted(viewer.populations))


def _by_id(connection: Connection, release_id: str) -> PublicationRow:
    table = tables.publication
    return connection.execute(select(table).where(table.c.id == release_id)).one()
