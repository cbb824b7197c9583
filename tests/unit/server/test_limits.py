"""Rates and places: one suite for both keepers, with clocks that tests set."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import create_engine, literal, select

from budget.databases import Databases
from privacy.errors import LedgerUnavailableError
from server.persistence.tables import in_flight, work_metadata
from server.use_cases.errors import RateLimitedError
from server.use_cases.limits import MICROSECONDS, Allowance, MemoryLimiter
from server.use_cases.shared_limits import SharedLimiter

START = 1_800_000_000 * MICROSECONDS


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self):
        self.microseconds = START

    def __call__(self):
        return self.microseconds

    def pass_by(self, seconds):
        self.microseconds += round(seconds * MICROSECONDS)


class ClockedLimiter(SharedLimiter):
    """A shared limiter that reads its clock anew at each request."""

    def count(self, principal):
        self.now = literal(self.clock())
        super().count(principal)


def database(folder):
    databases = Databases(f"sqlite:///{folder}/work.sqlite")
    work_metadata.create_all(databases.writer)
    return databases


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["memory", "database"])
def make(request, tmp_path, clock):
    """Return a maker of limiters of one kind."""
    with contextlib.ExitStack() as stack:

        def make(rate=0, places=0):
            allowance = Allowance(rate, places)
            if request.param == "memory":
                return MemoryLimiter(allowance, clock)
            databases = stack.enter_context(contextlib.closing(database(tmp_path)))
            ClockedLimiter.clock = clock
            return ClockedLimiter(
                allowance, databases.writer, "boot", lambda _: ["boot"]
            )

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
def two(tmp_path):
    """Two processes on one database; the list of the boots that live."""
    alive = ["one", "two"]
    with contextlib.closing(database(tmp_path)) as databases:
        yield (
            *(
                SharedLimiter(
                    Allowance(2, 2), databases.writer, boot, lambda _: tuple(alive)
                )
                for boot in ("one", "two")
            ),
            alive,
        )


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


def test_the_places_of_a_dead_process_are_free(two):
    one, other, alive = two
    one.enter("ada")
    one.enter("ada")
    with pytest.raises(RateLimitedError):
        other.enter("ada")
    alive.remove("one")
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
