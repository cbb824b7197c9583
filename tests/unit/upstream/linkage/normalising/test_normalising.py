"""Whatever is written, it becomes a value that can be compared, or none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.upstream.linkage.scoring.records import database_of, spec_of
from upstream.linkage.declared import LinkageSpec
from upstream.linkage.normalising.normalising import normalise

KINDS = (
    *("name", "full_name", "date", "phone", "email", "id", "address", "place", "code"),
    *("category", "number"),
)


def normal(kind, *texts, **declared):
    spec = LinkageSpec(fields={"field": {"kind": kind, **declared}})
    connection = database_of([{"field": text} for text in texts], ["field"])
    normalise(connection, spec, "made")
    found = connection.execute("SELECT field FROM made ORDER BY number").fetchall()
    return [value for (value,) in found]


@pytest.mark.parametrize("kind", KINDS)
def test_what_says_that_nothing_is_known_is_missing(kind):
    texts = ["", " ", "-", "--", "N/A", "n.a.", "unknown", "UNKNOWN", "NULL", "?", "NA"]
    assert normal(kind, *texts, None) == [None] * (len(texts) + 1)


def test_na_is_a_surname_unless_a_program_wrote_it():
    assert normal("name", "Na", "NA") == ["na", None]


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("name", ["Müller", "Mueller", "MULLER", " muller\t", "M\u0075\u0308ller"]),
        ("name", ["O'Brien", "O\u2019BRIEN", "obrien", "O\u200bBrien"]),
        ("name", ["Anne-Marie", "anne marie", "Mrs. Anne Marie", "Annemarie"]),
        ("full_name", ["Smith, John", "John Smith", "Dr. John  SMITH"]),
        ("date", ["1948-09-30", "19480930", "30/9/1948", "30 September 1948"]),
        ("date", ["1948-09-30T00:00:00", "1948-09-30 00:00", "1948-9-30"]),
        ("code", ["SW1A 1AA", "sw1a1aa", "SW1A-1AA"]),
        ("id", ["000-123-45", "12345", "123 45"]),
        ("address", ["12 High St.", "12 high street", "12, High Street"]),
        ("email", ["A.B@x.org", "mailto:a.b@X.ORG"]),
        ("number", ["1,5", "1.50"]),
    ],
)
def test_ways_to_write_one_value_are_one(kind, texts):
    assert len(set(normal(kind, *texts))) == 1
    assert normal(kind, texts[0]) != [None]


def test_phone_numbers_lose_zeros_in_front_and_extensions():
    texts = ["+44 (0)20 7946 0958", "0044 20 7946 0958 ext. 12", "123"]
    assert normal("phone", *texts) == ["442079460958", "442079460958", None]


def test_an_order_says_which_of_two_dates_is_meant():
    assert normal("date", "3/5/1948", "03051948") == [None, "03051948"]
    declared = {"order": "day_first"}
    assert normal("date", "3/5/1948", "03051948", **declared) == ["19480503"] * 2


def test_dates_that_are_mistyped_keep_their_digits():
    assert normal("date", "19481330", "1948-13-30", "soon") == ["19481330"] * 2 + [None]


def test_a_category_is_what_its_map_says():
    found = normal("category", "F", " female", "Frau", "m", map={"F": "female"})
    assert found == ["female", "female", "frau", "m"]


def test_an_id_of_one_digit_over_and_over_is_none():
    assert normal("id", "9999999", "0000", "9999991") == [None, None, "9999991"]


def test_values_that_are_sql_stay_values():
    text = "x'); DROP TABLE record; --"
    assert normal("name", text) == ["xdroptablerecord"]
    assert normal("category", text, map={"'; --": "'"}) == ["x drop table record"]


def test_long_values_are_cut():
    assert len(normal("name", "a" * 100_000)[0]) == 200


@pytest.mark.long
@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=20))
def test_any_text_of_any_kind_has_a_value_or_none(texts):
    fields = {f"of_{kind}": kind for kind in KINDS}
    texts = [
        text.replace("\x00", "").encode("utf-8", "ignore").decode() for text in texts
    ]
    rows = [dict.fromkeys(fields, text) for text in texts]
    connection = database_of(rows, fields)
    normalise(connection, spec_of(fields), "made")
    assert len(connection.execute("FROM made").fetchall()) == len(texts)
