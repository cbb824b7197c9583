"""Rates and places: one suite for both keepers, with clocks that tests set."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import create_engine, select

from budget.charging import server_processes
from budget.storage.databases import Databases
from budget.storage.tables import server_process
from privacy.errors import LedgerUnavailableError
from server.persistence.tables import in_flight, work_metadata
from server.use_cases.identity.limits import MICROSECONDS, Allowance, MemoryLimiter
from server.use_cases.identity.shared_limits import SharedLimiter
from server.use_cases.services.errors import RateLimitedError

START = 1_800_000_000 * MICROSECONDS


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self):
        self.microseconds = START

    def __call__(self):
        return self.microseconds

    def pass_by(self, seconds):
        self.microseconds += round(seconds * MICROSECONDS)


@contextlib.contextmanager
def opened(url):
    """Open a database with the tables of work in progress."""
    with contextlib.closing(Databases(url)) as databases:
        with databases.work.begin() as connection:
            work_metadata.create_all(connection)
            server_process.create(connection, checkfirst=True)
        yield databases


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "postgresql":
        return request.getfixturevalue("empty_database")
    return f"sqlite:///{tmp_path}/work.sqlite"


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def make(request, tmp_path, clock):
    """Return a maker of limiters of one kind."""
    with contextlib.ExitStack() as stack:

        def make(rate=0, places=0):
            allowance = Allowance(rate, places)
            if request.param == "memory":
                return MemoryLimiter(allowance, clock)
            url = f"sqlite:///{tmp_path}/work.sqlite"
            if request.param == "postgresql":
                url = request.getfixturevalue("empty_database")
            databases = stack.enter_context(opened(url))
            return SharedLimiter(allowance, databases.work, "boot", clock)

        yield make


def passed(limiter, times, name="ada"):
    """Count requests until one is refused; return how many passed."""
    for number in range(times):
        try:
            limiter.count(name)
        except RateLimitedError:
            return number
    return times


@pytest.mark.parametrize("rate", [1, 7, 50])
def test_a_minutes_requests_pass_at_once_and_the_next_does_not(make, rate):
    assert passed(make(rate=rate), 2 * rate + 1) == rate


def test_the_bucket_fills_evenly(make, clock):
    limiter = make(rate=6)
    assert passed(limiter, 10) == 6
    clock.pass_by(9.9)
    assert passed(limiter, 10) == 0
    clock.pass_by(0.1)
    assert passed(limiter, 10) == 1
    clock.pass_by(30)
    assert passed(limiter, 10) == 3
    clock.pass_by(10_000)
    assert passed(limiter, 10) == 6


def test_a_refusal_says_when_to_come_again_and_takes_nothing(make, clock):
    limiter = make(rate=4)
    passed(limiter, 4)
    clock.pass_by(0.5)
    for _ in range(3):
        with pytest.raises(RateLimitedError) as refused:
            limiter.count("ada")
        assert refused.value.retry_after_seconds == 15  # 14.5, rounded up
    clock.pass_by(14.5)
    limiter.count("ada")


def test_the_wait_is_never_below_a_second(make):
    limiter = make(rate=100)
    passed(limiter, 100)
    with pytest.raises(RateLimitedError) as refused:
        limiter.count("ada")
    assert refused.value.retry_after_seconds == 1


def test_principals_do_not_share_a_bucket_or_places(make):
    limiter = make(rate=2, places=1)
    assert passed(limiter, 3) == 2
    assert passed(limiter, 3, "bob") == 2
    limiter.enter("ada")
    limiter.enter("bob")


def test_zero_is_no_limit(make):
    limiter = make()
    assert passed(limiter, 200) == 200
    for _ in range(50):
        limiter.enter("ada")
    for _ in range(50):
        limiter.leave("ada")


def test_places_come_back(make):
    limiter = make(places=2)
    for _ in range(3):
        limiter.enter("ada")
        limiter.enter("ada")
        with pytest.raises(RateLimitedError) as refused:
            limiter.enter("ada")
        assert refused.value.retry_after_seconds == 1
        limiter.leave("ada")
        limiter.leave("ada")


def test_exactly_as_many_as_there_are_places_get_one(make):
    limiter = make(places=8)

    def enter(_):
        with contextlib.suppress(RateLimitedError):
            limiter.enter("ada")
            return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(bool(entered) for entered in pool.map(enter, range(64))) == 8


def test_a_memory_limiter_forgets_who_holds_nothing():
    limiter = MemoryLimiter(Allowance(0, 2))
    limiter.enter("ada")
    limiter.leave("ada")
    assert limiter._in_flight == {}


@pytest.fixture
def two(url):
    """Two living processes on one database, and its engine for work."""
    with opened(url) as databases:
        with databases.work.begin() as connection:
            server_processes.renew(connection, "one")
            server_processes.renew(connection, "two")
        limiters = (
            SharedLimiter(Allowance(2, 2), databases.work, name)
            for name in ("one", "two")
        )
        yield (*limiters, databases.work)


def test_processes_share_a_rate_by_the_databases_clock(two):
    one, other, _ = two
    one.count("ada")
    other.count("ada")
    for limiter in (one, other):
        with pytest.raises(RateLimitedError) as refused:
            limiter.count("ada")
        assert 29 <= refused.value.retry_after_seconds <= 30


def test_processes_share_places(two):
    one, other, _ = two
    one.enter("ada")
    other.enter("ada")
    for limiter in (one, other):
        with pytest.raises(RateLimitedError):
            limiter.enter("ada")
    one.leave("ada")
    other.enter("ada")


def test_two_processes_give_exactly_as_many_places_as_there_are(url):
    with opened(url) as databases:
        with databases.work.begin() as connection:
            server_processes.renew(connection, "one")
            server_processes.renew(connection, "two")
        limiters = [
            SharedLimiter(Allowance(0, 8), databases.work, name)
            for name in ("one", "two")
        ]

        def enter(number):
            try:
                limiters[number % 2].enter("ada")
            except RateLimitedError:
                return False
            return True

        def leave(number):
            limiters[number % 2].leave("ada")

        for _ in range(5):
            with ThreadPoolExecutor(8) as pool:
                entered = list(pool.map(enter, range(32)))
                assert sum(entered) == 8
                list(pool.map(leave, (n for n, there in enumerate(entered) if there)))


def test_the_places_of_a_dead_process_are_free(two):
    one, other, work = two
    one.enter("ada")
    one.enter("ada")
    with pytest.raises(RateLimitedError):
        other.enter("ada")
    with work.begin() as connection:
        server_processes.end(connection, "one")
    other.enter("ada")


def test_a_database_out_of_reach_is_said_and_changes_nothing(two, tmp_path):
    limiter = two[0]
    limiter.enter("ada")
    away = create_engine(f"sqlite:///{tmp_path}/nowhere/work.sqlite")
    reached, limiter.database = limiter.database, away
    for act in (limiter.count, limiter.enter):
        with pytest.raises(LedgerUnavailableError):
            act("ada")
    limiter.leave("ada")  # cannot be written yet
    limiter.database = reached
    limiter.enter("bob")  # writes what is still to be written
    with reached.connect() as connection:
        rows = connection.execute(select(in_flight).order_by("principal")).all()
    assert [(row.principal, row.requests) for row in rows] == [("ada", 0), ("bob", 1)]
