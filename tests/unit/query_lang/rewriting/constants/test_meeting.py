"""Whether a row can meet two rows of literals is told from the literals alone."""

import pytest

from query_lang.reading.parse import parse_query
from query_lang.rewriting.constants.meeting import are_exclusive, keys_differ
from query_lang.rewriting.trees import conjuncts


def conditions(text):
    return conjuncts(parse_query(f"SELECT COUNT(*) FROM t WHERE {text}").select.where)


def values(*texts):
    return [conditions(f"x = {text}")[0].right for text in texts]


@pytest.mark.parametrize(
    "said",
    [
        ("x BETWEEN 0 AND 17", "x BETWEEN 18 AND 64", "x >= 65"),
        ("x < 18", "x >= 18 AND x < 65"),
        ("d >= DATE '2024-01-01' AND d < '2024-02-01'", "d >= '2024-02-01'"),
        ("5 > x AND y = 1", "y = 2"),
        ("code LIKE 'E11%'", "code LIKE 'I10%'", "code LIKE 'E12.0'"),
    ],
)
def test_ranges_and_beginnings_that_do_not_meet_exclude_each_other(said):
    assert are_exclusive([conditions(each) for each in said])
    assert are_exclusive([conditions(each) for each in reversed(said)])


@pytest.mark.parametrize(
    "said",
    [
        ("x BETWEEN 0 AND 18", "x BETWEEN 18 AND 64"),
        ("x < 18", "y >= 18"),
        ("x > 5", "x > 6"),
        ("x <= 5", "x <= 6"),
        ("x NOT BETWEEN 0 AND 17", "x NOT BETWEEN 18 AND 64"),
        ("x = 1", "x = 1.0"),
        ("x = '1'", "x = 2"),
        ("code LIKE 'E11%'", "code LIKE 'E1%'"),
        ("code LIKE 'E1_%'", "code LIKE 'E2%'"),
        ("code NOT LIKE 'E11%'", "code NOT LIKE 'I10%'"),
        ("x = y", "x = y"),
    ],
)
def test_what_may_hold_at_once_does_not(said):
    assert not are_exclusive([conditions(each) for each in said])


def test_keys_differ_by_value_not_by_how_they_are_written():
    assert keys_differ(values("1", "2"))
    assert keys_differ(values("'a'", "'A'"))
    assert keys_differ(values("DATE '2024-01-01'", "'2024-01-02'"))
    assert keys_differ(values("'2024-01-01 10:00:00'", "'2024-01-01 11:00:00'"))
    assert not keys_differ(values("1", "1.0"))
    assert not keys_differ(values("DATE '2024-01-01'", "'2024-01-01'"))
    assert not keys_differ(values("1", "'1'"))
    assert not keys_differ(values("TRUE", "FALSE"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("'2024-01-01 10:00:00'", "'2024-01-01T10:00:00'"),
        ("'2024-01-01 10:00:00'", "'2024-01-01 10:00:00.0'"),
        ("'2024-01-01 10:00:00.5'", "'2024-01-01 10:00:00.50'"),
        ("'2024-01-01'", "'2024-01-01 00:00:00'"),
        ("TIMESTAMP '2024-01-01'", "TIMESTAMP '2024-01-01 00:00:00'"),
        ("TIMESTAMP '2024-01-01 10:00:00'", "'2024-01-01T10:00:00'"),
    ],
)
def test_a_moment_in_two_spellings_is_one(one, other):
    assert not keys_differ(values(one, other))
    said = [conditions(f"x = {one}"), conditions(f"x = {other}")]
    assert not are_exclusive(said)


def test_moments_that_are_spelled_alike_part_ranges():
    early, late = "'2024-01-01 10:00:00'", "'2024-01-01 11:00:00'"
    assert are_exclusive([conditions(f"x < {late}"), conditions(f"x >= {late}")])
    assert not are_exclusive([conditions(f"x < {late}"), conditions(f"x >= {early}")])
