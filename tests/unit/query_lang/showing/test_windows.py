"""Windows over the answer's rows: values, what is refused, and their intervals."""

from fractions import Fraction

import pytest

from privacy.errors import QueryError
from query_lang.showing.confidence import intervals_of
from query_lang.showing.presentation import present
from server.use_cases.questions.noise_law import AnswerNoise
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

CONFIDENCE = Fraction(95, 100)
N = "COUNT(*)"
WHOLE = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


def compiled(selected, rest="GROUP BY level"):
    return compile_query(f"SELECT {selected} FROM encounters {rest}", HOSPITAL)


def values(selected, *vectors, rest="GROUP BY level"):
    """Return the last column of an answer over the levels 1, 2 and 3."""
    rows = present(compiled(f"level, {selected} AS x", rest), list(vectors))
    return [row[-1] for row in rows]


def intervals(selected, vector, scale=10.0, rest="GROUP BY level"):
    query = compiled(f"level, {selected} AS x", rest)
    noise = AnswerNoise((scale,))
    (column,) = intervals_of(query, [vector], noise, CONFIDENCE)
    return column.rows


def test_what_a_key_that_may_be_null_is_chosen_before_may_be_null_in_truth():
    """In the last cell the key is NULL, and so is 5 / 9 in truth where 9 is 0."""
    ratio = "COUNT(age) / COUNT(*)"
    query = compile_query(
        f"SELECT k, GREATEST(COALESCE(k, {ratio}), -7) AS x FROM (SELECT patient_id,"
        " age, CASE WHEN level < 3 THEN level END AS k FROM encounters) AS e"
        " GROUP BY k",
        HOSPITAL,
    )
    noise = AnswerNoise((10.0, 10.0))
    (column,) = intervals_of(query, [[5, 5, 50], [9, 9, 9]], noise, CONFIDENCE)
    assert [[Fraction(end) for end in row] for row in column.rows[:2]] == [
        [1, 1],
        [2, 2],
    ]
    low, _ = column.rows[2]
    assert Fraction(low) <= -7


DEPARTMENTS = "level, ward, COUNT(*) AS n"
TOP = "RANK() OVER (PARTITION BY level ORDER BY COUNT(*) DESC)"
CELLS = [5, 9, 0, 7, 2, 2, 0, 0, 1]
"""Of the levels 1, 2, 3, each of the wards north, south and NULL."""


COUNTED = f"SELECT {DEPARTMENTS} FROM encounters GROUP BY 1, 2"
RANKED = f"SELECT {DEPARTMENTS}, {TOP} AS r FROM encounters GROUP BY 1, 2"
SWAPPED = "SELECT level AS l, COUNT(*) AS level FROM encounters GROUP BY l"
PER_UNIT = "SELECT patient_id, COUNT(*) AS m FROM encounters GROUP BY 1 QUALIFY m > 3"
FIRST = "FROM b WHERE r = 1"
BY_N = "RANK() OVER (PARTITION BY level ORDER BY n DESC)"

NUMBERED = f"SELECT level, ward, n, {BY_N} AS r FROM a"


@pytest.mark.parametrize(
    "sql",
    [
        f"{COUNTED} QUALIFY {TOP} = 1",
        f"{COUNTED} QUALIFY {BY_N} = 1",
        f"{RANKED} QUALIFY r < 2",
        f"SELECT level, ward, n FROM ({RANKED}) AS q WHERE r = 1",
        f"WITH a AS ({COUNTED}), b AS ({NUMBERED}) SELECT level, ward, n {FIRST}",
        f"WITH a AS ({COUNTED}) SELECT level, ward, n FROM a QUALIFY {BY_N} = 1",
    ],
)
def test_the_first_rows_of_each_group_are_chosen_after_windows(sql):
    query = compile_query(sql, HOSPITAL)
    rows = [row[:3] for row in present(query, [CELLS])]
    assert rows == [[1, "south", 9], [2, "north", 7], [3, None, 1]]
    assert "rows_chosen" in [warning.code for warning in query.warnings]


def test_having_chooses_before_windows_and_qualify_after_them():
    sql = (
        "SELECT level, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS all_rows FROM encounters"
        " GROUP BY level HAVING level < 3 QUALIFY n > 4 ORDER BY n DESC"
    )
    query = compile_query(sql, HOSPITAL)
    assert present(query, [[3, 9, 50]]) == [[2, 9, 12]]
    assert present(query, [[3, 4, 50]]) == []


def test_what_qualify_alone_names_is_measured():
    sql = (
        "SELECT level, COUNT(*) AS n FROM encounters GROUP BY level"
        " QUALIFY RANK() OVER (ORDER BY SUM(age) DESC) = 1"
    )
    query = compile_query(sql, HOSPITAL)
    assert len(query.measures) == 2
    assert present(query, [[1, 2, 3], [70, 90, 80]]) == [[2, 2]]


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        (
            f"SELECT n, SUM(n) OVER () AS t FROM ({RANKED}) AS q WHERE r = 1",
            "group_by_unit",
        ),
        ("SELECT level, age FROM encounters QUALIFY age > 3", "qualify"),
        (f"SELECT COUNT(*) AS n FROM ({PER_UNIT}) AS q", "qualify"),
        (f"{SWAPPED} QUALIFY level > 3", "ambiguous_name"),
        (f"{COUNTED} HAVING n > 4 QUALIFY {TOP} = 1", "answer_window_rows"),
    ],
)
def test_other_choices_by_windows_are_refused(sql, rule):
    with pytest.raises(QueryError) as refused:
        compile_query(sql, HOSPITAL)
    assert refused.value.rule == rule


def test_within_an_expression_a_window_is_exact():
    """Six digits of a third, times three million, would say 999,999 of a million."""
    share = f"3000000 * AVG({N}) OVER ()"
    assert values(share, [1, 0, 0]) == ["1000000.000000"] * 3
    assert values(f"AVG({N}) OVER ()", [1, 0, 0]) == ["0.333333"] * 3


@pytest.mark.parametrize(
    ("selected", "expected"),
    [
        (f"SUM({N}) OVER ()", [60, 60, 60]),
        (f"SUM({N}) OVER (ORDER BY level)", [20, 50, 60]),
        (f"SUM({N}) OVER (ORDER BY level DESC)", [60, 40, 10]),
        (
            f"SUM({N}) OVER (ORDER BY level ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
            [20, 50, 40],
        ),
        (f"AVG({N}) OVER ()", ["20.000000"] * 3),
        (f"LAG({N}) OVER (ORDER BY level)", [None, 20, 30]),
        (f"LEAD({N}, 2) OVER (ORDER BY level)", [10, None, None]),
        (f"{N} - LAG({N}) OVER (ORDER BY level)", [None, 10, -20]),
        (
            f"ROUND(100.0 * {N} / SUM({N}) OVER (), 1)",
            ["33.3", "50.0", "16.7"],
        ),
        (f"RANK() OVER (ORDER BY {N} DESC)", [2, 1, 3]),
        (f"0 * {N} + ROW_NUMBER() OVER (ORDER BY level DESC)", [3, 2, 1]),
        (f"SUM({N}) OVER (PARTITION BY level)", [20, 30, 10]),
        (f"MAX({N}) OVER ()", [30, 30, 30]),
        (f"MIN({N}) OVER (ORDER BY level)", [20, 20, 10]),
        (
            f"MAX(100 * {N} / 4) OVER (PARTITION BY level)",
            ["500.000000", "750.000000", "250.000000"],
        ),
        (f"FIRST_VALUE({N}) OVER (ORDER BY level DESC)", [10, 10, 10]),
        (f"LAST_VALUE({N}) OVER (ORDER BY level)", [20, 30, 10]),
        (f"LAST_VALUE({N}) OVER (ORDER BY level {WHOLE})", [10, 10, 10]),
        (
            f"ROUND({N} / FIRST_VALUE({N}) OVER (ORDER BY level), 2)",
            ["1.00", "1.50", "0.50"],
        ),
    ],
)
def test_a_window_is_over_the_rows_of_the_answer(selected, expected):
    assert values(selected, [20, 30, 10]) == expected


def test_ties_share_a_rank_and_the_next_is_counted_on():
    assert values(f"RANK() OVER (ORDER BY {N})", [7, 4, 4]) == [3, 1, 1]
    assert values(f"DENSE_RANK() OVER (ORDER BY {N})", [7, 4, 4]) == [2, 1, 1]
    assert values(f"ROW_NUMBER() OVER (ORDER BY {N})", [7, 4, 4]) == [3, 1, 2]


def test_rows_that_tie_are_in_the_sum_so_far_unless_rows_is_written():
    rest = "GROUP BY level, smoker"
    query = compiled(f"level, smoker, SUM({N}) OVER (ORDER BY level) AS x", rest)
    cells = len(query.rendered.cells) // 3
    (first, *_, last) = (row[-1] for row in present(query, [[1] * (3 * cells)]))
    assert (first, last) == (cells, 3 * cells)


def test_partitions_have_sums_of_their_own():
    rest = "GROUP BY level, smoker"
    selected = f"level, smoker, SUM({N}) OVER (PARTITION BY smoker ORDER BY level) AS x"
    query = compiled(selected, rest)
    cells = len(query.rendered.cells) // 3
    rows = present(query, [[1] * (3 * cells)])
    assert [row[-1] for row in rows] == [1] * cells + [2] * cells + [3] * cells


def test_a_window_is_over_the_rows_that_having_keeps_and_before_limit():
    rest = "GROUP BY level HAVING level > 1 ORDER BY x LIMIT 1"
    assert values(f"SUM({N}) OVER ()", [20, 30, 10], rest=rest) == [40]


def test_a_window_may_order_the_answer():
    rest = f"GROUP BY level ORDER BY RANK() OVER (ORDER BY {N})"
    assert values(N, [20, 30, 10], rest=rest) == [10, 20, 30]


@pytest.mark.parametrize(
    ("selected", "rest", "rule"),
    [
        (f"SUM({N}) OVER ()", "", "window_place"),
        ("SUM(age) OVER (ORDER BY level)", "GROUP BY level", "window_place"),
        (f"FIRST_VALUE({N}) OVER ()", "GROUP BY level", "answer_window"),
        (
            f"FIRST_VALUE({N}) OVER (ORDER BY {N})",
            "GROUP BY level",
            "answer_window_order",
        ),
        ("NTILE(4) OVER (ORDER BY level)", "GROUP BY level", "rank"),
        (f"LAG({N}) OVER ()", "GROUP BY level", "answer_window"),
        (
            f"RANK() OVER (ORDER BY {N} ROWS 1 PRECEDING)",
            "GROUP BY level",
            "answer_window",
        ),
        (
            f"SUM({N}) OVER (ORDER BY {N})",
            "GROUP BY level",
            "answer_window_order",
        ),
        (
            f"SUM({N}) OVER (PARTITION BY {N})",
            "GROUP BY level",
            "answer_window_order",
        ),
        (
            f"SUM({N}) OVER ()",
            f"GROUP BY level HAVING {N} > 5",
            "answer_window_rows",
        ),
        (
            "1 * COUNT(*)",
            f"GROUP BY level HAVING SUM({N}) OVER () > 5",
            "window_place",
        ),
    ],
)
def test_windows_that_cannot_be_are_refused(selected, rest, rule):
    with pytest.raises(QueryError) as refused:
        compiled(f"{selected} AS x" + (", level" if rest else ""), rest)
    assert refused.value.rule == rule


def test_a_sum_so_far_has_the_noise_of_as_many_cells():
    first, second, third = intervals(f"SUM({N}) OVER (ORDER BY level)", [200, 300, 100])
    assert first == ("170", "230")
    widths = [int(high) - int(low) for low, high in (first, second, third)]
    assert 60 < widths[1] < widths[2] < 3 * 60


def test_a_share_of_the_total_counts_its_own_noise_once():
    selected = f"{N} / SUM({N}) OVER ()"
    (low, high), *_ = intervals(selected, [200, 300, 100])
    assert 0.24 < float(low) < 1 / 3 < float(high) < 0.42
    for low, high in intervals(selected, [0, 900, 0]):
        assert 0 <= float(low) <= float(high) <= 1


def test_a_first_value_has_its_own_row_s_noise():
    found = intervals(f"FIRST_VALUE({N}) OVER (ORDER BY level)", [200, 300, 100])
    plain = intervals(f"0 + {N}", [200, 300, 100])
    assert found == (plain[0],) * 3


def test_the_greatest_lies_where_all_rows_lie_at_once():
    low, high = intervals(f"MAX({N}) OVER ()", [200, 230, 100])[0]
    ends = intervals(f"0 + {N}", [200, 230, 100])
    assert Fraction(low) < Fraction(ends[1][0])
    assert Fraction(ends[1][1]) < Fraction(high)
    assert intervals(f"MAX({N}) OVER ()", [200, 230, 100]) == ((low, high),) * 3


def test_a_greatest_of_greatests_is_bounded_by_nothing():
    """Each level read all rows of the one below: seven took eleven seconds."""
    one = f"MAX({N}) OVER (PARTITION BY level)"
    query = compile_query(
        f"SELECT level, MAX(n) OVER () AS x FROM (SELECT level, {one} AS n FROM"
        " encounters GROUP BY level) AS e",
        HOSPITAL,
    )
    (column,) = intervals_of(query, [[5, 7, 9]], AnswerNoise((10.0,)), CONFIDENCE)
    assert column.rows == ((None, None),) * 3


def test_what_is_null_in_truth_may_be_no_greatest():
    """7 / 2 may be NULL, or as large as any: nothing bounds the greatest from above."""
    (_, high), *_ = intervals(f"MAX({N} / ({N} - 5)) OVER ()", [7, 600, 700])
    assert high is None


def test_a_change_has_the_half_width_of_a_difference():
    none, (low, high), _ = intervals(
        f"{N} - LAG({N}) OVER (ORDER BY level)", [200, 300, 100]
    )
    assert none is None
    assert (low, high) == ("58", "142")


def test_a_rank_is_sure_where_intervals_do_not_meet():
    ranks = f"RANK() OVER (ORDER BY {N} DESC)"
    assert intervals(ranks, [500, 5, 8]) == (("1", "1"), ("2", "3"), ("2", "3"))
    assert intervals(ranks, [4, 5, 8]) == (("1", "3"),) * 3


def test_what_may_be_null_in_truth_may_have_any_rank():
    ranks = f"RANK() OVER (ORDER BY NULLIF({N}, 8))"
    assert intervals(ranks, [500, 5, 900]) == (("1", "2"), ("1", "3"), ("2", "3"))
    assert intervals(ranks, [500, 700, 900]) == (("1", "1"), ("2", "2"), ("3", "3"))


def test_what_is_numbered_by_keys_has_no_noise():
    query = compiled(f"level, {N} AS n, ROW_NUMBER() OVER (ORDER BY level) AS x")
    noise = AnswerNoise((10.0,))
    assert intervals_of(query, [[1, 2, 3]], noise, CONFIDENCE) == []
