"""The version of the database that this code is of."""

from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from server.persistence.schema import (
    HEAD,
    current_revision,
    migration_config,
    upgrade,
)


def test_the_newest_revision_is_that_of_the_last_migration():
    """It is written down so that commands start without reading every migration."""
    scripts = ScriptDirectory.from_config(migration_config())
    assert scripts.get_current_head() == HEAD


def test_the_revision_is_what_alembic_wrote():
    with create_engine("sqlite://").connect() as connection:
        assert current_revision(connection) is None
        upgrade(connection, "0003")
        assert current_revision(connection) == "0003"
        upgrade(connection)
        assert current_revision(connection) == HEAD
