import duckdb
import pytest

from upstream.id_forms.amounts import amount_sql
from upstream.id_forms.embedded_ids import plain_text

TWENTY = "milligramsperlitrexx"


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as connection:
        connection.create_function(
            "plain_text", plain_text, ["VARCHAR"], "VARCHAR", null_handling="special"
        )
        yield connection


def amount(connection, text):
    return connection.execute(f"SELECT {amount_sql('t')} FROM (SELECT ? AS t)", [text])


@pytest.mark.parametrize(
    "text",
    [
        *("1234.56", "1,234.56", "1.234,56", "1'234.56 CHF", "1 234,56", "$1234.56"),
        *("(1234.56)", "-1234.56", "≤ 1234,56 µmol/l", "1234.56 €", "\uff11234.56"),
        *(f"1234.56{TWENTY}", f"1234.56 {TWENTY})"),
    ],
)
def test_an_amount_is_one_plain_number_however_it_is_written(connection, text):
    assert amount(connection, text).fetchone() == ("1234.56",)


def test_an_amount_in_powers_of_ten_is_a_number_with_decimals(connection):
    assert amount(connection, "1.23456E+03").fetchone()[0].startswith("1234.56")


@pytest.mark.parametrize(
    "text",
    [
        *("1234", "E11.9", "no number", "1.5 2.5", "", "1.5 m2"),
        *(f"1234.56{TWENTY}x", f"1234.56 {TWENTY}x", f"1234.56{TWENTY}x)"),
    ],
)
def test_a_code_and_a_number_with_many_words_behind_it_are_no_amounts(connection, text):
    assert amount(connection, text).fetchone() == ("",)
