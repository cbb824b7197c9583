"""Answers as tables of other libraries: days as days; Arrow as the wire has it."""

import json
from datetime import date

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_client import Answer, Dataset, Plan, ReleaseAnswer
from server.api.forms.forms import Form, answer_in
from tests.support.data.formed import answer


def wired(said):
    """Return the table that a server sends of an answer."""
    body = answer_in(Form.ARROW, json.dumps(said).encode()).body
    return pa.ipc.open_stream(body).read_all()


def assert_is_the_wires(ours, said):
    theirs = wired(said)
    assert ours.schema.equals(theirs.schema, check_metadata=True)
    assert ours.equals(theirs)


@pytest.mark.parametrize(
    "said",
    [
        answer(),
        answer(rows=[], intervals={"mean": [], "median": []}),
        answer(warnings=[], release={"kind": "release", "id": "rel_1"}),
    ],
)
def test_to_arrow_is_the_table_that_the_server_sends(said):
    assert_is_the_wires(Answer(said).to_arrow(), said)


def test_a_releases_answer_has_its_half_widths_and_its_confidence():
    told = [{"column": "n", "confidence": "0.99", "rows": ["1", "2.5"]}]
    more = [{"column": "n", "rows": ["0", "4"]}]
    said = answer(
        columns=[("n", "measure", "integer"), ("n_low", "group", "text")],
        rows=[[5, "a"], [6, None]],
        intervals={},
        noise=[],
        half_widths=told,
        undecided=more,
        release="rel_1",
    )
    del said["query_id"], said["charge"]
    table = ReleaseAnswer(said).to_arrow()
    assert table.column_names == ["n", "n_low_2", "n_high", "n_undecided", "n_low"]
    assert table.schema.metadata[b"curator.confidence"] == b"0.99"
    assert_is_the_wires(table, said)


WHOLE = st.none() | st.integers(-(2**70), 2**70)
EXACT = st.none() | st.decimals(-(10**12), 10**12, places=6).map(str)


@given(st.lists(st.tuples(WHOLE, EXACT), max_size=9), st.sampled_from(["3", "0.25"]))
def test_whatever_the_numbers_are_both_tables_are_one(rows, width):
    noise = [{"column": name, "half_width_95": width} for name in ("n", "x")]
    named = [("n", "measure", "integer"), ("x", "measure", "decimal")]
    said = answer(columns=named, rows=rows, noise=noise, intervals={})
    assert_is_the_wires(Answer(said).to_arrow(), said)


def test_pandas_has_days_and_times_as_such():
    frame = Answer(answer()).to_pandas()
    assert str(frame["day"].dtype) == "datetime64[s]"
    assert str(frame["at"].dtype) == "datetime64[us]"
    assert frame["day"][0].date() == date(2024, 2, 29)
    assert frame["at"][0].microsecond == 1
    assert frame["day"].isna().tolist() == [False, True, False]
    assert frame["median_low_95"][0].date() == date(2024, 4, 30)
    assert frame["mean_low_95"].dtype == "float64"


def test_pandas_takes_days_of_other_centuries():
    named = [("day", "group", "date")]
    rows = [["1066-10-14"], ["9999-12-31"]]
    frame = Answer(answer(columns=named, rows=rows, intervals={})).to_pandas()
    assert [day.year for day in frame["day"]] == [1066, 9999]


def test_a_frame_says_what_its_rows_are_of():
    attrs = Answer(answer()).to_pandas().attrs
    assert (attrs["query_id"], attrs["epsilon"]) == ("q_1", "0.3")
    assert (attrs["snapshot"], attrs["scales"]["patients"]) == ("s_1", "10")


def test_a_plan_is_as_wide_as_the_terminal_and_whole_elsewhere(monkeypatch):
    sentence = "one patient moves it by at most 1 and " * 9
    document = {
        "epsilon": "0.1", "affordable": True, "remaining": {}, "noise": [],
        "derivation": sentence, "free": [],
    }  # fmt: skip
    monkeypatch.setenv("COLUMNS", "60")
    lines = repr(Plan(document)).splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[2].startswith("  ")
    assert str(Plan(document)).splitlines() == lines
    monkeypatch.setenv("COLUMNS", "0")
    assert sentence in str(Plan(document)) == repr(Plan(document))
    assert " ".join(" ".join(lines).split()) == " ".join(str(Plan(document)).split())


def test_numbers_that_are_printed_have_their_thousands_apart():
    shown = str(Answer(answer()))
    assert "10,312 ± 30" in shown
    assert "2024-05-01 (2024-04-30 to 2024-05-03)" in shown
    assert "12,345,678,901,234,567,890.25 ± 0.3" in shown
    noise = [{"column": "n", "half_width_95": "12000"}]
    document = {
        "epsilon": "0.1", "affordable": True, "remaining": {}, "noise": noise,
        "derivation": "", "free": [],
    }  # fmt: skip
    assert "n: ± 12,000 (95 %)" in str(Plan(document))


def test_domains_are_shown_as_a_table():
    column = {"name": "ward", "type": "text", "nullable": True}
    told = {"values": ["north", "south"], "other": True}
    table = {"name": "visits", "columns": [{**column, "domain": told}]}
    found = Dataset({"tables": [table]}).domains("ward")
    assert found[0].values == ["north", "south", "other"]
    first, second = repr(found).splitlines()
    assert first.split() == ["table", "column", "type", "nullable", "domain"]
    assert second.split() == [
        "visits",
        "ward",
        "text",
        "yes",
        "north,",
        "south,",
        "other",
    ]
    assert "<table>" in found._repr_html_()


def test_rows_of_a_listed_table_are_shown():
    regions = {
        "name": "regions",
        "public": True,
        "listed": True,
        "key": ["code"],
        "columns": [{"name": "code"}, {"name": "people"}],
        "rows": [["N", 1000], ["S", None]],
    }
    page = Dataset({"tables": [regions, {"name": "wards", "public": True}]})
    rows = page.rows("regions")
    assert rows.columns == ["code", "people"]
    assert rows.rows == [["N", 1000], ["S", None]]
    with pytest.raises(LookupError, match="no listed table 'wards'"):
        page.rows("wards")
