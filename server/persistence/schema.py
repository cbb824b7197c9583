"""The schema of the catalogue database and its one history of migrations."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, MetaData, inspect, text

from budget.storage.tables import metadata as budget_metadata
from server.persistence.linkage_tables import metadata as linkage_metadata
from server.persistence.tables import metadata as catalogue_metadata
from server.persistence.tables import work_metadata
from server.persistence.text_tables import metadata as text_metadata

if TYPE_CHECKING:  # every command opens the database, and few bring it to a version
    from alembic.config import Config

HEAD: Final = "0014"
"""The newest revision that this code knows."""

RECORDED_TABLES = tuple(catalogue_metadata.sorted_tables)
"""Tables that are written through the ledger's recorded transactions alone."""


def all_metadata() -> list[MetaData]:
    """Return the tables of every package that keeps state in the database."""
    return [
        budget_metadata,
        catalogue_metadata,
        work_metadata,
        text_metadata,
        linkage_metadata,
    ]


class UnknownRevisionError(Exception):
    """The database is of a version that this code does not know."""


def migration_config(connection: Connection | None = None) -> "Config":
    """Return Alembic's configuration, bound to a connection where one is given."""
    from alembic.config import Config  # noqa: PLC0415 - as above

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Bring the database to ``revision``; ledger rows are carried, never rewritten.

    Raises:
        UnknownRevisionError: No migration leads there from where it is.
    """
    from alembic import command  # noqa: PLC0415 - as above
    from alembic.util import CommandError  # noqa: PLC0415

    try:
        command.upgrade(migration_config(connection), revision)
    except CommandError as error:
        raise UnknownRevisionError(str(error)) from None
    if connection.dialect.name == "postgresql":
        _compare_by_code_point(connection)


def _compare_by_code_point(connection: Connection) -> None:
    """Give every text column the collation "C", as SQLite compares.

    Order is then the same on both databases, and no index depends on a collation
    that changes with the operating system, under which a key could be used twice.
    """
    names = [table for metadata in all_metadata() for table in metadata.tables]
    rows = connection.execute(
        text(
            "SELECT table_name, column_name FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND data_type = 'text' "
            "AND collation_name IS DISTINCT FROM 'C' AND table_name = ANY(:names)"
        ),
        {"names": names},
    ).all()
    columns: dict[str, list[str]] = {}
    for table, column in rows:
        columns.setdefault(table, []).append(
            f'ALTER COLUMN "{column}" TYPE text COLLATE "C"'
        )
    for table, changes in columns.items():
        statement = f'ALTER TABLE "{table}" {", ".join(changes)}'
        connection.exec_driver_sql(statement)


def current_revision(connection: Connection) -> str | None:
    """Return the revision of the database, None where it holds no schema."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(
        text("SELECT version_num FROM alembic_version")
    ).scalar_one_or_none()
    return found
