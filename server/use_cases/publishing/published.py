"""Whether the files of published releases are those that the ledger names."""

from sqlalchemy import ColumnElement, select, true

from server.persistence import tables
from server.use_cases.releases.times import PublicationRow
from server.use_cases.services.services import Services


def published(
    services: Services, which: ColumnElement[bool] | None = None
) -> list[PublicationRow]:
    """Return every release, or of ``which``, that has files."""
    release = tables.publication
    has_files = release.c.manifest_sha256.is_not(None)
    wanted = select(release).where(has_files, true() if which is None else which)
    with services.databases.reader.connect() as connection:
        return list(connection.execute(wanted.order_by(release.c.created)).all())


def file_problems(
    services: Services, which: ColumnElement[bool] | None = None
) -> list[str]:
    """Return where files of releases, or of ``which``, are not the ledger's.

    Raises:
        CommandRefusedError: There are some, and the master secret cannot be read.
    """
    rows = published(services, which)
    if not rows:
        return []
    # Their files bring engine and noise, without which commands start in half the time.
    from server.use_cases.publishing.releases import ReleaseService  # noqa: PLC0415

    return ReleaseService(services).problems(rows)
