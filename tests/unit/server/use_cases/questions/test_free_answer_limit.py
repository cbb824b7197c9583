import pytest

from server.use_cases.questions.free_answer_limit import FreeAnswerLimit
from server.use_cases.services.errors import RateLimitedError

SECOND = 1_000_000


class Clock:
    def __init__(self):
        self.now = 5 * SECOND

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def limit(clock):
    return FreeAnswerLimit(bytes_an_hour=3_600, clock=clock)


def test_an_hours_bytes_may_be_stored_at_once_and_no_more(limit):
    limit.check("ada")
    limit.take("ada", 3_600)
    limit.check("ada")
    limit.take("ada", 1)
    with pytest.raises(RateLimitedError) as caught:
        limit.check("ada")
    assert caught.value.retry_after_seconds == 1


def test_who_stored_too_much_waits_for_all_of_it(limit, clock):
    limit.take("ada", 3 * 3_600)
    with pytest.raises(RateLimitedError) as caught:
        limit.check("ada")
    assert caught.value.retry_after_seconds == 2 * 3_600
    clock.now += 2 * 3_600 * SECOND - 1
    with pytest.raises(RateLimitedError):
        limit.check("ada")
    clock.now += 1
    limit.check("ada")


def test_each_principal_has_room_of_their_own(limit):
    limit.take("ada", 10_000)
    limit.check("eve")
    with pytest.raises(RateLimitedError):
        limit.check("ada")


def test_room_that_was_not_used_is_not_kept(limit, clock):
    limit.take("ada", 100)
    clock.now += 10 * 3_600 * SECOND
    limit.take("ada", 3_601)
    with pytest.raises(RateLimitedError):
        limit.check("ada")


def test_what_others_wait_for_counts_as_bytes_do(clock):
    limit = FreeAnswerLimit(clock=clock)
    for _ in range(4):
        limit.check("ada")
        limit.take_showing("ada", 10**9)
    limit.check("ada")  # an hour's share, and no more
    limit.take_showing("ada", 10**6)
    with pytest.raises(RateLimitedError):
        limit.check("ada")
    limit.check("grace")
