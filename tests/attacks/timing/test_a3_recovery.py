"""A3: what recovery answers shows a public number of slots after it was taken up.

Time is a number that the test moves; executions end when the test lets them.
"""

import contextlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pytest

from budget.charging import server_processes
from engines.contract import Execution
from query_lang.rendering.dialect import Target
from server.use_cases.datasets.reading import AnalystReader
from server.use_cases.identity.access import Caller
from server.use_cases.questions.asking.service import QueryService
from server.use_cases.questions.questions import Compiler
from server.use_cases.questions.recovery import Pace, Recovery
from server.use_cases.questions.requests import read_request
from server.use_cases.releases.offers import ReleaseOffers
from server.use_cases.releases.opened import OpenReleases
from server.web import Server
from tests.effort import gate_first
from tests.support.installations.harness import Installation

pytestmark = pytest.mark.thorough

ADA = Caller("ada", "analyst")
SLOTS = 3
SLOT_SECONDS = 1.0
TICKS = 12
BOTH = pytest.mark.parametrize("kind", gate_first(1, ["sqlite", "postgresql"]))


class Clock:
    """A number of seconds that stands still until it is moved."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class World:
    """Orphans of a process that died, and another one that recovers them.

    ``reader`` is the process that analysts ask: the same one on SQLite, a third one
    on PostgreSQL.
    """

    def __init__(self, stack, folder, url):
        installation = Installation(folder, url=url).create()
        installation.load()
        installation.analyst()
        self.clock, self.late, self.queued = Clock(), [], []
        names = ("died", "recovers", "reads") if url else ("died", "recovers")
        servers = [self._server(installation, name) for name in names]
        for server in servers:
            stack.callback(_close, server)
        self.died, self.recovers, self.reader = servers[0], servers[1], servers[-1]
        self.is_shared = bool(url)
        for server in servers:
            self._renew(server.services.worker_id)
        self.engine = HeldEngine(self.recovers.services.engine)
        held = replace(self.recovers.services.answering(), engine=self.engine)
        self._thread = stack.enter_context(ThreadPoolExecutor(1))
        self.recovery = Recovery(
            self.recovers.services,
            Compiler(
                self.recovers.services.parser, Target(self.recovers.services.dialect)
            ),
            self._queries(replace(self.recovers.services, answering=lambda: held)),
            Pace(
                seconds=lambda _: SLOTS * SLOT_SECONDS,
                starting_seconds=0,
                count_late=lambda: self.late.append(self.clock.now),
                clock=self.clock,
            ),
            self._queue,
        )

    def _queue(self, compiled, execution):
        self.queued.append(compiled.rendered.statements)
        if execution is not None:
            self._thread.submit(execution)

    def _server(self, installation, worker_id):
        return Server(installation.settings, worker_id=worker_id)

    def _queries(self, services):
        compiler = Compiler(services.parser, Target(services.dialect))
        return QueryService(
            services, compiler, ReleaseOffers(services, OpenReleases(services))
        )

    def _renew(self, worker_id):
        with self.recovers.services.databases.work.begin() as connection:
            server_processes.renew(connection, worker_id)

    def strand(self, *, stored):
        """Leave a charge by a process that dies, stored but not sent, or running."""
        asked = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "1"}
        asked["options"] = {"reuse": "never"}
        services = self.died.services
        queries = self._queries(services)
        if stored:
            reply = queries.ask(ADA, "clinic", read_request(asked), None)
            return reply.query_id
        real = type(services.ledger).store_answer
        services.ledger.store_answer = _Lost()
        with contextlib.suppress(_Killed):
            queries.ask(ADA, "clinic", read_request(asked), None)
        services.ledger.store_answer = real.__get__(services.ledger)
        return services.ledger.history("ada", limit=1, cursor=None)[0][0].query_id

    def die(self):
        """End the process that was asked: its engine is in this one too."""
        self.died.services.engine.close()
        with self.recovers.services.databases.work.begin() as connection:
            server_processes.end(connection, self.died.services.worker_id)
        if not self.is_shared:
            self.recovers.services.ledger.open()

    def states(self, query_ids):
        """Return what their analyst sees of each."""
        reader = AnalystReader(self.reader.services)
        shown = [json.loads(reader.query(ADA, query_id)) for query_id in query_ids]
        return [each["state"] for each in shown]

    def watch(self, query_ids, *, opens_at):
        """Return what is seen at each tick, where executions end after ``opens_at``.

        And how many entries the ledger has: what storing takes can be felt.
        """
        seen = []
        ledger = self.recovers.services.ledger
        for tick in range(TICKS):
            self.clock.now = float(tick)
            self.recovery.run_once()
            if tick >= opens_at:
                self.engine.is_open.set()
                self._thread.submit(lambda: None).result(60)  # all before has ended
            seen.append((self.states(query_ids), len(ledger.export())))
        return seen


class HeldEngine:
    """An engine whose executions end once it is opened."""

    def __init__(self, engine):
        self._engine = engine
        self.is_open = threading.Event()

    @property
    def version(self):
        return self._engine.version

    def execution(self, snapshot, plan):
        return HeldExecution(self._engine.execution(snapshot, plan), self.is_open)


@dataclass
class HeldExecution:
    execution: Execution
    is_open: threading.Event

    def run(self):
        assert self.is_open.wait(60)
        return self.execution.run()


class _Killed(BaseException):
    """The process is killed."""


class _Lost:
    def __call__(self, *_):
        raise _Killed


def _close(server):
    server._parser.close()
    server.services.engine.close()
    server.services.databases.close()


@pytest.fixture
def make(tmp_path, request):
    with contextlib.ExitStack() as stack:

        def build(kind):
            url = ""
            if kind == "postgresql":
                url = request.getfixturevalue("cluster").database()
            folder = tmp_path / str(len(list(tmp_path.iterdir())))
            folder.mkdir()
            return World(stack, folder, url)

        yield build


def seen_by(world, query_ids, **more):
    world.die()
    return world.watch(query_ids, **more)


def first_shown(seen, place=0):
    """Return the first tick at which one of the questions is in flight no more."""
    return next(n for n, (now, _) in enumerate(seen) if now[place] != "in_flight")


@BOTH
def test_a_recovered_answer_shows_at_the_same_slot_however_long_it_took(make, kind):
    arms = []
    for opens_at in (0, SLOTS - 1):
        world = make(kind)
        asked = [world.strand(stored=False)]
        arms.append(seen_by(world, asked, opens_at=opens_at))
        assert world.late == []
    assert arms[0] == arms[1]
    assert first_shown(arms[0]) == SLOTS


@BOTH
def test_several_show_one_after_another_by_public_numbers_alone(make, kind):
    world = make(kind)
    asked = [world.strand(stored=False) for _ in range(3)]
    seen = seen_by(world, asked, opens_at=0)
    assert [first_shown(seen, n) for n in range(3)] == [SLOTS, 2 * SLOTS, 3 * SLOTS]


@BOTH
def test_what_is_late_takes_the_next_multiple_and_is_counted(make, kind):
    world = make(kind)
    asked = [world.strand(stored=False)]
    assert first_shown(seen_by(world, asked, opens_at=SLOTS + 1)) == 2 * SLOTS
    assert world.late == [2.0 * SLOTS]


def test_whether_a_dead_process_had_stored_its_answers_does_not_show(make):
    arms, queued = [], []
    for stored in ((True, False), (False, True)):
        world = make("postgresql")
        asked = [world.strand(stored=one) for one in stored]
        arms.append(seen_by(world, asked, opens_at=0))
        queued.append(world.queued)
    assert queued[0] == queued[1]  # what live questions wait for
    assert len(queued[0]) == 2
    first, second = ([states for states, _ in arm] for arm in arms)
    assert first == second
    assert [first_shown(arms[0], n) for n in range(2)] == [SLOTS, 2 * SLOTS]
