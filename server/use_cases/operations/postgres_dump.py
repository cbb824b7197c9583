"""Backups of a ledger in PostgreSQL, by PostgreSQL's own tool."""

import os
import shutil
import subprocess
from pathlib import Path

from sqlalchemy import create_engine, make_url

from budget.chain.entries import head_of
from budget.storage.postgresql import SECRET_OPTIONS, secrets_in
from server.configuration.settings import Settings
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.secret_files import sync_folder

DUMP = "ledger.dump"
RESTORING = "restoring"
"""The folder in DATA that a restore works in, and takes away as it ends."""


def dump_postgres(url: str, target: Path) -> dict[str, object]:
    """Run pg_dump, and return the head that the dump holds at least.

    Raises:
        CommandRefusedError: pg_dump is not installed, failed, or would show a secret.
    """
    tool = shutil.which("pg_dump")
    if tool is None:
        message = (
            "pg_dump is not installed here: install PostgreSQL's client tools, of the "
            "server's version or newer. By hand: 'pg_dump --format=custom --no-owner "
            f"--file={DUMP} --dbname={_plain(url)}', then copy CURATOR_DATA"
        )
        raise CommandRefusedError(message)
    secrets = _secrets(url)
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            head = head_of(connection)
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
        env={**os.environ, **secrets},
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


def why_unfinished(settings: Settings, *, finishing: bool = False) -> str | None:
    """Say what to do next where a restore into DATA has not ended.

    Args:
        settings: Of the installation.
        finishing: Whether this is the last step, which ends it; it needs PostgreSQL.
    """
    cut_off, dump = settings.data / RESTORING, settings.data / DUMP
    if cut_off.exists():
        return (
            f"a restore into {settings.data} was cut off: empty that folder, then "
            "type 'curator backup restore' again"
        )
    if not dump.exists() or (finishing and settings.is_shared):
        return None
    return (
        f"{dump} marks a restore that has not ended: "
        f"{restore_words(settings.url, dump)}; then type 'curator ledger reconcile "
        "--reason TEXT', which ends the restore and deletes the dump (where nothing "
        "is being restored, move that file away)"
    )


def end_restore(settings: Settings) -> bool:
    """Delete the dump, which marks a restore; return whether there was one."""
    dump = settings.data / DUMP
    if not dump.exists():
        return False
    dump.unlink()
    sync_folder(settings.data)
    return True


def _plain(url: str) -> str:
    """Return the URL as libpq reads it, without its secrets."""
    plain = make_url(url).set(drivername="postgresql")
    return (
        plain._replace(password=None)
        .difference_update_query(SECRET_OPTIONS)
        .render_as_string()
    )


def _secrets(url: str) -> dict[str, str]:
    """Return the password's variable: on the command line others could read it.

    Raises:
        CommandRefusedError: A secret has no variable.
    """
    found = secrets_in(url)
    password = found.pop("password", None)
    if found:
        message = (
            f"CURATOR_DATABASE_URL holds {min(found)}, which pg_dump takes on its "
            "command line alone, where others could read it: use a client key without "
            "a passphrase that its owner alone may read"
        )
        raise CommandRefusedError(message)
    return {} if password is None else {"PGPASSWORD": password}
