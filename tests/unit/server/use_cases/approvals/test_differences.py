"""What a change alters, line by line, of old and new values."""

import json

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
    if lines == ["it: as it was"]:
        assert json.dumps(said(old)) == json.dumps(said(new))


def said(value):
    """Return a value without what says nothing."""
    if isinstance(value, dict):
        kept = {key: said(held) for key, held in sorted(value.items())}
        return {key: held for key, held in kept.items() if held is not None} or None
    if isinstance(value, list) and value not in ([], [""]):
        return [said(one) for one in value]
    return None if value is False or value in ("", [], [""]) else value
