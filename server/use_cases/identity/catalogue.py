"""Rows of the catalogue by name: names that may be used, rows that must be there."""

import re
from collections.abc import Mapping

from sqlalchemy import Connection, Row, Table, select

from server.use_cases.services.errors import CommandRefusedError, NoSuchThingError

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


def check_name(name: str, what: str) -> str:
    """Return a name that may be used.

    Raises:
        CommandRefusedError: It does not match ``[a-z][a-z0-9_]{0,62}``.
    """
    if _NAME.fullmatch(name) is None:
        message = (
            f"{name!r} cannot name a {what}: start with a lower-case letter, then "
            "letters, digits and underscores, 63 characters at most"
        )
        raise CommandRefusedError(message)
    return name


def existing(
    connection: Connection, table: Table, name: str
) -> Row[tuple[object, ...]]:
    """Return the row of that name.

    Raises:
        NoSuchThingError: There is none.
    """
    row = connection.execute(select(table).where(table.c.name == name)).one_or_none()
    if row is None:
        verb = "show" if table.name == "population" else "list"
        message = (
            f"there is no {table.name} {name!r}: see 'curator {table.name} {verb}'"
        )
        raise NoSuchThingError(message)
    return row


def refuse_used(connection: Connection, table: Table, name: str) -> None:
    """Refuse a name that is taken; names are never used again.

    Raises:
        CommandRefusedError: The name is taken.
    """
    taken = connection.execute(select(table.c.name).where(table.c.name == name)).first()
    if taken is not None:
        message = f"the {table.name} {name!r} exists; names are never used again"
        raise CommandRefusedError(message)


def holds(connection: Connection, table: Table, row: Mapping[str, str]) -> bool:
    """Whether a table has a row with these values."""
    conditions = [table.c[name] == value for name, value in row.items()]
    return connection.execute(select(table).where(*conditions)).first() is not None
