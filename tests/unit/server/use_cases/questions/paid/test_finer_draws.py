"""What a question goes on from: the very numbers that were measured then."""

from dataclasses import replace

import pytest

from privacy.losses import Loss
from server.use_cases.questions.measured import Drawn, Measured
from server.use_cases.questions.paid.finer_draws import (
    drawn_of,
    finer_of,
    made_finer,
    plan_digest,
    work_of_drawing_again,
)
from server.use_cases.questions.questions import finer_text, finer_than
from tests.support.questions import priced_question

ENGINE = "duckdb 1.2.3"
PAID = Loss.parse("0.2")


def question(epsilon, where=""):
    return priced_question(f"SELECT COUNT(*) AS n FROM encounters {where}", epsilon)


def stored(asked, **changes):
    vectors = asked.normal.normal_vectors([[1]])
    return replace(Measured("", vectors, drawn_of(asked, ENGINE)), **changes).encode()


def test_its_numbers_and_scales_are_those_that_were_kept():
    asked = question("0.2")
    finer = finer_of("q_1", PAID, stored(asked), question("0.9"), ENGINE)
    assert finer.shown.vectors == [[1]]
    assert finer.shown.event.loss == PAID
    assert [v.scale for v in finer.shown.event.vectors] == [
        v.scale for v in asked.event.vectors
    ]


@pytest.mark.parametrize("plan", [None, "another plan"])
def test_what_is_not_known_to_be_the_same_is_not_gone_on_from(plan):
    asked = question("0.2")
    drawn = plan and Drawn(plan, drawn_of(asked, ENGINE).scales)
    assert finer_of("q_1", PAID, stored(asked, drawn=drawn), asked, ENGINE) is None
    assert finer_of("q_1", PAID, None, asked, ENGINE) is None


def test_other_statements_have_another_digest():
    one, other = question("0.2"), question("0.2", "WHERE age > 40")
    assert plan_digest(one, ENGINE) == plan_digest(question("0.7"), ENGINE)
    assert plan_digest(one, ENGINE) != plan_digest(other, ENGINE)
    assert plan_digest(one, ENGINE) != plan_digest(one, "duckdb 1.2.4")
    assert plan_digest(one, ENGINE) != plan_digest(
        replace(one, snapshot="s_other"), ENGINE
    )


def test_it_costs_the_difference_and_says_whose_noise_it_goes_on_from():
    asked = question("0.2")
    finer = finer_of("q_1", PAID, stored(asked), asked, ENGINE)
    made = made_finer(question("0.5"), finer)
    assert (made.charged, made.event.loss) == (Loss.parse("0.3"), Loss.parse("0.5"))
    assert (made.refines.query_id, made.refines.total) == ("q_1", Loss.parse("0.5"))
    assert finer_than(made.text) == ("q_1", Loss.parse("0.5"))


def test_it_costs_a_tenth_at_least_and_at_most_what_a_query_may():
    asked = question("0.2")
    finer = finer_of("q_1", PAID, stored(asked), asked, ENGINE)
    assert made_finer(question("0.201"), finer).charged == Loss.parse("0.02")
    dear = replace(finer, loss=Loss.parse("4.9"))
    assert made_finer(question("0.5"), dear) is None


def test_noise_as_coarse_as_was_shown_is_not_gone_on_from():
    asked = question("0.2")
    finer = finer_of("q_1", PAID, stored(asked), asked, ENGINE)
    vectors = [replace(v, scale=0.5) for v in finer.shown.event.vectors]
    event = replace(finer.shown.event, vectors=tuple(vectors))
    exact = replace(finer, shown=replace(finer.shown, event=event))
    assert made_finer(question("0.5"), exact) is None


def test_a_charge_says_what_it_is_in_all():
    text = finer_text('{"sql": "x"}', Loss.parse("0.3"), Loss.parse("0.5"), "q_1")
    assert finer_than(text) == ("q_1", Loss.parse("0.5"))
    assert '"epsilon": "0.3"' in text
    assert finer_than('{"sql": "x"}') is None


def test_work_grows_with_the_numbers():
    by_age = "SELECT age, COUNT(*) AS n FROM encounters GROUP BY age"
    alone, many = question("0.2"), priced_question(by_age, "0.2")
    assert work_of_drawing_again(alone) == 1
    cells = len(many.compiled.rendered.cells)
    assert work_of_drawing_again(many) == 1 + cells // 10 > 1
