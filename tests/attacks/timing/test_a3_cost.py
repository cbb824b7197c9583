"""A3: a question that one patient could make long is refused before any charge."""

from tests.support.installations.arms import plan
from tests.support.installations.harness import ask


def _joined(name):
    joins = "".join(
        f" JOIN visits {name}{each} ON {name}{each}.patient_id = {name}0.patient_id"
        for each in range(1, 13)
    )
    return f"visits {name}0{joins}"


PAIRS = (
    f"SELECT COUNT(*) FROM {_joined('a')} WHERE a0.note = 'n111' AND EXISTS (SELECT *"
    f" FROM {_joined('b')} WHERE b0.patient_id = a0.patient_id AND b0.day <> a0.day"
    " AND b0.ward <> a6.ward AND b0.note <> a12.note)"
)
OPTIONS = {"bounds": {"tables": {"visits": 2}}}


def test_pairs_of_a_units_rows_are_refused_for_nothing_on_both_arms(neighbours):
    seen = []
    for arm in neighbours:
        with arm.analyst("mallory", "pairs") as http:
            before = http.get("/v1/budget").json()["projects"][0]["spent"]
            replies = [
                ask(http, PAIRS, epsilon="0.001", options=OPTIONS),
                plan(http, PAIRS, "0.001", options=OPTIONS),
            ]
            for reply in replies:
                assert reply.status_code == 422, reply.text
                assert reply.json()["rule"] == "too_costly"
                assert "bounds" in reply.json()["hint"]
            seen.append([reply.content for reply in replies])
            assert http.get("/v1/budget").json()["projects"][0]["spent"] == before
    assert seen[0] == seen[1]


def test_a_plan_shows_what_its_question_costs(neighbours):
    costs = []
    for arm in neighbours:
        with arm.analyst("trent", "cheap") as http:
            costs.append(
                plan(http, "SELECT COUNT(*) FROM visits", "0.1").json()["cost"]
            )
    assert costs[0] == costs[1]
    assert set(costs[0]) == {
        "steps",
        "memory_bytes",
        "unit_steps",
        "unit_memory_bytes",
        "startup_steps",
        "startup_memory_bytes",
    }
    assert 0 < costs[0]["unit_steps"] < costs[0]["steps"]
