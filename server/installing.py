"""Installations: made, found and brought to this version."""

import contextlib
import getpass
import os
from pathlib import Path

from sqlalchemy import make_url, select
from sqlalchemy.exc import SQLAlchemyError

from budget.chain.anchor import AnchorFile
from budget.chain.entries import Head, head_of
from budget.checking.moving import move
from budget.ledger import Ledger
from budget.storage.databases import Databases
from budget.storage.postgresql import DatabaseUnreachableError, masked_url
from budget.storage.process_lock import ProcessLock
from server.configuration.settings import Settings
from server.persistence import tables
from server.persistence.moved_mark import moved_to
from server.persistence.schema import (
    HEAD,
    UnknownRevisionError,
    current_revision,
    upgrade,
)
from server.use_cases.operations.moving import (
    MovedLedgerError,
    nobody_else,
    steps_to,
)
from server.use_cases.operations.postgres_dump import why_unfinished
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.secret_files import (
    make_secret,
    secret_digest,
)
from server.use_cases.services.services import (
    now_text,
)
from server.use_cases.services.space import NoSpaceError
from upstream.full_disks import is_for_want_of_space


def initialise(settings: Settings, *, single_custodian: bool) -> dict[str, object]:
    """Make a new installation: data directory, secret, ledger, anchor.

    Raises:
        CommandRefusedError: A ledger or an anchor is already there, or a secret that
            is none, or files of an installation whose ledger is not there.
    """
    unfinished = _is_unfinished(settings)
    if settings.anchor.exists() and not unfinished:
        message = f"an anchor exists at {settings.anchor}: nothing was changed"
        raise CommandRefusedError(message)
    if settings.data.is_dir() and not any(settings.data.iterdir()):
        settings.data.chmod(0o700)  # an empty mount point: nobody relies on its mode
    for folder in (settings.data, settings.snapshots, settings.overlaps):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    settings.anchor.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.closing(_connect(settings)) as databases:
        with databases.writer.begin() as connection:
            if current_revision(connection) is not None and not unfinished:
                where = "the database" if settings.is_shared else settings.data
                message = f"a ledger exists in {where}: nothing was changed"
                raise CommandRefusedError(message)
            if (ledgerless := _ledgerless(settings)) is not None:
                raise CommandRefusedError(ledgerless)
            secret = _make_or_keep_secret(settings)
            upgrade(connection)
        ledger = _begin_ledger(settings, databases, unfinished=unfinished)
        facts = _fix_facts(ledger, settings, secret, single_custodian=single_custodian)
    return {"data": str(settings.data), "anchor": str(settings.anchor), **facts}


def _begin_ledger(
    settings: Settings, databases: Databases, *, unfinished: bool
) -> Ledger:
    """Make a ledger with its anchor, or take up one whose making was cut off."""
    anchor = AnchorFile(settings.anchor)
    try:
        ledger = Ledger.finish(databases, anchor) if unfinished else None
        return ledger or Ledger.initialise(databases, anchor, actor=actor())
    except OSError as error:
        message = (
            f"the anchor cannot be written at {settings.anchor} "
            f"({error.strerror or error}): it needs a disk that can be written, with "
            "1 MiB free. Then type 'curator init' again"
        )
        raise CommandRefusedError(message) from None


def _fix_facts(
    ledger: Ledger, settings: Settings, secret: bytes, *, single_custodian: bool
) -> dict[str, str]:
    """Write down what is fixed from now on, as one entry."""
    same_device = settings.data.stat().st_dev == settings.anchor.parent.stat().st_dev
    facts = {
        "single_custodian": "true" if single_custodian else "false",
        "secret_digest": secret_digest(secret),
        "anchor_on_same_device": "true" if same_device else "false",
        "created": now_text(),
    }
    with ledger.recorded("installation.init", actor()) as change:
        for name, value in facts.items():
            change.insert(tables.installation, {"name": name, "value": value})
    return facts


def _is_unfinished(settings: Settings) -> bool:
    """Whether an earlier init was cut off: a schema, but no fact of an installation."""
    if not settings.is_shared and not _has_file(settings):
        return False
    databases = _connect(settings)
    try:
        with databases.reader.connect() as connection:
            if current_revision(connection) is None:
                return False
            found = connection.execute(select(tables.installation)).first()
            return found is None
    except SQLAlchemyError as error:
        raise _unreadable(settings, error) from None
    finally:
        databases.close()


def _has_file(settings: Settings) -> bool:
    """Whether DATA is there, and a SQLite ledger's file; PostgreSQL tells by itself."""
    path = "" if settings.is_shared else make_url(settings.url).database or ""
    return settings.data.is_dir() and (settings.is_shared or Path(path).exists())


def _ledgerless(settings: Settings) -> str | None:
    """Say what to do where files wait for their ledger: a new one would forget all.

    Returns:
        None where DATA holds nothing that only a ledger names.
    """
    if (unfinished := why_unfinished(settings)) is not None:
        return unfinished
    for folder in (settings.overlaps, settings.snapshots, settings.releases):
        if folder.is_dir() and any(folder.iterdir()):
            return (
                f"{folder} holds files of an installation, and its ledger is not here: "
                "correct CURATOR_DATABASE_URL, or bring the ledger back from its "
                "backup; for a new installation set CURATOR_DATA to another folder"
            )
    return None


def _missing(settings: Settings) -> CommandRefusedError:
    message = f"no installation in {settings.data}: run 'curator init' first"
    return CommandRefusedError(_ledgerless(settings) or message)


def _make_or_keep_secret(settings: Settings) -> bytes:
    try:
        return make_secret(settings.secret_file)
    except ValueError as error:
        message = f"{settings.secret_file} is there, but is no secret: {error}"
        raise CommandRefusedError(message) from None


def actor() -> str:
    """Return who runs a command on this host."""
    try:
        return f"local:{getpass.getuser()}"
    except (KeyError, OSError):
        return f"local:{os.getuid()}"


def _connect(settings: Settings) -> Databases:
    """Return the databases, once one of their engines has connected.

    Raises:
        CommandRefusedError: PostgreSQL cannot be reached, or will not do; why.
    """
    databases = None
    try:
        databases = Databases(settings.url)
        if settings.is_shared:
            with databases.writer.connect():
                pass
    except DatabaseUnreachableError as error:
        if databases is not None:
            databases.close()
        raise CommandRefusedError(error.remedy) from None
    return databases


def open_databases(settings: Settings, *, ends_restore: bool = False) -> Databases:
    """Open the catalogue database of an existing installation.

    Args:
        settings: Where it is.
        ends_restore: Whether it is opened to end a restore, which all else waits for.

    Raises:
        CommandRefusedError: There is none, it cannot be read, or a restore has not
            ended.
    """
    if not _has_file(settings):  # SQLite would make an empty one
        raise _missing(settings)
    _refuse_unfinished(settings, finishing=ends_restore)
    databases = _connect(settings)
    try:
        with databases.reader.connect() as connection:
            revision = current_revision(connection)
            moved = moved_to(connection)
    except SQLAlchemyError as error:
        databases.close()
        raise _unreadable(settings, error) from None
    if moved is not None:
        databases.close()
        raise MovedLedgerError(moved)
    if revision is None:
        databases.close()
        raise _missing(settings)
    if revision != HEAD:
        databases.close()
        raise OldSchemaError(revision)
    return databases


def _refuse_unfinished(settings: Settings, *, finishing: bool) -> None:
    """Refuse an installation into which a restore has not ended.

    Its database may be another than the dump's: what it says was spent, and who may
    ask, is then not what the files beside it belong to.
    """
    if (unfinished := why_unfinished(settings, finishing=finishing)) is not None:
        raise CommandRefusedError(unfinished)


class OldSchemaError(CommandRefusedError):
    """The database has the schema of an earlier version of Curator."""

    def __init__(self, revision: str) -> None:
        super().__init__(
            f"the database has the schema {revision}, and this version needs "
            f"{HEAD}: stop the server, make a backup ('curator backup "
            "create FILE.tar'), then type 'curator db upgrade'"
        )


def upgrade_database(settings: Settings) -> dict[str, object]:
    """Bring the database to this version's schema; no server may be running.

    Raises:
        CuratorError: There is no installation, a server runs, or the database has a
            revision that this version does not know.
    """
    if not _has_file(settings):  # SQLite would make an empty one
        raise _missing(settings)
    _refuse_unfinished(settings, finishing=True)  # a dump may be of an older version
    with (
        ProcessLock(settings.lock_file),
        contextlib.closing(Databases(settings.url)) as databases,
    ):
        try:
            with databases.writer.begin() as connection:
                if (moved := moved_to(connection)) is not None:
                    raise MovedLedgerError(moved)
                before = current_revision(connection)
                if before is not None:
                    upgrade(connection)
        except (SQLAlchemyError, UnknownRevisionError) as error:
            raise _unreadable(settings, error) from None
    if before is None:
        raise _missing(settings)
    return {"from": before, "to": HEAD, "changed": before != HEAD}


def move_ledger(settings: Settings, target: Settings) -> dict[str, object]:
    """Move the ledger from SQLite to an empty PostgreSQL database.

    Called again, it ends what was cut off.

    Args:
        settings: Of the installation as it is.
        target: The same, but for CURATOR_DATABASE_URL.

    Raises:
        CuratorError: It cannot be moved there or now; the ledger is where it was.
    """
    if settings.is_shared or not target.is_shared:
        message = (
            "a ledger moves from SQLite to PostgreSQL alone: type it with the settings "
            "of the ledger on SQLite, and --to postgresql://USER@HOST/DATABASE"
        )
        raise CommandRefusedError(message)
    try:
        with contextlib.closing(open_databases(settings)) as source:
            return _moved(settings, target, source)
    except MovedLedgerError:
        return _ended(target)


def _moved(
    settings: Settings, target: Settings, source: Databases
) -> dict[str, object]:
    anchor = AnchorFile(settings.anchor)
    with (
        nobody_else(settings, target),
        contextlib.closing(_connect(target)) as databases,
    ):
        moved = move(source, databases, anchor, steps_to(target), actor())
    return _said(target, moved.head)


def _ended(target: Settings) -> dict[str, object]:
    """Let the anchor follow to a ledger whose move was cut off after its decision."""
    with (
        ProcessLock(target.lock_file),
        contextlib.closing(open_databases(target)) as databases,
    ):
        Ledger(databases, AnchorFile(target.anchor)).catch_up()
        with databases.reader.connect() as connection:
            head = head_of(connection)
    return _said(target, head)


def _said(target: Settings, head: Head) -> dict[str, object]:
    return {
        "entries": head.seq,
        "head": head.hash,
        "next": (
            f"set CURATOR_DATABASE_URL to {masked_url(target.database_url)} (--to, as "
            "you typed it), type 'curator ledger verify', then start the server"
        ),
    }


def _unreadable(settings: Settings, error: Exception) -> CommandRefusedError:
    if not settings.is_shared and is_for_want_of_space(error, settings.data):
        return NoSpaceError(settings)  # SQLite cannot even be read then
    where = "at CURATOR_DATABASE_URL" if settings.is_shared else f"in {settings.data}"
    message = (
        f"the database {where} cannot be read, or has a revision that "
        f"this version does not know ({type(error).__name__}): restore it from a backup"
    )
    return CommandRefusedError(message)
