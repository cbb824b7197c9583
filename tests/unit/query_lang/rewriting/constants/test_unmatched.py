"""A literal that stays without a match is counted by nothing that is not refused."""

# ruff: noqa: E501 - a text is one string, to be read

import pytest

from privacy.errors import QueryError
from tests.golden.reference_pages import hospital
from tests.support.compiling import compile_query

FROM = (
    "FROM generate_series(2018, 2027) AS s(y) LEFT JOIN encounters AS e ON e.year = s.y"
)


def compiled(aggregate):
    return compile_query(
        f"SELECT s.y, {aggregate} AS n {FROM} GROUP BY s.y", hospital()
    )


@pytest.mark.parametrize(
    "aggregate",
    [
        "COUNT(e.encounter_id)",
        "COUNT(DISTINCT e.patient_id)",
        "SUM(e.age + s.y)",
        "AVG(e.length_of_stay)",
        "SUM(CASE WHEN e.age > 60 THEN 1 END)",
        "SUM(CASE WHEN e.age > 60 AND s.y > 2020 THEN 1 END)",
        "SUM(CASE WHEN e.age > 60 OR e.age < 20 THEN 1 ELSE NULL END)",
        "SUM(CASE e.department WHEN 'surgery' THEN 1 END)",
        "COUNT(CASE WHEN e.discharged_to IS NOT NULL THEN 1 END)",
        "COUNT(*) FILTER (WHERE e.age > 60)",
        "COUNTIF(e.age > 60)",
        "COUNT(COALESCE(e.discharged_to, e.department))",
        "COUNT(NULLIF(e.department, 'surgery'))",
        "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY e.age)",
        "1000 * COUNT(e.encounter_id) / SUM(COUNT(e.encounter_id)) OVER ()",
        "COUNT(CASE WHEN e.department IN ('surgery', 'oncology') THEN e.patient_id END)",
        "COUNT(CASE WHEN NOT e.age BETWEEN 20 AND 60 THEN e.patient_id END)",
    ],
)
def test_aggregates_that_ignore_null_are_answered(aggregate):
    assert compiled(aggregate).rendered.cells


@pytest.mark.parametrize(
    "aggregate",
    [
        "COUNT(*)",
        "COUNT(1)",
        "COUNT(s.y)",
        "COUNT(y)",
        "SUM(s.y - 2000)",
        "COUNT(COALESCE(e.department, 'x'))",
        "COUNT(GREATEST(e.age, 5))",
        "SUM(CASE WHEN e.age > 60 THEN 0 ELSE 1 END)",
        "SUM(CASE WHEN s.y > 2020 THEN 1 END)",
        "SUM(CASE WHEN e.age > 60 OR s.y > 2020 THEN 1 END)",
        "COUNT(CASE WHEN e.age IS NULL THEN 1 END)",
        "COUNT(*) FILTER (WHERE e.age IS NULL)",
        "COUNT(NULLIF(s.y, e.year))",
        "SUM(IFNULL(e.length_of_stay, 1))",
        "COUNTIF(NOT e.discharged_to IS NOT NULL)",
        "1000 * COUNT(*) / SUM(COUNT(*)) OVER ()",
    ],
)
def test_aggregates_that_would_count_a_literal_are_refused(aggregate):
    with pytest.raises(QueryError) as caught:
        compiled(aggregate)
    assert caught.value.rule == "constant_rows"
