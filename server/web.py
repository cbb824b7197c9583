"""The running service: what waits behind the application's routes."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import (
    asynccontextmanager,
)
from functools import partial

from fastapi import FastAPI

from budget.charging.server_processes import Heartbeat
from budget.storage.process_lock import ProcessLock
from engines.processes.processors import Processors, usable_processors
from privacy.errors import CuratorError, LedgerUnavailableError
from query_lang.plans.compiled import CompiledQuery
from query_lang.plans.costs import PAID
from query_lang.rendering.dialect import Target
from server.answering import SamplerFactory
from server.api.app import make_app
from server.api.manual import read_manual
from server.api.questions.routes import Asking, EndpointSettings, QueryEndpoint
from server.api.routing.backlog import (
    STARTING_SECONDS,
    Machine,
    recovered_seconds,
)
from server.api.routing.caller_checks import CHECKING_SECONDS, SHARED_CHECKING_SECONDS
from server.api.routing.parts import Parts
from server.api.routing.releasing import Releaser
from server.api.routing.slots import Lateness, SlotClock
from server.bootstrap import (
    check_installation,
    make_jobs,
    make_services,
    start_executors,
)
from server.children.parser_process import ParserPool, ParserUnavailableError
from server.configuration.settings import Settings
from server.telemetry.logs import HeldLines
from server.telemetry.metrics import Metrics
from server.telemetry.readiness import Check, ExecutorUnavailableError, Readiness
from server.use_cases.datasets.reading import AnalystReader
from server.use_cases.identity.admission import Admission
from server.use_cases.identity.key_sets import RETRY_SECONDS
from server.use_cases.identity.limits import Allowance, Limiter, MemoryLimiter
from server.use_cases.identity.oidc import token_reader
from server.use_cases.identity.roles import Gate
from server.use_cases.identity.shared_limits import SharedLimiter
from server.use_cases.oversight.odometers import Odometers
from server.use_cases.publishing.cost_settings import question_limits
from server.use_cases.questions.asking.service import QueryService
from server.use_cases.questions.questions import Compiler
from server.use_cases.questions.recovery import Pace, Recovery
from server.use_cases.questions.studying import StudyService
from server.use_cases.releases.asked import ReleaseQueryService
from server.use_cases.releases.offers import ReleaseOffers
from server.use_cases.releases.opened import OpenReleases
from server.use_cases.services.errors import DatasetUnavailableError
from server.use_cases.services.services import (
    Services,
)
from server.use_cases.services.space import require_writable

RECOVERY_SECONDS = 1.0
LEDGER_CHECK_SECONDS = 1.0
CHILD_CHECK_SECONDS = 5.0
STOPPING_SECONDS = 33.0
"""Longer than replies are waited for (30 s), less than a process may take (35 s)."""
SILENT_SECONDS = 30.0
"""More than a statement of serving waits for a lock (10 s) and runs."""
_log = logging.getLogger("curator")


def make_limiter(services: Services) -> Limiter:
    """Return the limiter: of this process, or of all that serve one ledger."""
    settings, databases = services.settings, services.databases
    allowance = Allowance(settings.rate_limit, settings.max_in_flight)
    if not databases.is_shared:
        return MemoryLimiter(allowance)
    return SharedLimiter(allowance, databases.work, services.worker_id)


class Server:
    """The running service: its lock, its parts, its recovery loop.

    Args:
        settings: Of the installation.
        sampler_factory: Makes the source of noise; None: OpenDP.
        worker_id: Of one of several processes, whose parent holds the lock and has
            checked everything; None where this process serves alone.
        processors: Those of this process, and those that row work has for itself;
            None: all use all.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        sampler_factory: SamplerFactory | None = None,
        worker_id: str | None = None,
        processors: Processors | None = None,
    ) -> None:
        self.settings = settings
        self._cores = len(processors.all if processors else usable_processors())
        self._tokens = token_reader(settings)
        self.lateness = Lateness()
        self._started = False
        self._stop_by: float | None = None  # on the monotonic clock
        self._endpoint: QueryEndpoint | None = None  # made with the application
        self._loop: asyncio.AbstractEventLoop | None = None  # that serves it
        self._serves_alone = worker_id is None
        self.metrics: Metrics | None = None  # made with the application
        self._held = contextlib.ExitStack()
        self._parser = ParserPool()
        try:
            self.services = make_services(
                settings,
                parser=self._parser.parse,
                sampler_factory=sampler_factory,
                worker_id=worker_id,
                row_processors=processors.executors if processors else frozenset(),
            )
        except CuratorError:
            self._parser.close()
            raise
        self._heartbeat = Heartbeat(
            self.services.databases, self.services.worker_id, settings.anchor
        )
        parser, dialect = self.services.parser, self.services.dialect
        limits = question_limits(settings, self.services.capacity)
        compiler = Compiler(parser, Target(dialect, limits))
        self._open_releases = OpenReleases(self.services)
        offers = ReleaseOffers(self.services, self._open_releases)
        self.queries = QueryService(self.services, compiler, offers)
        self.studies = StudyService(self.services, compiler, self.queries)
        charged = Compiler(
            parser, Target(dialect, PAID)
        )  # it is answered, whatever it costs
        self._recovery = Recovery(
            self.services, charged, self.queries, self._pace(), self._take_in
        )
        self.readiness = self._make_readiness()

    def _make_readiness(self) -> Readiness:
        """Return what must hold for questions to be answered, most serious first."""
        ledger, engine = self.services.ledger, self.services.engine
        return Readiness(
            [
                Check(ledger.check, LEDGER_CHECK_SECONDS, LedgerUnavailableError.code),
                Check(
                    lambda: require_writable(self.settings),
                    LEDGER_CHECK_SECONDS,
                    LedgerUnavailableError.code,
                ),
                Check(
                    self._parser.check, CHILD_CHECK_SECONDS, ParserUnavailableError.code
                ),
                Check(engine.check, CHILD_CHECK_SECONDS, ExecutorUnavailableError.code),
                Check(
                    self.services.unreadable.look,
                    CHILD_CHECK_SECONDS,
                    DatasetUnavailableError.code,
                ),
            ]
        )

    def _pace(self) -> Pace:
        """Return when recovered answers show: by the cost of each, which is public."""
        slot = self.settings.slot_ms / 1000
        return Pace(
            seconds=partial(recovered_seconds, slot=slot, machine=self._machine),
            starting_seconds=STARTING_SECONDS if slot else 0,
            count_late=self.lateness.count,
        )

    @property
    def _machine(self) -> Machine:
        return Machine(
            executors=self.settings.executors,
            cores=self._cores,
            workers=self.settings.workers,
        )

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
        self.services.unreadable.look()
        start_executors(self.services)
        self.services.databases.bound_silence(SILENT_SECONDS)
        self.readiness.look()
        self._heartbeat.start()
        self._started = True

    def stop(self) -> None:
        """End the children, close the snapshots, and drop the lock."""
        self._heartbeat.stop()
        self._parser.close()
        self.services.engine.close()
        if self._endpoint is not None:
            self._endpoint.close()
        self._held.close()

    def app(self) -> FastAPI:
        """Return the application; its lifespan opens and closes the ledger."""
        admission = Admission(self.services, make_limiter(self.services), self._tokens)
        endpoint = self._endpoint = QueryEndpoint(
            Asking(self.queries, self.studies),
            admission,
            Releaser(
                self.services.release, writes=self.services.databases.is_shared
            ).release,
            SlotClock(self.settings.slot_ms / 1000, self.lateness),
            EndpointSettings(
                permits=self.settings.permits,
                machine=self._machine,
                checking_seconds=(
                    SHARED_CHECKING_SECONDS
                    if self.services.databases.is_shared
                    else CHECKING_SECONDS
                ),
                limits_rate=self.settings.rate_limit > 0,
            ),
        )
        parts = Parts(
            reading=AnalystReader(self.services),
            authenticate=admission.admit,
            gate=Gate(self.services.ledger),
            services=self.services,
            jobs=make_jobs(self.services),
            release_queries=ReleaseQueryService(self.services, self._open_releases),
            ready=self.readiness.state,
        )
        app = make_app(self._lifespan)
        app.state.parts = parts
        app.state.endpoint = endpoint
        folder = self.settings.manual
        app.state.manual = None if folder is None else read_manual(folder)
        self.metrics = Metrics(
            lambda: Odometers(self.services).read(late=self.lateness.late),
            self.settings.permits,
            endpoint.in_flight,
            self.readiness.unready,
        )
        app.state.observe = self.metrics.observe
        return app

    @asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        try:
            self.start()
        except CuratorError as error:  # of a worker nobody else says why
            _log.error("the server cannot start", extra={"code": error.code})
            raise
        tasks = [
            asyncio.create_task(forever)
            for forever in (
                self._recover_forever(),
                self.readiness.watch(),
                self._keep_issuers_keys(),
            )
        ]
        try:
            yield
        finally:
            running = set(tasks)
            while running:  # again: what ends just then may have taken the first one
                for task in running:
                    task.cancel()
                running = (await asyncio.wait(running, timeout=1))[1]
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._store_kept()
            self.stop()

    def told_to_stop(self) -> None:
        """Note when this process was told to stop, which bounds what it still does."""
        if self._stop_by is None:
            self._stop_by = time.monotonic() + STOPPING_SECONDS

    async def _store_kept(self) -> None:
        """Store what was drawn and is not stored, on recovery's grid, while it may."""
        stop_by = self._stop_by or time.monotonic()
        while not await asyncio.to_thread(self._recovery.store_kept):
            wait = RECOVERY_SECONDS - time.monotonic() % RECOVERY_SECONDS
            if time.monotonic() + wait > stop_by:
                _log.error("an answer could not be stored: its charge fails")
                return
            await asyncio.sleep(wait)

    async def _keep_issuers_keys(self) -> None:
        """Read the issuer's keys now and again: no request ever waits for them."""
        while self._tokens is not None:
            try:
                self._tokens.keys.keep_fresh()
            except Exception as error:  # noqa: BLE001 - it must go on
                facts = {"error": type(error).__name__}
                _log.error("reading the issuer's keys met a bug", extra=facts)
            await asyncio.sleep(RETRY_SECONDS)

    def _take_in(
        self, compiled: CompiledQuery, execution: Callable[[], None] | None
    ) -> None:
        """Put what recovery took up among the questions; from recovery's thread."""
        if self._endpoint is None or self._loop is None:
            raise AssertionError  # recovery runs while the application is served
        work = self._endpoint.take_in(compiled, execution)
        asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _recover_forever(self) -> None:
        self._loop = asyncio.get_running_loop()
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
