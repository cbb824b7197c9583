"""What WHERE says of a value: bounds of sums, cells of keys without any."""

from fractions import Fraction

import pytest

from privacy.errors import QueryError
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

FROM = "FROM encounters"
STAY = "discharged - admitted"
READ = (
    "FROM (SELECT patient_id, age AS a, admitted FROM encounters WHERE age < 10) AS e"
)


def largest(sql):
    """Return how far one patient, of four rows, moves the first vector."""
    return compile_query(sql, HOSPITAL).measures[0].sensitivity.l1


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (f"SELECT SUM(age) {FROM}", 4 * 120),
        (f"SELECT SUM(age) {FROM} WHERE age <= 10", 4 * 10),
        (f"SELECT AVG(age) {FROM} WHERE age BETWEEN 3 AND 7 AND sex = 'f'", 4 * 7),
        (f"SELECT SUM(age) {FROM} WHERE age IN (3, 9) OR age < 5", 4 * 9),
        (f"SELECT SUM(age) {FROM} WHERE NOT (age > 10)", 4 * 10),
        (f"SELECT SUM(visits) {FROM} WHERE visits BETWEEN -3 AND 2", 4 * 3),
        (f"SELECT SUM({STAY}) {FROM} WHERE {STAY} BETWEEN 0 AND 30", 4 * 30),
        (f"SELECT SUM(a) {READ} WHERE a > 3", 4 * 9),
        (f"SELECT SUM(a) {READ}", 4 * 9),
        (f"SELECT SUM(age) {FROM} WHERE age > 10 OR sex = 'f'", 4 * 120),
        (f"SELECT SUM(age) {FROM} WHERE level = 3", 4 * 120),
        (f"SELECT SUM(age) {FROM} WHERE age < 0", 4 * 120),
        (f"SELECT SUM(age) {FROM} WHERE age = 0", 4 * 120),
        (f"SELECT SUM(age + 1) {FROM} WHERE age <= 10", 4 * 121),
        (f"SELECT VAR_POP(age) {FROM} WHERE age BETWEEN 10 AND 20", 4 * 13),
        (f"SELECT CORR(age, level) {FROM} WHERE age IN (4, 8)", 4 * 2),
        (f"SELECT STDDEV(visits) {FROM} WHERE visits BETWEEN -3 AND 2", 4 * 5),
        (f"SELECT VAR_POP(age) {FROM} WHERE age = 20", 4 * 1800),
        (f"SELECT SUM(l.age) {FROM} AS l JOIN {READ[5:]} USING (patient_id)", 16 * 120),
    ],
)
def test_a_sum_is_bounded_by_what_where_says_of_its_value(sql, expected):
    assert largest(sql) == Fraction(expected)


def test_rows_of_one_patient_tables_are_bounded_too():
    """WHERE is bound before it is known that a patient has one row."""
    sql = (
        "SELECT SUM(n) AS s FROM (SELECT patient_id, COUNT(*) AS n FROM encounters"
        " GROUP BY patient_id) AS p WHERE n <= 2"
    )
    assert largest(sql) == 2


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        ("visits * 1.000000000000000001", -(2**63) + 1, 2**63 - 1),
        ("visits * 1.000000000000000001", 0, 10),
        ("CAST(visits AS DECIMAL(30, 12))", 0, 10**7),
    ],
)
@pytest.mark.parametrize("made", ["MEDIAN(x)", "SUM(x)", "AVG(x)", "STDDEV(x)"])
def test_what_lies_beyond_64_bits_of_the_grid_bounds_nothing(made, value, low, high):
    read = f"FROM (SELECT patient_id, {value} AS x FROM encounters) AS e"
    for where in (f"x BETWEEN {low} AND {high}", f"NOT (x < {low} OR x > {high})"):
        with pytest.raises(QueryError, match=r"bounds|no greatest"):
            compile_query(f"SELECT {made} {read} WHERE {where}", HOSPITAL)
        inner = made.replace("(x)", f"(CASE WHEN {where} THEN x END)")
        with pytest.raises(QueryError, match=r"bounds|no greatest"):
            compile_query(f"SELECT {inner} {read}", HOSPITAL)


def test_bins_lie_where_where_says_if_nothing_is_declared():
    for value, ends in (("visits", (20, 39)), ("age", (0, 120))):
        sql = f"SELECT MEDIAN({value}) {FROM} WHERE {value} BETWEEN 20 AND 39"
        (column,) = compile_query(sql, HOSPITAL).columns
        assert (column.shown.bins.lower, column.shown.bins.upper) == ends


@pytest.mark.parametrize(
    ("key", "where", "cells"),
    [
        ("code", "code IN ('I10', 'E11') AND age > 3", ["I10", "E11"]),
        ("code", "(code = 'I10' OR code = 'E11') AND code <> 'I10'", ["E11"]),
        ("visits", "visits BETWEEN 2 AND 4", [2, 3, 4]),
        ("LEFT(code, 1)", "LEFT(code, 1) IN ('I', 'E')", ["I", "E"]),
        ("ward", "ward = 'north'", ["north", "south", None]),
        ("level", "level > 1", [1, 2, 3]),
    ],
)
def test_a_key_without_cells_has_those_that_where_lists(key, where, cells):
    sql = f"SELECT {key} AS k, COUNT(*) AS n {FROM} WHERE {where} GROUP BY 1"
    assert [cell for (cell,) in compile_query(sql, HOSPITAL).rendered.cells] == cells


@pytest.mark.parametrize(
    "where",
    ["age > 3", "code LIKE 'I%'", "code IN ('a', 'b') OR age > 3", "visits > 3"],
)
def test_what_where_does_not_list_is_no_key(where):
    for key in ("code", "visits"):
        with pytest.raises(QueryError) as refused:
            compile_query(
                f"SELECT {key}, COUNT(*) {FROM} WHERE {where} GROUP BY {key}", HOSPITAL
            )
        assert refused.value.code == "no_public_domain"
