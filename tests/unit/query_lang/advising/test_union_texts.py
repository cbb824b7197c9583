"""Texts with the keys of two questions, where both read the same rows."""

import pytest

from query_lang.advising.union_texts import LONGEST, union_text

BY_SEX = "SELECT sex, COUNT(*) AS n FROM v GROUP BY sex"


@pytest.mark.parametrize(
    ("one", "other", "union"),
    [
        (
            BY_SEX,
            "SELECT ward, COUNT(*) FROM v GROUP BY ward",
            "SELECT sex, ward, COUNT(*) AS n FROM v GROUP BY 1, 2",
        ),
        (
            "select COUNT(*) from v",
            BY_SEX,
            "SELECT sex, COUNT(*) from v GROUP BY 1",
        ),
        (
            (
                "SELECT age_band(age, 10) AS band, sex, SUM(x) FROM v WHERE x > 1 "
                "GROUP BY band, sex"
            ),
            (
                "SELECT age_band(age, 10) AS decade, SUM(x) FROM v WHERE x > 1 "
                "GROUP BY decade ORDER BY decade;"
            ),
            (
                "SELECT age_band(age, 10) AS band, sex, SUM(x) FROM v WHERE x > 1 "
                "GROUP BY 1, 2"
            ),
        ),
        (
            "WITH a AS (SELECT * FROM v) SELECT s, COUNT(*) FROM a GROUP BY 1",
            "WITH a AS (SELECT * FROM v) SELECT t, COUNT(*) FROM a GROUP BY 1",
            "WITH a AS (SELECT * FROM v) SELECT s, t, COUNT(*) FROM a GROUP BY 1, 2",
        ),
    ],
)
def test_a_union_has_the_keys_of_both_and_the_measures_of_the_first(one, other, union):
    assert union_text(one, other) == union


@pytest.mark.parametrize(
    "other",
    [
        "SELECT ward, COUNT(*) FROM w GROUP BY ward",
        "SELECT ward, COUNT(*) FROM v WHERE x > 1 GROUP BY ward",
        "SELECT ward, COUNT(*) FROM v GROUP BY ward HAVING COUNT(*) > 9",
        "SELECT ward, COUNT(*) FROM v GROUP BY ward LIMIT 3",
        "SELECT DISTINCT ward, COUNT(*) FROM v GROUP BY ward",
        "SELECT COUNT(*) FROM v GROUP BY ward",
        "SELECT ward, COUNT(*) FROM v GROUP BY 9",
        "SELECT ward, COUNT(*) FROM v GROUP BY ward UNION SELECT 1, 2 FROM v",
        "SELECT ward, COUNT(*) FROM v GROUP BY ward -- " + "x" * LONGEST,
        "SELECT \N{SNOWMAN} FROM v",
    ],
)
def test_what_reads_other_rows_or_does_more_than_count_has_no_union(other):
    assert union_text(BY_SEX, other) is None


def test_two_totals_have_no_union():
    assert union_text("SELECT COUNT(*) FROM v", "SELECT COUNT(*) FROM v") is None
