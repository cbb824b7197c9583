"""What is written twice is one key, one vector, one question: subqueries too."""

from fractions import Fraction

import pytest

from privacy.errors import SqlNotAllowedError
from query_lang.plans.column_numbers import shape_of
from query_lang.plans.expressions import ExistsInQuery, Facts, FieldRef
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

SEEN = (
    "EXISTS (SELECT 1 FROM encounters i WHERE i.patient_id = e.patient_id "
    "AND i.ward = 'north' AND i.admitted < e.admitted)"
)
LISTED = "(e.patient_id IN (SELECT p.patient_id FROM patients p WHERE p.sex = 'f'))"
NESTED = (
    "EXISTS (SELECT 1 FROM encounters i WHERE i.patient_id = e.patient_id AND EXISTS "
    "(SELECT 1 FROM encounters j "
    "WHERE j.patient_id = i.patient_id AND j.ward = i.ward))"
)
CONDITIONS = {"exists": SEEN, "in": LISTED, "nested": NESTED, "not": f"NOT {SEEN}",
              "chain": f"({SEEN} AND {LISTED})"}  # fmt: skip
MARKS = {name: f"CASE WHEN {c} THEN 1 ELSE 0 END" for name, c in CONDITIONS.items()}


def compiled(sql, **weights):
    return compile_query(sql, HOSPITAL, weights=weights)


def with_mark(mark, sql):
    return compiled(sql.replace("MARK", mark))


@pytest.mark.parametrize("mark", MARKS.values(), ids=MARKS)
def test_a_sum_over_a_subquery_is_measured_once(mark):
    query = with_mark(
        mark,
        "SELECT SUM(MARK) AS s FROM encounters e HAVING SUM(MARK) > 8 "
        "ORDER BY SUM(MARK)",
    )
    assert len(query.measures) == 1
    short = "SELECT SUM(MARK) AS s FROM encounters e HAVING s > 8 ORDER BY s"
    assert query.canonical == with_mark(mark, short).canonical


@pytest.mark.parametrize("mark", MARKS.values(), ids=MARKS)
@pytest.mark.parametrize("key", ["MARK", "1", "k"])
@pytest.mark.parametrize("more", ["", " HAVING MARK = 1 ORDER BY MARK DESC"])
def test_a_key_that_holds_a_subquery_is_found_however_it_is_named(mark, key, more):
    sql = "SELECT MARK AS k, SUM(age + 1) AS n FROM encounters e GROUP BY "
    query = with_mark(mark, sql + key + more)
    assert len(query.rendered.cells) == 2
    assert query.canonical == with_mark(mark, sql + "1" + more).canonical


def test_boolean_keys_that_are_subqueries_are_found():
    query = compiled(
        f"SELECT {SEEN} AS k, COUNT(*) FROM encounters e GROUP BY {SEEN} HAVING {SEEN}"
    )
    assert query.rendered.cells == ((False,), (True,))


def test_a_column_key_has_one_name_however_group_by_points_at_it():
    texts = [
        f"SELECT ward AS w, COUNT(*) FROM encounters GROUP BY {key}"
        for key in ("ward", "w", "1", "encounters.ward")
    ]
    assert len({compiled(text).canonical for text in texts}) == 1


def test_a_roll_up_of_a_subquery_is_made_once():
    inner = (
        f"SELECT e.patient_id, {MARKS['exists']} AS a, COUNT(*) AS n FROM encounters e "
        f"GROUP BY e.patient_id, {MARKS['exists']}"
    )
    twice = f"SELECT COUNT(*) FROM ({inner} HAVING MAX({MARKS['in']}) = 1) x"
    query = compiled(twice)
    assert query.rendered.statements[0].sql.count("SEMI JOIN") == 1


def test_subqueries_that_differ_stay_two():
    other = SEEN.replace("north", "south")
    query = compiled(
        f"SELECT SUM(CASE WHEN {SEEN} THEN 1 ELSE 0 END) AS a, "
        f"SUM(CASE WHEN {other} THEN 1 ELSE 0 END) AS b FROM encounters e"
    )
    assert len(query.measures) == 2
    with pytest.raises(SqlNotAllowedError):
        compiled(f"SELECT {SEEN} AS k, COUNT(*) FROM encounters e GROUP BY {other}")


def test_what_is_known_of_an_outer_column_is_part_of_a_shape():
    """A column may be constant within the unit in ON and not in WHERE."""
    query = compiled(f"SELECT COUNT(*) FROM encounters e WHERE {SEEN}")
    assert query.canonical  # it compiles
    outer = [FieldRef(3, Facts(HOSPITAL_TYPE, constant=c)) for c in (False, True)]
    first, second = (
        shape_of(ExistsInQuery((), ((7, 3),), ref, (3,), Facts(HOSPITAL_TYPE)))
        for ref in outer
    )
    assert first != second


HOSPITAL_TYPE = next(iter(HOSPITAL.tables.values())).columns[0].type


# -- weights -------------------------------------------------------------------


def weights(sql, **named):
    return [m.weight for m in compiled(sql, **named).measures]


AVERAGE = "SELECT AVG(age) AS a, COUNT(*) AS n FROM encounters"
SHARED = "SELECT AVG(age) AS a, SUM(age) AS s, COUNT(*) AS n FROM encounters"


def test_without_weights_the_loss_is_split_evenly_over_the_vectors():
    assert weights(AVERAGE) == [1, 1, 1]


def test_an_averages_two_halves_share_its_weight():
    assert weights(AVERAGE, a=Fraction(4)) == [2, 2, 1]
    assert weights(AVERAGE, n=Fraction(3)) == [Fraction(1, 2), Fraction(1, 2), 3]


def test_a_vector_that_two_columns_share_takes_the_greater():
    assert weights(SHARED, a=Fraction(4)) == [2, 2, 1]
    assert weights(SHARED, a=Fraction(4), s=Fraction(3)) == [3, 2, 1]
    assert weights(SHARED, n=Fraction(2)) == [1, Fraction(1, 2), 2]


def test_what_having_and_order_by_alone_speak_of_weighs_1():
    sql = "SELECT COUNT(*) AS n FROM encounters HAVING AVG(age) > 3 ORDER BY SUM(age)"
    assert weights(sql, n=Fraction(2)) == [2, 1, Fraction(1, 2)]
