"""CSV and Arrow say what the JSON says; Python's and Arrow's own readers read them."""

import csv
import io
import json
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.api.forms import forms
from server.api.forms.forms import Form, answer_in
from server.api.forms.tables import table_of
from tests.support.data.formed import answer, stored


def arrow(reply):
    table = pa.ipc.open_stream(reply.body).read_all()
    table.validate(full=True)
    return table


def test_json_is_the_bytes_that_are_stored():
    body = stored()
    reply = answer_in(Form.JSON, body)
    assert reply.body == body
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["vary"] == "Accept"
    assert "curator-query-id" not in reply.headers


def test_a_csv_is_read_back_with_its_texts_numbers_and_nulls():
    reply = answer_in(Form.CSV, stored())
    assert reply.headers["content-type"] == "text/csv; charset=utf-8; header=present"
    head, *rows = csv.reader(io.StringIO(reply.body.decode(), newline=""))
    assert head[:2] + head[5:8] == [
        "sex", "day", "patients", "patients_low", "patients_high"
    ]  # fmt: skip
    assert [row[0] for row in rows] == ["F", "", 'a "b", c\n']
    assert [row[3] for row in rows] == ["true", "", "false"]
    assert rows[1][5:8] == ["-7", "-37", "23"]
    assert rows[1][8] == "12345678901234567890.25"


def test_a_csv_tells_null_from_a_text_without_characters():
    rows = [["", 1], [None, 2], [" x", 3]]
    named = [("ward", "group", "text"), ("n", "group", "integer")]
    body = stored(columns=named, rows=rows, noise=[], intervals={})
    assert answer_in(Form.CSV, body).body == b'ward,n\r\n"",1\r\n,2\r\n" x",3\r\n'


def test_arrow_has_dates_as_dates_and_decimals_with_each_digit():
    table = arrow(answer_in(Form.ARROW, stored()))
    types = {field.name: str(field.type) for field in table.schema}
    assert types == {
        "sex": "string", "day": "date32[day]", "at": "timestamp[us]",
        "alive": "bool", "dose": "decimal128(38, 2)",
        "patients": "int64", "patients_low": "int64", "patients_high": "int64",
        "cost": "decimal128(38, 2)", "cost_low": "decimal128(38, 2)",
        "cost_high": "decimal128(38, 2)",
        "mean": "decimal128(38, 7)", "mean_low": "decimal128(38, 1)",
        "mean_high": "decimal128(38, 6)",
        "median": "date32[day]", "median_low": "date32[day]",
        "median_high": "date32[day]",
    }  # fmt: skip
    first, second, third = table.to_pylist()
    assert first["day"] == date(2024, 2, 29)
    assert first["at"] == datetime(2024, 2, 29, 23, 59, 59, 1)  # noqa: DTZ001 - none
    assert (first["alive"], third["alive"]) == (True, False)
    assert third["day"] == date(1969, 12, 31)
    assert second["cost"] == Decimal("12345678901234567890.25")
    assert (first["cost"], third["mean"]) == (Decimal("-0.05"), Decimal("1E-7"))
    assert {second[name] for name in ("sex", "day", "at", "alive", "mean")} == {None}


def test_arrow_carries_what_the_answer_says_of_itself():
    told = arrow(answer_in(Form.ARROW, stored())).schema.metadata
    words = {key.decode(): value.decode() for key, value in told.items()}
    assert words["curator.query_id"] == "q_1"
    assert words["curator.snapshot"] == "s_1"
    assert words["curator.epsilon"] == "0.3"
    assert words["curator.reused"] == "false"
    assert words["curator.confidence"] == "0.95"
    assert words["curator.derivation"] == answer()["derivation"]
    for name in ("noise", "warnings", "columns"):
        assert json.loads(words[f"curator.{name}"]) == answer()[name]
    assert "curator.remaining" not in words


@pytest.mark.parametrize("form", [Form.CSV, Form.ARROW])
def test_headers_say_of_which_answer_the_rows_are(form):
    headers = answer_in(form, stored(), {"Idempotency-Replayed": "true"}).headers
    assert headers["curator-query-id"] == "q_1"
    assert headers["curator-snapshot"] == "s_1"
    assert headers["curator-epsilon"] == "0.3"
    assert headers["curator-confidence"] == "0.95"
    assert headers["curator-warnings"] == "rows_chosen"
    assert headers["idempotency-replayed"] == "true"
    whole = '</v1/queries/q_1>; rel="describedby"; type="application/json"'
    assert headers["link"] == whole


def test_an_answer_of_a_release_names_the_release():
    said = answer(release="rel_1", confidence="0.99")
    del said["query_id"], said["charge"]
    reply = answer_in(Form.CSV, json.dumps(said).encode())
    assert reply.headers["curator-release"] == "rel_1"
    assert reply.headers["curator-epsilon"] == "0"
    assert reply.headers["link"].startswith("</v1/releases/rel_1>;")


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([2**63, -1, None], "decimal128(38, 0)"),
        ([str(10**60), "0.5"], "decimal256(76, 1)"),
        ([str(10**90), "0.5"], "string"),
        (["1e400", None], "string"),
    ],
)
def test_numbers_that_do_not_fit_take_the_next_larger_type(values, type_):
    kind = "integer" if isinstance(values[0], int) else "decimal"
    body = stored(
        columns=[("n", "measure", kind)],
        rows=[[one] for one in values],
        noise=[],
        intervals={},
    )
    table = arrow(answer_in(Form.ARROW, body))
    assert str(table.schema.field("n").type) == type_
    found = [None if one is None else Decimal(one) for one in table["n"].to_pylist()]
    assert found == [None if one is None else Decimal(str(one)) for one in values]


@pytest.mark.parametrize("form", [Form.CSV, Form.ARROW])
@pytest.mark.parametrize("rows", [[], [[1], [None]]])
def test_no_rows_and_no_columns_are_written_too(form, rows):
    body = stored(columns=[("n", "group", "integer")], rows=rows, intervals={})
    assert answer_in(form, body).body
    assert answer_in(form, stored(columns=[], rows=[], intervals={})).body


def test_a_fault_of_a_form_loses_no_answer(monkeypatch):
    monkeypatch.setattr(forms, "table_of", lambda _: 1 / 0)
    reply = answer_in(Form.ARROW, stored())
    assert reply.body == stored()
    assert reply.headers["content-type"] == "application/json"


TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]))
WHOLE = st.none() | st.integers(-(2**70), 2**70)
EXACT = st.none() | st.decimals(-(10**12), 10**12, places=6).map(str)
DAYS = st.none() | st.dates().map(date.isoformat)
LINES = st.lists(st.tuples(TEXTS, WHOLE, EXACT, DAYS), max_size=20)
NAMED = [
    ("text", "group", "text"),
    ("n", "measure", "integer"),
    ("x", "measure", "decimal"),
    ("day", "group", "date"),
]


@given(LINES)
def test_whatever_an_answer_holds_both_forms_hold(rows):
    noise = [{"column": "n", "half_width_95": "30"}]
    said = answer(columns=NAMED, rows=rows, noise=noise, intervals={})
    body = json.dumps(said).encode()
    table = arrow(answer_in(Form.ARROW, body))
    assert table["text"].to_pylist() == [row[0] for row in rows]
    for place, name in ((1, "n"), (2, "x")):
        got = table[name].to_pylist()
        assert [None if one is None else Decimal(one) for one in got] == [
            None if row[place] is None else Decimal(row[place]) for row in rows
        ]
    assert [
        None if day is None else day.isoformat() for day in table["day"].to_pylist()
    ] == [row[3] for row in rows]
    read = csv.reader(io.StringIO(answer_in(Form.CSV, body).body.decode(), newline=""))
    head, *lines = read
    assert head == [one.name for one in table_of(said)]
    assert [line[0] for line in lines] == [row[0] or "" for row in rows]
    assert [line[1] for line in lines] == [
        "" if row[1] is None else str(row[1]) for row in rows
    ]
