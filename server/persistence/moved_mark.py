"""The mark in a SQLite file whose ledger was moved away: it never serves again."""

from sqlalchemy import Connection, inspect, text

from server.persistence.schema import current_revision

MOVED = "moved"
"""The revision of such a file; no version of the code has it, so none opens it."""

_TABLE = "moved_ledger"
_REFUSED = "this ledger was moved to PostgreSQL"


def close_ledger(connection: Connection, where: str, seq: int) -> None:
    """Close a SQLite ledger: mark it as moved, and refuse writes of any process.

    Triggers refuse also those who opened the file before.

    Args:
        connection: In the transaction that is the move's decision.
        where: To which database, without secrets.
        seq: Of the last entry that stands here.
    """
    names = inspect(connection).get_table_names()
    connection.exec_driver_sql(f"CREATE TABLE {_TABLE} (place TEXT, seq INTEGER)")
    connection.execute(
        text(f"INSERT INTO {_TABLE} VALUES (:place, :seq)"),  # noqa: S608 - a constant
        {"place": where, "seq": seq},
    )
    connection.execute(
        text("UPDATE alembic_version SET version_num = :moved"), {"moved": MOVED}
    )
    for name in names:
        for verb in ("INSERT", "UPDATE", "DELETE"):
            connection.exec_driver_sql(
                f'CREATE TRIGGER "moved_{name}_{verb.lower()}" BEFORE {verb} '
                f"ON \"{name}\" BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END"
            )


def moved_to(connection: Connection) -> str | None:
    """Return the database that a ledger went to, without secrets; None if none."""
    if current_revision(connection) != MOVED:
        return None
    return str(
        connection.execute(text(f"SELECT place FROM {_TABLE}")).scalar_one()  # noqa: S608 - a constant
    )
