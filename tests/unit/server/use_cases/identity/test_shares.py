"""What one principal's free requests may take of the server."""

import pytest

from server.use_cases.identity.shares import FREE_SECONDS, FREE_SHARE, FreeWorkLimit
from server.use_cases.services.errors import RateLimitedError


class Clock:
    def __init__(self):
        self.now = 5_000_000

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def limit(clock):
    return FreeWorkLimit(clock=clock)


def test_a_minute_may_come_at_once_and_a_quarter_of_the_time_again(limit, clock):
    for _ in range(FREE_SECONDS):
        limit.check("eve")
        limit.take("eve", 1)
    limit.check("eve")
    limit.take("eve", 2)
    with pytest.raises(RateLimitedError) as caught:
        limit.check("eve")
    assert caught.value.retry_after_seconds == 2 * FREE_SHARE
    clock.now += 2 * FREE_SHARE * 1_000_000 - 1
    with pytest.raises(RateLimitedError):
        limit.check("eve")
    clock.now += 1
    limit.check("eve")


def test_each_principal_has_their_own(limit):
    limit.take("eve", 1_000)
    limit.check("ada")
    with pytest.raises(RateLimitedError, match="Retry-After"):
        limit.check("eve")


def test_where_no_rate_is_limited_this_is_not(clock):
    free = FreeWorkLimit(is_limited=False, clock=clock)
    free.take("eve", 1_000)
    free.check("eve")
