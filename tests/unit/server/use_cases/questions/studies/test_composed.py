"""A study as one question: what its tables cost together."""

from dataclasses import replace

import pytest

from privacy.errors import SqlNotAllowedError
from query_lang.plans.costs import UNLIMITED, PlanCost
from server.use_cases.questions.studies.composed import _cost, check_cost

ONE = PlanCost(1_000, 2_000, 30, 40, 5, 6)


class Compiled:
    """As much of a plan as its cost is read off."""

    cost = _cost([ONE, ONE, ONE])
    showing_steps = 7


def test_tables_cost_what_all_of_them_cost_at_the_same_time():
    assert Compiled.cost == PlanCost(3_000, 6_000, 90, 120, 15, 18)


@pytest.mark.parametrize(
    "limit",
    [
        {"steps": 2_999},
        {"memory_bytes": 5_999},
        {"unit_steps": 89},
        {"unit_memory_bytes": 119},
        {"startup_steps": 14},
        {"startup_memory_bytes": 17},
        {"showing_steps": 6},
    ],
)
def test_a_study_that_costs_more_than_one_question_may_is_refused(limit):
    check_cost(Compiled, UNLIMITED)
    with pytest.raises(SqlNotAllowedError, match="all questions of the study"):
        check_cost(Compiled, replace(UNLIMITED, **limit))
