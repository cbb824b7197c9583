"""Values in brackets that belong to each row; what they find: test_plain_sql.py."""

import pytest

from privacy.errors import QueryError
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

OF = "FROM encounters e WHERE e.patient_id = p.patient_id"


def refusal(sql):
    with pytest.raises(QueryError) as caught:
        compile_query(sql, HOSPITAL)
    return caught.value


def same(one, other):
    found, wanted = compile_query(one, HOSPITAL), compile_query(other, HOSPITAL)
    return found.rendered == wanted.rendered


def test_a_count_is_a_left_join_of_a_roll_up():
    sql = f"SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) {OF}) >= 3"
    joined = (
        "SELECT COUNT(*) FROM patients p LEFT JOIN (SELECT patient_id, COUNT(*) AS n "
        "FROM encounters GROUP BY patient_id) AS e ON e.patient_id = p.patient_id "
        "WHERE COALESCE(e.n, 0) >= 3"
    )
    assert same(sql, joined)


def test_the_same_brackets_twice_are_one_join():
    value = f"(SELECT COUNT(*) {OF})"
    sql = f"SELECT COUNT(*) FROM patients p WHERE {value} > 3 OR {value} = 0"
    compiled = compile_query(sql, HOSPITAL)
    assert compiled.rendered.statements[0].sql.count("JOIN") == 1


TWO = (
    "SELECT COUNT(*) FROM patients p WHERE (SELECT {shown} FROM encounters e WHERE "
    "{tied}) {compared}"
)
ONE = "SELECT COUNT(*) FROM encounters e WHERE age > (SELECT {rest})"


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        (
            TWO.format(
                shown="ward", tied="e.patient_id = p.patient_id", compared="= 'north'"
            ),
            "take the first",
        ),
        (
            TWO.format(
                shown="level", tied="e.patient_id = p.patient_id", compared="IS NULL"
            ),
            "take the first",
        ),
        (
            TWO.format(shown="COUNT(*)", tied="e.ward = p.region", compared="> 2"),
            "x.patient_id = p.patient_id",
        ),
        (
            ONE.format(
                rest="COUNT(DISTINCT age) FROM encounters x WHERE x.patient_id = "
                "e.patient_id AND x.admitted < e.admitted"
            ),
            "FROM encounters GROUP BY patient_id) AS x ON x.patient_id = e.patient_id",
        ),
        (ONE.format(rest="AVG(age) FROM encounters"), "its number written"),
        (
            ONE.format(rest="age FROM encounters ORDER BY age LIMIT 1"),
            "its number written",
        ),
    ],
)
def test_what_is_no_value_of_each_row_is_refused(sql, hint):
    found = refusal(sql)
    assert found.rule == "scalar_subquery"
    assert hint in found.hint


def test_a_star_beside_brackets_shows_the_tables_that_were_written():
    sql = (
        "SELECT region, COUNT(*) FROM (SELECT *, (SELECT COUNT(*) "
        f"{OF}) AS n FROM patients p) AS t WHERE n > 1 GROUP BY region"
    )
    assert compile_query(sql, HOSPITAL).columns
    shown = sql.replace("SELECT region", "SELECT brought")
    assert refusal(shown.replace("BY region", "BY brought")).rule == "unknown_column"


EARLIER = (
    "FROM encounters x WHERE x.patient_id = e.patient_id AND x.admitted < e.admitted"
)


@pytest.mark.parametrize(
    "value", ["COUNT(*)", "MIN(x.age)", "SUM(x.visits)", "1 + COUNT(x.age)", "AVG(age)"]
)
def test_rows_that_a_condition_pairs_with_each_multiply_none(value):
    sql = f"SELECT COUNT(*) FROM encounters e WHERE (SELECT {value} {EARLIER}) > 2"
    (measure,) = compile_query(sql, HOSPITAL).measures
    assert measure.sensitivity.l1 == 4  # as many stays as a patient may have


def test_a_count_of_rows_met_is_no_more_than_a_patient_has():
    sql = (
        "SELECT n, COUNT(*) FROM encounters e CROSS JOIN LATERAL (SELECT COUNT(*) AS n "
        f"{EARLIER}) AS t GROUP BY n"
    )
    compiled = compile_query(sql, HOSPITAL)
    assert len(compiled.rendered.cells) == 5  # from 0 to 4


@pytest.mark.parametrize(
    "inside",
    [
        f"SELECT age AS n {EARLIER}",
        f"SELECT COUNT(*) AS n {EARLIER} HAVING COUNT(*) > 1",
        f"SELECT COUNT(*) AS n {EARLIER} GROUP BY x.age",
        f"SELECT COUNT(*) AS n, x.age {EARLIER}",
        "SELECT COUNT(*) AS n FROM encounters x",
        "SELECT COUNT(*) * 2 AS n FROM encounters WHERE admitted < seen",
    ],
)
def test_lateral_has_one_row_or_aggregates_alone(inside):
    sql = f"SELECT COUNT(*) FROM encounters e CROSS JOIN LATERAL ({inside}) AS t"
    assert refusal(f"{sql} WHERE t.n > 1").rule == "lateral_join"
