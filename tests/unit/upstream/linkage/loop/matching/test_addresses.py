"""Known addresses and places in a text."""

import pytest

from tests.unit.upstream.linkage.loop.patients import known, said

HOME = known(street="12 Maple Street, Apt 3", town="Greenville", postcode="29601")
LAB = known(street="12 Maple St., Greenville 29601")


@pytest.mark.parametrize(
    "text",
    [
        *("12 Maple Street", "12 MAPLE ST", "12 Maple St.\nApt. 3", "12 Mapel Street"),
        *("12 Maple Street, Apt 3, Greenville, SC 29601", "12 Maple, Greenville"),
    ],
)
def test_an_address_is_found_abbreviated_or_in_part(text):
    assert said(f"Lives at {text}; alone", HOME) == [text]


def test_parts_of_one_address_are_one_span_though_something_stands_between():
    text = "12 Maple Street, Apt 7, Greenville, SC 29601"
    assert said(f"Lives at {text} alone", LAB) == [text]
    assert said("12 Maple St. and later Greenville", HOME) == [
        "12 Maple St",
        "Greenville",
    ]


@pytest.mark.parametrize(
    "text",
    ["13 Maple Street", "Maple Street", "12 Oak Street", "12 St", "Maple 3", "Apt 3"],
)
def test_another_address_or_too_little_of_one_is_not(text):
    assert said(f"Lives at {text} alone", HOME) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("lives in Greenville now", ["Greenville"]),
        ("Greenville is far", ["Greenville"]),
        ("seen at Greenville General Hospital", []),
        ("the Greenville Hospital", []),
        ("the Greenville Street", []),
        ("a greenville of Ours", []),
    ],
)
def test_a_place_is_not_a_hospital_or_a_street(text, found):
    assert said(text, HOME) == found


def test_a_place_that_is_a_word_needs_one_that_tells_where():
    rock = known(town="Rock")
    assert said("He lives in Rock. Rock hard.", rock) == ["Rock"]
    assert said("Mount\nVernon is near", known(town="Mount Vernon")) == [
        "Mount\nVernon"
    ]
