"""Lists: newest first, a page at a time, and nothing of anybody else's."""

import pytest

from privacy.losses import Loss
from server.use_cases.custody.projects import NewProject
from tests.support.installations.harness import (
    STRANGERS,
    Installation,
    ask,
    client,
    serve_in_thread,
)
from tests.support.installations.two_persons import Two

PROJECTS = [f"project{number}" for number in range(5)]


@pytest.fixture(scope="module")
def http(tmp_path_factory):
    """Clients of a custodian, the admin, an auditor and an analyst."""
    installation = Installation(tmp_path_factory.mktemp("lists")).create()
    installation.load()
    installation.load(STRANGERS, dataset="school", population="pupils")
    analyst = installation.analyst()
    two = Two.make(installation, ("carol",))
    two.people(lambda service: service.add_custodian("people", "carol"))
    two.people(lambda service: service.create_principal("olga", "auditor"))
    auditor = two.people(lambda service: service.create_key("olga"))["key"]
    for name in PROJECTS:
        new = NewProject(name, ("clinic",), ("carol",), Loss.parse("1"))
        two.projects(lambda service, new=new: service.create_project(new))
    new = NewProject("strangers", ("school",), ("carol",), Loss.parse("1"))
    two.projects(lambda service: service.create_project(new))
    keys = {"analyst": analyst, "auditor": auditor, **two.keys}
    with serve_in_thread(installation) as url:
        clients = {name: client(url, key) for name, key in keys.items()}
        for _ in range(3):
            assert ask(clients["analyst"]).status_code == 200
        yield clients
        for one in clients.values():
            one.close()


LISTS = [
    ("carol", "/v1/admin/projects", "name"),
    ("carol", "/v1/admin/populations", "name"),
    ("carol", "/v1/admin/datasets", "name"),
    ("carol", "/v1/admin/proposals", "proposal"),
    ("carol", "/v1/admin/ledger", "number"),
    ("root", "/v1/admin/principals", "name"),
    ("root", "/v1/admin/keys", "id"),
    ("analyst", "/v1/datasets", "name"),
    ("analyst", "/v1/queries", "query_id"),
]


def walk(http, path, limit):
    """Follow the cursors to the end; return all items."""
    items, cursor = [], None
    while True:
        more = {} if cursor is None else {"cursor": cursor}
        reply = http.get(path, params={"limit": limit, **more})
        assert reply.status_code == 200, reply.text
        page = reply.json()
        assert len(page["items"]) <= limit
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return items


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "path", "key"), LISTS)
def test_pages_together_are_the_list_once(http, name, path, key):
    whole = http[name].get(path, params={"limit": 200}).json()["items"]
    for limit in (1, 2, 3):
        assert walk(http[name], path, limit) == whole
    keys = [item[key] for item in whole]
    assert len(set(keys)) == len(keys)


def test_pages_together_are_the_ledger_once(http):
    path = "/v1/admin/ledger"
    whole = http["auditor"].get(path, params={"limit": 200}).json()["items"]
    for limit in (2, 3):
        assert walk(http["auditor"], path, limit) == whole
    entries = http["auditor"].get(f"{path}/verify").json()["entries"]
    assert len(whole) == entries


def test_the_newest_comes_first(http):
    items = http["carol"].get("/v1/admin/projects").json()["items"]
    assert [item["name"] for item in items] == [*reversed(PROJECTS), "study"]
    lines = http["auditor"].get("/v1/admin/ledger").json()["items"]
    times = [line["time"] for line in lines]
    assert times == sorted(times, reverse=True)
    numbers = [line["number"] for line in lines if line["kind"] == "charge"]
    assert numbers == [3, 2, 1]


@pytest.mark.parametrize(("name", "path", "key"), LISTS)
@pytest.mark.parametrize("cursor", ["nowhere", "x_y", "", "%00", "a" * 64, "é", "-1"])
def test_a_cursor_that_nobody_gave_is_422(http, name, path, key, cursor):
    reply = http[name].get(f"{path}?cursor={cursor}")
    assert reply.status_code == 422
    assert reply.json()["type"] == "invalid_request"


def test_a_cursor_tells_nothing_of_what_is_another_custodians(http):
    replies = [
        http["carol"].get("/v1/admin/projects", params={"cursor": cursor})
        for cursor in ("strangers", "absent")
    ]
    assert replies[0].status_code == 422
    assert replies[0].content == replies[1].content


@pytest.mark.parametrize("limit", ["0", "201", "-1", "1.0", "x", "", "٣", "1e1"])
def test_a_limit_off_its_range_is_422(http, limit):
    for name, path, _ in LISTS:
        reply = http[name].get(path, params={"limit": limit})
        assert reply.status_code == 422, path


def test_an_auditor_reads_to_the_first_line_and_verify_counts_them(http):
    lines = walk(http["auditor"], "/v1/admin/ledger", 50)
    assert lines[-1]["action"] == "ledger.create"
    found = http["auditor"].get("/v1/admin/ledger/verify").json()
    assert found == {"ok": True, "entries": len(lines), "problems": []}
