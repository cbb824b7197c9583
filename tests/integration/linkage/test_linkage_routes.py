"""Over HTTP a custodian asks for acts between two runs."""

import pytest

from server.persistence import tables
from server.use_cases.custody.people import PeopleService
from tests.support.installations.harness import (
    ImportingInstallation,
    client,
    serve_in_thread,
)
from tests.support.linking import store_linkage


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A custodian's client, and the path of a linkage of one run."""
    made = ImportingInstallation(tmp_path_factory.mktemp("routes")).create()
    made.load()
    with made.services() as services:
        people = PeopleService(services, "local:test")
        people.create_principal("grace", "custodian")
        with services.ledger.recorded("test.custodians", "local:test") as change:
            row = {"population": "people", "principal": "grace"}
            change.insert(tables.custodian, row)
        key = people.create_key("grace")["key"]
        own = store_linkage(services, "people")
    with serve_in_thread(made) as url, client(url, key) as http:
        yield http, f"/v1/admin/linkages/{own['linkage']}/acts"


@pytest.mark.parametrize("query", ["", "?after=1", "?upto=1", "?after=1&upto=1"])
def test_acts_are_asked_for_by_runs(asked, query):
    http, path = asked
    reply = http.get(path + query)
    assert (reply.status_code, reply.json()) == (200, {"acts": []})


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("query", "status"), [("?after=7", 404), ("?since=1", 422), ("?upto=1&upto=1", 422)]
)
def test_other_runs_and_other_words_are_refused(asked, query, status):
    http, path = asked
    assert http.get(path + query).status_code == status
