"""Names the concrete parts and wires them together, all but the service itself."""

import contextlib
import logging
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import (
    contextmanager,
)
from threading import BoundedSemaphore, Event, Lock
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from budget.chain.anchor import AnchorFile
from budget.charging import server_processes
from budget.charging.server_processes import HostIdentity
from budget.ledger import Ledger
from budget.storage.databases import Databases
from budget.storage.process_lock import ProcessLock
from privacy.errors import CuratorError, ExecutionError
from server.configuration.settings import Settings
from server.installing import open_databases
from server.persistence import tables
from server.persistence.facts import installation_value
from server.persistence.schema import (
    RECORDED_TABLES,
)
from server.use_cases.jobs.kinds import JobKinds
from server.use_cases.jobs.running import BEAT_SECONDS, JobRunner, RunnerParts
from server.use_cases.jobs.store import LEASE_MS, JobStore
from server.use_cases.loading.lock import lock_of_all_loads
from server.use_cases.operations.backup_staging import delete_cut_off_backup
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.remembered import CatalogueMemory
from server.use_cases.services.secret_files import (
    OverlapFiles,
    read_secret,
    secret_digest,
)
from server.use_cases.services.services import (
    Answering,
    GivenUp,
    KeptAnswers,
    Parser,
    Services,
    Unreleased,
)
from server.use_cases.services.unreadable import UnreadableSnapshots

if TYPE_CHECKING:
    from server.answering import SamplerFactory, VectorSamplerFactory
    from server.use_cases.jobs.jobs import JobService

Made = TypeVar("Made")
_log = logging.getLogger("curator")


def make_services(  # noqa: PLR0913 - each is one part that a caller may replace
    settings: Settings,
    *,
    parser: Parser | None = None,
    sampler_factory: "SamplerFactory | None" = None,
    vector_sampler_factory: "VectorSamplerFactory | None" = None,
    worker_id: str | None = None,
    ends_restore: bool = False,
    row_processors: frozenset[int] = frozenset(),
) -> Services:
    """Wire the parts that commands and the server share."""
    databases = open_databases(settings, ends_restore=ends_restore)
    unreleased = Unreleased()
    worker_id = worker_id or secrets.token_hex(16)

    def make() -> Answering:
        # Most commands answer nothing, and start in half the time without it.
        from server.answering import Replaced, make_answering  # noqa: PLC0415

        replaced = Replaced(parser, sampler_factory, vector_sampler_factory)
        return make_answering(settings, replaced, row_processors)

    answering = _made_once(make)

    def can_open(snapshot: str) -> bool:
        return answering().engine.can_open(snapshot)

    return Services(
        settings=settings,
        worker_id=worker_id,
        databases=databases,
        ledger=Ledger(
            databases,
            AnchorFile(settings.anchor),
            is_released=unreleased.is_released,
            unreleased=unreleased.all,
            worker_id=worker_id,
        ),
        unreleased=unreleased,
        given_up=GivenUp(),
        kept=KeptAnswers(),
        answering=answering,
        executors=BoundedSemaphore(settings.executors),
        catalogue=CatalogueMemory(databases),
        unreadable=UnreadableSnapshots(databases, settings.snapshots, can_open),
        row_processors=row_processors,
    )


def _made_once(make: Callable[[], Made]) -> Callable[[], Made]:
    """Return what makes it for whoever asks first, and then has it."""
    lock = Lock()
    made: list[Made] = []

    def once() -> Made:
        with lock:
            if not made:
                made.append(make())
            return made[0]

    return once


def job_kinds(services: Services) -> JobKinds:
    """Return what jobs can do."""
    # What jobs do is half of all modules, which most commands never need.
    from server.job_kinds import kinds_of  # noqa: PLC0415

    return kinds_of(services, lambda: delete_unnamed_files(services))


def _job_store(services: Services, lease_ms: int = LEASE_MS) -> JobStore:
    return JobStore(services.databases, lease_ms=lease_ms)


def make_jobs(services: Services) -> "JobService":
    """Wire what submits, lists and cancels jobs."""
    from server.use_cases.jobs.jobs import JobService  # noqa: PLC0415 - as jobs' kinds

    kinds = _made_once(lambda: job_kinds(services))
    return JobService(services, _job_store(services), kinds)


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
    kinds["release.publish"].clean()
    parts = RunnerParts(
        store=_job_store(services, lease_ms),
        kinds=kinds,
        catch_up=services.ledger.catch_up,
        beat_seconds=beat_seconds,
        slot_seconds=services.settings.release_slot_s,
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


def start_executors(services: Services) -> None:
    """Start what executes questions: a question that fails later is paid for.

    Raises:
        CommandRefusedError: It does not start, or cannot read a snapshot.
    """
    from engines.duckdb.snapshots import MAX_OPEN  # noqa: PLC0415 - as its engine

    with services.databases.reader.connect() as connection:
        active = connection.execute(
            select(tables.dataset.c.active_snapshot).order_by(tables.dataset.c.name)
        ).scalars()
        readable = [one for one in active if one not in services.unreadable.all()]
    try:
        services.engine.start(readable[:MAX_OPEN])
    except ExecutionError:
        message = (
            "no process can read the snapshots: run 'curator doctor', which tells "
            "whether a file is damaged; else memory or processes are short"
        )
        raise CommandRefusedError(message) from None


def delete_unnamed_files(services: Services) -> None:
    """Delete snapshots and overlap files that no entry names: a crash left them.

    So goes what a killed command left of linkages, such as a register that it showed,
    or of one that it deleted.

    An older ledger does not name what was loaded since, so it is compared with its
    anchor, and the files with it, before anything is deleted.

    Raises:
        CuratorError: The ledger is not the one that the anchor remembers, or a file
            that it names is missing or another. Nothing was deleted.
    """
    # Linkages bring the query language, which most commands never need.
    from server.use_cases.linkage.work.leftovers import (  # noqa: PLC0415
        delete_leftovers,
        delete_registers_of_nobody,
        delete_rows_of_nobody,
    )

    delete_leftovers(services)
    delete_cut_off_backup(services.settings)
    with lock_of_all_loads(services.settings, wait=False) as held:
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
        delete_registers_of_nobody(services)
    delete_rows_of_nobody(services)


def _require_one_host(services: Services) -> None:
    """Say who serves the ledger now; refuse where that is another host.

    A copied SQLite database cannot tell: its lock is the file's.

    Raises:
        CuratorError: Another host does, or the database cannot be read.
    """
    with (
        services.databases.unchecked(),
        services.databases.reader.connect() as connection,
    ):
        for one in server_processes.serving(connection):
            _log.info("the ledger is served", extra={"host": one.host})
        if services.databases.is_shared:
            identity = HostIdentity.of(services.settings.anchor)
            server_processes.require_one_host(connection, identity)


def check_installation(services: Services) -> None:
    """Check everything once before serving, and open the ledger.

    Raises:
        CuratorError: What is wrong and how to go on.
    """
    _require_one_host(services)
    check_files(services)
    services.unreadable.look()
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


def end_server_process(settings: Settings, worker_id: str) -> None:
    """Say that a process has ended, so that nobody waits for its leases."""
    try:
        with (
            contextlib.closing(Databases(settings.url)) as databases,
            databases.work.begin() as connection,
        ):
            server_processes.end(connection, worker_id)
    except (CuratorError, SQLAlchemyError):
        _log.warning("the database is away: a dead worker's leases end by themselves")
