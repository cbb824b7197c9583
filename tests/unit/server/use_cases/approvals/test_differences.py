"""What a change alters, line by line, of old and new values."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.use_cases.approvals.changes import Altered
from server.use_cases.approvals.differences import differences

COLUMNS = [{"name": "age", "type": "integer", "domain": {"min": 0, "max": 120}}]
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2)
NAMED = st.dictionaries(st.sampled_from("xy"), SCALARS, max_size=2)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from("klm"), inner, max_size=3)
        | st.lists(NAMED.map(lambda one: {**one, "name": "n"}), max_size=1)
    ),
    max_leaves=8,
)


def test_what_is_new_is_said_whole_and_what_says_nothing_is_left_out():
    told = {"rows": 10, "key": [], "public": False, "columns": COLUMNS}
    assert differences(Altered("clinic.visits", None, told)) == [
        "clinic.visits: new",
        "  rows: 10",
        "  columns: age: type integer, domain (min 0, max 120)",
    ]


def test_of_two_declarations_the_parts_that_differ_are_said():
    wider = [{"name": "age", "type": "integer", "domain": {"min": 0, "max": 130}}]
    old = {"rows": 10, "columns": [*COLUMNS, {"name": "sex", "type": "text"}]}
    new = {"rows": 12, "columns": [*wider, {"name": "day", "type": "date"}]}
    assert differences(Altered("visits", old, new)) == [
        "visits: rows: 10 -> 12",
        "visits: columns: age: domain: max: 120 -> 130",
        "visits: columns: sex: removed",
        "visits: columns: day: new: type date",
    ]


@given(VALUES, VALUES)
def test_nothing_that_differs_is_hidden(old, new):
    lines = differences(Altered("it", old, new))
    assert lines
    assert all(line.strip() for line in lines)
    assert (lines == ["it: as it was"]) == (
        is_said_alike(old, new) and not is_new(old, new)
    )


NOTHING = ("null", "false", '""', "[]", "{}")


def is_new(old, new):
    return old is None and isinstance(new, dict)


def is_said_alike(old, new):
    """Whether two values are the same, but for what says nothing in one of them."""
    if isinstance(old, dict) and isinstance(new, dict):
        return all(
            is_said_alike(old[key], new[key])
            if key in old and key in new
            else json.dumps({**old, **new}[key]) in NOTHING
            for key in {**old, **new}
        )
    if isinstance(old, list) and isinstance(new, list) and are_named(old, new):
        pairs = zip(old, new, strict=True)
        return all(is_said_alike(one, other) for one, other in pairs)
    return json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)


def are_named(*lists):
    return all(
        len(one) == 1 and isinstance(one[0], dict) and "name" in one[0] for one in lists
    )


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ({"null_values": [""]}, {"null_values": []}, 'it: null_values: "" -> []'),
        ({}, {"null_values": []}, "it: null_values: none -> []"),
        ({"files": ["a", "b"]}, {"files": ["a | b"]}, 'it: files: a | b -> "a | b"'),
        ({"of": 5}, {"of": "5"}, 'it: of: 5 -> "5"'),
        (
            "old",
            "new\ncap of people: 5 -> 1",
            'it: old -> "new\\ncap of people: 5 -> 1"',
        ),
        (
            {"columns": [{"name": "a"}, {"name": "b"}]},
            {"columns": [{"name": "b"}, {"name": "a"}]},
            "it: columns: order: a | b -> b | a",
        ),
    ],
)
def test_no_two_values_read_alike(old, new, line):
    assert differences(Altered("it", old, new)) == [line]
