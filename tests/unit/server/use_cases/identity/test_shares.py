"""What one principal's free requests may take of the server."""

import pytest

from server.use_cases.identity.shares import FREE_SECONDS, FREE_SHARE, FreeWorkLimit
from server.use_cases.services.errors import RateLimitedError


@pytest.fixture
def limit():
    return FreeWorkLimit()


def test_some_seconds_may_come_at_once_and_a_quarter_of_the_time_again(limit):
    for _ in range(FREE_SECONDS):
        limit.check("eve", 100.0)
        limit.take("eve", 100.0, 1)
    limit.check("eve", 100.0)
    limit.take("eve", 100.0, 2)
    with pytest.raises(RateLimitedError) as caught:
        limit.check("eve", 100.0)
    assert caught.value.retry_after_seconds == 2 * FREE_SHARE
    with pytest.raises(RateLimitedError):
        limit.check("eve", 100.0 + 2 * FREE_SHARE - 0.001)
    limit.check("eve", 100.0 + 2 * FREE_SHARE)


def test_each_principal_has_their_own(limit):
    limit.take("eve", 100.0, 1_000)
    limit.check("ada", 100.0)
    with pytest.raises(RateLimitedError, match="Retry-After"):
        limit.check("eve", 100.0)


def test_where_no_rate_is_limited_this_is_not():
    free = FreeWorkLimit(is_limited=False)
    free.take("eve", 100.0, 1_000)
    free.check("eve", 100.0)
