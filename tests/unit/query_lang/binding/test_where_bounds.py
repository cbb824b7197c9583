"""What WHERE says of a value: bounds of sums, cells of keys without any."""

from fractions import Fraction
from time import perf_counter

import duckdb
import pytest

from privacy.contributions import NO_BOUNDS
from privacy.errors import QueryError
from query_lang.binding.bind import bind_query
from query_lang.reading.parse import parse_query
from query_lang.showing.presentation import present
from tests.semantics.engine import exact_vectors
from tests.support.compiling import calls_of, compile_query
from tests.support.data.hospital import HOSPITAL

FROM = "FROM encounters"
STAY = "discharged - admitted"
DOUBLED = "SELECT SUM(a + 1) FROM (SELECT patient_id, age * 2 AS a"
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
        (f"SELECT SUM(age + 1) {FROM} WHERE age <= 10", 4 * 11),
        (f"SELECT VAR_POP(age) {FROM} WHERE age BETWEEN 10 AND 20", 4 * 13),
        (f"SELECT CORR(age, level) {FROM} WHERE age IN (4, 8)", 4 * 2),
        (f"SELECT STDDEV(visits) {FROM} WHERE visits BETWEEN -3 AND 2", 4 * 5),
        (f"SELECT VAR_POP(age) {FROM} WHERE age = 20", 4 * 200),
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


def bins(sql):
    (column,) = compile_query(sql, HOSPITAL).columns
    found = column.shown.bins
    return found.lower, found.upper, found.count


@pytest.mark.parametrize(
    ("value", "where", "expected"),
    [
        ("visits", "visits BETWEEN 20 AND 39", (20, 39, 20)),
        ("age", "age BETWEEN 20 AND 39", (20, 39, 20)),
        ("age", "age <= 10", (0, 10, 11)),
        ("age * 2", "age <= 10", (0, 20, 21)),
        ("age", "age = 20", (0, 120, 64)),
        ("age", "age > 200", (0, 120, 64)),
        (STAY, f"{STAY} BETWEEN 0 AND 30", (0, 30, 31)),
        (STAY, "discharged BETWEEN admitted AND admitted + 30", (0, 30, 31)),
    ],
)
def test_bins_lie_where_where_says(value, where, expected):
    assert bins(f"SELECT MEDIAN({value}) {FROM} WHERE {where}") == expected


@pytest.mark.parametrize(
    ("summed", "where", "expected"),
    [
        ("age * 2", "age <= 10", 20),
        ("2 - age", "age <= 10", 8),
        ("ABS(age - 20)", "age <= 10", 20),
        ("LEAST(age, 60)", "age <= 10", 10),
        ("GREATEST(age, 5)", "age <= 10", 10),
        ("COALESCE(age, 3)", "age <= 10", 10),
        ("CAST(age AS DECIMAL(9, 0))", "age <= 10", 10),
        ("CASE WHEN sex = 'f' THEN age END", "age <= 10", 10),
        ("CASE WHEN sex = 'f' THEN age * 2 ELSE 30 END", "age <= 10", 30),
        ("CASE sex WHEN 'f' THEN age ELSE 0 END", "age <= 10", 10),
        ("CASE WHEN age < 5 THEN age * 2 WHEN age < 7 THEN age END", "TRUE", 8),
        ("CASE WHEN age < 115 THEN 0 ELSE 120 - age END", "TRUE", 5),
        ("CASE WHEN age > 200 THEN age ELSE 1 END", "TRUE", 1),
        ("age + level", "age <= 10 AND level < 3", 12),
        ("age * 2", "age <= 10 OR sex = 'f'", 240),
        ("age * 2", "age > 200", 240),
    ],
)
def test_bounds_reach_what_is_computed_of_a_value(summed, where, expected):
    assert largest(f"SELECT SUM({summed}) {FROM} WHERE {where}") == 4 * expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (f"SELECT SUM(age) FILTER (WHERE sex = 'f') {FROM} WHERE age <= 10", 10),
        (f"SELECT SUM(age * 2) FILTER (WHERE age <= 10) {FROM}", 20),
        (f"SELECT SUM(a * 2) {READ}", 18),
        (f"{DOUBLED} {FROM} WHERE age < 10) AS e", 19),
        (f"{DOUBLED} {FROM}) AS e WHERE a < 9", 9),
        (f"{DOUBLED}, age AS b {FROM}) AS e WHERE b < 10", 19),
    ],
)
def test_bounds_reach_through_filters_and_derived_tables(sql, expected):
    assert largest(sql) == 4 * expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("discharged BETWEEN admitted AND admitted + 90", (0, 90)),
        ("discharged BETWEEN admitted AND admitted + INTERVAL '90 days'", (0, 90)),
        ("admitted <= discharged AND discharged - 90 <= admitted", (0, 90)),
        ("admitted < discharged AND NOT (admitted < discharged - 5)", (1, 5)),
        ("discharged > admitted - 3 AND admitted + 2 > discharged", (-2, 1)),
        (
            "discharged >= admitted AND discharged < admitted + INTERVAL '1 month'",
            (0, 30),
        ),
        (
            "discharged >= admitted AND discharged < admitted + INTERVAL '1 year'",
            (0, 365),
        ),
        ("discharged = admitted + 3 OR discharged = admitted + 5", (3, 5)),
        ("admitted <= discharged AND discharged - admitted < 8", (0, 7)),
    ],
)
def test_comparisons_of_two_days_bound_what_lies_between(where, expected):
    least, most = expected
    (measure,) = bind_query(
        parse_query(f"SELECT SUM({STAY}) {FROM} WHERE {where}"), HOSPITAL, NO_BOUNDS
    ).plan.measures
    assert (measure.lower, measure.upper) == (least, most)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("DATEDIFF('day', admitted, discharged)", (0, 90)),
        ("(discharged - admitted) * 24", (0, 2160)),
        ("DATEDIFF('month', admitted, discharged)", (0, 4)),
        ("DATEDIFF('year', admitted, discharged)", (0, 1)),
        ("DATEDIFF('hour', admitted, discharged)", (0, 2160)),
        ("EXTRACT(YEAR FROM AGE(discharged, admitted))", (0, 0)),
        ("EXTRACT(EPOCH FROM discharged - admitted)", (0, 90 * 86400)),
        ("admitted - discharged", (-90, 0)),
        ("discharged + 1 - admitted", (1, 91)),
    ],
)
def test_whatever_counts_from_one_day_to_another_is_bounded_alike(value, expected):
    where = "discharged BETWEEN admitted AND admitted + 90"
    tree = parse_query(f"SELECT SUM({value} + 1) {FROM} WHERE {where}")
    (measure,) = bind_query(tree, HOSPITAL, NO_BOUNDS).plan.measures
    assert (measure.lower - 1, measure.upper - 1) == expected


@pytest.mark.parametrize(
    "where",
    [
        "discharged <= admitted + 90",
        "admitted <= discharged",
        "discharged BETWEEN admitted AND admitted + 90 OR sex = 'f'",
        "NOT (discharged BETWEEN admitted AND admitted + 90)",
        "discharged >= admitted AND discharged <= DATE '2024-01-01'",
    ],
)
def test_one_end_alone_bounds_no_sum(where):
    with pytest.raises(QueryError) as refused:
        compile_query(f"SELECT SUM({STAY}) {FROM} WHERE {where}", HOSPITAL)
    assert refused.value.rule == "no_bounds"


def test_a_day_out_of_the_calendar_bounds_nothing_where_a_condition_is_not_true():
    """``discharged > admitted + 5`` is unknown where no day lies five days later."""
    kept = "CASE WHEN discharged > admitted + 5 THEN 0 ELSE discharged - admitted END"
    turned = kept.replace(
        "discharged > admitted + 5", "NOT (discharged <= admitted + 5)"
    )
    for each in (kept, turned):
        with pytest.raises(QueryError):
            compile_query(
                f"SELECT SUM({each}) {FROM} WHERE admitted <= discharged", HOSPITAL
            )
    kept = kept.replace("admitted + 5", "admitted")
    where = "discharged - admitted > -9"
    (measure,) = bind_query(
        parse_query(f"SELECT SUM({kept}) {FROM} WHERE {where}"), HOSPITAL, NO_BOUNDS
    ).plan.measures
    assert (measure.lower, measure.upper) == (-8, 0)


def test_a_variance_leaves_out_what_is_null_where_a_branch_is_not_taken():
    """LEAST and GREATEST would make a bound of it, and count it."""
    sql = f"SELECT VAR_POP(CASE WHEN sex = 'f' THEN age END) {FROM} WHERE age < 9"
    compiled = compile_query(sql, HOSPITAL)
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE encounters AS SELECT i AS unit_key, i AS row_hash, "
            "1 AS row_rank, 2 * i AS age, CASE WHEN i < 4 THEN 'f' ELSE 'm' END AS sex "
            "FROM range(1, 4) AS r(i) UNION ALL SELECT 9, 9, 1, 8, 'm'"
        )
        vectors = exact_vectors(connection, compiled.rendered)
    assert [number for vector in vectors for number in vector][1:2] == [3]
    assert present(compiled, vectors) == [["2.666667"]]


def test_a_sum_has_fewer_steps_where_a_unit_has_more_rows():
    """The noise goes by all rows of a unit, and so does what of it can be drawn."""
    sql = f"SELECT SUM(cost) {FROM} WHERE cost BETWEEN 0 AND {{}}"
    for most, scale in ((2**30 // 400, 2), (2**30 // 400 + 1, 1)):
        (measure,) = bind_query(
            parse_query(sql.format(most)), HOSPITAL, NO_BOUNDS
        ).plan.measures
        assert measure.scale == scale


@pytest.mark.parametrize(
    "where", ["cost BETWEEN 9999999.01 AND 9999999.04", "cost BETWEEN 0 AND 9999999.04"]
)
def test_a_mean_lies_between_the_steps_around_its_bounds(where):
    (column,) = compile_query(
        f"SELECT AVG(cost) {FROM} WHERE {where}", HOSPITAL
    ).columns
    shown = column.shown
    assert shown.lower < shown.upper
    assert shown.upper == 99_999_991


def test_numbers_that_are_compared_bound_their_difference():
    where = "visits BETWEEN level AND level + 2"
    tree = parse_query(f"SELECT SUM(visits - level) {FROM} WHERE {where}")
    (measure,) = bind_query(tree, HOSPITAL, NO_BOUNDS).plan.measures
    assert (measure.lower, measure.upper) == (0, 2)


def test_long_texts_are_read_no_further_than_a_limit():
    """What is asked beyond it keeps what is declared: wider, and as private."""
    parts = " OR ".join(f"age = {n}" for n in range(9))
    branches = " ".join(f"WHEN level = {n % 3} THEN age + {n}" for n in range(100))
    sql = f"SELECT SUM(CASE {branches} END) {FROM} WHERE {parts}"
    assert largest(sql) == 4 * (8 + 99)
    started = perf_counter()
    many = ", ".join(f"SUM(age + {n} + age + level * age)" for n in range(60))
    compile_query(f"SELECT {many} {FROM} WHERE {parts}", HOSPITAL)
    assert perf_counter() - started < 10


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


@pytest.mark.parametrize(
    ("key", "where", "cells"),
    [
        ("CASE WHEN age >= 3 THEN '3+' ELSE age::text END", "TRUE", 5),
        ("CASE WHEN age < 3 AND age::text <> '1' THEN age::text END", "TRUE", 3),
        ("CASE WHEN age > 200 THEN age::text ELSE 'no' END", "TRUE", 2),
        ("seen::date - admitted", "seen::date - admitted BETWEEN 0 AND 4", 5),
        ("admitted - DATE '2024-01-01'", "admitted - DATE '2024-01-01' < 30", 4),
    ],
)
def test_cells_are_those_that_conditions_leave_of_what_nobody_declared(
    key, where, cells
):
    sql = f"SELECT {key} AS k, COUNT(*) AS n {FROM} WHERE {where} GROUP BY 1"
    assert len(compile_query(sql, HOSPITAL).rendered.cells) == cells


MOST_CALLS = 800_000
"""It took 7 millions, and seconds of a free plan, when branches read it each time."""


@pytest.mark.parametrize(("levels", "branches"), [(3, 9), (2, 31)])
def test_a_long_condition_is_read_once_however_many_branches_meet_it(levels, branches):
    long = " OR ".join(f"a < {number}" for number in range(300))
    query = (
        f"SELECT patient_id, age AS y, CASE WHEN {long} THEN 1 ELSE 0 END AS x "
        f"FROM (SELECT patient_id, age, age AS a {FROM}) AS u"
    )
    whens = " ".join(f"WHEN y < {number} THEN x" for number in range(branches))
    for _ in range(levels):
        case = f"CASE {whens} ELSE x END AS x"
        query = f"SELECT patient_id, y, {case} FROM ({query}) AS t"
    sql = f"SELECT SUM(x) FROM ({query}) AS z"
    assert calls_of(lambda: compile_query(sql, HOSPITAL)) < MOST_CALLS
