"""When readers first see a release: public facts decide, not how long work took."""

import pytest

from server.use_cases.releases.times import appearance, declared_slots

CHARGED = "2025-03-01T09:00:00.000000+00:00"


def at(clock):
    return f"2025-03-01T09:{clock}.000000+00:00"


@pytest.mark.parametrize("clock", ["00:00", "00:03", "00:08"])
def test_what_is_ready_in_time_appears_at_one_time_however_long_it_took(clock):
    shown = appearance(CHARGED, at(clock), cells=26, slot_seconds=10)
    assert (shown.time, shown.is_late) == (at("00:10"), False)


@pytest.mark.parametrize(
    ("ready", "shown"), [("00:10", "00:20"), ("00:25", "00:30"), ("09:59", "10:00")]
)
def test_what_is_late_appears_at_a_later_multiple(ready, shown):
    found = appearance(CHARGED, at(ready), cells=26, slot_seconds=10)
    assert (found.time, found.is_late) == (at(shown), True)


@pytest.mark.parametrize("digits", ["000001", "499999", "999999"])
def test_what_a_charge_waited_within_its_second_shows_nowhere(digits):
    charged = CHARGED.replace("000000", digits)
    shown = appearance(charged, at("00:08"), cells=26, slot_seconds=10)
    assert (shown.time, shown.is_late) == (at("00:10"), False)
    late = appearance(charged, at("00:09"), cells=26, slot_seconds=10)
    assert (late.time, late.is_late) == (at("00:10"), False)


def test_large_cubes_have_longer_and_never_forever():
    assert [declared_slots(n) for n in (1, 999_999, 10**6, 10**7, 10**12)] == [
        1,
        1,
        2,
        11,
        11,
    ]


def test_without_slots_a_release_appears_with_its_charge():
    shown = appearance(CHARGED, at("00:30"), cells=26, slot_seconds=0)
    assert (shown.time, shown.is_late) == (CHARGED, False)
