"""LIMIT takes rows of cells that WHERE can leave rows in."""

# ruff: noqa: DTZ001 - timestamps have no zone

import json
from dataclasses import replace
from datetime import date, datetime
from types import SimpleNamespace

import pytest

from privacy.errors import QueryError
from privacy.schema import Column, RangeDomain, Table
from privacy.schema import ColumnType as T
from query_lang.compile import key_places
from query_lang.reading.parse import parse_query
from query_lang.showing.presentation import present
from query_lang.syntax.wire import from_json, to_json
from tests.support.compiling import calls_of, compile_query
from tests.support.data.hospital import HOSPITAL

FEBRUARY = date(2024, 2, 1)


def keys(rest, key):
    """Return the keys of the rows that are shown, where every cell counts its place."""
    sql = f"SELECT {key} AS k, COUNT(*) AS n FROM encounters {rest}"
    compiled = compile_query(sql, HOSPITAL)
    cells = range(len(compiled.rendered.cells))
    return [key for key, _ in present(compiled, [list(cells)])]


@pytest.mark.parametrize(
    ("key", "where", "limit", "expected"),
    [
        ("age", "age >= 64", 2, [64, 65]),
        ("age", "age IN (5, 9) OR age = 12", 9, [5, 9, 12]),
        ("age", "age > 200", 2, [0, 1]),
        ("age", "TRUE", 2, [0, 1]),
        ("age", "age < 3 OR sex = 'f'", 5, [0, 1, 2, 3, 4]),
        ("FLOOR(age / 10)", "age > 95", 9, [9, 10, 11, 12]),
        ("age_band(age, 10)", "age BETWEEN 31 AND 45", 9, ["30-39", "40-49"]),
        ("age_band(age, 10)", "age_band(age, 10) = '20-29'", 9, ["20-29"]),
        ("DATE_TRUNC('month', admitted)", "admitted > '2024-01-31'", 9, [FEBRUARY]),
        ("ward", "ward <> 'north'", 9, ["south"]),
        ("ward", "ward LIKE 's%' AND age > 3", 9, ["south"]),
        ("ward", "ward = 'nowhere'", 9, ["north", "south", None]),
        ("ward", "ward = 'north' OR ward IS NULL", 9, ["north", None]),
    ],
)
def test_limit_passes_over_cells_that_where_leaves_empty(key, where, limit, expected):
    assert keys(f"WHERE {where} GROUP BY k ORDER BY k LIMIT {limit}", key) == expected


@pytest.mark.parametrize(
    ("shown", "rest", "expected", "warned"),
    [
        ("ROW_NUMBER() OVER (ORDER BY level)", "LIMIT 9", [1, 2], []),
        ("SUM(COUNT(*)) OVER ()", "LIMIT 9", [3, 3], []),
        ("SUM(COUNT(*)) OVER ()", "", [3, 3], []),
        ("ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER ())", "", [33, 67], []),
        ("level", "ORDER BY ROW_NUMBER() OVER (ORDER BY level DESC)", [3, 2], []),
        (
            "level",
            "QUALIFY ROW_NUMBER() OVER (ORDER BY level) = 1",
            [2],
            [],
        ),
    ],
)
def test_windows_are_of_the_cells_that_where_leaves(shown, rest, expected, warned):
    sql = (
        f"SELECT level, {shown} AS w, COUNT(*) AS n FROM encounters WHERE level >= 2 "
        f"GROUP BY level {rest}"
    )
    compiled = compile_query(sql, HOSPITAL)
    rows = present(compiled, [list(range(len(compiled.rendered.cells)))])
    assert [int(row[1]) for row in rows] == expected
    assert [warning.code for warning in compiled.warnings] == warned


SERIES = (
    "SELECT y, COUNT(e.patient_id) AS n{} FROM generate_series(1, 3) AS s(y) "
    "LEFT JOIN encounters AS e ON e.level = s.y AND e.level >= 2{} GROUP BY y{}"
)
SO_FAR = ", SUM(COUNT(e.patient_id)) OVER (ORDER BY y) AS s"


@pytest.mark.parametrize(
    ("window", "where", "rest", "expected", "warned"),
    [
        ("", "", "", [1, 2, 3], False),
        (SO_FAR, "", "", [1, 2, 3], False),
        ("", "", " LIMIT 2", [1, 2], False),
        # WHERE leaves out rows without a match; which of both left a cell is not told
        (SO_FAR, " WHERE e.age > 3", "", [2, 3], True),
        ("", " WHERE e.age > 3", " LIMIT 2", [2, 3], True),
    ],
)
def test_rows_in_the_text_without_a_match_are_groups(
    window, where, rest, expected, warned
):
    compiled = compile_query(SERIES.format(window, where, rest), HOSPITAL)
    rows = present(compiled, [list(range(len(compiled.rendered.cells)))])
    assert [row[0] for row in rows] == expected
    codes = [warning.code for warning in compiled.warnings]
    assert ("empty_cells" in codes) is warned


KEPT = (
    "FROM generate_series(1, 3) AS s(y) LEFT JOIN encounters AS e "
    "ON e.level = s.y AND e.level >= 2 "
)


@pytest.mark.parametrize(
    ("shown", "rest", "expected", "warned"),
    [
        ("y, ", "GROUP BY ALL ORDER BY y LIMIT 9", 3, False),
        ("ward, y, ", "GROUP BY ward, ward, ROLLUP (y)", None, False),
        ("ward, y, ", "GROUP BY ward, GROUPING SETS ((ward)), ROLLUP (y)", None, False),
        ("y AS ward, ", "GROUP BY s.y ORDER BY 1 LIMIT 9", 3, False),
        ("y, ", "WHERE e.age > 3 GROUP BY y ORDER BY y LIMIT 9", 2, True),
        (
            "y, ",
            "JOIN patients AS p ON p.patient_id = e.patient_id GROUP BY y LIMIT 9",
            2,
            True,
        ),
        (
            "y, z, ",
            (
                "JOIN (VALUES ('north', 1), ('south', 2)) AS v (k, z) ON v.k = e.ward "
                "GROUP BY y, z LIMIT 9"
            ),
            4,
            True,
        ),
        ("y - e.level AS d, ", "GROUP BY 1 LIMIT 9", 1, True),
    ],
)
def test_rows_in_the_text_stay_whatever_is_grouped_and_joined_beside_them(
    shown, rest, expected, warned
):
    sql = f"SELECT {shown}COUNT(e.patient_id) AS n {KEPT}{rest}"
    compiled = compile_query(sql, HOSPITAL)
    codes = [warning.code for warning in compiled.warnings]
    assert ("empty_cells" in codes) is warned
    tree = parse_query(sql)
    assert from_json(json.loads(json.dumps(to_json(tree)))) == tree
    if expected is not None:
        rows = present(compiled, [[9] * len(compiled.rendered.cells)])
        assert len(rows) == expected


def test_keys_of_other_tables_are_of_rows_that_match():
    """Beside rows in the text, which stay, they took up LIMIT with cells of noise."""
    sql = (
        "SELECT y, e.level, COUNT(e.patient_id) AS n "
        "FROM generate_series(1, 2) AS s(y) LEFT JOIN encounters AS e "
        "ON e.age = s.y AND e.level >= 2 GROUP BY y, e.level ORDER BY n LIMIT 3"
    )
    compiled = compile_query(sql, HOSPITAL)
    rows = present(compiled, [[9] * len(compiled.rendered.cells)])
    assert {row[1] for row in rows} <= {2, 3}


@pytest.mark.parametrize(
    ("key", "where", "expected"),
    [
        ("ROUND(cost, -3)", "cost BETWEEN 0 AND 4400", [0, 1000, 2000, 3000, 4000]),
        ("CEIL(visits)", "visits IN (3, 5)", [3, 4, 5]),
        ("CAST(cost AS INTEGER)", "cost >= 1.2 AND cost < 3", [1, 2, 3]),
        ("FLOOR(cost / 10)", "cost > 5 AND cost < 31", [0, 1, 2, 3]),
        ("LEFT(code, 1)", "code IN ('E11', 'I10', 'E12')", ["E", "I"]),
    ],
)
def test_a_key_without_cells_has_those_that_where_leaves_it(key, where, expected):
    assert keys(f"WHERE {where} GROUP BY k", key) == expected


def test_a_key_rounded_to_thousands_has_their_multiples_alone():
    key = "ROUND(LEAST(GREATEST(cost, -900), 2400), -3)"
    assert keys("GROUP BY 1", key) == [-1000, 0, 1000, 2000]


def test_a_key_without_cells_is_refused_where_where_leaves_too_many():
    with pytest.raises(QueryError):
        keys("WHERE cost < 3 GROUP BY k", "CAST(cost AS INTEGER)")


def test_all_declared_cells_come_back_without_limit():
    assert keys("WHERE age >= 64 GROUP BY k", "age") == [*range(121), None]


def test_it_is_the_same_question_with_and_without_limit():
    sql = "SELECT age, SUM(level) AS n FROM encounters WHERE age >= 64 GROUP BY age"
    one, other = (
        compile_query(text, HOSPITAL) for text in (sql, f"{sql} ORDER BY age LIMIT 3")
    )
    assert one.rendered == other.rendered
    assert one.measures == other.measures


@pytest.mark.parametrize(
    ("rest", "warned"),
    [
        ("WHERE level = 2 GROUP BY level", ["empty_cells"]),
        ("WHERE level = 2 GROUP BY level LIMIT 100", []),
        ("WHERE age > 3 GROUP BY level", []),
    ],
)
def test_cells_that_where_empties_are_told_of_where_they_come_back(rest, warned):
    compiled = compile_query(f"SELECT level, COUNT(*) FROM encounters {rest}", HOSPITAL)
    assert [warning.code for warning in compiled.warnings] == warned


@pytest.mark.parametrize("call", ["left(code, 3)", "upper(code)"])
def test_a_key_without_cells_is_listed_in_its_own_words(call):
    sql = f"SELECT {call} AS k, COUNT(*) FROM encounters {{}} GROUP BY 1"
    with pytest.raises(QueryError, match="no declared list") as refused:
        compile_query(sql.format(""), HOSPITAL)
    hint = f"{call} IN ('a', 'b')"
    assert refused.value.hint.startswith(f"name the values in WHERE, {hint}")
    assert len(compile_query(sql.format(f"WHERE {hint}"), HOSPITAL).rendered.cells) == 2


MANY = Table(
    "many",
    (
        Column("patient_id", T.INTEGER, nullable=False),
        Column("x", T.INTEGER, domain=RangeDomain(0, 3_990)),
        Column("day", T.DATE, domain=RangeDomain(date(2015, 1, 1), date(2024, 12, 31))),
        Column(
            "at",
            T.TIMESTAMP,
            domain=RangeDomain(datetime(2015, 1, 1), datetime(2024, 12, 31)),
        ),
    ),
    unit_column="patient_id",
    max_rows_per_unit=3,
)
LISTS = {
    "numbers": ("x", [str(n) for n in range(245)]),
    "days": ("day", [f"'2024-{1 + n // 28:02}-{1 + n % 28:02}'" for n in range(230)]),
    "moments": ("at", [f"'2024-{1 + n // 28:02}-{1 + n % 28:02}'" for n in range(230)]),
}
MOST_CALLS = 1_000_000
"""It took 27 millions, and seconds of a plan that is free, when lists were walked."""


@pytest.mark.parametrize("kind", LISTS)
def test_a_list_is_looked_up_at_each_value_and_not_walked(kind):
    dataset = replace(HOSPITAL, tables={"many": MANY})
    key, items = LISTS[kind]
    lists = " OR ".join(f"{key} IN ({', '.join(items[n:])})" for n in range(3))
    shown = "DATE_TRUNC('month', at)" if kind == "moments" else key
    sql = f"SELECT {shown} AS k, COUNT(*) FROM many WHERE NOT ({lists}) GROUP BY 1"
    assert calls_of(lambda: compile_query(sql, dataset)) < MOST_CALLS


def test_the_cells_that_totals_add_up_are_found_at_once():
    """They were looked for in a set that was made anew for each value of the key."""
    read = []

    class CountingKey:
        values = tuple(range(1_000))

        @property
        def reached(self):
            read.append(1)
            return self.values

    totals = SimpleNamespace(sets=((0,), ()))
    plan = SimpleNamespace(presentation=totals, keys=(CountingKey(),))
    (places,) = key_places(plan)
    assert places.added == CountingKey.values
    assert len(read) == 1
