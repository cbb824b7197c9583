"""How well two values agree, in words."""

import pytest

from tests.unit.upstream.linkage.scoring.records import database_of, spec_of
from upstream.linkage.scoring.scoring import Scoring


def level(kind, left, right):
    fields = {"field": kind}
    scoring = Scoring(
        database_of([{"field": left}, {"field": right}], fields),
        spec_of(fields, method={"kind": "weighted_sum"}),
    )
    (step,) = scoring.steps(scoring.learn(), 1, 2)
    return step.level


@pytest.mark.parametrize(
    ("kind", "left", "right", "expected"),
    [
        ("name", "Smith", "SMITH", "exact"),
        ("name", "Smith", "Smyth", "one letter differs"),
        ("name", "Smith", "Simth", "one letter differs"),
        ("name", "Alex", "Alexander", "begins alike"),
        ("name", "Smith", "Jones", "different"),
        ("name", "Smith", None, "missing"),
        ("full_name", "John Smith", "Smith, John", "exact"),
        ("full_name", "John Paul Smith", "John Smith", "a name left out"),
        ("date", "1948-09-30", "1948-09-31", "one digit differs"),
        ("date", "1948-05-03", "1948-03-05", "day and month swapped"),
        ("date", "1948-09-30", "1948-09-12", "day, month or year differs"),
        ("date", "1948-09-30", "1977-02-11", "different"),
        ("phone", "+44 20 7946 0958", "020 7946 0958", "exact"),
        ("phone", "020 7946 0958", "020 7946 0957", "one digit differs"),
        ("code", "4011", "4012", "one sign differs"),
        ("code", "SW1A 1AA", "SW1 9QQ", "begins alike"),
        ("id", "1234567", "1234576", "one sign differs"),
        ("id", "1234567", "1235476", "two signs differ"),
        ("email", "ann@x.org", "ann@y.com", "same name, other domain"),
        ("address", "12 High Street", "12 High St", "exact"),
        ("place", "Northwood", "Northwod", "one letter differs"),
        ("category", "f", "m", "different"),
        ("number", "100", "100.5", "close"),
    ],
)
def test_levels(kind, left, right, expected):
    assert level(kind, left, right) == expected
    assert level(kind, right, left) == expected


def test_a_given_name_and_a_surname_that_were_swapped_count_once():
    fields = {"given": "name", "surname": "name"}
    rows = [
        {"given": "Anna", "surname": "Smith"},
        {"given": "Smith", "surname": "Anna"},
    ]
    scoring = Scoring(database_of(rows, fields), spec_of(fields))
    given, surname = scoring.steps(scoring.learn(), 1, 2)
    assert given.level == "swapped with surname"
    assert surname.level == "swapped with given, counted there"
    assert surname.weight == 0
