"""What is named instead of MIN and MAX, which would show one row's value."""

import pytest

from privacy.errors import QueryError
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL


def hint_of(sql):
    with pytest.raises(QueryError) as refused:
        compile_query(sql, HOSPITAL)
    return refused.value.hint


@pytest.mark.parametrize(
    ("end", "named"),
    [
        ("MIN(age)", "QUANTILE(age, 0.01)"),
        ("MAX(admitted)", "QUANTILE(admitted, 0.99)"),
        ("MAX(seen)", "QUANTILE(seen::date, 0.99)"),
        ("MIN(ward)", "QUANTILE(x, 0.01)"),
        ("MIN(age - 1)", "QUANTILE(x, 0.01)"),
        ("MAX(patient_id)", "QUANTILE(x, 0.99)"),
        ("MAX(age - 1)", "QUANTILE(x, 0.99)"),
    ],
)
def test_the_quantile_of_a_column_is_named_of_a_timestamp_that_of_its_day(end, named):
    assert f"such as {named};" in hint_of(f"SELECT {end} FROM encounters")


def test_a_quantile_of_timestamps_is_asked_for_by_the_day():
    said = hint_of("SELECT QUANTILE(seen, 0.99) FROM encounters")
    assert "QUANTILE(arrived::date, 0.99)" in said
