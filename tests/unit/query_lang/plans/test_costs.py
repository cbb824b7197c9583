"""What an answer stores and sends has a public bound, before any charge."""

from datetime import date

import pytest

from privacy.errors import SqlNotAllowedError
from privacy.schema import Column, ColumnType, Dataset, RangeDomain, Table
from query_lang.plans.costs import MAX_NUMBERS, PAID
from tests.support.compiling import compile_query

CELLS = 1_000
NUMBER = ColumnType.INTEGER
STAYS = Table(
    "stays",
    (
        Column("pid", NUMBER, nullable=False),
        Column("bed", NUMBER, nullable=False, domain=RangeDomain(1, CELLS)),
        Column("age", NUMBER, domain=RangeDomain(0, 119)),
    ),
    "pid",
    2,
)
DATASET = Dataset("d", "p", "patient", date(2026, 1, 1), {"stays": STAYS})


def compiled(columns):
    return compile_query(
        f"SELECT bed, {', '.join(columns)} FROM stays GROUP BY bed", DATASET
    )


def test_an_answer_shows_so_many_numbers_and_no_more():
    most = MAX_NUMBERS // CELLS - 1  # beside the key
    columns = [f"COUNT(*) AS n{place}" for place in range(most + 1)]
    shown = compiled(columns[:-1])
    assert CELLS * len(shown.columns) == MAX_NUMBERS
    with pytest.raises(SqlNotAllowedError, match="1,000 times 101") as caught:
        compiled(columns)
    assert caught.value.rule == "answer_size"


def test_what_is_measured_for_a_few_columns_is_bounded_as_well():
    """Ten bins a cell for each of eleven quantiles."""
    columns = [f"QUANTILE(age + {more}, 0.5, 10) AS q{more}" for more in range(11)]
    compiled(columns[:-1])
    with pytest.raises(SqlNotAllowedError, match="1,000 times 110") as caught:
        compiled(columns)
    assert caught.value.rule == "answer_size"


def test_what_was_charged_before_is_answered_however_many_numbers_it_shows():
    columns = ", ".join(f"COUNT(*) AS n{place}" for place in range(101))
    sql = f"SELECT bed, {columns} FROM stays GROUP BY bed"
    with pytest.raises(SqlNotAllowedError):
        compile_query(sql, DATASET)
    paid = compile_query(sql, DATASET, limits=PAID)
    assert CELLS * len(paid.columns) > MAX_NUMBERS


def test_an_answer_shows_so_many_bytes_of_keys_and_no_more():
    """A long text as a key is shown in many cells, and perhaps in many columns."""
    long = "\u00e4\n" * 1_000  # two bytes, as JSON: four
    text = f"CASE WHEN age = 1 THEN '{long}' ELSE 'b' END"
    rows = f"(SELECT bed, {text} AS k FROM stays) AS d"

    def shown(times):
        columns = ", ".join(f"k AS k{place}" for place in range(times))
        sql = f"SELECT bed, {columns}, COUNT(*) AS n FROM {rows} GROUP BY bed, k"
        return compile_query(sql, DATASET)

    assert shown(1).key_bytes == CELLS * (4_004 + 5 + 2 * 48)  # and the beds
    with pytest.raises(SqlNotAllowedError, match="8,000,000 bytes") as caught:
        shown(2)
    assert caught.value.rule == "answer_size"
