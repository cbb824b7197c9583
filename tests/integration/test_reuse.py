"""Free answers, snapshots, keys and projects, over real HTTP."""

from datetime import timedelta

import pytest

from server.use_cases.people import PeopleOffice
from server.use_cases.services import today
from tests.harness import Installation, ask, client, serve_in_thread

ALLOW = {"options": {}}


@pytest.fixture
def installation(tmp_path):
    installation = Installation(tmp_path).create()
    installation.load()
    return installation


def test_an_answer_is_free_on_its_own_snapshot_alone(installation):
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        paid = ask(http, **ALLOW).json()
        free = ask(http, **ALLOW).json()
        cheaper = ask(http, epsilon="0.5", **ALLOW).json()
        dearer = ask(http, epsilon="2", **ALLOW).json()
        installation.load()
        fresh = ask(http, **ALLOW).json()
    assert free["rows"] == cheaper["rows"] == paid["rows"]
    assert free["charge"] == {"epsilon": "0", "delta": "0", "reused": True}
    assert free["query_id"] != paid["query_id"]
    assert not dearer["charge"]["reused"]
    assert not fresh["charge"]["reused"]
    assert fresh["snapshot"] != paid["snapshot"]
    assert fresh["remaining"]["project"] == "99996"


def test_a_revoked_key_and_a_disabled_principal_are_shut_out_at_once(installation):
    key = installation.analyst()
    with (
        serve_in_thread(installation) as url,
        client(url, key) as http,
        installation.services() as services,
    ):
        office = PeopleOffice(services, "local:test")
        assert ask(http).status_code == 200
        second = office.create_key("ada")
        listed = office.keys()
        office.revoke_key(listed[0]["id"])
        assert ask(http).status_code == 401
        with client(url, second["key"]) as other:
            assert ask(other).status_code == 200
            office.disable_principal("ada")
            assert ask(other).status_code == 401


def test_a_project_asks_until_its_last_day(installation):
    ended = installation.analyst(expires=today())
    going = installation.analyst("eve", "later", expires=today() + timedelta(days=1))
    with serve_in_thread(installation) as url:
        with client(url, ended) as http:
            assert ask(http).status_code == 404
            assert http.get("/v1/datasets").json()["items"] == []
            assert http.get("/v1/budget").json()["projects"] == []
        with client(url, going) as http:
            assert ask(http).status_code == 200
