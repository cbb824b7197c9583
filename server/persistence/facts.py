"""What ``curator init`` fixed."""

from sqlalchemy import Connection, select

from server.persistence import tables


def installation_value(connection: Connection, name: str) -> str:
    """Return a fact that ``curator init`` fixed."""
    value: str = connection.execute(
        select(tables.installation.c.value).where(tables.installation.c.name == name)
    ).scalar_one()
    return value
