"""The schema of the catalogue database and its one history of migrations."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData

from budget.tables import metadata as budget_metadata
from server.persistence.tables import metadata as catalogue_metadata
from server.persistence.tables import work_metadata

RECORDED_TABLES = tuple(catalogue_metadata.sorted_tables)
"""Tables that are written through the ledger's recorded transactions alone."""


def all_metadata() -> list[MetaData]:
    """Return the tables of every package that keeps state in the database."""
    return [budget_metadata, catalogue_metadata, work_metadata]


def migration_config(connection: Connection | None = None) -> Config:
    """Return Alembic's configuration, bound to a connection where one is given."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Bring the database to ``revision``; ledger rows are carried, never rewritten."""
    command.upgrade(migration_config(connection), revision)


def current_revision(connection: Connection) -> str | None:
    """Return the revision of the database, None where it holds no schema."""
    return MigrationContext.configure(connection).get_current_revision()


def head_revision() -> str | None:
    """Return the newest revision that this code knows."""
    return ScriptDirectory.from_config(migration_config()).get_current_head()
