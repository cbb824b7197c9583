"""The normal form of texts: which are one question, and which only look like one."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from privacy.contributions import NO_BOUNDS, ContributionBounds
from query_lang.binding.bind import bind_query
from query_lang.normalising.questions import NormalMeasure, normal_question
from query_lang.plans.sensitivity import measure_sensitivity
from query_lang.reading.parse import parse_query
from tests.semantics import hospital

CORPUS = Path("tests/golden/normal_form")


def groups(name):
    """Return the texts of a file, group by group."""
    lines = (CORPUS / name).read_text().splitlines()
    text = "\n".join(line for line in lines if not line.startswith("--"))
    found = (part.split(";") for part in re.split(r"\n\s*\n", text))
    return [[sql.strip() for sql in group if sql.strip()] for group in found]


def normal_of(sql, bounds=NO_BOUNDS, weights=None):
    plan = bind_query(parse_query(sql), hospital.DATASET, bounds).plan
    return normal_question(plan, weights or [Fraction(1)] * len(plan.measures))


SAME = [group for group in groups("same.sql") if group]
DIFFERENT = [group for group in groups("different.sql") if group]


def test_the_corpus_holds_some_three_hundred_pairs_and_a_hundred_look_alikes():
    assert sum(len(group) - 1 for group in SAME) >= 298
    assert sum(len(group) - 1 for group in DIFFERENT) >= 108


@pytest.mark.parametrize("group", SAME, ids=lambda group: group[0][:60])
def test_a_question_in_other_words_has_one_form(group):
    first, *others = group
    form = normal_of(first).text
    assert [sql for sql in others if normal_of(sql).text != form] == []


@pytest.mark.parametrize("group", DIFFERENT, ids=lambda group: group[0][:60])
def test_a_question_that_looks_alike_has_another_form(group):
    first, *others = group
    form = normal_of(first).text
    assert [sql for sql in others if normal_of(sql).text == form] == []


COUNTED = "SELECT ward, COUNT(*) AS n, SUM(days) AS d FROM encounters GROUP BY ward"


def test_bounds_and_weights_are_part_of_the_question():
    forms = {
        normal_of(COUNTED).text,
        normal_of(COUNTED, ContributionBounds(max_rows_per_unit=2)).text,
        normal_of(COUNTED, ContributionBounds(max_groups_per_unit=2)).text,
        normal_of(COUNTED, ContributionBounds(tables=(("encounters", 2),))).text,
        normal_of(COUNTED, weights=[Fraction(1), Fraction(2)]).text,
    }
    assert len(forms) == 5


def test_shares_of_weights_follow_their_vectors_in_any_order():
    turned = "SELECT ward, SUM(days) AS d, COUNT(*) AS n FROM encounters GROUP BY ward"
    one = normal_of(COUNTED, weights=[Fraction(1), Fraction(2)])
    assert one.text == normal_of(turned, weights=[Fraction(4), Fraction(2)]).text
    assert one.text != normal_of(turned, weights=[Fraction(1), Fraction(2)]).text


def test_vectors_come_back_in_the_order_of_each_text():
    """Keys, cells and measures stand in another order in the second text."""
    one = normal_of(
        """SELECT CASE WHEN severity < 2 THEN 'y' ELSE 'o' END AS band, urgent,
        COUNT(*), SUM(days) FROM encounters GROUP BY band, urgent"""
    )
    other = normal_of(
        """SELECT urgent, CASE WHEN severity >= 2 THEN 'o' ELSE 'y' END AS band,
        SUM(days), COUNT(*) FROM encounters GROUP BY urgent, band"""
    )
    assert one.text == other.text
    counts = {(b, u): 10 * b + u for b in range(2) for u in range(2)}
    mine = [counts[b, u] for b in range(2) for u in range(2)]
    theirs = [counts[1 - b, u] for u in range(2) for b in range(2)]
    normal = one.normal_vectors([mine, [-n for n in mine]])
    assert other.own_vectors(normal) == [[-n for n in theirs], theirs]
    assert one.own_vectors(normal) == [mine, [-n for n in mine]]


def test_bins_of_a_cell_stay_together():
    form = normal_of("SELECT analyte, MEDIAN(level) FROM labs GROUP BY analyte")
    (measure,) = form.measures
    own = [list(range(2 * measure.size))]
    assert form.own_vectors(form.normal_vectors(own)) == own
    first = form.normal_vectors(own)[0][: measure.size]
    assert first == list(range(first[0], first[0] + measure.size))


def test_measures_of_other_noise_are_other_questions():
    """Whatever their rows: a scale is of the L1 and the share of the loss."""
    told = [
        NormalMeasure(["count"], "rows", l1, share, 1, "CountRowsMeasure").parameter
        for l1, share in (("4", "1"), ("5", "1"), ("4", "1/2"))
    ]
    assert all(one != other for n, one in enumerate(told) for other in told[:n])


ONE_VALUE = (
    "COUNT(DISTINCT CASE WHEN {} THEN days END) AS n FROM encounters GROUP BY age"
)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [("days = 1", "days * 2 = 2"), ("days IN (1, 2)", "days + 1 IN (2, 3)")],
)
def test_one_form_never_has_gaussian_noise_of_two_scales(narrow, wide):
    """In rho a vector's noise follows from L2, which L1 does not always tell."""
    texts = [f"SELECT age, {ONE_VALUE.format(each)}" for each in (narrow, wide)]
    plans = [
        bind_query(parse_query(sql), hospital.DATASET, NO_BOUNDS).plan for sql in texts
    ]
    moved = [measure_sensitivity(plan, plan.measures[0]) for plan in plans]
    same = normal_of(texts[0]).text == normal_of(texts[1]).text
    assert moved[0].l1 == moved[1].l1
    assert same == (moved[0].l2_squared == moved[1].l2_squared)
