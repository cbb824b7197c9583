"""Names the concrete parts and wires them together."""

import asyncio
import contextlib
import getpass
import logging
import os
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    asynccontextmanager,
    contextmanager,
)
from pathlib import Path
from threading import BoundedSemaphore, Event

from alembic.util import CommandError as AlembicCommandError
from fastapi import FastAPI
from sqlalchemy import make_url, select
from sqlalchemy.exc import SQLAlchemyError

from budget import boots
from budget.anchor import AnchorFile
from budget.boots import Heartbeat
from budget.databases import Databases
from budget.ledger import Ledger
from budget.postgresql import DatabaseUnreachableError
from budget.process_lock import ProcessLock
from engines.duckdb_engine import DuckDbEngine
from mechanisms.samplers import OpenDPSampler, Sampler
from mechanisms.vector_samplers import OsVectorSampler, VectorSampler
from privacy.errors import CuratorError
from query_lang.parse import parse_query
from server.api.app import Parts, make_app
from server.api.questions import CounterSettings, QuestionCounter
from server.api.releasing import Releaser
from server.api.slots import Lateness, SlotClock, base_slots
from server.logs import HeldLines
from server.metrics import Metrics
from server.parser_process import ParserPool
from server.persistence import tables
from server.persistence.schema import (
    RECORDED_TABLES,
    current_revision,
    head_revision,
    upgrade,
)
from server.settings import Settings
from server.use_cases.asked_releases import ReleaseDesk
from server.use_cases.asking import Desk
from server.use_cases.custody import installation_value
from server.use_cases.doctor import Instruments
from server.use_cases.door import Door
from server.use_cases.errors import CommandRefusedError
from server.use_cases.job_kinds import JobKinds
from server.use_cases.job_running import BEAT_SECONDS, JobRunner, RunnerParts
from server.use_cases.job_store import LEASE_MS, JobStore
from server.use_cases.jobs import JobsOffice
from server.use_cases.limits import Allowance, Limiter, MemoryLimiter
from server.use_cases.load_job import LoadJob
from server.use_cases.load_lock import load_lock
from server.use_cases.odometers import Odometers
from server.use_cases.oidc import token_reader
from server.use_cases.opened_releases import ReleaseRoom
from server.use_cases.postgres_dump import DUMP, restore_words
from server.use_cases.questions import Compiler
from server.use_cases.reading import ReadingRoom
from server.use_cases.recovery import Recovery
from server.use_cases.release_job import ReleaseJob
from server.use_cases.release_offers import ReleaseOffers
from server.use_cases.remembered import CatalogueMemory
from server.use_cases.roles import Gate
from server.use_cases.secret_files import (
    OverlapFiles,
    make_secret,
    read_secret,
    secret_digest,
)
from server.use_cases.services import (
    GivenUp,
    Parser,
    Services,
    Unreleased,
    now_text,
)
from server.use_cases.shared_limits import SharedLimiter

RECOVERY_SECONDS = 1.0
PATIENCE_SECONDS = 60.0  # of the doctor, on a busy machine
SamplerFactory = Callable[[], Sampler]
VectorSamplerFactory = Callable[[], VectorSampler]
_log = logging.getLogger("curator")


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
        anchor = AnchorFile(settings.anchor)
        ledger = Ledger.finish(databases, anchor) if unfinished else None
        ledger = ledger or Ledger.initialise(databases, anchor, actor=actor())
        facts = _fix_facts(ledger, settings, secret, single_custodian=single_custodian)
    return {"data": str(settings.data), "anchor": str(settings.anchor), **facts}


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
    database = make_url(settings.url).database
    if not settings.is_shared and not Path(database or "").exists():
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


def _ledgerless(settings: Settings) -> str | None:
    """Say what to do where files wait for their ledger: a new one would forget all.

    Returns:
        None where DATA holds nothing that only a ledger names.
    """
    dump = settings.data / DUMP
    if dump.exists():
        return f"{dump} was not restored: {restore_words(settings.url, dump)}"
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
    """Return the databases, once one of their doors was opened.

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


def open_databases(settings: Settings) -> Databases:
    """Open the catalogue database of an existing installation.

    Raises:
        CommandRefusedError: There is none, or it cannot be read.
    """
    if not settings.data.is_dir():
        raise _missing(settings)
    databases = _connect(settings)
    try:
        with databases.reader.connect() as connection:
            revision = current_revision(connection)
        known = head_revision()
    except (SQLAlchemyError, AlembicCommandError) as error:
        databases.close()
        raise _unreadable(settings, error) from None
    if revision is None:
        databases.close()
        raise _missing(settings)
    if revision != known:
        databases.close()
        raise OldSchemaError(revision)
    return databases


class OldSchemaError(CommandRefusedError):
    """The database has the schema of an earlier version of Curator."""

    def __init__(self, revision: str) -> None:
        super().__init__(
            f"the database has the schema {revision}, and this version needs "
            f"{head_revision()}: stop the server, make a backup ('curator backup "
            "create FILE.tar'), then type 'curator db upgrade'"
        )


def upgrade_database(settings: Settings) -> dict[str, object]:
    """Bring the database to this version's schema; no server may be running.

    Raises:
        CuratorError: There is no installation, a server runs, or the database has a
            revision that this version does not know.
    """
    if not settings.data.is_dir():
        raise _missing(settings)
    with (
        ProcessLock(settings.lock_file),
        contextlib.closing(Databases(settings.url)) as databases,
    ):
        try:
            with databases.writer.begin() as connection:
                before = current_revision(connection)
                if before is not None:
                    upgrade(connection)
        except (SQLAlchemyError, AlembicCommandError) as error:
            raise _unreadable(settings, error) from None
    if before is None:
        raise _missing(settings)
    return {"from": before, "to": head_revision(), "changed": before != head_revision()}


def _unreadable(settings: Settings, error: Exception) -> CommandRefusedError:
    where = "at CURATOR_DATABASE_URL" if settings.is_shared else f"in {settings.data}"
    message = (
        f"the database {where} cannot be read, or has a revision that "
        f"this version does not know ({type(error).__name__}): restore it from a backup"
    )
    return CommandRefusedError(message)


def make_services(
    settings: Settings,
    *,
    parser: Parser = parse_query,
    sampler_factory: SamplerFactory = OpenDPSampler,
    vector_sampler_factory: VectorSamplerFactory = OsVectorSampler,
    boot: str | None = None,
) -> Services:
    """Wire the parts that commands and the server share."""
    databases = open_databases(settings)
    unreleased = Unreleased()
    boot = boot or secrets.token_hex(16)
    return Services(
        settings=settings,
        boot=boot,
        databases=databases,
        ledger=Ledger(
            databases,
            AnchorFile(settings.anchor),
            is_released=unreleased.is_released,
            unreleased=unreleased.all,
            boot=boot,
        ),
        unreleased=unreleased,
        given_up=GivenUp(),
        engine=DuckDbEngine(settings.snapshots),
        sampler=sampler_factory(),
        vector_sampler=vector_sampler_factory(),
        parser=parser,
        executors=BoundedSemaphore(settings.executors),
        catalogue=CatalogueMemory(databases),
    )


def job_kinds(services: Services) -> JobKinds:
    """Return what jobs can do."""
    load = LoadJob(services, lambda: delete_unnamed_files(services))
    release = ReleaseJob(services)
    return {load.name: load, release.name: release}


def _job_store(services: Services, lease_ms: int = LEASE_MS) -> JobStore:
    boot = secrets.token_hex(16)
    return JobStore(services.databases, boot, lease_ms=lease_ms)


def make_jobs(services: Services) -> JobsOffice:
    """Wire what submits, lists and cancels jobs."""
    return JobsOffice(services, _job_store(services), job_kinds(services))


def make_runner(
    services: Services,
    stop: Event,
    *,
    lease_ms: int = LEASE_MS,
    beat_seconds: float = BEAT_SECONDS,
) -> JobRunner:
    """Wire what runs jobs, after removing what killed ones left behind.

    Raises:
        CuratorError: The ledger or the files are not those that belong here.
    """
    delete_unnamed_files(services)
    kinds = job_kinds(services)
    kinds[ReleaseJob.name].clean()
    parts = RunnerParts(
        store=_job_store(services, lease_ms),
        kinds=kinds,
        catch_up=services.ledger.catch_up,
        beat_seconds=beat_seconds,
    )
    return JobRunner(parts, stop)


def check_files(services: Services) -> None:
    """Compare the secret and the overlap files with what the ledger remembers.

    Raises:
        CommandRefusedError: One is missing or is another.
    """
    settings = services.settings
    with services.databases.reader.connect() as connection:
        digest = installation_value(connection, "secret_digest")
        populations = connection.execute(
            select(tables.population.c.name, tables.population.c.overlap_digest)
        ).all()
    try:
        same = secret_digest(read_secret(settings.secret_file)) == digest
    except (OSError, ValueError):
        same = False
    if not same:
        message = f"{settings.secret_file} is missing or not this installation's"
        raise CommandRefusedError(message)
    overlaps = OverlapFiles(settings.overlaps)
    for population in populations:
        try:
            overlaps.read(population.name, population.overlap_digest)
        except (OSError, ValueError):
            message = (
                f"the overlap file of population {population.name!r} is missing or "
                "was changed: bring it back from its backup"
            )
            raise CommandRefusedError(message) from None


def require_snapshots(services: Services) -> None:
    """Refuse to serve a dataset without rows: every question would fail, and cost.

    Raises:
        CommandRefusedError: The file of an active snapshot is missing.
    """
    with services.databases.reader.connect() as connection:
        datasets = connection.execute(select(tables.dataset)).all()
    for row in datasets:
        path = services.settings.snapshots / f"{row.active_snapshot}.duckdb"
        if not path.exists():
            message = (
                f"the active snapshot of dataset {row.name!r} is missing: load the "
                f"dataset again, or bring {path} back from its backup"
            )
            raise CommandRefusedError(message)


def delete_unnamed_files(services: Services) -> None:
    """Delete snapshots and overlap files that no entry names: a crash left them.

    An older ledger does not name what was loaded since, so it is compared with its
    anchor, and the files with it, before anything is deleted.

    Raises:
        CuratorError: The ledger is not the one that the anchor remembers, or a file
            that it names is missing or another. Nothing was deleted.
    """
    with load_lock(services.settings, wait=False) as held:
        if not held:
            return  # a load is under way, its files are not named yet
        services.ledger.check()
        check_files(services)
        with services.databases.reader.connect() as connection:
            snapshots = set(
                connection.execute(
                    select(tables.snapshot.c.id).where(
                        tables.snapshot.c.removed.is_(None)
                    )
                ).scalars()
            )
            populations = connection.execute(
                select(tables.population.c.name, tables.population.c.overlap_digest)
            ).all()
        OverlapFiles(services.settings.overlaps).delete_unnamed(
            {(row.name, row.overlap_digest) for row in populations}
        )
        for path in services.settings.snapshots.iterdir():
            if path.suffix != ".duckdb" or path.stem not in snapshots:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def check_installation(services: Services) -> None:
    """Check everything once before serving, and open the ledger.

    Raises:
        CuratorError: What is wrong and how to go on.
    """
    check_files(services)
    require_snapshots(services)
    services.ledger.open(RECORDED_TABLES)
    delete_unnamed_files(services)


@contextmanager
def checked_for_workers(settings: Settings) -> Iterator[None]:
    """Hold the lock of the one server while its workers serve; check before.

    Leaves no connection open: workers are forked from here.

    Raises:
        CuratorError: What is wrong and how to go on.
    """
    with ProcessLock(settings.lock_file):
        services = make_services(settings)
        try:
            check_installation(services)
        finally:
            services.engine.close()
            services.databases.close()
        yield


def end_boot(settings: Settings, boot: str) -> None:
    """Say that a process has ended, so that nobody waits for its leases."""
    try:
        with (
            contextlib.closing(Databases(settings.url)) as databases,
            databases.work.begin() as connection,
        ):
            boots.end(connection, boot)
    except (CuratorError, SQLAlchemyError):
        _log.warning("the database is away: a dead worker's leases end by themselves")


def make_limiter(services: Services) -> Limiter:
    """Return the limiter: of this process, or of all that serve one ledger."""
    settings, databases = services.settings, services.databases
    allowance = Allowance(settings.rate_limit, settings.max_in_flight)
    if not databases.is_shared:
        return MemoryLimiter(allowance)
    return SharedLimiter(
        allowance,
        databases.work,
        services.boot,
        lambda connection: connection.execute(boots.alive_ids()).scalars().all(),
    )


def try_parser() -> None:
    """Parse one query as the server does.

    Raises:
        CuratorError: No child process can.
    """
    with contextlib.closing(ParserPool(timeout_seconds=PATIENCE_SECONDS)) as pool:
        pool.parse("SELECT COUNT(*) FROM t")


INSTRUMENTS = Instruments(make_services, check_files, try_parser)


class Server:
    """The running service: its lock, its parts, its recovery loop.

    Args:
        settings: Of the installation.
        sampler_factory: Makes the source of noise.
        boot: Of one of several processes, whose parent holds the lock and has checked
            everything; None where this process serves alone.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        sampler_factory: SamplerFactory = OpenDPSampler,
        boot: str | None = None,
    ) -> None:
        self.settings = settings
        self._tokens = token_reader(settings)
        self.lateness = Lateness()
        self._started = False
        self._counter: QuestionCounter | None = None  # made with the application
        self._serves_alone = boot is None
        self.metrics: Metrics | None = None  # made with the application
        self._held = contextlib.ExitStack()
        self._parser = ParserPool()
        try:
            self.services = make_services(
                settings,
                parser=self._parser.parse,
                sampler_factory=sampler_factory,
                boot=boot,
            )
        except CuratorError:
            self._parser.close()
            raise
        self._heartbeat = Heartbeat(self.services.databases, self.services.boot)
        compiler = Compiler(self.services.parser)
        self._room = ReleaseRoom(self.services)
        offers = ReleaseOffers(self.services, self._room)
        self.desk = Desk(self.services, compiler, offers)
        self._recovery = Recovery(self.services, compiler, self.desk)

    def start(self) -> None:
        """Take the ledger's lock, check everything, and open it; once.

        Raises:
            CuratorError: What is wrong and how to go on.
        """
        if self._started:
            return
        if self._serves_alone:
            self._held.enter_context(ProcessLock(self.settings.lock_file))
            check_installation(self.services)
        self._heartbeat.start()
        self._started = True

    def stop(self) -> None:
        """End the children, close the snapshots, and drop the lock."""
        self._heartbeat.stop()
        self._parser.close()
        self.services.engine.close()
        if self._counter is not None:
            self._counter.close()
        self._held.close()

    def app(self) -> FastAPI:
        """Return the application; its lifespan opens and closes the ledger."""
        door = Door(self.services, make_limiter(self.services), self._tokens)
        counter = self._counter = QuestionCounter(
            self.desk,
            door,
            Releaser(
                self.services.release, writes=self.services.databases.is_shared
            ).release,
            SlotClock(self.settings.slot_ms / 1000, self.lateness),
            CounterSettings(
                permits=self.settings.permits,
                base_slots=base_slots(
                    permits=self.settings.permits, slot_ms=self.settings.slot_ms
                ),
            ),
        )
        parts = Parts(
            counter=counter,
            reading=ReadingRoom(self.services),
            authenticate=door.admit,
            gate=Gate(self.services.ledger),
            services=self.services,
            jobs=make_jobs(self.services),
            release_desk=ReleaseDesk(self.services, self._room),
            ready=self._ready,
        )
        app = make_app(self._lifespan)
        app.state.parts = parts
        self.metrics = Metrics(
            lambda: Odometers(self.services).read(late=self.lateness.late),
            self.settings.permits,
            counter.in_flight,
        )
        app.state.observe = self.metrics.observe
        return app

    def _ready(self) -> str:
        try:
            self.services.ledger.check()
        except CuratorError as error:
            return error.code
        return "ok"

    @asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        self.start()
        recovering = asyncio.create_task(self._recover_forever())
        try:
            yield
        finally:
            recovering.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await recovering
            self.stop()

    async def _recover_forever(self) -> None:
        held = HeldLines()
        while True:
            held.write()  # what the last run said, on the grid
            try:
                with held.holding():
                    await asyncio.to_thread(self._recovery.run_once)
                    await asyncio.to_thread(self.services.engine.close_removed)
            except Exception as error:  # noqa: BLE001 - it must go on
                facts = {"error": type(error).__name__}
                _log.error("recovery met a bug", extra=facts)
            await asyncio.sleep(RECOVERY_SECONDS - time.monotonic() % RECOVERY_SECONDS)
