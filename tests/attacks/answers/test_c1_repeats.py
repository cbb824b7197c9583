"""C1: a repeat is the stored answer for nothing, or a fresh answer in full."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count, pairwise

import pytest

from tests.support.installations.arms import plan, repeatable
from tests.support.installations.harness import ask

_SAME = ("columns", "rows", "noise", "snapshot", "derivation", "warnings")


_fresh = count()


@pytest.fixture
def number():
    """A number that no other test was given."""
    return next(_fresh)


@pytest.fixture
def question(number):
    """A question that nobody asked before."""
    condition = f"note = 'repeats {number}'"
    return f"SELECT sex, COUNT(*) FROM visits WHERE {condition} GROUP BY sex"


def _spent(http, project="study"):
    projects = http.get("/v1/budget").json()["projects"]
    return next(p["spent"] for p in projects if p["project"] == project)


def test_a_repeat_is_free_and_shows_the_same_noise(house, question):
    first = repeatable(house.http, question, "0.01").json()
    before = _spent(house.http)
    for _ in range(20):
        again = repeatable(house.http, question, "0.01").json()
        assert {name: again[name] for name in _SAME} == {n: first[n] for n in _SAME}
        assert again["charge"] == {"epsilon": "0", "delta": "0", "reused": True}
        assert again["query_id"] != first["query_id"]
    assert _spent(house.http) == before


def test_never_buys_fresh_noise_at_full_price_each_time(house, question):
    answers = [ask(house.http, question, "0.01").json() for _ in range(20)]
    assert {a["charge"]["epsilon"] for a in answers} == {"0.01"}
    assert not any(a["charge"]["reused"] for a in answers)
    left = [float(a["remaining"]["project"]) for a in answers]
    assert all(high - low == pytest.approx(0.01) for high, low in pairwise(left))
    # Two cells of scale 1000: 20 equal draws have no chance.
    assert len({tuple(row[1] for row in a["rows"]) for a in answers}) > 10


def test_a_smaller_epsilon_takes_the_better_stored_answer(house, question):
    ask(house.http, question, "0.01")
    best = ask(house.http, question, "0.5").json()
    ask(house.http, question, "0.5")
    offered = plan(house.http, question, "0.01").json()["free"]
    assert offered == [{"kind": "answer", "id": best["query_id"], "epsilon": "0.5"}]
    free = repeatable(house.http, question, "0.01").json()
    assert free["rows"] == best["rows"]  # greatest epsilon, then the earliest
    assert free["noise"] == best["noise"]


def test_a_greater_epsilon_is_charged_the_difference(house, question):
    """Of the answer that was shown, once; where nothing is reused, in full."""
    first = repeatable(house.http, question, "0.01").json()
    offered = plan(house.http, question, "0.02").json()["free"]
    assert [one["kind"] for one in offered] == ["paid"]  # less precise, and so told
    fresh = ask(house.http, question, "0.015").json()
    assert fresh["charge"] == {"epsilon": "0.015", "delta": "0", "reused": False}
    better = repeatable(house.http, question, "0.04").json()
    assert better["charge"] == {"epsilon": "0.025", "delta": "0", "reused": False}
    assert better["paid"]["queries"] == [fresh["query_id"]] != [first["query_id"]]


def test_an_accuracy_and_an_epsilon_of_one_loss_are_one_question(house, question):
    wish = {"sql": question, "accuracy": {"within": 300, "confidence": 0.95}}
    path = "/v1/datasets/clinic/queries"
    first = house.http.post(path, json=wish).json()
    again = repeatable(house.http, question, first["charge"]["epsilon"]).json()
    assert again["charge"]["reused"]
    assert again["rows"] == first["rows"]


def test_an_answer_is_free_for_a_colleague_and_with_an_empty_purse(
    house, question, number
):
    first = repeatable(house.http, question, "0.01").json()
    name = f"poor{number}"
    with house.analyst(name, name, allotment="0") as poor:
        assert ask(poor, question, "0.01").status_code == 402
        assert plan(poor, question, "0.01").json()["affordable"] is False
        free = repeatable(poor, question, "0.01")
        assert free.status_code == 200
        assert free.json()["rows"] == first["rows"]
        assert free.json()["charge"]["epsilon"] == "0"
        assert free.json()["remaining"]["project"] == "0"


def test_private_history_is_offered_to_nobody_else(house, question, number):
    name = f"secret{number}"
    with house.analyst(name, name, private_history=True) as http:
        bought = repeatable(http, question, "0.01").json()
        assert plan(house.http, question, "0.01").json()["free"] == []
        other = repeatable(house.http, question, "0.01").json()
        assert not other["charge"]["reused"]
        own = repeatable(http, question, "0.01").json()
        assert own["charge"]["reused"]
        assert own["rows"] in (bought["rows"], other["rows"])


def test_other_bounds_or_another_project_are_told_apart_as_the_contract_says(
    house, question
):
    repeatable(house.http, question, "0.01")
    bounds = {"bounds": {"tables": {"visits": 2}}}
    bounded = ask(house.http, question, "0.01", options=bounds).json()
    assert not bounded["charge"]["reused"]  # bounds are part of the question
    for options in ({"reuse": "allow"}, {"prefer": "release"}, {"weights": {}}):
        again = ask(house.http, question, "0.01", options=options).json()
        assert again["charge"]["reused"]
    again = repeatable(house.http, question, "0.01", project="study").json()
    assert again["charge"]["reused"]


def test_a_question_in_flight_is_charged_afresh(house, question):
    with ThreadPoolExecutor(2) as pool, house.sampler.held():
        asked = [
            pool.submit(repeatable, house.http, question, "0.01") for _ in range(2)
        ]
        house.sampler.wait_for(1)
        assert plan(house.http, question, "0.01").json()["free"] == []
        house.sampler.wait_for(2)
        house.sampler.open()
        charges = [future.result().json()["charge"] for future in asked]
    assert [charge["epsilon"] for charge in charges] == ["0.01", "0.01"]
    assert not any(charge["reused"] for charge in charges)
