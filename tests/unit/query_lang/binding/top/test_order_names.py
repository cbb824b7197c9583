"""A name of ORDER BY is a column that can be shown, or else what is called so."""

import pytest

from privacy.errors import QueryError
from query_lang.showing.presentation import present
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

BY_WARD = "SELECT ward, {} FROM encounters GROUP BY ward {}"


def shown(text, *vectors):
    return present(compile_query(text, HOSPITAL), list(vectors))


def test_an_alias_is_meant_where_a_column_of_its_name_is_no_key():
    for name in ("age", "visits", "admitted", "patient_id"):
        text = BY_WARD.format(f"COUNT(*) AS {name}", f"ORDER BY {name} DESC")
        rows = shown(text, [3, 9, 5])
        assert [row[1] for row in rows] == [9, 5, 3]


def test_so_is_one_that_two_tables_have_as_a_column():
    text = (
        "SELECT e.ward, {} AS patient_id FROM encounters e JOIN patients p "
        "ON p.patient_id = e.patient_id GROUP BY e.ward ORDER BY patient_id DESC"
    )
    rows = shown(text.format("COUNT(DISTINCT e.patient_id)"), [3, 9, 5])
    assert [row[1] for row in rows] == [9, 5, 3]


def test_so_is_one_of_a_key_that_is_computed_of_its_column():
    text = "SELECT LEFT(ward, 1) AS ward, COUNT(*) FROM encounters GROUP BY 1 {}"
    plain = compile_query(text.format(""), HOSPITAL)
    numbers = [0] * len(plain.rendered.cells)
    up = present(plain, [numbers])
    down = shown(text.format("ORDER BY ward DESC"), numbers)
    assert [row for row in down if row[0]] == [row for row in up[::-1] if row[0]]


@pytest.mark.parametrize(
    "order", ["encounters.age", "age + 1", "nothing", "COUNT(*) + age"]
)
def test_no_other_expression_means_an_alias(order):
    text = BY_WARD.format("COUNT(*) AS age", f"ORDER BY {order}")
    with pytest.raises(QueryError):
        compile_query(text, HOSPITAL)


def test_a_key_goes_before_an_alias_and_is_told():
    said = "SELECT ward AS sex, sex AS s, COUNT(*) FROM encounters GROUP BY 1, 2 "
    found = compile_query(said + "ORDER BY sex", HOSPITAL)
    assert "column_before_alias" in {warning.code for warning in found.warnings}
