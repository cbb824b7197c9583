"""A2: price, remaining budget and refusals are functions of text and ledger alone."""

import random

import pytest

from tests.support.installations.arms import plan, shape
from tests.support.installations.harness import ask

pytestmark = pytest.mark.thorough

QUESTIONS = 200
ALLOTMENT = "12"  # about half of what the questions ask for

_KEYS = ("", "sex", "ward", "sex, ward", "day", "age, sex", "note")
_MEASURES = ("COUNT(*)", "COUNT(DISTINCT patient_id)", "COUNT(*), COUNT(*)", "SUM(age)")
_CONDITIONS = (
    "",
    "age >= 111",
    "age BETWEEN 30 AND 60 OR ward = 'north'",
    "ward IN ('north', 'south') AND NOT sex = 'F'",
    "note IS NULL",
    "day >= '2024-12-20'",
    "age > 'x'",
    "ward = 'attic'",
    "nothing = 1",
)
_LOSSES = ("0.05", "0.1", "0.25", "0.5", "1", "0.000000001", "7", 0.125)


def _questions():
    dice = random.Random(2)
    for _ in range(QUESTIONS):
        keys = dice.choice(_KEYS)
        listed = ", ".join(filter(None, (keys, dice.choice(_MEASURES))))
        condition = dice.choice(_CONDITIONS)
        sql = f"SELECT {listed} FROM visits"
        sql += f" WHERE {condition}" if condition else ""
        sql += f" GROUP BY {keys}" if keys else ""
        yield sql, dice.choice(_LOSSES)


@pytest.fixture(scope="module")
def analysts(neighbours):
    """The same newcomer on both arms, with too little for all questions."""
    clients = [arm.analyst("eve", "small", allotment=ALLOTMENT) for arm in neighbours]
    yield clients
    for http in clients:
        http.close()


@pytest.mark.slow
def test_price_remaining_and_refusal_point_do_not_see_one_patient(analysts):
    seen = []
    for number, (sql, epsilon) in enumerate(_questions()):
        pair = analysts if number % 2 else analysts[::-1]
        plans = [shape(plan(http, sql, epsilon)) for http in pair]
        answers = [ask(http, sql, epsilon) for http in pair]
        assert plans[0] == plans[1], sql
        assert shape(answers[0]) == shape(answers[1]), sql
        if number % 10 == 0:
            budgets = [http.get("/v1/budget").content for http in pair]
            assert budgets[0] == budgets[1], sql
        seen.append(answers[0].status_code)
    assert {200, 402, 422} == set(seen)
    assert min(seen.count(status) for status in (200, 402, 422)) >= 20


def test_plans_name_the_charge_that_is_then_made(analysts):
    for http in analysts:
        priced = plan(http, epsilon="0.001").json()["epsilon"]
        paid = ask(http, epsilon="0.001")
        assert paid.status_code == 402 or paid.json()["charge"]["epsilon"] == priced
