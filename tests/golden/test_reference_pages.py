"""Each rule has a text that it refuses, and the pages say what the code says."""

import os

import pytest

from query_lang.syntax.rules import RULES
from tests.golden.meanings import REFUSED_BY_MEANING, REFUSED_ON_CLINIC, UNREACHED
from tests.golden.reference_pages import (
    ALL_REFUSALS,
    EXAMPLES,
    REFUSALS,
    all_refusals_page,
    clinic,
    hospital,
    refusal,
    refusals_page,
)
from tests.golden.refusals import REFUSED
from tests.golden.rule_topics import OF_PRIVACY, TOPICS

HOSPITAL = [(rule, sql, hospital) for rule, sql in REFUSED_BY_MEANING]
CLINIC = [(rule, sql, clinic) for rule, sql in REFUSED_ON_CLINIC]


@pytest.mark.parametrize(("rule", "sql", "dataset"), HOSPITAL + CLINIC)
def test_a_text_is_refused_for_what_it_means(rule, sql, dataset):
    error = refusal(sql, dataset())
    assert error.rule == rule
    assert error.detail
    assert error.hint


def test_every_rule_has_a_text_or_a_reason_for_none():
    tried = {rule for _, _, rule, _, _ in REFUSED}
    tried |= {rule for rule, *_ in HOSPITAL + CLINIC}
    assert set(RULES) - tried == set(UNREACHED)


@pytest.mark.parametrize(
    ("path", "made"),
    [
        (REFUSALS, refusals_page),
        (ALL_REFUSALS, all_refusals_page),
    ],
    ids=["refusals", "all"],
)
def test_a_page_is_current(path, made):
    text = made()
    if os.environ.get("CURATOR_GOLDEN") == "1":
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text


def test_researchers_see_at_most_three_examples_of_a_rule():
    for part in refusals_page().split("\n### ")[1:]:
        assert 1 <= part.count("\n- ") <= EXAMPLES, part.splitlines()[0]


def test_each_rule_stands_under_one_heading_in_the_order_of_the_alphabet():
    listed = [names.split() for names in TOPICS.values()]
    assert sorted(name for names in listed for name in names) == sorted(RULES)
    assert all(names == sorted(names) for names in listed)
    assert set(OF_PRIVACY) <= set(RULES)
