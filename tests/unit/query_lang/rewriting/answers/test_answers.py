"""Aggregates of several tables, and of groups, are one question."""

# ruff: noqa: E501 - a text is one string, to be read

import pytest

from privacy.errors import QueryError
from tests.golden.reference_pages import hospital
from tests.support.compiling import compile_query

STEPS = "SELECT {} AS step, COUNT(DISTINCT patient_id) AS n FROM {} {}"
ALL, DM = (
    STEPS.format("'all'", "encounters", ""),
    STEPS.format("'dm'", "diagnoses", "WHERE code LIKE 'E11%'"),
)
MEAN = "SELECT AVG(n) AS mean FROM (SELECT year, COUNT(*) AS n FROM encounters GROUP BY year) AS y"


def compiled(sql):
    return compile_query(sql, hospital())


def refusal(sql):
    with pytest.raises(QueryError) as caught:
        compiled(sql)
    return caught.value.rule


def test_steps_of_a_cohort_are_one_column_of_one_answer():
    found = compiled(f"{ALL} UNION ALL {DM}")
    assert found.rendered.cells == (("all",), ("dm",))
    assert [m.sensitivity.l1 for m in found.measures] == [2]


def test_union_means_union_all_where_a_literal_tells_rows_apart():
    assert (
        compiled(f"{ALL} UNION {DM}").canonical
        == compiled(f"{ALL} UNION ALL {DM}").canonical
    )


def test_a_second_label_makes_no_cells_of_its_own():
    one, other = (
        ALL.replace("SELECT", "SELECT 1 AS nr,"),
        DM.replace("SELECT", "SELECT 2 AS nr,"),
    )
    found = compiled(f"{one} UNION ALL {other} ORDER BY nr DESC LIMIT 1")
    assert len(found.rendered.cells) == 2
    assert found.presentation.limit == 1


@pytest.mark.parametrize(
    "sql",
    [
        f"{ALL} UNION ALL {ALL}",  # two rows that nothing tells apart
        "SELECT COUNT(*) FROM labs UNION ALL SELECT COUNT(*) FROM patients",
        f"{ALL} INTERSECT {DM}",
        f"{ALL} EXCEPT {DM}",
        "SELECT 'a' AS what, COUNT(*) AS n FROM labs UNION ALL SELECT 'b', AVG(age) FROM encounters",
        "SELECT 'a' AS what, age FROM encounters UNION ALL SELECT 'b', age FROM encounters",
        f"{ALL} HAVING COUNT(*) > 3 UNION ALL {DM}",
        "SELECT sex AS what, COUNT(*) AS n FROM patients UNION ALL SELECT 'all', COUNT(*) FROM patients",
    ],
)
def test_answers_that_do_not_fit_are_refused(sql):
    assert refusal(sql) == "set_operation"


def test_counts_of_two_tables_cost_what_each_costs():
    found = compiled(
        "SELECT (SELECT COUNT(DISTINCT patient_id) FROM labs) * 1.0 / (SELECT COUNT(DISTINCT patient_id) FROM encounters) AS share"
    )
    assert [m.sensitivity.l1 for m in found.measures] == [1, 1]


def test_a_table_of_one_row_is_a_total_in_brackets():
    crossed = compiled(
        "WITH a AS (SELECT COUNT(*) AS n FROM labs), b AS (SELECT COUNT(*) AS n FROM encounters) SELECT a.n * 1.0 / b.n AS share FROM a CROSS JOIN b"
    )
    bracketed = compiled(
        "SELECT (SELECT COUNT(*) AS n FROM labs) * 1.0 / (SELECT COUNT(*) AS n FROM encounters) AS share"
    )
    assert crossed.canonical == bracketed.canonical


@pytest.mark.parametrize(
    ("keys", "order"),
    [
        ("department, t.total", ""),
        ("1, total", "ORDER BY 100.0 * COUNT(*) / total"),
        ("t.total, 1", "ORDER BY 100.0 * COUNT(*) / t.total"),
    ],
)
def test_a_total_beside_groups_is_no_key_of_theirs(keys, order):
    shown = "department, 100.0 * COUNT(*) / {} AS pct FROM encounters"
    total = "(SELECT COUNT(*) AS total FROM encounters)"
    crossed = compiled(
        f"WITH t AS {total} SELECT {shown.format('t.total')} CROSS JOIN t GROUP BY {keys} {order}"
    )
    last = order.replace("t.total", "total").replace("total", total)
    bracketed = compiled(f"SELECT {shown.format(total)} GROUP BY department {last}")
    assert crossed.canonical == bracketed.canonical
    assert crossed.presentation == bracketed.presentation


def test_an_average_of_groups_is_a_window_over_them():
    found = compiled(MEAN)
    assert [column.name for column in found.columns] == ["mean"]
    assert found.measures[0].sensitivity.l1 == 20  # of COUNT(*), not of an average
    assert found.presentation.limit == 1


COHORT = "WITH old AS (SELECT DISTINCT patient_id FROM encounters WHERE age >= 60), ill AS (SELECT DISTINCT patient_id FROM labs WHERE abnormal)"


@pytest.mark.parametrize(
    ("step", "bound"),
    [
        ("SELECT patient_id FROM old", 2),
        ("SELECT old.patient_id FROM old JOIN ill USING (patient_id)", 2),
        ("SELECT patient_id FROM old LEFT JOIN ill USING (patient_id)", 2),
        ("SELECT patient_id FROM old JOIN labs USING (patient_id)", 41),
    ],
)
def test_a_step_with_one_row_a_patient_counts_patients(step, bound):
    tables = f"{COHORT}, kept AS ({step}), again AS (SELECT patient_id FROM kept)"
    found = compiled(
        f"{tables} SELECT 1 AS nr, COUNT(*) AS n FROM old UNION ALL SELECT 2, COUNT(*) FROM again"
    )
    assert [m.sensitivity.l1 for m in found.measures] == [bound]


OF_TOTAL = "WITH t AS (SELECT COUNT(*) AS n FROM encounters) SELECT {} FROM encounters CROSS JOIN t"


def test_the_greatest_of_one_total_is_that_total():
    shown, keys = "department, COUNT(*) / {} AS share", " GROUP BY department"
    of_one = OF_TOTAL.format(shown.format("MAX(t.n)")) + keys
    assert (
        compiled(of_one).canonical
        == compiled(OF_TOTAL.format(shown.format("t.n")) + keys + ", t.n").canonical
    )


@pytest.mark.parametrize(
    ("shown", "keys"),
    [
        ("department, COUNT(*) / SUM(t.n) AS share", " GROUP BY department"),
        ("department, COUNT(*) / COUNT(t.n) AS share", " GROUP BY department"),
        (
            "department, COUNT(*) / MAX(t.n) FILTER (WHERE age > 60) AS share",
            " GROUP BY department",
        ),
        ("COUNT(*) / MAX(t.n) AS share", " WHERE age > 60"),
    ],
)
def test_other_aggregates_of_a_total_are_refused(shown, keys):
    assert refusal(OF_TOTAL.format(shown) + keys) == "scalar_subquery"


STAYED = "UNION ALL SELECT 'stayed', COUNT(DISTINCT patient_id) FROM encounters"
STEP = "SELECT 'all' AS step, COUNT(*) AS n FROM {} " + STAYED


@pytest.mark.parametrize(
    "table",
    [
        "patients",
        "patients p WHERE sex = 'F'",
        "patients p JOIN (SELECT DISTINCT patient_id FROM labs) AS l ON l.patient_id = p.patient_id",
        "(SELECT patient_id FROM labs GROUP BY patient_id) AS l JOIN patients p USING (patient_id)",
    ],
)
def test_rows_of_a_table_with_one_a_patient_are_patients_beside_others(table):
    rows, patients = STEP.format(table), STEP.replace("(*)", "(DISTINCT patient_id)")
    if "JOIN" not in table:
        assert compiled(rows).canonical == compiled(patients.format(table)).canonical
    assert [m.sensitivity.l1 for m in compiled(rows).measures] == [2]


@pytest.mark.parametrize(
    "sql",
    [
        STEP.format("labs"),
        STEP.format("patients p JOIN labs l ON l.patient_id = p.patient_id"),
        STEP.format("patients").replace("DISTINCT patient_id", "DISTINCT department"),
        STEP.format("patients") + " UNION ALL SELECT 'ill', COUNT(*) FROM labs",
        "SELECT 'all' AS step, COUNT(*) AS n FROM patients UNION ALL SELECT 'sexes', COUNT(DISTINCT sex) FROM patients",
    ],
)
def test_rows_beside_patients_are_refused_where_a_patient_may_have_several(sql):
    with pytest.raises(QueryError) as refused:
        compiled(sql)
    assert refused.value.rule in {"set_operation", "unknown_column"}
    if refused.value.rule == "set_operation":
        assert "count alike in each" in refused.value.hint


BY_WARD = "SELECT department AS d, COUNT(*) AS n FROM encounters GROUP BY department"


@pytest.mark.parametrize(
    "sql",
    [
        f"{BY_WARD} UNION ALL SELECT 'surgery', COUNT(*) FROM encounters",
        f"{BY_WARD} UNION SELECT 'other', COUNT(*) FROM labs",
        f"SELECT 'surgery' AS d, COUNT(*) AS n FROM labs UNION ALL {BY_WARD}",
        "SELECT COALESCE(discharged_to, 'none') AS d, COUNT(*) AS n FROM encounters GROUP BY 1 UNION ALL SELECT 'none', COUNT(*) FROM labs",
        "SELECT year AS d, COUNT(*) AS n FROM encounters GROUP BY year UNION ALL SELECT 2020, COUNT(*) FROM labs",
        "SELECT 1 AS nr, COUNT(*) AS n FROM patients UNION ALL SELECT 1.0, COUNT(*) FROM labs",
    ],
)
def test_a_label_that_is_a_group_of_another_answer_is_refused(sql):
    assert refusal(sql) == "set_operation"


@pytest.mark.parametrize(
    ("sql", "cells"),
    [
        (f"{BY_WARD} UNION ALL SELECT 'all', COUNT(*) FROM encounters", 9),
        (
            BY_WARD.replace("SELECT", "SELECT 1 AS part,")
            + " UNION ALL SELECT 2, 'surgery', COUNT(*) FROM encounters",
            16,
        ),
    ],
)
def test_a_label_that_is_no_group_stands_beside_them(sql, cells):
    assert len(compiled(sql).rendered.cells) == cells


def test_where_without_a_table_is_refused():
    sql = "SELECT (SELECT COUNT(*) FROM patients) * 1.0 / (SELECT COUNT(*) FROM encounters) AS r WHERE {}"
    assert refusal(sql.format("1 = 0")) == "from_clause"
    of_names = "WITH n AS (SELECT COUNT(*) AS k FROM patients), m AS (SELECT COUNT(*) AS k FROM labs) SELECT n.k AS a, m.k AS b FROM n CROSS JOIN m WHERE n.k > 5"
    assert refusal(of_names) == "from_clause"


@pytest.mark.parametrize(
    ("shown", "codes"),
    [
        ("AVG(n)", ["empty_cells"]),
        ("MIN(n)", ["empty_cells"]),
        ("MAX(n)", []),
        ("SUM(n)", []),
    ],
)
def test_groups_without_rows_are_told_of_where_they_change_a_number(shown, codes):
    found = compiled(MEAN.replace("AVG(n)", shown))
    assert [warning.code for warning in found.warnings] == codes


def test_an_average_of_patients_stays_one_of_their_roll_ups():
    sql = MEAN.replace("year", "patient_id")
    assert compiled(sql).columns[0].shown != compiled(MEAN).columns[0].shown


@pytest.mark.parametrize(
    "sql",
    [
        MEAN.replace("AVG(n)", "COUNT(*)"),
        MEAN.replace("AVG(n)", "STDDEV(n)"),
        MEAN + " HAVING AVG(n) > 3",
    ],
)
def test_other_aggregates_of_groups_are_refused(sql):
    assert refusal(sql) == "group_by_unit"


def test_string_agg_is_which_of_some_values_a_patient_has():
    sql = "SELECT d, COUNT(*) AS n FROM (SELECT patient_id, STRING_AGG(DISTINCT drug, '/' ORDER BY drug DESC) AS d FROM prescriptions WHERE drug IN ('insulin', 'metformin') GROUP BY patient_id) AS s GROUP BY d"
    found = compiled(sql)
    assert {cell[0] for cell in found.rendered.cells} == {
        "metformin/insulin",
        "metformin",
        "insulin",
    }


@pytest.mark.parametrize(
    "call",
    [
        "STRING_AGG(drug, '+')",
        "STRING_AGG(DISTINCT drug, '+' ORDER BY started)",
        "STRING_AGG(DISTINCT days_supply, '+')",
        "STRING_AGG(DISTINCT drug, '+') OVER (PARTITION BY patient_id)",
    ],
)
def test_string_agg_of_what_nobody_named_is_refused(call):
    sql = f"SELECT d, COUNT(*) FROM (SELECT patient_id, {call} AS d FROM prescriptions WHERE drug IN ('a', 'b') GROUP BY patient_id) AS s GROUP BY d"
    assert refusal(sql) == "aggregate"


def test_literals_one_above_the_other_are_no_answers():
    """They were taken for a stack of answers, of which there were none."""
    with pytest.raises(QueryError):
        compiled("SELECT 1 UNION ALL SELECT 2")
