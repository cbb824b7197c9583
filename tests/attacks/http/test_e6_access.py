"""E6: what is not yours is as if it were not there; keys end at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from privacy.losses import Loss
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.projects import ProjectService
from tests.support.installations.arms import plan, shape
from tests.support.installations.harness import ask, client

_fresh = count()
ABSENT = "q_" + "0" * 24


@pytest.fixture
def name():
    """A name that nobody has."""
    return f"guest{next(_fresh)}"


@pytest.fixture
def service(house):
    with house.installation.services() as services:
        yield PeopleService(services, "local:test")


def _code(reply):
    return reply.status_code, reply.json()["type"]


def _everywhere(http):
    """Return the replies of every route that needs a key."""
    return [
        ask(http),
        plan(http),
        *(http.get(f"/v1/{path}") for path in ("datasets", "datasets/clinic")),
        *(http.get(f"/v1/{path}") for path in ("queries", f"queries/{ABSENT}")),
        http.get("/v1/budget"),
    ]


def test_another_principals_query_and_an_absent_one_are_one_answer(house, name):
    answered = ask(house.http).json()["query_id"]
    with house.analyst(name, name) as other:
        theirs = other.get(f"/v1/queries/{answered}")
        absent = other.get(f"/v1/queries/{ABSENT}")
        assert _code(theirs) == (404, "not_found")
        assert shape(theirs) == shape(absent)
        assert other.get("/v1/queries").json() == {"items": [], "next_cursor": None}
    assert house.http.get(f"/v1/queries/{answered}").json()["state"] == "answered"


def test_a_dataset_without_a_grant_and_an_absent_one_are_one_answer(
    house, name, service
):
    service.create_principal(name, "analyst")
    with client(house.url, service.create_key(name)["key"]) as http:
        for path in ("queries", "plan"):
            urls = [f"/v1/datasets/{name}/{path}" for name in ("clinic", "nowhere")]
            other, absent = (
                http.post(url, json={"sql": "x", "epsilon": "1"}) for url in urls
            )
            assert _code(other) == (404, "not_found")
            assert shape(other) == shape(absent)
        pages = [http.get(f"/v1/datasets/{d}") for d in ("clinic", "nowhere")]
        assert shape(pages[0]) == shape(pages[1])
        assert http.get("/v1/datasets").json()["items"] == []
        assert http.get("/v1/budget").json() == {"projects": []}


def test_a_project_that_is_not_yours_is_not_there(house, name):
    with house.analyst(name, name) as http:
        mine, theirs, absent = (
            ask(http, project=project) for project in (name, "study", "nowhere")
        )
        assert mine.status_code == 200
        assert _code(theirs) == (404, "not_found")
        assert shape(theirs) == shape(absent)


def test_several_projects_that_fit_want_a_name(house, name):
    with house.analyst(name, name) as http:
        with house.installation.services() as services:
            ProjectService(services, "local:test").grant_principal("study", name, None)
        assert _code(ask(http)) == (422, "invalid_request")
        assert ask(http, project=name).status_code == 200


@pytest.mark.parametrize("days", [-1, 0])
def test_an_expired_project_is_not_there(house, name, days):
    expires = datetime.now(UTC).date() + timedelta(days=days)
    with house.analyst(name, name, expires=expires) as http:
        for reply in (ask(http), plan(http), http.get("/v1/datasets/clinic")):
            assert _code(reply) == (404, "not_found")
        assert http.get("/v1/datasets").json()["items"] == []


def test_a_project_that_ends_later_is_there(house, name):
    expires = datetime.now(UTC).date() + timedelta(days=2)
    with house.analyst(name, name, expires=expires) as http:
        assert ask(http).status_code == 200


def test_a_revoked_key_ends_at_the_next_request(house, name, service):
    service.create_principal(name, "analyst")
    made = [service.create_key(name) for _ in range(2)]
    with (
        client(house.url, made[0]["key"]) as http,
        client(house.url, made[1]["key"]) as spare,
    ):
        assert http.get("/v1/budget").status_code == 200
        service.revoke_key(made[0]["id"])
        for reply in _everywhere(http):
            assert _code(reply) == (401, "unauthenticated")
            assert reply.headers["www-authenticate"] == "Bearer"
        assert spare.get("/v1/budget").status_code == 200


def test_a_disabled_principals_keys_all_end_at_the_next_request(house, name, service):
    with house.analyst(name, name) as http:
        assert ask(http).status_code == 200
        service.disable_principal(name)
        assert {_code(reply) for reply in _everywhere(http)} == {
            (401, "unauthenticated")
        }


def test_no_forged_key_opens_anything(house):
    token = house.http.headers["authorization"].removeprefix("Bearer ")
    forged = (
        None, "", "Bearer", "Bearer cur_", f"Basic {token}", token,
        f"Bearer {token}x", f"Bearer {token[:-1]}", f"Bearer {token.lower()}",
        f"Bearer {token.upper()}", f"Bearer {token} {token}", "Bearer null",
        "Bearer ' OR '1'='1", "Bearer %", "Bearer _", "Bearer *", "Bearer é",
        "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.", f"Token {token}",
    )  # fmt: skip
    with client(house.url, "x") as http:
        refused = None
        for value in forged:
            headers = {} if value is None else {"Authorization": value.encode()}
            http.headers.pop("authorization", None)
            reply = http.get("/v1/budget", headers=headers)
            assert _code(reply) == (401, "unauthenticated"), value
            refused = refused or shape(reply)
            assert shape(reply) == refused


def test_over_budget_is_402_with_what_remains_and_one_entry(house, name):
    with house.analyst(name, name, allotment="1") as http:
        before = len(house.export())
        reply = ask(http, epsilon="1.5")
        body = reply.json()
        assert _code(reply) == (402, "budget_exceeded")
        assert reply.headers["content-type"] == "application/problem+json"
        assert set(body) == {
            "type", "title", "status", "detail", "remaining", "attainable",
        }  # fmt: skip
        assert body["attainable"]["epsilon"] == "1"
        assert body["status"] == 402
        assert body["remaining"] == {"project": "1", "principal": None}
        assert [e["kind"] for e in house.export()[before:]] == ["refused"]
        priced = plan(http, epsilon="1.5")
        assert priced.status_code == 200
        assert priced.json()["affordable"] is False
        assert ask(http, epsilon="1").json()["remaining"]["project"] == "0"
        assert ask(http, epsilon="0.001").json()["remaining"]["project"] == "0"


def test_a_principals_own_allotment_binds_and_is_shown(house, name):
    with house.analyst(name, name, allotment="10") as http:
        with house.installation.services() as services:
            projects = ProjectService(services, "local:test")
            projects.grant_principal(name, name, Loss.parse("0.75"))
        body = ask(http).json()
        assert body["type"] == "budget_exceeded"
        assert body["remaining"] == {"project": "10", "principal": "0.75"}
        left = ask(http, epsilon="0.5").json()["remaining"]
        assert left == {"project": "9.5", "principal": "0.25"}


def test_refusals_other_than_402_and_403_write_nothing(house):
    before = house.dump()
    for reply in (
        ask(house.http, "SELECT nothing"),
        ask(house.http, epsilon="9"),
        ask(house.http, dataset="nowhere"),
        house.http.get(f"/v1/queries/{ABSENT}"),
        house.http.get("/v1/queries?limit=0"),
        house.http.get("/v1/queries?cursor=%00"),
        house.http.delete("/v1/budget"),
    ):
        assert 400 <= reply.status_code < 500
        assert reply.headers["content-type"] == "application/problem+json"
    assert house.dump() == before


def test_a_query_in_flight_shows_its_state_and_charge_alone(house, name):
    with (
        house.analyst(name, name, allotment="3") as http,
        ThreadPoolExecutor(1) as pool,
        house.sampler.held(),
    ):
        asked = pool.submit(ask, http)
        house.sampler.wait_for(1)
        (item,) = http.get("/v1/queries").json()["items"]
        path = f"/v1/queries/{item['query_id']}"
        assert item["state"] == "in_flight"
        shown = http.get(path).json()
        assert shown == {"query_id": item["query_id"], "state": "in_flight"}
        (budget,) = http.get("/v1/budget").json()["projects"]
        assert (budget["spent"], budget["remaining"]) == ("1", "2")
        house.sampler.open()
        answer = asked.result().json()
        assert http.get(path).json()["answer"] == answer
