"""One time has one form, however it is written, in SQL as in Python."""

import duckdb
import pytest
from duckdb.func import SPECIAL
from duckdb.sqltypes import VARCHAR
from hypothesis import given
from hypothesis import strategies as st

from upstream.id_forms.loose_ids import FUNCTIONS
from upstream.id_forms.moments import moment, moment_sql, moments, moments_sql

AT = "t050624070809"
SAME = [
    "2024-05-06 07:08:09", "2024-05-06t07:08:09.123456z", "20240506T070809Z",
    "20240506070809", "2024/5/6 7:08:09", "6.5.2024, 07:08:09", "5/6/24, 7:08:09 AM",
    "5/6/2024, 7:08:09\u202fa.m.",
    "06-MAY-24 07.08.09.000000 AM", "06MAY2024:07:08:09",
    "Mon, 06 May 2024 07:08:09 +0000",
    "Mon May  6 07:08:09 CEST 2024",
    "Monday, May 6th, 2024 at 7:08:09 am", "6. Mai 2024 07:08:09",
    "07:08:09 06.05.2024",
    "[06/May/2024:07:08:09 +0000]", "2024-05-06_07-08-09",
    "2024-05-06T07:08:09Z[Europe/Berlin]",
    "1714979289", "1714979289000", "1714979289.5",
]  # fmt: skip
NONE = [
    "", "7", "2024-05-06", "07:08:09", "2024-05-06 07:08", "2024-05-06 25:08:09",
    "2024-13-36 07:08:09", "1.2.840.113619.2.55.3.20240506070809.7",
    "12:34:56:78:9a:bc",
    "10.14.20.30",
    "2024-05-06 07:08:00",
]  # fmt: skip


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as connection:
        for name, function in FUNCTIONS.items():
            connection.create_function(
                name, function, [VARCHAR], VARCHAR, null_handling=SPECIAL
            )
        yield connection


def in_sql(connection, text):
    query = f"SELECT {moments_sql('t', since_1970=True)}, {moment_sql('t')}"
    return connection.execute(f"{query} FROM (SELECT ?::VARCHAR AS t)", [text])


@pytest.mark.parametrize("text", SAME)
def test_a_time_has_one_form(connection, text):
    assert moments(text) == [AT]
    assert in_sql(connection, text).fetchone()[0] == AT


@pytest.mark.parametrize("text", NONE)
def test_days_clocks_and_minutes_are_no_times_to_the_second(connection, text):
    assert moments(text) == []
    assert in_sql(connection, text).fetchone()[0] == ""


def test_a_time_with_an_offset_is_one_as_written_and_one_in_utc():
    assert moments("2024-05-06T09:08:09+02:00") == ["t050624090809", AT]
    assert moments("06.05.2024 01:38:09 -0530")[1:] == [AT]
    assert moments("2024-05-06T09:08:09+99:99")  # no offset there is, and no error


def test_whole_texts_are_days_or_times(connection):
    for text in ("2024-05-06", "6/5/2024", "06.05.24", "2024-05-06T00:00:00Z"):
        assert moment(text) == "t050624"
        assert in_sql(connection, text).fetchone()[1] == "t050624"
    assert moment("06.05.24 7:08") == "t050624070800"
    assert moment("ward 7") == moment("5-6") == ""


@pytest.mark.long
@given(text=st.text(st.sampled_from("0123456789 -:./TZ+apmay,_"), max_size=40))
def test_no_text_is_an_error_and_iso_is_read_alike(connection, text):
    found = in_sql(connection, text).fetchone()
    assert found[0] in {"", "\n".join(moments(text))}
    assert found[1] in {"", moment(text)}
