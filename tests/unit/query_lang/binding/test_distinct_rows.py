"""Where units alone are counted, joins are of each unit's different rows."""

# ruff: noqa: E501 - a text is one string, to be read

from privacy.contributions import NO_BOUNDS
from query_lang.binding.bind import bind_query
from query_lang.plans.nodes import Rollup, UnitJoin
from query_lang.reading.parse import parse_query
from tests.golden.reference_pages import hospital

PAIRS = "SELECT a.code AS one, b.code AS other, COUNT({}) AS n FROM diagnoses a JOIN diagnoses b ON a.patient_id = b.patient_id AND a.code < b.code WHERE a.code IN ('E11.9', 'I10') {} GROUP BY 1, 2"
LISTED = "AND b.code IN ('E11.9', 'I10', 'J44.1')"


def plan(sql):
    return bind_query(parse_query(sql), hospital(), NO_BOUNDS).plan


def join_in(node):
    while not isinstance(node, UnitJoin):
        node = node.child
    return node


def test_listed_codes_meet_listed_codes_not_all_rows():
    join = join_in(plan(PAIRS.format("DISTINCT a.patient_id", LISTED)).child)
    assert isinstance(join.left, Rollup)
    assert (join.left.rows_per_unit, join.right.rows_per_unit) == (2, 3)


def test_rows_are_all_kept_where_they_are_counted():
    join = join_in(plan(PAIRS.format("*", LISTED)).child)
    assert (join.left.rows_per_unit, join.right.rows_per_unit) == (80, 80)


def test_a_side_without_a_list_keeps_its_rows():
    sql = "SELECT a.code, COUNT(DISTINCT a.patient_id) FROM diagnoses a JOIN diagnoses b ON a.patient_id = b.patient_id AND b.encounter_id > a.encounter_id WHERE a.code IN ('E11.9', 'I10') GROUP BY 1"
    join = join_in(plan(sql).child)
    assert (join.left.rows_per_unit, join.right.rows_per_unit) == (80, 80)


def test_small_joins_stay_as_they_are_written():
    sql = "SELECT p.sex, COUNT(DISTINCT e.patient_id) FROM encounters e JOIN patients p ON p.patient_id = e.patient_id WHERE p.sex = 'F' GROUP BY 1"
    join = join_in(plan(sql).child)
    assert not isinstance(join.left, Rollup)
    assert not isinstance(join.right, Rollup)


def test_parts_of_a_union_are_one_row_a_unit():
    days = ", ".join(f"({n})" for n in range(0, 60, 5))
    sql = f"SELECT v.n, COUNT(DISTINCT e.patient_id) FROM prescriptions e JOIN (VALUES {days}, (1), (2), (3), (4), (6), (7), (8), (9), (11), (12), (13), (14)) AS v(n) ON e.days_supply > v.n GROUP BY v.n"
    assert (
        plan(
            sql.replace("prescriptions", "diagnoses").replace(
                "e.days_supply", "e.encounter_id"
            )
        ).child.rows_per_unit
        == 24
    )
