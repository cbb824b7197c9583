"""Values of the same form that are nobody's."""

import random
import re

import pytest

from upstream.anonymization.texts.keyed import KeyedChoice
from upstream.anonymization.texts.kinds import Kind
from upstream.anonymization.texts.lists import LISTS, Lists
from upstream.anonymization.texts.names import NameSurrogates
from upstream.anonymization.texts.surrogates import Surrogates

KEY = bytes(range(32))
NUMBERS = [
    *(Kind.PHONE, Kind.FAX, Kind.SOCIAL_SECURITY, Kind.RECORD_NUMBER, Kind.DEVICE),
    *(Kind.PLAN_NUMBER, Kind.ACCOUNT, Kind.LICENCE, Kind.VEHICLE, Kind.OTHER_NUMBER),
]


def of(patient, names=(), key=KEY, lists=LISTS):
    choice = KeyedChoice(key, patient)
    return Surrogates(choice, NameSurrogates.of(choice, lists, names), lists)


def form(text):
    digits = re.sub(r"[0-9]", "9", text)
    return re.sub(r"[A-Z]", "A", re.sub(r"[a-z]", "a", digits))


@pytest.mark.parametrize("kind", NUMBERS)
def test_a_number_has_one_surrogate_of_its_form_and_never_itself(kind):
    rng = random.Random(kind)
    for _ in range(200):
        text = "".join(rng.choice("0123456789ABCxyz-./ ") for _ in range(12)) + "7"
        new = of("p1").of(kind, text)
        assert new == of("p1").of(kind, text)
        assert new != text
        assert form(new) == form(text)


def test_a_value_of_one_digit_is_never_kept_by_chance():
    told = {
        (str(n), of(f"p{p}").of(Kind.ACCOUNT, str(n)))
        for p in range(99)
        for n in range(10)
    }
    assert all(new != old for old, new in told)


def test_patients_and_keys_have_other_surrogates():
    drawn = {of(f"p{i}").of(Kind.RECORD_NUMBER, "83291 04772") for i in range(300)}
    assert len(drawn) == 300
    assert of("p1").of(Kind.PHONE, "404 555 0133") != of("p1", key=b"x" * 32).of(
        Kind.PHONE, "404 555 0133"
    )


def test_a_value_has_one_surrogate_however_it_is_parted():
    one, other = (of("p").of(Kind.EMAIL, text) for text in ("A.B@C.org", "a.b@c.org"))
    assert one.lower() == other.lower()


def test_addresses_are_of_those_that_are_reserved():
    own = of("p")
    assert own.of(Kind.EMAIL, "ada@hospital.org").endswith("@example.org")
    assert own.of(Kind.URL, "http://ada.name/me").startswith("https://example.org/")
    assert own.of(Kind.IP_ADDRESS, "10.1.2.3").startswith("192.0.2.")
    assert own.of(Kind.IP_ADDRESS, "fe80::1").startswith("2001:db8::")
    assert re.fullmatch(r"[1-9][0-9]* \w+ Street", own.of(Kind.STREET, "4 Elm Road"))
    assert own.of(Kind.PLACE, "Atlanta") in LISTS.places
    assert own.of(Kind.ORGANIZATION, "Emory") in LISTS.organizations


def test_where_nothing_else_can_be_drawn_there_is_no_surrogate():
    lists = Lists(places=("Milton",))
    assert of("p", lists=lists).of(Kind.PLACE, "MILTON") is None
    assert of("p").of(Kind.PHONE, "()") is None


def test_draws_are_of_all_numbers_alike():
    seen = [KeyedChoice(KEY, "p").number("x", str(i), 10) for i in range(20_000)]
    assert all(abs(seen.count(n) - 2_000) < 6 * 43 for n in range(10))


def test_parts_of_a_draw_cannot_be_moved_into_one_another():
    one = KeyedChoice(KEY, "ab").number("c", "d", 2**32)
    assert one != KeyedChoice(KEY, "a").number("bc", "d", 2**32)
    assert one != KeyedChoice(KEY, "ab").number("cd", "", 2**32)
    assert len(set(KeyedChoice(KEY, "p").among("c", "d", ["x", "y"]))) == 2
