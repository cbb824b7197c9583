"""Backups of a ledger in PostgreSQL, by PostgreSQL's own tool."""

import os
import shutil
import subprocess
from pathlib import Path

from sqlalchemy import URL, create_engine, make_url

from budget import statements as books
from server.use_cases.errors import CommandRefusedError

DUMP = "ledger.dump"


def dump_postgres(url: str, target: Path) -> dict[str, object]:
    """Run pg_dump, and return the head that the dump holds at least.

    Raises:
        CommandRefusedError: pg_dump is not installed, or failed.
    """
    tool = shutil.which("pg_dump")
    if tool is None:
        message = (
            "pg_dump is not installed here: install PostgreSQL's client tools, of the "
            "server's version or newer. By hand: 'pg_dump --format=custom --no-owner "
            f"--file={DUMP} --dbname={_plain(url)}', then copy CURATOR_DATA"
        )
        raise CommandRefusedError(message)
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            head = books.head(connection)
    finally:
        engine.dispose()
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    done = subprocess.run(  # noqa: S603 - PostgreSQL's own tool
        [
            tool,
            "--format=custom",
            "--no-owner",
            f"--file={target}",
            f"--dbname={_plain(url)}",
        ],
        env={**os.environ, **_password(url)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # it may quote the URL
        check=False,
    )
    if done.returncode != 0:
        message = (
            f"pg_dump ended with {done.returncode}: run it by hand to see why: "
            f"'pg_dump --format=custom --file=x.dump --dbname={_plain(url)}'"
        )
        raise CommandRefusedError(message)
    return {"entries": head.seq, "head": head.hash}


def restore_words(url: str, dump: Path) -> str:
    """Say how a dump is brought back; a database is never restored over by us."""
    if not url.startswith("postgresql"):
        return (
            "this ledger was in PostgreSQL: set CURATOR_DATABASE_URL to an empty "
            "PostgreSQL database"
        )
    return (
        "bring the ledger back into an empty database: 'pg_restore --no-owner "
        f"--exit-on-error --dbname={_plain(url)} {dump}'"
    )


def _plain(url: str) -> str:
    """Return the URL as libpq reads it, without its password."""
    return _libpq(url)._replace(password=None).render_as_string()


def _libpq(url: str) -> URL:
    return make_url(url).set(drivername="postgresql")


def _password(url: str) -> dict[str, str]:
    """Return the password's variable: on the command line others could read it."""
    password = _libpq(url).password
    return {} if password is None else {"PGPASSWORD": str(password)}
