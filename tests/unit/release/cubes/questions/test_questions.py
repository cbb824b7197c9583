"""Answers over a published cube are sums of its cells, by an evaluation of its own."""

import re
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest

from privacy.errors import QueryError, SqlNotAllowedError, TooManyGroupsError
from privacy.schema import ColumnType
from query_lang.reading.parse import parse_query
from release.contract.domain import Dimension
from release.cubes.questions.answering import AskedCube
from tests.unit.release.cubes.asked_cubes import (
    BANDED,
    DIMENSIONS,
    ask,
    cells_cube,
    rows_of,
)

CHAPTER = {"E10-E14": "IV", "E65-E68": "IV", "I10-I15": "IX", None: None}


def sums(cube, key, kept=lambda _: True):
    """Return the sum of the cells that are kept, by key."""
    found = Counter()
    for row in rows_of(cube):
        if kept(row):
            found[key(row)] += int(row["n"])
    return dict(found)


@pytest.mark.parametrize(
    "condition", ["block IS NULL", "age * 2 > 70", "block LIKE 'E%'"]
)
def test_a_condition_is_the_same_whoever_asked_it_before_and_where(condition):
    """As a filter and as a key: what one reader asked changes no other's answer."""
    texts = (
        f"SELECT COUNT(*) AS n FROM cube WHERE {condition}",
        f"SELECT {condition} AS k, COUNT(*) AS n FROM cube GROUP BY k",
    )
    cube = cells_cube()
    expected = [ask(cube, text).rows for text in texts]
    for order in (texts, texts[::-1]):
        asked = AskedCube(*cube)
        found = {text: asked.ask(parse_query(text)).rows for text in order}
        asked.close()
        assert [found[text] for text in texts] == expected


def nonzero(answer):
    """Return an answer's rows as a dictionary, keys to the last column."""
    return {row[:-1]: row[-1] for row in answer.rows if row[-1] != 0}


@pytest.mark.parametrize(
    ("sql", "key", "kept"),
    [
        (
            (
                "SELECT sex, COUNT(*) AS n FROM cube "
                "WHERE age BETWEEN 30 AND 39 AND sex IN ('F') GROUP BY sex"
            ),
            lambda r: (r["sex"],),
            lambda r: 30 <= r["age"] <= 39 and r["sex"] == "F",
        ),
        ("SELECT COUNT(*) FROM cube", lambda _: (), lambda _: True),
        (
            (
                "SELECT age, died, COUNT(*) FROM cube WHERE month >= '2014-11' "
                "AND block IS NOT NULL GROUP BY age, died"
            ),
            lambda r: (r["age"], r["died"]),
            lambda r: r["month"] >= "2014-11" and r["block"] is not None,
        ),
        (
            "SELECT sex, COUNT(*) FROM cube WHERE sex = 'F' OR age > 40 GROUP BY sex",
            lambda r: (r["sex"],),
            lambda r: r["sex"] == "F" or r["age"] > 40,
        ),
        (
            (
                "SELECT sex, COUNT(*) FROM cube WHERE NOT (sex = 'F' AND age > 30) "
                "GROUP BY sex"
            ),
            lambda r: (r["sex"],),
            lambda r: r["age"] <= 30 or r["sex"] == "M",
        ),
        (
            "SELECT icd_chapter(block) AS c, COUNT(*) FROM cube GROUP BY c",
            lambda r: (CHAPTER[r["block"]],),
            lambda _: True,
        ),
        (
            (
                "SELECT EXTRACT(YEAR FROM month) AS y, "
                "EXTRACT(QUARTER FROM month) AS q, COUNT(*) FROM cube GROUP BY y, q"
            ),
            lambda r: (int(r["month"][:4]), (int(r["month"][5:]) + 2) // 3),
            lambda _: True,
        ),
        (
            "SELECT age_band(age, 10) AS b, age, COUNT(*) FROM cube GROUP BY b, age",
            lambda r: (f"{r['age'] // 10 * 10}-{r['age'] // 10 * 10 + 9}", r["age"]),
            lambda _: True,
        ),
        (
            (
                "SELECT CASE WHEN age >= 40 AND sex = 'F' THEN 'a' WHEN died THEN 'b' "
                "ELSE 'c' END AS k, sex, COUNT(*) FROM cube GROUP BY k, sex"
            ),
            lambda r: (
                "a"
                if r["age"] >= 40 and r["sex"] == "F"
                else "b"
                if r["died"]
                else "c",
                r["sex"],
            ),
            lambda _: True,
        ),
        (
            "SELECT died, COUNT(sex) FROM cube GROUP BY died",
            lambda r: (r["died"],),
            lambda r: r["sex"] is not None,
        ),
        (
            (
                "SELECT sex, COUNT(CASE WHEN died OR age < 25 THEN 1 END) AS n "
                "FROM cube GROUP BY sex"
            ),
            lambda r: (r["sex"],),
            lambda r: r["died"] or r["age"] < 25,
        ),
    ],
)
def test_counts_are_the_sums_of_the_cells_that_the_text_means(sql, key, kept):
    cube = cells_cube()

    assert nonzero(ask(cube, sql)) == sums(cube, key, kept)


def test_every_declared_group_comes_back_in_declared_order_null_last():
    answer = ask(
        cells_cube(), "SELECT sex, COUNT(*) FROM cube WHERE age < 0 GROUP BY sex"
    )

    assert answer.rows == (("F", 0), ("M", 0), (None, 0))
    assert set(answer.half_widths["count"]) == {"0"}


def test_bands_of_a_banded_dimension_are_joined_to_wider_ones():
    cube = cells_cube(BANDED)
    sql = "SELECT age_band(band, 20) AS b, COUNT(*) FROM cube GROUP BY b"
    low = {row["band"]: int(row["band"].partition("-")[0]) for row in rows_of(cube)}

    expected = sums(
        cube,
        lambda r: (f"{low[r['band']] // 20 * 20}-{low[r['band']] // 20 * 20 + 19}",),
    )

    assert nonzero(ask(cube, sql)) == expected


def test_bands_that_do_not_lie_in_those_that_are_held_are_refused_by_their_width():
    sql = "SELECT age_band(band, 15) AS b, COUNT(*) FROM cube GROUP BY b"

    with pytest.raises(QueryError, match="band holds bands of 10: what is asked"):
        ask(cells_cube(BANDED), sql)


def test_having_order_and_limit_act_on_estimates():
    cube = cells_cube()
    sql = (
        "SELECT age, COUNT(*) AS n FROM cube GROUP BY age "
        "HAVING COUNT(*) > 0 ORDER BY n DESC LIMIT 3"
    )

    by_age = sums(cube, lambda r: r["age"])
    expected = sorted(by_age.items(), key=lambda pair: (-pair[1], pair[0]))[:3]

    assert list(ask(cube, sql).rows) == expected


def test_sums_and_averages_weigh_the_dimensions_values():
    cube = cells_cube()
    answer = ask(
        cube,
        "SELECT sex, SUM(age) AS s, AVG(age) AS a, "
        "AVG(CASE WHEN died THEN 1 ELSE 0 END) AS p FROM cube GROUP BY sex",
    )

    for sex, total, average, share in answer.rows:
        rows = [row for row in rows_of(cube) if row["sex"] == sex]
        count = sum(row["n"] for row in rows)
        exact = sum(row["n"] * row["age"] for row in rows)
        died = sum(row["n"] for row in rows if row["died"])
        assert total == exact
        assert float(average) == pytest.approx(exact / count, abs=1e-6)
        assert float(share) == pytest.approx(died / count, abs=1e-6)


def test_an_average_of_less_than_one_row_is_null_and_has_no_interval():
    cube = cells_cube(values=np.zeros(10_800, dtype=np.int64))
    answer = ask(cube, "SELECT AVG(age) AS a FROM cube")

    assert answer.rows == ((None,),)
    assert answer.intervals[0].rows == (None,)


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        ("SELECT icd_category(block) AS c, COUNT(*) FROM cube GROUP BY c",
         "finer_values"),
        ("SELECT EXTRACT(DAY FROM month) AS d, COUNT(*) FROM cube GROUP BY d",
         "finer_values"),
        ("SELECT COUNT(*) FROM cube a JOIN cube b USING (patient_id)", "one_release"),
        (("SELECT COUNT(*) FROM cube WHERE EXISTS (SELECT * FROM cube AS c "
         "WHERE c.patient_id = cube.patient_id AND c.age > 3)"), "one_release"),
        (("WITH t AS (SELECT patient_id, COUNT(*) AS k FROM cube GROUP BY patient_id) "
         "SELECT COUNT(*) FROM t WHERE k > 1"), "one_release"),
        ("SELECT MEDIAN(age) FROM cube", "release_counts"),
        ("SELECT COUNT(DISTINCT age) FROM cube", "release_counts"),
        ("SELECT COUNT(DISTINCT patient_id) FROM cube", "distinct_units"),
        ("SELECT weight, COUNT(*) FROM cube GROUP BY weight", "unknown_column"),
        ("SELECT COUNT(*) FROM encounters", "unknown_table"),
        ("SELECT COUNT(*) FROM cube WHERE patient_id = 3", None),
    ],
)  # fmt: skip
def test_what_a_release_cannot_answer_is_refused_with_its_rule(sql, rule):
    with pytest.raises(QueryError) as refused:
        ask(cells_cube(), sql)

    assert rule is None or refused.value.rule == rule


def test_more_groups_than_an_answer_holds_are_refused():
    with pytest.raises(TooManyGroupsError):
        ask(
            cells_cube(
                (*DIMENSIONS, Dimension("x", ColumnType.INTEGER, tuple(range(9))))
            ),
            "SELECT sex, age, block, month, died, x, COUNT(*) FROM cube "
            "GROUP BY sex, age, block, month, died, x",
        )


def test_units_are_counted_only_where_nobody_can_be_counted_twice():
    fixed = (
        "SELECT sex, age, COUNT(DISTINCT patient_id) AS n FROM cube "
        "WHERE block = 'E10-E14' AND month = '2014-02' GROUP BY sex, age"
    )
    cube = cells_cube()

    answer = ask(cube, fixed)

    assert nonzero(answer) == sums(
        cube,
        lambda r: (r["sex"], r["age"]),
        lambda r: r["block"] == "E10-E14" and r["month"] == "2014-02",
    )
    assert [c.unit for c in answer.columns] == [None, None, "patient"]
    assert answer.warnings == ()


def test_counts_that_may_count_somebody_twice_say_so():
    answer = ask(cells_cube(), "SELECT COUNT(*) AS n FROM cube")

    assert [warning.code for warning in answer.warnings] == ["counts_touches"]
    assert answer.columns[0].unit == "patient, once a cell"


def test_units_where_a_condition_holds_are_those_of_the_cells_that_it_keeps():
    cube = cells_cube(bound=1)
    whole = ask(cube, "SELECT COUNT(DISTINCT patient_id) AS n FROM cube")
    where = ask(
        cube, "SELECT COUNT(DISTINCT patient_id) AS n FROM cube WHERE sex = 'F'"
    )
    kept = ask(
        cube,
        "SELECT COUNT(DISTINCT patient_id) FILTER (WHERE sex = 'F') AS n,"
        " COUNT(DISTINCT CASE WHEN sex = 'F' THEN patient_id END) AS m FROM cube",
    )
    assert kept.rows[0] == (*where.rows[0], *where.rows[0])
    assert kept.rows[0][0] != whole.rows[0][0]


def test_units_with_one_cell_each_are_counted_everywhere():
    answer = ask(
        cells_cube(bound=1), "SELECT COUNT(DISTINCT patient_id) AS n FROM cube"
    )

    assert answer.columns[0].unit == "patient"
    assert answer.warnings == ()


def test_a_release_of_rows_counts_rows_and_no_units():
    cube = cells_cube(counts="rows")

    assert ask(cube, "SELECT COUNT(*) FROM cube").columns[0].unit == "rows"
    with pytest.raises(QueryError) as refused:
        ask(cube, "SELECT COUNT(DISTINCT patient_id) FROM cube")
    assert refused.value.rule == "rows_counted"


def test_a_condition_on_several_dimensions_needs_a_cube_that_can_be_held():
    wide = (
        Dimension("a", ColumnType.INTEGER, tuple(range(5000))),
        Dimension("b", ColumnType.INTEGER, tuple(range(5000))),
    )
    cube = cells_cube(wide, values=np.zeros(25_000_000, dtype=np.int64))

    with pytest.raises(QueryError) as refused:
        ask(cube, "SELECT COUNT(*) FROM cube WHERE a = 1 OR b = 2")

    assert refused.value.rule == "cell_mask"


def test_decimals_are_compared_summed_and_shown_on_their_grid():
    values = (Decimal("0.50"), Decimal("1.25"), None)
    weight = Dimension("weight", ColumnType.DECIMAL, values, scale=2)
    cube = cells_cube((weight,), values=np.array([4, 8, 5]))

    answer = ask(
        cube,
        "SELECT weight, SUM(weight) AS s, COUNT(*) AS n FROM cube "
        "WHERE weight >= 0.5 OR weight IS NULL GROUP BY weight",
    )

    assert answer.rows == (("0.50", "2.00", 4), ("1.25", "10.00", 8), (None, "0.00", 5))


LONG = Dimension("age", ColumnType.TEXT, ("80-89", "90-99", "100-109"), ordered=True)
WARDS = Dimension("ward", ColumnType.TEXT, ("north", "east"))


@pytest.mark.parametrize(
    ("condition", "codes"),
    [
        ("age > '80-89'", ["text_order"]),
        ("age BETWEEN '80-89' AND '90-99' AND ward <> 'east'", ["text_order"]),
        ("CASE WHEN age >= '90-99' THEN 1 ELSE 0 END = 1", ["text_order"]),
        ("age IN ('90-99', '100-109')", []),
        ("age = '90-99' OR ward > 'east'", []),
        ("age > '9'", ["literal_outside_domain", "text_order"]),
    ],
)
def test_texts_that_are_compared_against_their_declared_order_are_told(
    condition, codes
):
    cube = cells_cube((LONG, WARDS))

    answer = ask(cube, f"SELECT COUNT(*) FROM cube WHERE {condition}")

    told = [w.code for w in answer.warnings if w.code != "counts_touches"]
    assert told == codes


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("sex = 'W'", "sex is compared with a value that it does not have: declared:"),
        ("sex <> 'female'", "did you mean 'F'?"),
        ("sex IN ('F', 'W')", "declared: F, M"),
        ("NOT (died AND sex = 'W')", "declared: F, M"),
        ("age = 99", "declared are 20 to 44"),
        ("age IN (19, 20)", "declared are 20 to 44"),
        ("CASE sex WHEN 'W' THEN 1 ELSE 0 END = 1", "declared: F, M"),
        ("AVG", "declared: F, M"),
        ("icd_chapter(block) = 'XX'", "a value that it does not have"),
        ("sex = 'F' AND EXTRACT(YEAR FROM month) IN (2030)", "does not have"),
    ],
)
def test_equality_with_what_a_dimension_does_not_have_is_refused(condition, told):
    text = f"SELECT COUNT(*) FROM cube WHERE {condition}"
    if condition == "AVG":
        text = "SELECT AVG(CASE WHEN sex = 'W' THEN 1 ELSE 0 END) AS p FROM cube"

    with pytest.raises(SqlNotAllowedError) as refused:
        ask(cells_cube(), text)

    assert refused.value.rule == "absent_value"
    assert told in str(refused.value)
    literal = re.search(r"'W'|'female'|99|19|'XX'|2030", text)
    assert refused.value.column == literal.start() + 1


def test_a_value_that_another_dimension_has_is_pointed_at_where_it_is_missing():
    text = "SELECT COUNT(*) FROM cube WHERE block = 'E10-E14' OR sex = 'E10-E14'"

    with pytest.raises(SqlNotAllowedError) as refused:
        ask(cells_cube(), text)

    assert refused.value.column == text.rindex("'E10-E14'") + 1


def test_a_range_may_reach_beyond_the_values_and_counts_those_that_it_holds():
    wide, narrow = (
        ask(cells_cube(), f"SELECT COUNT(*) FROM cube WHERE age BETWEEN {ends}")
        for ends in ("0 AND 22", "20 AND 22")
    )

    assert wide.rows == narrow.rows
    assert "literal_outside_domain" in [w.code for w in wide.warnings]
