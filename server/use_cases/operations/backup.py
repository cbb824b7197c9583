"""Backups of an installation, made while its server runs, and their restoring.

A backup holds the ledger, the secret, the overlap files, the releases and the
snapshots: patients' rows and all that hides them. It never holds the anchor, which is
useful because it does not travel in time: after a restore the ledger is behind it, and
``serve`` refuses until somebody reconciles (PRIVACY 5).
"""

import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, create_engine, inspect, select

from budget.chain.entries import ledger_id_of
from server.configuration.safety import sqlite_file
from server.configuration.settings import Settings
from server.persistence import tables
from server.persistence.moved_mark import moved_to
from server.use_cases.linkage.store import LINKAGES, LinkageStore
from server.use_cases.loading.lock import lock_of_all_loads
from server.use_cases.operations.backup_archives import (
    FORMAT,
    MANIFEST,
    TAR,
    Manifest,
    checked,
    describe,
    has_encrypted_name,
    pack,
    unpacked,
    verified,
)
from server.use_cases.operations.backup_encryption import ENDING, Identity, Recipient
from server.use_cases.operations.backup_retention import (
    Retention,
    delete_superfluous,
    ledger_digest,
    note_backup,
    target_in,
)
from server.use_cases.operations.backup_staging import the_one_backup
from server.use_cases.operations.moving import MovedLedgerError
from server.use_cases.operations.postgres_dump import (
    DUMP,
    RESTORING,
    dump_postgres,
    restore_words,
    why_unfinished,
)
from server.use_cases.releases.folders import ReleaseFolders
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.private_files import copy_private
from server.use_cases.services.secret_files import sync_folder, write_durably
from server.use_cases.services.services import now_text

DATABASE = "curator.sqlite"


def create_backup(
    settings: Settings,
    target: Path,
    *,
    snapshots: bool,
    recipients: Sequence[Recipient] = (),
) -> Document:
    """Copy everything but the anchor to a new folder, or to a file named ``*.tar``.

    No load and no erasure runs meanwhile, and no register of a linkage is deleted;
    questions may be asked.

    Args:
        settings: Of the installation.
        target: Named ``*.tar.age`` where it is encrypted.
        snapshots: Whether the rows are in it.
        recipients: To whom it is encrypted, if it is.

    Raises:
        CommandRefusedError: The target exists or lies in DATA, or something to copy is
            missing. Nothing is left behind.
    """
    target = target.absolute()
    _check_target(settings, target)
    _check_name(target, encrypted=bool(recipients))
    with the_one_backup(settings) as staging:
        part = staging if recipients else target.with_name(target.name + ".part")
        try:
            part.mkdir(mode=0o700)
        except FileExistsError:
            message = f"{part} exists: an earlier backup was cut off; remove it first"
            raise CommandRefusedError(message) from None
        try:
            with lock_of_all_loads(settings):
                manifest = _fill(settings, part, snapshots=snapshots)
            if target.suffix in {TAR, ENDING}:
                pack(part, target, recipients)
            else:
                part.rename(target)
            sync_folder(target.parent)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return {
        "backup": str(target),
        **manifest["ledger"],
        "files": len(manifest["files"]),
        "encrypted_to": len(recipients),
    }


def create_backup_in(
    settings: Settings,
    folder: Path,
    *,
    snapshots: bool,
    recipients: Sequence[Recipient] = (),
    retention: Retention,
) -> Document:
    """Make a backup under a name of its own in a folder, then delete old ones.

    Raises:
        CommandRefusedError: As ``create_backup``; then nothing is deleted either.
    """
    folder, at = folder.absolute(), datetime.now(UTC)
    ledger = _ledger_digest(settings)
    target = target_in(folder, ledger, at, encrypted=bool(recipients))
    made = create_backup(settings, target, snapshots=snapshots, recipients=recipients)
    note_backup(target, ledger, at)
    return {**made, "deleted": delete_superfluous(folder, ledger, retention)}


def _ledger_digest(settings: Settings) -> str:
    _require_installation(settings)
    with _ledger(settings.url) as connection:
        return ledger_digest(str(ledger_id_of(connection)))


def verify_backup(source: Path, identities: Sequence[Identity] = ()) -> Document:
    """Read a backup to its end and compare each file with its manifest.

    Raises:
        CommandRefusedError: It cannot be read or decrypted, or is not whole.
    """
    manifest = verified(source, identities)
    return {
        "backup": str(source),
        "created": manifest["created"],
        **manifest["ledger"],
        "files": len(manifest["files"]),
        "snapshots": manifest["snapshots"],
    }


def _check_name(target: Path, *, encrypted: bool) -> None:
    if encrypted and not has_encrypted_name(target):
        message = f"{target.name} is to be encrypted: name it *.tar.age"
        raise CommandRefusedError(message)
    if not encrypted and target.suffix == ENDING:
        message = (
            f"{target.name} would not be encrypted: give --recipient, or name *.tar"
        )
        raise CommandRefusedError(message)


def _require_installation(settings: Settings) -> None:
    if not (settings.data / "secret.key").exists():
        message = f"there is no installation in {settings.data} to back up"
        raise CommandRefusedError(message)
    if (unfinished := why_unfinished(settings)) is not None:
        raise CommandRefusedError(unfinished)
    _refuse_moved(settings)


def _check_target(settings: Settings, target: Path) -> None:
    _require_installation(settings)
    if target.exists():
        message = f"{target} exists: nothing was written"
        raise CommandRefusedError(message)
    if not target.parent.is_dir():
        message = f"there is no folder {target.parent}"
        raise CommandRefusedError(message)
    if target.resolve().is_relative_to(settings.data.resolve()):
        message = f"{target} lies inside CURATOR_DATA: back up to another device"
        raise CommandRefusedError(message)


def _refuse_moved(settings: Settings) -> None:
    file = sqlite_file(settings)
    if file is None or not file.exists():
        return
    with _ledger(f"sqlite:///{file}") as connection:
        if (moved := moved_to(connection)) is not None:
            raise MovedLedgerError(moved)


def _fill(settings: Settings, part: Path, *, snapshots: bool) -> Manifest:
    """Copy the ledger first: every file that it names is there until the lock ends."""
    source = sqlite_file(settings)
    if source is None:
        ledger, copied = dump_postgres(settings.url, part / DUMP), settings.url
    else:
        ledger = _copy_sqlite(source, part / DATABASE)
        copied = f"sqlite:///{part / DATABASE}"
    _copy(settings.secret_file, part / "secret.key")
    for path in sorted(settings.overlaps.iterdir()):
        if not path.name.endswith(".part"):
            _copy(path, part / "overlap" / path.name)
    if snapshots:
        for path in sorted(settings.snapshots.glob("s_*.duckdb")):
            _link_or_copy(path, part / "snapshots" / path.name)
    for path in _published(settings.releases, copied):
        _link_or_copy(path, part / "releases" / path.parent.name / path.name)
    for path in _registers(settings.data / "linkages", copied):
        _link_or_copy(path, part / "linkages" / path.name)
    files = {
        path.relative_to(part).as_posix(): describe(path)
        for path in sorted(part.rglob("*"))
        if path.is_file()
    }
    manifest: Manifest = {
        "format": FORMAT,
        "created": now_text(),
        "ledger": ledger,
        "snapshots": snapshots,
        "files": {
            name: {"sha256": told.sha256, "size_bytes": told.size_bytes}
            for name, told in files.items()
        },
    }
    write_durably(part / MANIFEST, json.dumps(manifest, indent=1).encode())
    return manifest


def _published(releases: Path, url: str) -> list[Path]:
    """Return the files of the releases that a ledger names; no other folder is read.

    Args:
        releases: Where they lie.
        url: Of the copy; on PostgreSQL of the live ledger, which names what the dump
            does and what was published since.
    """
    release = tables.publication
    wanted = select(release.c.id, release.c.manifest_sha256).where(
        release.c.manifest_sha256.is_not(None)
    )
    with _ledger(url) as connection:
        if not inspect(connection).has_table(release.name):
            return []  # a ledger of before there were releases
        rows = connection.execute(wanted).all()
    named = ReleaseFolders(releases)
    folders = [named.path(row.id, row.manifest_sha256) for row in rows]
    whole = (folder for folder in folders if folder.is_dir())
    return sorted(path for folder in whole for path in folder.iterdir())


def _registers(linkages: Path, url: str) -> list[Path]:
    """Return the registers that a ledger names: of a deleted linkage one may be left.

    Args:
        linkages: Where they lie.
        url: As of ``_published``.
    """
    with _ledger(url) as connection:
        has_linkages = inspect(connection).has_table(LINKAGES)
        jobs = LinkageStore().registers(connection) if has_linkages else set()
    found = (linkages / f"{job}.register" for job in sorted(jobs))
    return [path for path in found if path.is_file()]


@contextlib.contextmanager
def _ledger(url: str) -> Iterator[Connection]:
    """Open a ledger, or the copy of one, for a moment."""
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _copy_sqlite(source: Path, target: Path) -> dict[str, object]:
    """Copy the database as it is at one moment, in one file; writers go on."""
    if not source.exists():
        message = f"there is no ledger at {source}"
        raise CommandRefusedError(message)
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with (
        contextlib.closing(sqlite3.connect(source)) as live,
        contextlib.closing(sqlite3.connect(target)) as copy,
    ):
        live.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        return _head_in(copy)


def _head_in(connection: sqlite3.Connection) -> dict[str, object]:
    seq, digest = connection.execute(
        "SELECT seq, hash FROM chain ORDER BY seq DESC LIMIT 1"
    ).fetchone()
    return {"entries": seq, "head": digest}


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    copy_private(source, target)


def _link_or_copy(source: Path, target: Path) -> None:
    """Link a file where one device holds both: its file is never changed."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        target.hardlink_to(source)
    except OSError:
        _copy(source, target)


def restore_backup(
    settings: Settings, source: Path, identities: Sequence[Identity] = ()
) -> Document:
    """Bring a backup back into an empty DATA, each file checked by its digest.

    Raises:
        CommandRefusedError: DATA holds something, or the backup is not whole. Nothing
            is left in DATA.
    """
    database = sqlite_file(settings)
    _check_empty(settings, database)
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    settings.data.chmod(0o700)
    part = settings.data / RESTORING
    part.mkdir(mode=0o700)
    try:
        with unpacked(source, part, identities) as folder:
            manifest = checked(folder)
            for name in manifest["files"]:
                _copy_to_data(settings, database, folder, name)
    except BaseException:
        for path in settings.data.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        raise
    shutil.rmtree(part)
    for folder in (settings.overlaps, settings.snapshots):
        folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(settings.data)
    return {
        "data": str(settings.data),
        **manifest["ledger"],
        "files": len(manifest["files"]),
        "snapshots": manifest["snapshots"],
        "next": _next_steps(settings, manifest),
    }


def _next_steps(settings: Settings, manifest: Manifest) -> list[str]:
    steps = []
    if DUMP in manifest["files"]:
        steps.append(restore_words(settings.url, settings.data / DUMP))
        steps.append(
            f"until then every command refuses: {settings.data / DUMP} marks the "
            "restore, and 'curator ledger reconcile --reason TEXT' ends it"
        )
    steps.append(
        "unless nothing happened since this backup, the anchor saw more than it holds "
        "and 'curator serve' refuses: then type 'curator ledger reconcile --reason "
        "TEXT', which charges each population what was forgotten and revokes every key"
    )
    if not manifest["snapshots"]:
        steps.append("load each dataset again: this backup has no snapshots")
    return steps


def _check_empty(settings: Settings, database: Path | None) -> None:
    if settings.data.exists() and any(settings.data.iterdir()):
        message = f"{settings.data} is not empty: restore into a new folder"
        raise CommandRefusedError(message)
    if database is not None and database.exists():
        message = f"there is a ledger at {database}: move it away first"
        raise CommandRefusedError(message)


def _copy_to_data(
    settings: Settings, database: Path | None, folder: Path, name: str
) -> None:
    target = settings.data / name
    if name == DATABASE:
        if database is None:
            message = "this backup is of SQLite: leave CURATOR_DATABASE_URL out"
            raise CommandRefusedError(message)
        target = database
    _copy(folder / name, target)
