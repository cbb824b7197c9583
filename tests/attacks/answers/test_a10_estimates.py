"""A10: a plan is a function of schema and losses: it never touches data."""

import pytest

from tests.support.installations.arms import masked_text, plan

pytestmark = pytest.mark.thorough

_KEYS = ("sex", "ward", "day", "age", "sex, ward", "ward, age", "sex, ward, age")
_CONDITIONS = ("ward = 'north'", "age >= 111", "day >= '2024-12-20' OR note IS NULL")
QUESTIONS = (
    *(f"SELECT {k}, COUNT(*) FROM visits GROUP BY {k}" for k in _KEYS),
    *(
        f"SELECT {k}, COUNT(DISTINCT patient_id) FROM visits GROUP BY {k}"
        for k in _KEYS
    ),
    *(
        f"SELECT {k}, COUNT(*), COUNT(DISTINCT patient_id) AS people FROM visits "
        f"WHERE {c} GROUP BY {k}"
        for k in _KEYS
        for c in _CONDITIONS
    ),
    *(f"SELECT COUNT(*) FROM visits WHERE {c}" for c in _CONDITIONS),
    *(f"SELECT COUNT(DISTINCT patient_id) FROM visits WHERE {c}" for c in _CONDITIONS),
    "SELECT note, COUNT(*) FROM visits GROUP BY note",
    "SELECT day, age, COUNT(*) FROM visits GROUP BY day, age",
    "SELECT COUNT(*) FROM visits WHERE note = 'targetnote1'",
    "SELECT COUNT(*) FROM visits WHERE ward = 'nowhere'",
    "SELECT COUNT(*) FROM visits WHERE patient_id = 730000007",
    "SELECT AVG(age) FROM visits",
    "SELECT COUNT(*) FROM visitors",
    "SELECT",
    "",
)
OPTIONS = (
    {},
    {"options": {"bounds": {"tables": {"visits": 2}}}},
    {"options": {"bounds": {"max_rows_per_unit": 3, "max_groups_per_unit": 1}}},
    {"epsilon": None, "accuracy": {"within": 200, "confidence": 0.95}},
)


def _asked(options):
    return {name: value for name, value in options.items() if value is not None}


@pytest.fixture(scope="module")
def analysts(own_arms):
    """The same newcomer on every arm, where nobody asked anything."""
    clients = [
        arm.analyst("planner", "planning", allotment="3") for arm in own_arms.values()
    ]
    yield clients
    for http in clients:
        http.close()


def test_there_are_fifty_questions():
    assert len(set(QUESTIONS)) >= 50


@pytest.mark.parametrize("options", OPTIONS, ids=["plain", "table", "top", "accuracy"])
def test_plans_are_byte_identical_with_without_and_on_nobody(
    own_arms, analysts, options
):
    before = [arm.dump() for arm in own_arms.values()]
    statuses = set()
    for sql in QUESTIONS:
        body = {"sql": sql, "epsilon": "0.5", **options}
        replies = [
            http.post("/v1/datasets/clinic/plan", json=_asked(body))
            for http in analysts
        ]
        bodies = {masked_text(reply.text) for reply in replies}
        assert len(bodies) == 1, sql
        assert len({reply.headers["content-length"] for reply in replies}) == 1
        statuses.update(reply.status_code for reply in replies)
    assert statuses == {200, 422}
    assert [arm.dump() for arm in own_arms.values()] == before


def test_only_the_snapshot_id_differs_between_two_plans(analysts):
    plans = [plan(http).json() for http in analysts]
    assert len({document.pop("snapshot") for document in plans}) == 3
    assert plans[0] == plans[1] == plans[2]
