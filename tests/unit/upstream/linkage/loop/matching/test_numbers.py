"""Known phones, ids and e-mail addresses in a text."""

import pytest

from tests.unit.upstream.linkage.loop.patients import TYPES, known, said
from upstream.linkage.loop.known import known_spans

PHONE = known(phone="(663) 555-2073")
NUMBER = known(no="5681042")


@pytest.mark.parametrize(
    "text",
    [
        *("663-555-2073", "663.555.2073", "663 555 2073", "6635552073", "555-2073"),
        *("(663) 555-2073", "(663)555-2073", "663/5552073", "+1 663 555 2073"),
        *("663\n555\n2073", "66 35 55 20 73", "+1 (663) 555-2073"),
    ],
)
def test_a_phone_is_found_whatever_separates_its_digits(text):
    assert said(f"Tel. {text}, no answer", PHONE) == [text]


@pytest.mark.parametrize(
    "text", ["663-555-2074", "777-555-2073", "663-555", "5552", "663   555   2073"]
)
def test_another_phone_is_not(text):
    assert said(f"Tel. {text}, no answer", PHONE) == []


def test_a_phone_without_its_area_is_less_sure():
    whole, local = known_spans("663-555-2073 or 555-2073", PHONE, TYPES)
    assert local.score < whole.score


@pytest.mark.parametrize(
    "text",
    [
        *("5681042", "05681042", "568-10-42", "56 81 042", "MR-5681042", "H5681042"),
        *("568.1042", "0568-1042", "5 6 8 1 0 4 2"),
    ],
)
def test_an_id_is_found_whatever_its_separators_and_its_prefix(text):
    assert said(f"MRN: {text}.", NUMBER) == [text]
    assert said(f"MRN: {text}.", known(no=f"MR-00{5681042}")) == [text]


@pytest.mark.parametrize("text", ["95681042", "56810421", "5681042x", "5681043"])
def test_another_id_is_not(text):
    assert said(f"MRN: {text}.", NUMBER) == []


def test_a_short_id_is_not_found_inside_another_number():
    short = known(no="12345")
    assert said("12345; 12345-67; 0.12345; 9-12345", short) == ["12345"]
    assert said("1234 is too short to be one", known(no="1234")) == []


def test_ids_with_letters_keep_them():
    facts = known(no="12345678Z")
    assert said("DNI 12345678-Z, not 12345678A", facts) == ["12345678-Z"]
    assert said("no ABC here", known(no="ABC")) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("to A.Lee@Example.org.", ["A.Lee@Example.org"]),
        ("to xa.lee@example.org", []),
        ("to a.lee@example.orga", []),
        ("to @ or a.lee@", []),
        ("@example.org a.lee@example.org", ["a.lee@example.org"]),
    ],
)
def test_an_e_mail_address_is_found_whole(text, found):
    assert said(text, known(mail=("a.lee@example.org", "none", "@"))) == found
