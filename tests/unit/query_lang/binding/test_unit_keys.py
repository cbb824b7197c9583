"""Unit keys hold the owner or NULL, and nothing else: what the proofs rest on."""

import pytest

from privacy.contributions import NO_BOUNDS
from privacy.errors import SqlNotAllowedError
from tests.semantics import hospital
from tests.support.compiling import compile_query


def refused_rule(sql):
    with pytest.raises(SqlNotAllowedError) as refusal:
        compile_query(sql, hospital.DATASET, NO_BOUNDS)
    return refusal.value.rule


def test_using_within_exists_never_takes_a_unit_key_of_the_outer_query():
    """Else rows of strangers meet the outer patient: 3 moved where 1 was stated."""
    sql = (
        "SELECT COUNT(*) FROM patients o WHERE EXISTS (SELECT * FROM "
        "(SELECT patient_id AS p, ward FROM encounters) x "
        "JOIN labs b USING (patient_id) "
        "WHERE b.patient_id = o.patient_id AND x.ward = 'icu')"
    )
    assert refused_rule(sql) == "using"


def test_on_within_exists_never_takes_a_unit_key_of_the_outer_query():
    sql = (
        "SELECT COUNT(*) FROM patients o WHERE EXISTS (SELECT * FROM encounters x "
        "JOIN labs b ON b.patient_id = o.patient_id "
        "WHERE x.patient_id = o.patient_id)"
    )
    with pytest.raises(Exception, match="nothing in FROM is called o"):
        compile_query(sql, hospital.DATASET, NO_BOUNDS)


def test_a_roll_up_never_shows_a_nullable_unit_key_as_its_own():
    sql = (
        "SELECT COUNT(DISTINCT x.u) FROM (SELECT b.patient_id AS u, COUNT(*) AS n "
        "FROM patients a LEFT JOIN labs b ON a.patient_id = b.patient_id "
        "GROUP BY a.patient_id) x"
    )
    assert refused_rule(sql) == "nullable_unit_key"


def test_exists_over_private_tables_without_a_tie_is_refused():
    sql = (
        "SELECT COUNT(*) FROM patients p WHERE EXISTS "
        "(SELECT 1 FROM labs l WHERE l.ward = p.region)"
    )
    assert refused_rule(sql) == "subquery_tie"
