"""Surrogates of names."""

import pytest

from upstream.anonymization.texts.keyed import KeyedChoice
from upstream.anonymization.texts.lists import LISTS, Lists
from upstream.anonymization.texts.names import NameSurrogates

KEY = b"k" * 32


def names(*written, patient="p1", gender=None, lists=LISTS):
    return NameSurrogates.of(KeyedChoice(KEY, patient), lists, written, gender)


def test_a_patient_has_one_surrogate_in_all_documents():
    own = names("Mrs. Alice Stone", "STONE, Alice", "alice stone", "A. Stone")
    given, family = own.written("Alice Stone").split()
    assert own.written("Mrs. Alice Stone") == f"Mrs. {given} {family}"
    assert own.written("STONE, Alice") == f"{family.upper()}, {given}"
    assert own.written("alice stone") == f"{given} {family}".lower()
    assert own.written("A. Stone") == f"{given[0]}. {family}"


def test_women_stay_women_and_men_men():
    for i in range(100):
        own = names("Alice Stone", "Henry Stone", patient=f"p{i}")
        assert own.written("Alice") in LISTS.female
        assert own.written("Henry") in LISTS.male


@pytest.mark.parametrize(
    ("written", "gender", "drawn"),
    [
        ("Mr. Zorblax Quibble", None, LISTS.male),
        ("Sra. Zorblax Quibble", None, LISTS.female),
        ("Zorblax Quibble", "female", LISTS.female),
        ("Zorblax Quibble", None, LISTS.neutral),
        ("Quibble, Zorblax", None, LISTS.neutral),
    ],
)
def test_a_name_that_no_list_has_goes_by_title_patient_or_neither(
    written, gender, drawn
):
    assert names(written, gender=gender).written("Zorblax") in drawn
    assert names(written, gender=gender).written("Quibble") in LISTS.surnames


def test_no_word_of_any_name_of_the_patient_is_written():
    for i in range(300):
        said = [
            LISTS.female[i % 40],
            LISTS.male[i % 50],
            *LISTS.surnames[i % 80 : i % 80 + 9],
        ]
        own = names(*said, patient=f"p{i}")
        written = {own.written(name) for name in said}
        assert written.isdisjoint(said)


def test_titles_and_particles_stay_and_numbers_go():
    own = names("Dr. Juan de la Cruz Vega 3rd")
    written = own.written("Dr. Juan de la Cruz Vega").split()
    assert written[:1] + written[2:4] == ["Dr.", "de", "la"]
    assert own.written("Vega 12345") == f"{written[-1]} "


def test_what_is_no_name_has_no_surrogate():
    assert names("12").written("12") is None
    assert names("Dr.").written("Dr.") is None


def test_without_another_name_to_draw_there_is_none():
    lists = Lists(surnames=("Stone",))
    assert names("Stone", lists=lists).written("Stone") is None


def test_an_initial_is_never_the_patients_own():
    for i in range(200):
        assert names("S.", patient=f"p{i}").written("S.") != "S."


def test_an_initial_is_that_of_the_name_that_it_stands_for():
    for i in range(400):
        own = names("Henry Marsh", "H. MARSH", patient=f"p{i}")
        given, family = own.written("Henry Marsh").split()
        assert own.written("H. MARSH") == f"{given[0]}. {family.upper()}"
        assert given[0] != "H"
