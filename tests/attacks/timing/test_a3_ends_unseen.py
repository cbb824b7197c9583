"""A3: nobody learns when an execution ended before its reply leaves, or afterwards."""

import re
import threading
import time

import pytest

from query_lang.rendering.dialect import Target
from server.use_cases.custody.people import PeopleService
from server.use_cases.datasets.snapshots import SnapshotService
from server.use_cases.identity.access import Caller
from server.use_cases.questions.asking.service import QueryService
from server.use_cases.questions.questions import Compiler
from server.use_cases.questions.requests import read_request
from server.use_cases.releases.offers import ReleaseOffers
from server.use_cases.releases.opened import OpenReleases
from server.use_cases.services.errors import CommandRefusedError
from tests.support.installations.arms import HeldSampler
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)

OTHER = "SELECT COUNT(*) FROM visits WHERE age > 30"
PAID = {"sql": OTHER, "epsilon": "1", "options": {"reuse": "never"}}


@pytest.fixture
def slotted(tmp_path):
    """An installation whose replies leave a while after their execution."""
    installation = Installation(tmp_path, slot_ms=200).create()
    installation.load()
    return installation


@pytest.fixture
def waiting(tmp_path):
    """A query service whose executors are all taken, and a paid question that waits."""
    installation = Installation(tmp_path).create()
    snapshot = installation.load()
    installation.analyst()
    with installation.services() as services:
        services.ledger.open()
        queries = QueryService(
            services,
            Compiler(services.parser, Target(services.dialect)),
            ReleaseOffers(services, OpenReleases(services)),
        )
        replies = []
        for _ in range(services.settings.executors):
            services.executors.acquire()
        asking = threading.Thread(
            target=lambda: replies.append(
                queries.ask(
                    Caller("ada", "analyst"), "clinic", read_request(PAID), None
                )
            )
        )
        asking.start()
        wait_for_a_charge(services)

        def answer():
            for _ in range(services.settings.executors):
                services.executors.release()
            asking.join()
            return replies[0], services.ledger.query(replies[0].query_id).state

        yield installation, services, snapshot, answer


def wait_for_a_charge(services):
    for _ in range(1_000):
        if services.ledger.history("ada", limit=1, cursor=None)[0]:
            return
        time.sleep(0.01)
    pytest.fail("nothing was charged")


def pages(http, limit):
    """Return the ids of the history, page by page, and every cursor."""
    ids, cursors, cursor = [], [], None
    while True:
        given = {"limit": limit} | ({} if cursor is None else {"cursor": cursor})
        page = http.get("/v1/queries", params=given).json()
        ids += [item["query_id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return ids, cursors
        cursors.append(cursor)


def test_cursors_of_the_history_count_nobodys_entries(slotted):
    slotted.slot_ms = 0
    key, others = slotted.analyst(), slotted.analyst("bob", "other")
    with serve_in_thread(slotted) as url, client(url, key) as http:
        with client(url, others) as bob:
            theirs = ask(bob).json()["query_id"]
        asked = [ask(http, options={}).json()["query_id"] for _ in range(5)]
        ids, cursors = pages(http, 2)
        assert ids == asked[::-1]
        assert cursors == [ids[1], ids[3]]
        for strange in (theirs, "7", "q_" + "0" * 24):
            reply = http.get("/v1/queries", params={"cursor": strange})
            assert reply.status_code == 422
            assert reply.json()["detail"] == "cursor: pass on what next_cursor said"


def test_an_auditor_sees_no_end_before_its_reply_leaves(slotted):
    key = slotted.analyst()
    with slotted.services() as services:
        service = PeopleService(services, "local:test")
        service.create_principal("olga", "auditor")
        auditor = service.create_key("olga")["key"]
    sampler, left = HeldSampler(), []
    with (
        serve_in_thread(slotted, lambda: sampler) as url,
        client(url, key) as http,
        client(url, auditor) as olga,
    ):

        def view():
            text = olga.get("/v1/admin/populations/people/statement").text
            listed = olga.get("/v1/admin/ledger", params={"limit": 3}).json()
            return (
                re.sub("Made .* UTC", "Made TIME", text),
                olga.get("/v1/admin/ledger/verify").json(),
                listed,
            )

        with sampler.held():
            asking = threading.Thread(target=lambda: left.append(ask(http)))
            asking.start()
            sampler.wait_for(1)
            before = view()
            sampler.open()
            for _ in range(500):
                with slotted.services() as services:
                    if services.ledger.export()[-1]["kind"] == "answered":
                        break
            after = view()
            unseen = not left
        asking.join()
        assert not unseen or after == before
        assert view() != before


def test_a_free_answer_is_in_flight_until_its_slot(slotted):
    slotted.slot_ms = 1_000
    key = slotted.analyst()
    again = {"Idempotency-Key": "again"}
    with serve_in_thread(slotted) as url, client(url, key) as http:
        ask(http, options={})
        replies = []
        asking = threading.Thread(
            target=lambda: replies.append(ask(http, options={}, headers=again))
        )
        asking.start()
        listed = []
        while len(listed) < 2:
            listed = http.get("/v1/queries").json()["items"]
        if not replies:
            assert listed[0]["state"] == "in_flight"
        asking.join()
        assert replies[0].json()["charge"]["reused"]
        assert http.get("/v1/queries").json()["items"][0]["state"] == "answered"


def test_a_server_that_stops_gives_up_what_waits_instead_of_failing_it(waiting):
    _, services, _, answer = waiting
    services.engine.close()
    reply, state = answer()
    assert reply.failure.code == "ledger_unavailable"
    assert state == "running"
    assert services.given_up.take_all() == {reply.query_id}


def test_a_snapshot_that_a_paid_question_waits_for_is_not_erased(waiting):
    installation, services, snapshot, answer = waiting
    installation.load()
    service = SnapshotService(services, "local:test")
    with pytest.raises(CommandRefusedError, match="being answered: try again"):
        service.remove(snapshot)
    reply, state = answer()
    assert (reply.failure, state) == (None, "answered")
    assert service.remove(snapshot)["state"] == "removed"
