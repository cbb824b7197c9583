"""Keys that follow from another key make no cells of their own."""

# ruff: noqa: E501 - a text is one string, to be read

import pytest

from query_lang.plans.compiled import DependentShown
from query_lang.showing.presentation import present
from tests.golden.reference_pages import hospital
from tests.support.compiling import compile_query


def by(*keys):
    shown = ", ".join(f"{key} AS k{place}" for place, key in enumerate(keys))
    places = ", ".join(str(place + 1) for place in range(len(keys)))
    return f"SELECT {shown}, COUNT(DISTINCT patient_id) AS n FROM encounters GROUP BY {places}"


MONTHS = by("EXTRACT(MONTH FROM admitted)", "TO_CHAR(admitted, 'Mon')")


def compiled(sql):
    return compile_query(sql, hospital())


@pytest.mark.parametrize(
    ("keys", "cells"),
    [
        (("EXTRACT(MONTH FROM admitted)", "TO_CHAR(admitted, 'Mon')"), 12),
        (("TO_CHAR(admitted, 'FMMonth')", "QUARTER(admitted)"), 12),
        (("EXTRACT(ISODOW FROM admitted)", "TO_CHAR(admitted, 'FMDay')"), 7),
        (("EXTRACT(YEAR FROM admitted)", "DATE_TRUNC('month', admitted)"), 72),
        (("TO_CHAR(admitted, 'YYYY-MM')", "QUARTER(admitted)", "YEAR(admitted)"), 72),
        (("year", "CASE WHEN year < 2022 THEN 'before' ELSE 'after' END"), 6),
        (("year", "year >= 2022", "year IN (2020, 2021)"), 6),
        # what follows from what follows
        (
            (
                "DATE_TRUNC('month', admitted)",
                "EXTRACT(YEAR FROM admitted)",
                "CASE WHEN EXTRACT(YEAR FROM admitted) < 2022 THEN 'early' ELSE 'late' END",
            ),
            72,
        ),
        (
            (
                "MONTHNAME(admitted)",
                "EXTRACT(QUARTER FROM admitted)",
                "CASE WHEN EXTRACT(QUARTER FROM admitted) IN (1, 4) THEN 'cold' ELSE 'warm' END",
                "EXTRACT(MONTH FROM admitted)",
            ),
            12,
        ),
        # what does not follow
        (("EXTRACT(YEAR FROM admitted)", "EXTRACT(MONTH FROM admitted)"), 72),
        (("TO_CHAR(admitted, 'Mon')", "TO_CHAR(admitted, 'Dy')"), 84),
        (("year", "CASE WHEN age < 60 THEN 'young' ELSE 'old' END"), 12),
        (("year", "CASE WHEN year < 2022 AND age < 60 THEN 1 ELSE 0 END"), 12),
        (  # the same conditions, of which one is what the other asks after
            (
                "CASE WHEN discharged_to = 'died' THEN 1 WHEN age > 50 THEN 2 ELSE 3 END",
                "CASE discharged_to = 'died' WHEN age > 50 THEN 'x' ELSE 'y' END",
            ),
            6,
        ),
    ],
)
def test_a_key_that_follows_is_shown_beside_the_other(keys, cells):
    assert len(compiled(by(*keys)).rendered.cells) == cells


def test_patients_are_in_no_more_groups_than_the_key_has():
    found = compiled(MONTHS)
    assert found.measures[0].sensitivity.l1 == 12


def test_what_follows_is_shown_in_each_cell():
    found = compiled(MONTHS)
    rows = present(found, [list(range(12))])
    assert rows[0][:2] == [1, "Jan"]
    assert rows[11] == [12, "Dec", 11]


def test_order_by_what_follows_is_that_of_its_own_list():
    sql = "SELECT sex, CASE sex WHEN 'F' THEN 'b' WHEN 'M' THEN 'a' ELSE 'c' END AS s, COUNT(*) AS n FROM patients GROUP BY 1, 2 ORDER BY 2 DESC"
    found = compiled(sql)
    (dependent,) = (
        c.shown for c in found.columns if isinstance(c.shown, DependentShown)
    )
    assert dict(dependent.pairs)["F"] == "b"
    rows = present(found, [[1, 2, 3]])
    assert [row[1] for row in rows] == list(reversed(dependent.listed))


def test_the_era_of_a_month_is_that_of_its_year():
    year = "EXTRACT(YEAR FROM admitted)"
    era = f"CASE WHEN {year} < 2022 THEN 'early' ELSE 'late' END"
    found = compiled(by("TO_CHAR(admitted, 'YYYY-MM')", year, era))
    rows = present(found, [[1] * 72])
    assert all(int(month[:4]) == own for month, own, _, _ in rows)
    assert all(word == ("early" if own < 2022 else "late") for _, own, word, _ in rows)


def test_numbers_that_follow_are_sorted_as_numbers():
    words = "CASE department WHEN 'surgery' THEN 3 WHEN 'oncology' THEN 1 ELSE 2 END"
    found = compiled(by("department", words) + " ORDER BY 2, 1")
    rows = present(found, [[1] * len(found.rendered.cells)])
    assert [row[1] for row in rows] == sorted(row[1] for row in rows)
    assert "k1" not in str([w.detail for w in found.warnings])


@pytest.mark.parametrize("order", ["ORDER BY 2", "ORDER BY k1 DESC"])
def test_texts_that_follow_warn_of_their_order(order):
    words = "CASE WHEN department = 'surgery' THEN 'b' ELSE 'a' END"
    found = compiled(f"{by('department', words)} {order}")
    (warning,) = found.warnings
    assert warning.code == "declared_order"
    assert warning.detail == "ORDER BY k1 follows the declared list: b, a"


def test_a_weight_of_a_key_is_a_number_of_its_cell():
    sql = "SELECT sex, COUNT(*) * CASE sex WHEN 'F' THEN 0.5 ELSE 2 END AS w FROM patients GROUP BY sex"
    rows = present(compiled(sql), [[10, 10, 10]])
    assert [str(row[1]) for row in rows] == ["5.0", "20.0", "20.0"]


def test_null_follows_from_null():
    sql = "SELECT discharged_to, COALESCE(discharged_to, 'unknown') AS d, COUNT(*) AS n FROM encounters GROUP BY 1, 2"
    rows = present(compiled(sql), [[1, 2, 3]])
    assert [row[1] for row in rows] == ["home", "died", "unknown"]


def test_totals_keep_all_their_keys():
    sql = "SELECT year, year >= 2022 AS late, COUNT(*) AS n FROM encounters GROUP BY ROLLUP (year, year >= 2022)"
    assert len(compiled(sql).rendered.cells) == 12
