import pytest

from server.use_cases.questions.free_room import FreeRoom
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
def room(clock):
    return FreeRoom(bytes_an_hour=3_600, clock=clock)


def test_an_hours_bytes_may_be_stored_at_once_and_no_more(room):
    room.check("ada")
    room.take("ada", 3_600)
    room.check("ada")
    room.take("ada", 1)
    with pytest.raises(RateLimitedError) as caught:
        room.check("ada")
    assert caught.value.retry_after_seconds == 1


def test_who_stored_too_much_waits_for_all_of_it(room, clock):
    room.take("ada", 3 * 3_600)
    with pytest.raises(RateLimitedError) as caught:
        room.check("ada")
    assert caught.value.retry_after_seconds == 2 * 3_600
    clock.now += 2 * 3_600 * SECOND - 1
    with pytest.raises(RateLimitedError):
        room.check("ada")
    clock.now += 1
    room.check("ada")


def test_each_principal_has_room_of_their_own(room):
    room.take("ada", 10_000)
    room.check("eve")


def test_room_that_was_not_used_is_not_kept(room, clock):
    room.take("ada", 100)
    clock.now += 10 * 3_600 * SECOND
    room.take("ada", 3_601)
    with pytest.raises(RateLimitedError):
        room.check("ada")
