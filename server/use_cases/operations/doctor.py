"""``curator doctor``: is this installation sound, and what to do where it is not."""

import json
import os
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Literal

from sqlalchemy import select

from budget.chain.anchor import ANCHOR_BYTES
from budget.charging.server_processes import HostIdentity, serving
from budget.reading.statements import read_entries
from budget.storage.process_lock import file_system_of
from privacy.errors import CuratorError
from privacy.losses import Loss
from privacy.schema_json import dataset_from_json
from privacy.wording import counted
from server.configuration.safety import check_tls_files, find_dangers, sqlite_file
from server.configuration.settings import Settings
from server.configuration.sources import unknown_variables
from server.persistence import tables
from server.persistence.schema import RECORDED_TABLES
from server.use_cases.datasets.expiry import expires_soon
from server.use_cases.identity.access import is_expired
from server.use_cases.losses.caps import caps_of
from server.use_cases.publishing.published import file_problems, published
from server.use_cases.services.services import Services
from server.use_cases.services.unreadable import charged_snapshots

State = Literal["ok", "warn", "fail"]
NEARLY_SPENT_PERCENT = 90
LITTLE_SPACE_BYTES = 5 << 30
NO_SPACE_BYTES = 200 << 20
MIN_FILES = 1024
CLOCK_SLACK = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    check: str
    state: State
    detail: str


@dataclass(frozen=True, slots=True)
class Instruments:
    """What bootstrap hands to the doctor.

    Attributes:
        open_services: Opens the catalogue; refuses where there is none.
        check_files: Compares secret and overlap files with the ledger.
        parse: Parses one query in a child process.
    """

    open_services: Callable[[Settings], Services]
    check_files: Callable[[Services], None]
    parse: Callable[[], None]


Found = Iterator[Finding]


class Doctor:
    """Looks at everything that a server needs; it changes nothing."""

    def __init__(self, settings: Settings, instruments: Instruments) -> None:
        self._settings = settings
        self._instruments = instruments

    def examine(self) -> list[Finding]:
        """Return what was found; no single failure keeps it from looking further."""
        findings = [
            *self._looked("settings", self._settings_known),
            *self._looked("safety", self._safety),
            *self._looked("disk space", self._space),
            *self._looked("file system", self._file_systems),
            *self._looked("open files", _open_files),
            *self._looked("anchor", self._anchor),
            *self._looked("database settings", self._database),
            *self._looked("parser", self._parser),
        ]
        try:
            services = self._instruments.open_services(self._settings)
        except CuratorError as error:
            return [*findings, Finding("catalogue", "fail", str(error))]
        try:
            with services.databases.unchecked():
                findings += self._in_catalogue(services)
        finally:
            services.engine.close()
            services.databases.close()
        return findings

    def _in_catalogue(self, services: Services) -> list[Finding]:
        checks: Sequence[tuple[str, Callable[[Services], Found]]] = (
            ("ledger", _ledger),
            ("files", self._files),
            ("snapshots", _snapshots),
            ("releases", _releases),
            ("servers", _servers),
            ("clock", _clock),
            ("projects", _projects),
            ("caps", _caps),
            ("incidents", _incidents),
        )
        findings = []
        for name, check in checks:
            findings += self._looked(name, partial(check, services))
        return findings

    def _looked(self, name: str, check: Callable[[], Found]) -> list[Finding]:
        try:
            return list(check())
        except CuratorError as error:
            return [Finding(name, "fail", str(error))]
        except Exception as error:  # noqa: BLE001 - a doctor goes on
            detail = f"could not be looked at ({type(error).__name__})"
            return [Finding(name, "fail", detail)]

    def _settings_known(self) -> Found:
        unknown = unknown_variables()
        for warning in unknown:
            yield Finding("settings", "warn", warning)
        if self._settings.slot_ms == 0:
            yield Finding(
                "settings",
                "warn",
                "CURATOR_SLOT_MS is 0: response times are not quantised; set it to 100",
            )
        elif not unknown:
            yield Finding("settings", "ok", "every setting is known")

    def _safety(self) -> Found:
        dangers = find_dangers(self._settings)
        for danger in dangers:
            yield Finding("safety", "fail", str(danger))
        check_tls_files(self._settings)
        if not dangers:
            yield Finding("safety", "ok", "nothing is open to others")

    def _space(self) -> Found:
        data, anchor = self._settings.data, self._settings.anchor.parent
        yield _free(data, NO_SPACE_BYTES, LITTLE_SPACE_BYTES)
        yield _free(anchor, 2 * ANCHOR_BYTES)

    def _file_systems(self) -> Found:
        kind = file_system_of(self._settings.data)
        yield Finding("file system", "ok", f"{self._settings.data} is on {kind}")

    def _anchor(self) -> Found:
        anchor = self._settings.anchor
        if not anchor.exists():
            yield Finding(
                "anchor",
                "fail",
                f"there is none at {anchor}: bring the path back, or accept what is "
                "lost with 'curator ledger reconcile --reason TEXT'",
            )
        elif not os.access(anchor, os.W_OK):
            yield Finding(
                "anchor",
                "fail",
                f"{anchor} cannot be written: nothing is charged and nothing answered "
                "until it can; look at its mode and at its file system",
            )
        elif anchor.stat().st_dev == self._settings.data.stat().st_dev:
            yield Finding(
                "anchor",
                "warn",
                "it is on the device of the data: a restored copy of the whole device "
                "cannot be told from the live one; best put it elsewhere",
            )
        else:
            yield Finding("anchor", "ok", "it is on a device of its own")

    def _database(self) -> Found:
        path = sqlite_file(self._settings)
        if path is None:
            yield Finding("database settings", "ok", "PostgreSQL keeps the ledger")
            return
        if not path.exists():
            yield Finding("database settings", "fail", f"there is none at {path}")
            return
        yield from _sqlite(path)

    def _parser(self) -> Found:
        self._instruments.parse()
        yield Finding("parser", "ok", "a query was parsed in a child process")

    def _files(self, services: Services) -> Found:
        self._instruments.check_files(services)
        yield Finding("files", "ok", "secret and overlap files are the ledger's")


def _free(path: Path, fail_below: int, warn_below: int = 0) -> Finding:
    """Say how many bytes are free on a device, and whether they are too few."""
    free = shutil.disk_usage(path).free
    state: State = "ok"
    if free < max(fail_below, warn_below):
        state = "fail" if free < fail_below else "warn"
    shown = f"{free >> 20} MiB" if free >= 1 << 20 else f"{free >> 10} KiB"
    more = "" if state == "ok" else ": a full disk ends service; make room"
    return Finding("disk space", state, f"{shown} free under {path}{more}")


def _sqlite(path: Path) -> Found:
    uri = f"{path.as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
        (whole,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if whole != "ok":
        yield Finding(
            "database settings", "fail", f"{path} is damaged: restore a backup"
        )
    elif journal != "wal":
        yield Finding(
            "database settings",
            "warn",
            f"{path} is not in WAL mode yet; the next start of the server sets it",
        )
    else:
        yield Finding("database settings", "ok", "SQLite in WAL mode, and whole")


def _open_files() -> Found:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = limit != resource.RLIM_INFINITY and limit < MIN_FILES
    advice = f": raise it to {MIN_FILES} ('ulimit -n', LimitNOFILE)" if few else ""
    yield Finding(
        "open files",
        "warn" if few else "ok",
        f"{limit} may be open at once{advice}",
    )


def _ledger(services: Services) -> Found:
    found = services.ledger.verify(RECORDED_TABLES)
    if found.ok:
        yield Finding(
            "ledger",
            "ok",
            f"{counted(found.entries, 'entry', 'entries')}, whole and anchored",
        )
        return
    more = len(found.problems) - 1
    yield Finding(
        "ledger",
        "fail",
        f"{found.problems[0]}{f' (and {more} more)' if more else ''}: see 'curator "
        "ledger verify'; after a restore, 'curator ledger reconcile --help'",
    )


def _snapshots(services: Services) -> Found:
    with services.databases.reader.connect() as connection:
        active = tables.snapshot.c.id == tables.dataset.c.active_snapshot
        rows = connection.execute(
            select(tables.snapshot).join(tables.dataset, active)
        ).all()
        older = charged_snapshots(connection) - {row.id for row in rows}
    for snapshot in sorted(older):
        if not services.engine.can_open(snapshot):
            detail = (
                f"charged questions wait for the older snapshot {snapshot}, which "
                "cannot be opened: restore its file, or let them fail for good by "
                f"'curator dataset snapshot remove {snapshot}'"
            )
            yield Finding("snapshots", "warn", detail)
    for row in rows:
        if not services.engine.can_open(row.id):
            detail = (
                f"the active snapshot {row.id} of dataset {row.dataset} cannot be "
                "opened: load the dataset again, or restore the file"
            )
        elif not dataset_from_json(json.loads(row.schema)).sizes_are_held:
            detail = (
                f"dataset {row.dataset} was loaded by an earlier version, which did "
                "not hold its rows to the declared sizes, so that its questions are "
                "refused: load it again"
            )
        else:
            yield Finding("snapshots", "ok", f"dataset {row.dataset} can be read")
            continue
        yield Finding("snapshots", "fail", detail)


def _releases(services: Services) -> Found:
    problems = file_problems(services)
    for problem in problems:
        yield Finding("releases", "fail", problem)
    if not problems:
        number = len(published(services))
        yield Finding("releases", "ok", f"{number} published, whole and signed")


def _servers(services: Services) -> Found:
    """Show who serves the ledger: one host, with one anchor."""
    place = HostIdentity.of(services.settings.anchor)
    with services.databases.reader.connect() as connection:
        found = serving(connection)
    for one in found:
        here = one.place in {None, place.digest}
        more = (
            "" if here else ": with another anchor or host than this; end one of both"
        )
        yield Finding("servers", "ok" if here else "fail", f"on {one}{more}")
    if not found:
        yield Finding("servers", "ok", "none serves it now")


def _clock(services: Services) -> Found:
    with services.databases.reader.connect() as connection:
        times = [entry.time for entry in read_entries(connection, "admin", "charge")]
    last = datetime.fromisoformat(times[-1])
    if last > datetime.now(UTC) + CLOCK_SLACK:
        yield Finding(
            "clock",
            "warn",
            f"the clock is behind the ledger's last entry ({last:%Y-%m-%d %H:%M} UTC): "
            "projects would expire late; set the clock, best by NTP",
        )
    else:
        yield Finding("clock", "ok", "the clock is not behind the ledger")


def _projects(services: Services) -> Found:
    with services.databases.reader.connect() as connection:
        rows = connection.execute(
            select(tables.project.c.name, tables.project.c.expires).where(
                tables.project.c.expires.is_not(None)
            )
        ).all()
    ending = [row for row in rows if expires_soon(row.expires)]
    for row in ending:
        yield Finding(
            "projects", "warn", f"access of project {row.name} ends {row.expires}"
        )
    if not ending:
        ended = [row.name for row in rows if is_expired(row.expires)]
        also = f"; access has ended of: {', '.join(ended)}" if ended else ""
        yield Finding("projects", "ok", f"none ends within 14 days{also}")


def _caps(services: Services) -> Found:
    with services.databases.reader.connect() as connection:
        known = tables.population.c
        rows = connection.execute(select(known.name, known.declaration)).all()
    for row in rows:
        held = caps_of(services.ledger, row.name, json.loads(row.declaration))
        whole = (f"population {row.name}", held.cap, held.spent)
        blocks = [
            (f"block {one.name} of population {row.name}", one.cap, one.spent)
            for one in held.blocks
        ]
        for what, cap, spent in blocks or [whole]:
            yield _cap_found(what, cap, spent)


def _cap_found(what: str, cap: Loss, spent: Loss) -> Finding:
    near = spent.nano_epsilon * 100 >= cap.nano_epsilon * NEARLY_SPENT_PERCENT
    advice = ": what is left is all that can ever be answered" if near else ""
    words = f"{what} has spent {spent} of {cap}{advice}"
    return Finding("caps", "warn" if near else "ok", words)


def _incidents(services: Services) -> Found:
    failed = services.ledger.position().failed
    if failed:
        yield Finding(
            "incidents",
            "warn",
            f"{failed} charged questions were never answered: each is an incident; "
            "look for memory, disk and deadlines in the logs",
        )
    else:
        yield Finding("incidents", "ok", "every charge that ended was answered")
