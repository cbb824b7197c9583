"""Rows in the text that make longer rows are refused before they are long."""

# ruff: noqa: E501 - a text is one string, to be read

import cProfile
import pstats

import pytest

from privacy.errors import QueryError
from query_lang.reading.parse import parse_query
from query_lang.rewriting.constants.folding import MOST_CHARACTERS

MOST_CALLS = 2_000_000
"""Of functions, while a text is refused: some tenths of a second."""


def doubled(times, of):
    tables = ["c0 AS (SELECT 'aaaaaaaaaa' AS a)"]
    for place in range(times):
        whole = " || ".join(["a"] * of)
        tables.append(f"c{place + 1} AS (SELECT {whole} AS a FROM c{place})")
    return f"WITH {', '.join(tables)} SELECT COUNT(*) FROM diagnoses AS d JOIN c{times} AS c ON d.code = c.a"


def laterals(times):
    joined = "CROSS JOIN LATERAL (SELECT e.age AS a) AS x0 " + " ".join(
        f"CROSS JOIN LATERAL (SELECT {' + '.join([f'x{n}.a'] * 4)} AS a) AS x{n + 1}"
        for n in range(times)
    )
    return f"SELECT SUM(x{times}.a) FROM encounters AS e {joined}"


def chained(times, rows=8):
    values = ", ".join(f"({n}, {n + 1})" for n in range(rows))
    joined = " ".join(
        f"LEFT JOIN (VALUES {values}) AS v{n}(a, b) ON v{n}.a = {f'v{n - 1}.b' if n else 'e.age'}"
        for n in range(times)
    )
    return f"SELECT COUNT(v{times - 1}.b) FROM encounters AS e {joined}"


def nested(times):
    table = "encounters"
    for n in range(times):
        table = f"(SELECT e.patient_id, e.age, v.x AS x{n} FROM {table} AS e JOIN (VALUES (1), (2), (3), (4), (5), (6)) AS v(x) ON e.age >= v.x)"
    return f"SELECT COUNT(*) FROM {table} AS e"


def side_by_side(times):
    joined = " ".join(
        f"JOIN (VALUES (1), (2), (3)) AS v{n}(x) ON e.age >= v{n}.x"
        for n in range(times)
    )
    return f"SELECT COUNT(*) FROM encounters AS e {joined}"


def many_tables(times):
    tables = ["c0 AS (SELECT x FROM generate_series(1, 256) AS s(x))"]
    tables += [f"c{n + 1} AS (SELECT x AS x FROM c{n})" for n in range(times)]
    return f"WITH {', '.join(tables)} SELECT COUNT(*) FROM encounters AS e JOIN c{times} AS c ON c.x = e.age"


def wide(columns):
    named = ", ".join(f"x AS a{n}" for n in range(columns))
    return f"SELECT COUNT(*) FROM encounters AS e JOIN (SELECT {named} FROM generate_series(1, 256) AS s(x)) AS v ON v.a0 = e.age"


def repeated_text(times):
    named = " ".join(f"WHEN e.age = {n} THEN v.t" for n in range(times))
    return f"SELECT COUNT(*) FROM (SELECT e.patient_id, CASE {named} END AS k FROM encounters AS e JOIN (VALUES (1, '{'a' * 9_000}')) AS v(x, t) ON e.age = v.x) AS q WHERE k = 'a'"


DAYS = "generate_series(DATE '2000-01-01', DATE '2000-09-12', INTERVAL '1 day')"
LATE = "d" + " + 1" * 55


def long_columns(columns):
    named = ", ".join(f"{LATE} AS c{n}" for n in range(columns))
    return f"SELECT COUNT(*) FROM encounters AS e JOIN (SELECT {named} FROM {DAYS} AS s(d)) AS v ON e.admitted = v.c0"


def read_again(times):
    joined = " ".join(
        f"JOIN (SELECT {LATE} AS c FROM t) AS v{n} ON e.admitted = v{n}.c"
        for n in range(times)
    )
    return f"WITH t AS (SELECT d FROM {DAYS} AS s(d)) SELECT COUNT(*) FROM encounters AS e {joined}"


def lists(times):
    said = " OR ".join([f"admitted IN (SELECT {LATE} FROM {DAYS} AS s(d))"] * times)
    return f"SELECT COUNT(*) FROM encounters WHERE {said}"


def conditions(times):
    joined = " ".join(
        f"JOIN generate_series(1, 250) AS v{n}(k) ON e.age = v{n}.k AND e.age <> v{n}.k + 1 AND e.age < v{n}.k + 9 AND e.year > v{n}.k"
        for n in range(times)
    )
    return f"SELECT COUNT(*) FROM encounters AS e {joined}"


def many_reads(conditions):
    said = " AND ".join(f"e.age + v.k > {n}" for n in range(conditions))
    return f"SELECT COUNT(*) FROM encounters AS e CROSS JOIN generate_series(1, 24) AS v(k) WHERE {said}"


TEXTS = {
    "long columns": (long_columns(9), "too_complex"),
    "read again": (read_again(11), "too_complex"),
    "lists": (lists(9), "too_complex"),
    "conditions": (conditions(12), "too_complex"),
    "many reads": (many_reads(180), "too_complex"),
    "doubled": (doubled(20, 2), "too_complex"),
    "by twenties": (doubled(6, 20), "too_complex"),
    "laterals": (laterals(11), "too_complex"),
    "many laterals": (laterals(12), "relation_count"),
    "chained": (chained(8), "too_complex"),
    "nested": (nested(12), "too_complex"),
    "side by side": (side_by_side(12), "constant_rows"),
    "too many beside": (side_by_side(13), "relation_count"),
    "many tables": (many_tables(60), "relation_count"),
    "wide": (wide(100), "constant_rows"),
    "a long text": (repeated_text(120), "too_complex"),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_that_grows_is_refused_after_few_steps(kind):
    sql, rule = TEXTS[kind]
    profile = cProfile.Profile()
    with pytest.raises(QueryError) as caught:
        profile.runcall(parse_query, sql)
    assert caught.value.rule == rule
    assert pstats.Stats(profile).total_calls < MOST_CALLS


def test_a_text_may_be_put_together_up_to_its_most_characters():
    half = "a" * (MOST_CHARACTERS // 2)
    sql = "SELECT COUNT(*) FROM diagnoses AS d JOIN (SELECT '{}' || '{}' AS a) AS v ON d.code = v.a"
    parse_query(sql.format(half, half))
    with pytest.raises(QueryError) as caught:
        parse_query(sql.format(half, half + "a"))
    assert caught.value.rule == "too_complex"
