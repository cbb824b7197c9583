"""A hospital whose patients have several ids."""

from collections import Counter, defaultdict
from datetime import date

import numpy as np
import pytest

from server.demo.linking.errors import Clerk, Rates, unaccented
from server.demo.linking.hospital import SOURCES, draw_hospital
from server.demo.linking.names import common_lists
from server.demo.notes.lists import Lists
from server.demo.notes.people import draw_person

pytestmark = pytest.mark.thorough

PATIENTS = 2_000


@pytest.fixture(scope="module")
def hospital():
    return draw_hospital(PATIENTS)


@pytest.fixture(scope="module")
def people(hospital):
    return hospital.truth.people.values()


@pytest.fixture(scope="module")
def households(people):
    found = defaultdict(list)
    for each in people:
        found[each.household].append(each)
    return [members for members in found.values() if len(members) == 2]


def rows(hospital, source):
    key = {"admissions": "patient_no", "laboratory": "lab_id"}[source]
    return {row[key]: row for row in getattr(hospital, source)}


def test_every_record_is_somebodys_and_everybody_has_one(hospital):
    truth = hospital.truth
    assert len(truth.people) == PATIENTS
    assert truth.persons() == set(truth.people)
    names = {
        *(("admissions", name) for name in rows(hospital, "admissions")),
        *(("laboratory", name) for name in rows(hospital, "laboratory")),
        *(("notes", note.document.id) for note in hospital.notes),
    }
    assert names == set(truth.records)
    assert {source for source, _ in names} == set(SOURCES)


@pytest.mark.parametrize("source", ["admissions", "laboratory"])
def test_a_tenth_of_the_patients_stand_twice_in_an_export(hospital, source):
    held = Counter(
        person for (at, _), person in hospital.truth.records.items() if at == source
    )
    twice = sum(count == 2 for count in held.values())
    assert max(held.values()) == 2
    assert 0.07 < twice / len(held) < 0.13


def test_no_id_of_one_export_is_one_of_the_other(hospital):
    admissions, laboratory = (rows(hospital, each) for each in SOURCES[:2])
    digits = {name.removeprefix("L") for name in laboratory}
    assert digits.isdisjoint(admissions)
    assert not any(
        name in value for row in list(laboratory.values())[:50]
        for value in row.values() for name in admissions
    )  # fmt: skip


def test_names_are_shared_as_real_ones_are(people):
    surnames = Counter(each.person.name.last for each in people)
    assert surnames.most_common(1)[0][1] > PATIENTS / 100
    assert sum(count == 1 for count in surnames.values()) > PATIENTS / 15
    whole = Counter((each.person.name.first, each.person.name.last) for each in people)
    assert sum(count > 1 for count in whole.values()) > 20


def test_twins_are_born_on_one_day_and_have_two_given_names(households):
    twins = [pair for pair in households if pair[0].kind == "twins"]
    assert len(twins) > 20
    for one, other in twins:
        assert one.person.born == other.person.born
        assert one.person.name.last == other.person.name.last
        assert one.person.name.first != other.person.name.first


def test_a_father_and_a_son_have_one_name_and_one_address(households):
    pairs = [pair for pair in households if pair[0].kind == "namesakes"]
    assert len(pairs) > 20
    for one, other in pairs:
        assert one.person.name.last == other.person.name.last
        assert one.person.name.first == other.person.name.first
        assert one.person.is_female == other.person.is_female
        assert one.person.born.year + 20 < other.person.born.year
        assert one.person.address == other.person.address


def test_nobody_is_born_after_the_first_day_of_a_stay(people):
    assert max(each.person.born for each in people) < date(2023, 1, 1)


def test_records_have_the_errors_of_hospitals(hospital):
    people = hospital.truth.people
    said = [
        (people[hospital.truth.records["admissions", name]], row)
        for name, row in rows(hospital, "admissions").items()
    ]
    count = len(said)
    same = sum(one.person.name.last == row["surname"].title() for one, row in said)
    right = sum(f"{one.person.born:%d/%m/%Y}" == row["born"] for one, row in said)
    swapped = sum(f"{one.person.born:%m/%d/%Y}" == row["born"] for one, row in said)
    old = sum(one.earlier == row["surname"] for one, row in said)
    missing = sum(not row["born"] for _, row in said)
    assert 0.8 * count < same < 0.97 * count
    assert 0.88 * count < right < 0.97 * count
    assert swapped > 0
    assert old > 10
    assert 0.03 * count < missing < 0.08 * count


def test_a_note_has_the_number_that_its_patient_was_admitted_under(hospital):
    numbers = set(rows(hospital, "admissions"))
    truth, with_number = hospital.truth.records, 0
    for note in hospital.notes:
        for span in note.spans:
            said = note.document.text[span.start : span.end]
            digits = "".join(filter(str.isdigit, said)).removeprefix("0")
            if span.label == "ID" and digits in numbers:
                with_number += 1
                assert truth["admissions", digits] == truth["notes", note.document.id]
    assert with_number > 0.2 * len(hospital.notes)


def test_a_notes_id_and_fields_tell_nothing_of_its_patient(hospital):
    assert {tuple(note.document.fields) for note in hospital.notes} == {("day", "kind")}
    numbers = [int(note.document.id[-6:]) for note in hospital.notes]
    assert len(set(numbers)) == len(numbers)


def test_a_clerk_who_never_errs_types_what_is_so():
    clerk = Clerk(np.random.default_rng(1), Rates(*[0.0] * 8))
    assert clerk.typed("Núñez") == "Núñez"
    assert clerk.given("William") == "William"
    assert clerk.day(date(1960, 3, 5)) == date(1960, 3, 5)
    assert clerk.kept("x", 100) == "x"


def test_a_clerk_who_always_errs_changes_every_word_that_is_long_enough():
    rates = Rates(typo=1, short=1, swapped=1, missing=0, accents=1)
    for seed in range(50):
        clerk = Clerk(np.random.default_rng(seed), rates)
        assert clerk.typed("ab") == "ab"
        assert abs(len(clerk.typed("Thornwick")) - 9) <= 1
        assert clerk.given("William") in {"Bill", "Will"}
        assert clerk.day(date(1960, 3, 5)) == date(1960, 5, 3)
        assert clerk.day(date(1960, 3, 31)).month == 3


def test_accents_are_lost_and_letters_kept():
    assert unaccented("Ångström Sørensen Groß") == "Angstrom Sorensen Gross"


def test_all_names_can_be_written_in_the_encoding_of_the_export():
    lists = common_lists()
    for names in (lists.women, lists.men, lists.surnames):
        assert "".join(names).encode("cp1252")
    assert set(Lists().surnames) <= set(lists.surnames)


def test_the_notes_demo_is_not_changed_by_this_one():
    person = draw_person(np.random.default_rng(1), Lists(), 0)
    assert person.id == "P0012345"
