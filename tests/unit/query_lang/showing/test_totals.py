"""Totals of ROLLUP and the like: rows, words, what is refused, and their intervals."""

import random
from fractions import Fraction

import pytest

from privacy.contributions import ContributionBounds
from privacy.errors import QueryError
from query_lang.showing.confidence import intervals_of, total_half_widths
from query_lang.showing.expected_errors import expected_totals
from query_lang.showing.presentation import present
from server.use_cases.questions.noise_law import AnswerNoise
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

CONFIDENCE = Fraction(95, 100)
CELLS = [5, 9, 1, 7, 2, 2, 0, 0, 1]
"""Of the levels 1, 2, 3, each of the wards north, south and NULL."""

TABLE = "SELECT level, ward, COUNT(*) AS n FROM encounters "


def compiled(sql, **bounds):
    return compile_query(sql, HOSPITAL, **bounds)


def shown(sql, *vectors):
    return present(compiled(sql), list(vectors or [CELLS]))


def refusal(sql):
    with pytest.raises(QueryError) as caught:
        compiled(sql)
    return caught.value


def test_a_roll_up_has_cells_then_totals_of_the_first_key_then_one_of_all():
    rows = shown(TABLE + "GROUP BY ROLLUP (level, ward)")
    assert rows[:9] == [
        [level, ward, CELLS[3 * (level - 1) + place]]
        for level in (1, 2, 3)
        for place, ward in enumerate(("north", "south", None))
    ]
    assert rows[9:] == [[1, None, 15], [2, None, 11], [3, None, 1], [None, None, 27]]


@pytest.mark.parametrize(
    "grouped",
    [
        "ROLLUP (level, ward)",
        "level, ward WITH ROLLUP",
        "1, 2 WITH ROLLUP",
        "GROUPING SETS ((level, ward), (level), ())",
        "GROUPING SETS ((level, ward), ROLLUP (level))",
        "GROUPING SETS ((1, 2), level, ())",
    ],
)
def test_ways_to_write_a_roll_up_have_its_rows(grouped):
    expected = shown(TABLE + "GROUP BY ROLLUP (level, ward)")
    assert shown(TABLE + f"GROUP BY {grouped}") == expected


def test_a_cube_has_each_choice_of_keys():
    rows = shown(TABLE + "GROUP BY CUBE (level, ward) HAVING GROUPING(level) = 1")
    assert rows == [
        [None, "north", 12],
        [None, "south", 11],
        [None, None, 4],
        [None, None, 27],
    ]


def test_keys_beside_a_roll_up_are_in_every_set():
    rows = shown(TABLE + "GROUP BY level, ROLLUP (ward)")
    assert [row for row in rows if row[0] is None] == []
    assert rows[9:] == [[1, None, 15], [2, None, 11], [3, None, 1]]


def test_grouping_tells_a_total_from_a_group_without_a_value():
    sql = (
        "SELECT ward, GROUPING(ward) AS g, GROUPING_ID(level, ward) AS h, level, "
        "COUNT(*) AS n FROM encounters GROUP BY ROLLUP (level, ward) "
        "HAVING ward IS NULL AND level = 1"
    )
    assert shown(sql) == [[None, 0, 0, 1, 1], [None, 1, 1, 1, 15]]


def test_totals_stand_behind_their_cells_in_the_order_of_their_keys():
    rows = shown(TABLE + "GROUP BY ROLLUP (level, ward) ORDER BY level, ward")
    assert rows[2:5] == [[1, None, 1], [1, None, 15], [2, "north", 7]]
    assert rows[-1] == [None, None, 27]


def test_a_word_stands_for_totals():
    sql = (
        "SELECT COALESCE(ward, 'all') AS w, CASE WHEN GROUPING(level) = 1 THEN 'any' "
        "ELSE CAST(level AS TEXT) END AS l, COUNT(*) AS n FROM encounters "
        "GROUP BY ROLLUP (level, ward) HAVING GROUPING(ward) = 1"
    )
    assert shown(sql) == [
        ["all", "1", 15],
        ["all", "2", 11],
        ["all", "3", 1],
        ["all", "any", 27],
    ]
    codes = [warning.code for warning in compiled(sql).warnings]
    assert codes == ["null_and_total", "totals_added_up"]


@pytest.mark.parametrize(
    "word",
    [
        "CASE WHEN GROUPING(ward) = 0 THEN ward ELSE 'all' END",
        "CASE GROUPING(ward) WHEN 1 THEN 'all' ELSE ward END",
        "IF(GROUPING(ward) > 0, 'all', ward)",
    ],
)
def test_ways_to_name_totals_leave_the_group_without_a_value(word):
    sql = f"SELECT {word} AS w, COUNT(*) AS n FROM encounters GROUP BY ROLLUP (ward)"
    rows = [["north", 5], ["south", 9], [None, 1], ["all", 15]]
    assert shown(sql, CELLS[:3]) == rows


def test_a_word_that_is_a_key_itself_is_no_word_for_totals():
    key = "COALESCE(ward, 'none')"
    sql = f"SELECT {key} AS w, COUNT(*) AS n FROM encounters GROUP BY ROLLUP ({key})"
    rows = shown(sql, CELLS[:3])
    assert rows == [["north", 5], ["south", 9], ["none", 1], [None, 15]]


def test_averages_and_quantiles_of_totals_are_of_what_is_added_up():
    sql = (
        "SELECT level, AVG(age) AS mean, QUANTILE(level, 0.5, 3) AS middle "
        "FROM encounters GROUP BY ROLLUP (level)"
    )
    rows = shown(sql, [100, 60, 0], [2, 1, 0], [9, 0, 0, 0, 1, 0, 0, 0, 2])
    assert rows[-1] == [None, "53.333333", "1.000000"]


def test_totals_cost_what_their_cells_cost():
    plain = compiled(TABLE + "GROUP BY level, ward")
    rolled = compiled(TABLE + "GROUP BY ROLLUP (level, ward)")
    assert rolled.measures == plain.measures
    assert rolled.rendered == plain.rendered
    assert rolled.row_count == 13


def test_a_query_over_totals_chooses_among_them():
    sql = (
        "SELECT l, n FROM (SELECT level AS l, COUNT(*) AS n, GROUPING(level) AS g "
        "FROM encounters GROUP BY ROLLUP (1)) AS t WHERE g = 1"
    )
    assert shown(sql, [1, 2, 3]) == [[None, 6]]


def test_distinct_units_add_up_over_constant_keys_alone():
    by_sex = "SELECT sex, {} FROM encounters GROUP BY ROLLUP (sex)"
    assert shown(by_sex.format("COUNT(DISTINCT patient_id) AS p"), [3, 4, 0])[-1] == [
        None,
        7,
    ]
    by_level = "SELECT level, {} FROM encounters GROUP BY ROLLUP (level)"
    for counted in ("COUNT(DISTINCT patient_id)", "COUNT(DISTINCT ward)"):
        error = refusal(by_level.format(f"COUNT(*) AS n, {counted} AS p"))
        assert (error.rule, error.column) == ("grouping_sets", 30)
    one = ContributionBounds(max_groups_per_unit=1)
    compiled(by_level.format("COUNT(DISTINCT patient_id) AS p"), bounds=one)
    compiled(
        "SELECT sex, level, COUNT(DISTINCT patient_id) AS p FROM encounters "
        "GROUP BY GROUPING SETS ((sex, level), (level))"
    )


def test_cells_that_where_empties_add_no_noise():
    query = compiled(TABLE + "WHERE level >= 2 GROUP BY ROLLUP (level, ward)")
    law = AnswerNoise((10.0,))
    widths = [each.half_widths["n"] for each in expected_totals(query, law, CONFIDENCE)]
    wide = compiled(TABLE + "GROUP BY ROLLUP (level, ward)")
    wider = [each.half_widths["n"] for each in expected_totals(wide, law, CONFIDENCE)]
    assert widths[:2] == wider[:2]
    assert int(widths[2]) < int(wider[2])
    assert present(query, [CELLS])[-1] == [None, None, 12]


def test_half_widths_of_totals_hold():
    """Misses of 3,000 totals lie within what 5 % lets happen once in a million."""
    query = compiled(TABLE + "GROUP BY ROLLUP (level, ward)")
    law, rng = AnswerNoise((10.0,)), random.Random(5)
    width = int(total_half_widths(query, [CELLS], law, CONFIDENCE)["n"][-1])
    missed = 0
    for _ in range(3_000):
        noisy = [round(rng.expovariate(0.1) - rng.expovariate(0.1)) for _ in CELLS]
        missed += abs(sum(noisy)) > width
    assert 80 < missed < 220


def test_every_row_of_an_answer_with_totals_has_its_interval():
    query = compiled(TABLE + "GROUP BY ROLLUP (level, ward)")
    (column,) = intervals_of(query, [CELLS], AnswerNoise((1.0,)), CONFIDENCE)
    widths = total_half_widths(query, [CELLS], AnswerNoise((1.0,)), CONFIDENCE)["n"]
    numbers = [row[-1] for row in present(query, [CELLS])]
    assert column.rows == tuple(
        (str(max(0, n - int(w))), str(n + int(w)))
        for n, w in zip(numbers, widths, strict=True)
    )


def test_a_share_of_a_total_counts_shared_noise_once():
    sql = (
        "SELECT level, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER "
        "(PARTITION BY GROUPING(level)), 1) AS share FROM encounters "
        "GROUP BY ROLLUP (level)"
    )
    query = compiled(sql)
    (column,) = intervals_of(query, [[50, 30, 20]], AnswerNoise((3.0,)), CONFIDENCE)
    assert present(query, [[50, 30, 20]])[-1] == [None, "100.0"]
    assert column.rows[-1] == ("100.0", "100.0")  # a total over itself has no noise
    low, high = map(float, column.rows[0])
    assert 0 < low < 50 < high < 100


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT level, GROUPING(level) AS g, COUNT(*) AS n FROM encounters GROUP BY 1",
        TABLE + "WHERE GROUPING(level) = 1 GROUP BY ROLLUP (level, ward)",
        TABLE + "GROUP BY CUBE (level, ward, sex, age, urgent, smoker, dose)",
        TABLE + "GROUP BY ROLLUP (level, ROLLUP (ward))",
        "SELECT COUNT(*) AS n FROM encounters GROUP BY GROUPING SETS ((), ())",
        f"SELECT COUNT(*) AS n FROM ({TABLE} GROUP BY ROLLUP (level, ward)) AS e",
        f"{TABLE} GROUP BY level, ward WITH ROLLUP WITH CUBE",
    ],
)
def test_what_has_no_totals_is_refused(sql):
    assert refusal(sql).rule in {"grouping_sets", "syntax"}


def test_a_different_row_of_totals_is_not_looked_for():
    sql = "SELECT DISTINCT level, COUNT(*) AS n FROM encounters GROUP BY ROLLUP (level)"
    assert refusal(sql).rule == "distinct"


def test_limit_keeps_totals_of_what_where_leaves():
    sql = "SELECT level, COUNT(*) AS n FROM encounters WHERE level >= 2 {} LIMIT 9"
    rows = shown(sql.format("GROUP BY ROLLUP (level)"), [4, 5, 6])
    assert rows == [[2, 5], [3, 6], [None, 11]]
