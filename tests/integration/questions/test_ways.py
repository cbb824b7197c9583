"""The cheapest ways to a number, over real HTTP: each is asked as it is told."""

import pytest

from server.use_cases.custody.projects import ProjectChange, ProjectService
from server.use_cases.services.errors import CommandRefusedError
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)

pytestmark = pytest.mark.thorough

ROWS = "SELECT sex, ward, COUNT(*) AS n FROM visits GROUP BY sex, ward"


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    made = Installation(tmp_path_factory.mktemp("ways")).create()
    made.load()
    return made


@pytest.fixture(scope="module")
def http(installation):
    key = installation.analyst(allotment="100")
    with serve_in_thread(installation) as url, client(url, key) as http:
        yield http


def plan(http, **body):
    reply = http.post("/v1/datasets/clinic/plan", json=body)
    return reply.status_code, reply.json()


def test_a_way_costs_and_is_off_by_what_its_plan_told(http):
    status, planned = plan(http, sql=ROWS, accuracy={"within": 40})
    assert status == 200
    kinds = [way["kind"] for way in planned["ways"]]
    assert {"units", "rows"} <= set(kinds)
    prices = [float(way["epsilon"]) for way in planned["ways"]]
    assert prices == sorted(prices)
    assert prices[-1] <= 0.9 * float(planned["epsilon"])
    for way in planned["ways"]:
        answer = http.post("/v1/datasets/clinic/queries", json=way["request"]).json()
        assert answer["charge"]["epsilon"] in {way["epsilon"], "0"}, way
        if not answer["charge"]["reused"]:
            (width,) = way["half_widths"]
            assert answer["noise"][0]["half_width_95"] == width["half_width_95"]


def test_at_the_same_price_a_coarser_question_is_less_noisy(http):
    status, planned = plan(http, sql=ROWS, epsilon="1")
    assert status == 200
    asked = float(planned["noise"][0]["half_width_95"])
    assert planned["ways"]
    for way in planned["ways"]:
        assert way["epsilon"] == "1"
        assert float(way["half_widths"][0]["half_width_95"]) <= 0.9 * asked


def test_columns_of_one_value_each_are_half_as_noisy_as_groups(http):
    columns = [
        f"COUNT(*) FILTER (WHERE ward = '{w}') AS {w}" for w in ("north", "south")
    ]
    sql = f"SELECT {', '.join(columns)} FROM visits WHERE age > 30"
    _, planned = plan(http, sql=sql, epsilon="1")
    way = next(way for way in planned["ways"] if way["kind"] == "values")
    (width,) = way["half_widths"]
    asked = [float(each["half_width_95"]) for each in planned["noise"]]
    assert float(width["half_width_95"]) <= 0.55 * min(asked)
    answer = http.post("/v1/datasets/clinic/queries", json=way["request"]).json()
    assert {"north", "south"} <= {row[0] for row in answer["rows"]}


def test_people_in_many_groups_may_be_counted_in_fewer(http):
    sql = "SELECT ward, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY ward"
    _, planned = plan(http, sql=sql, epsilon="1")
    fewer = [way["request"] for way in planned["ways"] if way["kind"] == "groups"]
    bounds = [request["options"]["bounds"] for request in fewer]
    assert bounds == [{"max_groups_per_unit": 1}, {"max_groups_per_unit": 2}]


def test_an_accuracy_that_none_brings_is_refused_with_what_does(http):
    status, problem = plan(http, sql=ROWS, accuracy={"within": 2})
    assert (status, problem["type"]) == (422, "epsilon_out_of_range")
    units = next(way for way in problem["ways"] if way["kind"] == "units")
    reply = http.post("/v1/datasets/clinic/queries", json=units["request"])
    assert reply.status_code == 200
    assert float(reply.json()["noise"][0]["half_width_95"]) <= 2


def test_what_is_free_comes_first(http):
    sql = "SELECT sex, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY sex"
    assert ask(http, sql, epsilon="1").status_code == 200
    _, again = plan(http, sql=sql, epsilon="1")
    first = again["ways"][0]
    assert (first["kind"], first["epsilon"]) == ("answer", "0")
    _, whole = plan(http, sql="SELECT COUNT(*) AS n FROM visits", epsilon="1")
    assert all(way["kind"] != "answer" for way in whole["ways"])
    asked = http.post("/v1/datasets/clinic/queries", json=first["request"]).json()
    assert asked["charge"]["reused"]


def test_a_dear_question_waits_until_it_is_confirmed(http, installation):
    with installation.services() as services:
        change = ProjectChange(confirm_above="2%")
        ProjectService(services, "carol").change_project("study", change)
    sql = "SELECT COUNT(*) AS dear FROM visits"
    body = {"sql": sql, "epsilon": "2.001"}
    _, planned = plan(http, **body)
    refused = http.post("/v1/datasets/clinic/queries", json=body)
    paid = http.post(
        "/v1/datasets/clinic/queries", json={**body, "options": {"confirm": True}}
    )
    _, cheap = plan(http, sql=sql + " WHERE age > 40", epsilon="2")
    again = http.post("/v1/datasets/clinic/queries", json=body)
    assert planned["needs_confirmation"]
    assert (refused.status_code, refused.json()["type"]) == (409, "confirmation_needed")
    assert paid.json()["charge"]["epsilon"] == "2.001"
    assert not cheap["needs_confirmation"]
    assert again.json()["charge"]["reused"]  # what is free needs none


def test_dear_precision_in_small_steps_is_confirmed_too(http, installation):
    with installation.services() as services:
        change = ProjectChange(confirm_above="2%")
        ProjectService(services, "carol").change_project("study", change)
    sql = "SELECT COUNT(*) AS slow FROM visits WHERE age > 41"
    paid = ask(http, sql, epsilon="1.5").json()["charge"]["epsilon"]
    _, planned = plan(http, sql=sql, epsilon="2.5")
    finer = http.post(
        "/v1/datasets/clinic/queries", json={"sql": sql, "epsilon": "2.5"}
    )
    assert (paid, planned["epsilon"]) == ("1.5", "1")
    assert planned["needs_confirmation"]
    assert (finer.status_code, finer.json()["type"]) == (409, "confirmation_needed")
    assert "2.5 (1 more than was paid for it)" in finer.json()["detail"]


@pytest.mark.parametrize("share", ["2", "0%", "101%", "two"])
def test_what_is_no_share_is_refused(installation, share):
    change = ProjectChange(confirm_above=share)
    with installation.services() as services:
        service = ProjectService(services, "carol")
        with pytest.raises(CommandRefusedError, match="no share of the allotment"):
            service.change_project("study", change)


def test_another_text_of_the_same_form_gets_the_same_ways(http):
    _, one = plan(http, sql=ROWS, epsilon="2")
    _, other = plan(http, sql=ROWS + " -- again", epsilon="2")
    assert [way["kind"] for way in one["ways"]] == [w["kind"] for w in other["ways"]]
