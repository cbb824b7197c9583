# ruff: noqa: E501 - a text is one string, to be read

"""NATURAL JOIN is USING all names that both sides have, and is refused where unsure."""

import pytest

from privacy.contributions import NO_BOUNDS
from privacy.errors import QueryError
from query_lang.binding.bind import bind_query
from query_lang.reading.parse import parse_query
from query_lang.syntax.wire import from_json, to_json
from tests.golden.reference_pages import hospital

A = "SELECT COUNT(*) AS n FROM "
SAME = (
    (
        "encounters e NATURAL JOIN patients p",
        "encounters e JOIN patients p USING (patient_id)",
    ),
    (
        "patients NATURAL INNER JOIN diagnoses",
        "patients INNER JOIN diagnoses USING (patient_id)",
    ),
    (
        "encounters NATURAL LEFT OUTER JOIN diagnoses",
        "encounters LEFT JOIN diagnoses USING (patient_id, encounter_id)",
    ),
    (
        "encounters NATURAL JOIN diagnoses NATURAL LEFT JOIN patients",
        "encounters JOIN diagnoses USING (patient_id, encounter_id) LEFT JOIN patients USING (patient_id)",
    ),
    (
        "patients p NATURAL JOIN (SELECT patient_id, birth_year FROM patients) AS q",
        "patients p JOIN (SELECT patient_id, birth_year FROM patients) AS q USING (patient_id, birth_year)",
    ),
    (
        "patients WHERE EXISTS (SELECT 1 FROM encounters e NATURAL JOIN diagnoses WHERE e.patient_id = patients.patient_id)",
        "patients WHERE EXISTS (SELECT 1 FROM encounters e JOIN diagnoses USING (patient_id, encounter_id) WHERE e.patient_id = patients.patient_id)",
    ),
    (
        "(SELECT * FROM encounters NATURAL JOIN patients) AS t WHERE sex = 'F'",
        "(SELECT * FROM encounters JOIN patients USING (patient_id)) AS t WHERE sex = 'F'",
    ),
)
REFUSED = (
    ("encounters NATURAL RIGHT JOIN patients", "natural_join"),
    ("encounters NATURAL FULL JOIN patients", "natural_join"),
    # after a comma SQL means the names of the last table alone
    (
        "encounters e, diagnoses d NATURAL JOIN patients WHERE e.patient_id = d.patient_id",
        "natural_join",
    ),
    (
        "patients CROSS JOIN (SELECT COUNT(*) AS sex FROM labs) AS t NATURAL JOIN encounters",
        "natural_join",
    ),
    (
        "patients JOIN (SELECT COUNT(*) AS sex FROM labs) AS t ON TRUE NATURAL JOIN encounters",
        "natural_join",
    ),
    (
        "patients p NATURAL JOIN (SELECT patient_id AS id, age FROM encounters) AS t",
        "natural_join",
    ),
    ("patients NATURAL JOIN (SELECT COUNT(*) AS n FROM labs) AS t", "aggregate_place"),
    ("(SELECT COUNT(*) AS n FROM labs) AS t NATURAL JOIN patients", "aggregate_place"),
    # a name that two tables before it have
    (
        "patients p JOIN encounters e ON e.patient_id = p.patient_id NATURAL JOIN labs",
        "ambiguous_name",
    ),
    ("encounters NATURAL JOIN (VALUES ('F')) AS t(sex)", "constant_rows"),
    (
        "encounters NATURAL JOIN patients JOIN (VALUES ('F')) AS t(sex) USING (sex)",
        "constant_rows",
    ),
)


def plan(text):
    tree = from_json(to_json(parse_query(A + text)))
    return bind_query(tree, hospital(), NO_BOUNDS).plan


@pytest.mark.parametrize(("natural", "using"), SAME)
def test_it_is_using_all_names_that_both_sides_have(natural, using):
    assert plan(natural) == plan(using)


@pytest.mark.parametrize(("text", "rule"), REFUSED)
def test_it_is_refused_where_its_names_are_not_sure(text, rule):
    with pytest.raises(QueryError) as refused:
        plan(text)
    assert refused.value.rule == rule
