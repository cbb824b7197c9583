"""What becomes of questions whose snapshot is erased: charges stay (PRIVACY 5)."""

import time

import pytest

from budget.ledger import Charged, Scope
from privacy.losses import Loss
from server.use_cases.datasets.snapshots import SnapshotService
from server.use_cases.identity.access import Caller
from server.use_cases.questions.asking.submissions import Submission
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.requests import read_request
from server.use_cases.services.errors import CommandRefusedError
from server.web import Server
from tests.support.installations.harness import (
    DEFAULT_ROWS,
    Installation,
    client,
    serve_in_thread,
)

ADA = Caller("ada", "analyst")


def charge_and_die(installation):
    """Charge a question and end before it touches data; return its id."""
    server = Server(installation.settings)
    server.start()
    try:
        body = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.5"}
        pricing = server.queries.pricing
        grant, question = pricing.priced(ADA, "clinic", read_request(body), LookedAt())
        request = Submission(ADA, grant, question, None).request(question.event.loss)
        assert isinstance(server.services.ledger.charge(request), Charged)
    finally:
        server.stop()
        server.services.databases.close()
    return request.query_id


def wait_until_ended(http, query_id):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = http.get(f"/v1/queries/{query_id}").json()
        if found["state"] != "in_flight":
            return found
        time.sleep(0.1)
    raise AssertionError


def test_a_snapshot_is_erased_once_its_charges_have_ended_and_they_stay(tmp_path):
    installation = Installation(tmp_path).create()
    older = installation.load()
    key = installation.analyst()
    query_id = charge_and_die(installation)
    installation.load(DEFAULT_ROWS[:50])
    with (
        installation.services() as services,
        pytest.raises(CommandRefusedError, match="being answered: try again"),
    ):
        SnapshotService(services, "local:test").remove(older)
    with serve_in_thread(installation) as url, client(url, key) as http:
        found = wait_until_ended(http, query_id)
        assert found["state"] == "answered"
        with installation.services() as services:
            SnapshotService(services, "local:test").remove(older)
        kept = http.get(f"/v1/queries/{query_id}").json()
        assert kept == found
    assert not (installation.data / "snapshots" / f"{older}.duckdb").exists()
    with installation.services() as services:
        assert services.ledger.spent(Scope.population("people")) == Loss.parse("0.5")
        overlap = [path.stat().st_size for path in services.settings.overlaps.iterdir()]
    assert max(overlap) == 16 * 100  # the hashes of every patient ever loaded
