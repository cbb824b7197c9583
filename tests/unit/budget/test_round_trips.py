"""How often a question waits for PostgreSQL: each wait is the network's, not ours."""

import contextlib

import pytest
from sqlalchemy import make_url

from budget.ledger import Ledger
from server.persistence.tables import work_metadata
from server.use_cases.identity.limits import Allowance
from server.use_cases.identity.shared_limits import SharedLimiter
from tests.support.installations.round_trips import Relay
from tests.support.installations.stored_ledgers import StoredLedger

SETTLED = 10  # questions after which the driver has prepared its statements


@pytest.fixture
def relayed(empty_database, tmp_path):
    url = make_url(empty_database)
    with contextlib.closing(Relay(url.port)) as relay:
        through = url.set(port=relay.port).render_as_string(hide_password=False)
        stored = StoredLedger(tmp_path, url=through)
        stored.create()
        ledger = Ledger(stored.databases, stored.anchor)
        yield relay, stored, ledger
        stored.databases.close()


def test_a_charged_question_waits_for_a_dozen_round_trips(relayed):
    relay, stored, ledger = relayed
    for _ in range(SETTLED):
        charge(stored, ledger)
    before = relay.trips
    charge(stored, ledger)
    # charge and answer: BEGIN, lock, reads, writes, COMMIT each; and the release
    assert relay.trips - before <= 12


def test_a_new_key_is_looked_up_in_one_round_trip(relayed):
    relay, _, ledger = relayed
    for number in range(SETTLED):
        assert ledger.lookup_key("ada", f"key {number}", "f") is None
    before = relay.trips
    assert ledger.lookup_key("ada", "new", "f") is None
    assert relay.trips - before == 1


def test_a_question_is_counted_in_five_round_trips(relayed):
    relay, stored, _ = relayed
    limiter = SharedLimiter(Allowance(1000, 8), stored.databases.work, "boot")
    with stored.databases.work.begin() as connection:
        work_metadata.create_all(connection)
    for _ in range(SETTLED):
        pass_by(limiter)
    before = relay.trips
    pass_by(limiter)
    # the rate; BEGIN, its turn and place, COMMIT; the place given back
    assert relay.trips - before <= 5


def pass_by(limiter):
    limiter.count("ada")
    limiter.enter("ada")
    limiter.leave("ada")


def charge(stored, ledger):
    charged = ledger.charge(stored.request("0.1"))
    ledger.store_answer(charged.charge, b"{}")
    ledger.release([charged.charge.query_id])
