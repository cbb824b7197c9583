"""Releases for their readers: what one may read, and nothing of the rest."""

import json
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from privacy.measures import Measure
from privacy.times import shown_time
from release.contract.errors import BrokenReleaseError
from release.store.listings import CUBE, TREE
from release.store.manifest_files import MANIFEST
from release.store.opening import OpenRelease, open_release
from server.persistence import tables
from server.persistence.release_names import is_called
from server.use_cases.identity.access import Caller, populations_of, projects_of
from server.use_cases.losses.measures import measure_of, measures_of_populations
from server.use_cases.losses.releases import paid_for
from server.use_cases.releases.folders import ReleaseFolders
from server.use_cases.releases.replies import ReleaseDetail, ReleaseItem
from server.use_cases.releases.times import PublicationRow, has_appeared
from server.use_cases.services.errors import NotFoundError
from server.use_cases.services.paging import ListOf, Page, listed, read_page
from server.use_cases.services.services import Services


@dataclass(frozen=True, slots=True)
class Download:
    """Which file of a release is asked for.

    Attributes:
        format: parquet, csv or json.
        table: Its name without the ending; None: the table of cells, or the manifest.
    """

    format: str
    table: str | None = None


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a release, and the digest that the ledger or the manifest names."""

    path: Path
    sha256: str


class ReleaseCatalogue:
    """Lists and opens published releases; what a caller may not read is not there."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._folders = ReleaseFolders(services.settings.releases)

    def page(self, caller: Caller, page: Page) -> ListOf[ReleaseItem]:
        """List the releases that a caller may read, newest first.

        Raises:
            InvalidOptionError: The cursor is none that a list gave.
        """
        with self._services.databases.reader.connect() as connection:
            readable = readable_by(connection, caller)
            rows, cursor = read_page(connection, tables.publication, page, readable)
            measures = measures_of_populations(connection)
        items = [release_item(row, measures[str(row.population)]) for row in rows]
        return listed(items, cursor)

    def readable(self, caller: Caller, dataset: str) -> list[PublicationRow]:
        """Return the published releases of a dataset that a caller may read."""
        release = tables.publication
        with self._services.databases.reader.connect() as connection:
            wanted = select(release).where(
                release.c.dataset == dataset, readable_by(connection, caller)
            )
            newest = wanted.order_by(release.c.created.desc())
            return list(connection.execute(newest).all())

    def opened(self, row: PublicationRow) -> OpenRelease:
        """Return a published release.

        Raises:
            NotFoundError: Its files are gone or broken; 'curator doctor' says so.
        """
        try:
            return open_release(self.folder(row))
        except (OSError, BrokenReleaseError):
            raise NotFoundError from None

    def row(self, caller: Caller, named: str) -> PublicationRow:
        """Return the row of a release that a caller may read.

        Args:
            caller: Who reads.
            named: Its id, or its name: of several of one name the newest that the
                caller may read.

        Raises:
            NotFoundError: There is none, or it is not theirs.
        """
        release = tables.publication
        with self._services.databases.reader.connect() as connection:
            wanted = select(release).where(
                is_called(named), readable_by(connection, caller)
            )
            first = wanted.order_by(release.c.created.desc())
            row = connection.execute(first.limit(1)).one_or_none()
        if row is None:
            raise NotFoundError
        return row

    def folder(self, row: PublicationRow) -> Path:
        """Return where a published release lies."""
        return self._folders.path(str(row.id), str(row.manifest_sha256))

    def show(self, caller: Caller, named: str) -> ReleaseDetail:
        """Return a release with its manifest.

        Raises:
            NotFoundError: As ``open``.
        """
        row = self.row(caller, named)
        item = release_item(row, self.measure(row))
        return {**item, "manifest": self.opened(row).manifest}

    def measure(self, row: PublicationRow) -> Measure:
        """Return the measure of a release's population."""
        with self._services.databases.reader.connect() as connection:
            return measure_of(connection, str(row.population))

    def file(self, caller: Caller, named: str, wanted: Download) -> FoundFile:
        """Return a file of a release, for sending it.

        Raises:
            NotFoundError: As ``open``, or the release has no such file.
        """
        row = self.row(caller, named)
        files = self.opened(row).manifest.get("files")
        digests = {MANIFEST: str(row.manifest_sha256)}
        if isinstance(files, dict):
            digests |= {name: told["sha256"] for name, told in files.items()}
        name = _file_name(wanted, set(digests))
        path = self.folder(row) / name
        if name not in digests or not path.is_file():
            raise NotFoundError
        return FoundFile(path, digests[name])


def _file_name(wanted: Download, names: set[str]) -> str:
    """Return the name of a file; without a table, the first that people look for."""
    if wanted.table is not None:
        return f"{wanted.table}.{wanted.format}"
    if wanted.format == "json":
        return MANIFEST
    tables = sorted(name for name in names if name.endswith(f".{wanted.format}"))
    listed = [f"{name}.{wanted.format}" for name in (CUBE, TREE)]
    first = [name for name in (*listed, *tables) if name in names]
    return first[0] if first else listed[0]


def readable_by(connection: Connection, caller: Caller) -> ColumnElement[bool]:
    """Return the condition on releases that a caller may read now.

    Custodians know how long work took; everybody else sees a release from its public
    time on.
    """
    release = tables.publication
    names = {project.name for project in projects_of(connection, caller.name)}
    populations = populations_of(connection, caller.name)
    granted = [
        row.id
        for row in connection.execute(
            select(release.c.id, release.c.readers).where(release.c.readers != "[]")
        )
        if is_granted(json.loads(row.readers), caller.name, names)
    ]
    theirs = or_(
        and_(release.c.public.is_(True), has_appeared()),
        and_(release.c.id.in_(granted), has_appeared()),
        release.c.population.in_(sorted(populations)),
    )
    return and_(release.c.state == "published", theirs)


def is_granted(
    readers: list[dict[str, str]], principal: str, projects: set[str]
) -> bool:
    """Whether readers name a principal, or a project of theirs."""
    return any(
        reader.get("principal") == principal or reader.get("project") in projects
        for reader in readers
    )


def release_item(row: PublicationRow, measure: Measure) -> ReleaseItem:
    """Return a release as its readers' lists show it."""
    spec = json.loads(str(row.spec))
    return {
        "id": row.id,
        "name": row.name,
        "kind": spec["kind"],
        "dataset": row.dataset,
        "snapshot": row.snapshot,
        "strategy": spec["strategy"],
        **paid_for(spec, measure),
        "counts": spec.get("count", "units"),
        "public": row.public,
        "created": shown_time(str(row.created)),
    }
