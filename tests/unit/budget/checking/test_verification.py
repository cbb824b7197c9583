import json

import pytest
from sqlalchemy import text

from budget.ledger import Scope
from privacy.errors import AnchorMismatchError
from privacy.losses import Loss

TAMPERS = {
    "a counter lowered": "UPDATE budget_counter SET nano_epsilon = 0",
    "a counter deleted": "DELETE FROM budget_counter",
    "a limit raised": "UPDATE budget_limit SET nano_epsilon = nano_epsilon + 1",
    "a limit added": "INSERT INTO budget_limit VALUES ('project:new', 1)",
    "a charge made smaller": "UPDATE charge SET nano_epsilon = 1 WHERE query_id = 'q0'",
    "a charge of somebody else": "UPDATE charge SET principal = 'eve'",
    "a charge deleted": "DELETE FROM charge WHERE query_id = 'q1'",
    "a failure answered": "UPDATE charge SET state = 'answered' WHERE state = 'failed'",
    "an answer changed": "UPDATE answer SET body = 'x'",
    "an answer deleted": "DELETE FROM answer",
    "a spliced answer changed": "UPDATE answer SET body = 'x' WHERE query_id = 'q3'",
    "a splice of another answer": "UPDATE answer SET spliced_from = 'q1'"
    " WHERE query_id = 'q3'",
    "a splice shown as it is": "UPDATE answer SET spliced_from = NULL",
    "a whole answer shown as a splice": "UPDATE answer SET spliced_from = 'q0'"
    " WHERE query_id = 'q0'",
    "an entry's body": "UPDATE chain SET body = replace(body, 'ada', 'eve')",
    "an entry's time": "UPDATE chain SET time = 'x' WHERE seq = 3",
    "an entry's kind": "UPDATE chain SET kind = 'refused' WHERE kind = 'charge'",
    "an entry's hash": "UPDATE chain SET hash = 'x' WHERE seq = 2",
    "an entry deleted": "DELETE FROM chain WHERE seq = 3",
    "the tail truncated": "DELETE FROM chain WHERE seq > 3",
    "an entry in two places": "UPDATE chain SET seq = 99 WHERE seq = 4",
}


@pytest.fixture
def busy(stored, ledger):
    paid = ledger.charge(stored.request("0.5"))
    ledger.store_answer(paid.charge, b"noisy")
    lost = ledger.charge(stored.request("0.5"))
    ledger.fail(lost.charge.query_id)
    ledger.charge(stored.request("99"))
    free = stored.request("0")
    ledger.store_free(free, "q0", b"<noisy>", [b"<", (0, 5), b">"])
    assert free.query_id == "q3"
    return ledger


def test_a_whole_ledger_is_green(busy):
    found = busy.verify([])
    assert found.ok
    assert found.entries == 8


@pytest.mark.parametrize("tamper", TAMPERS.values(), ids=TAMPERS.keys())
def test_tampering_is_found(stored, busy, tamper):
    with stored.databases.writer.begin() as connection:
        if connection.dialect.name == "sqlite":
            connection.execute(text("PRAGMA foreign_keys = OFF"))
            connection.execute(text("PRAGMA ignore_check_constraints = ON"))
        assert connection.execute(text(tamper)).rowcount > 0
    assert not busy.verify([]).ok


def test_a_forged_entry_behind_the_anchor_is_found(stored, busy):
    with stored.databases.writer.begin() as connection:
        row = connection.execute(text("SELECT * FROM chain WHERE seq = 2")).one()
        body = json.loads(row.body)
        body["limits"]["population:people"] = 10**18
        connection.execute(
            text("UPDATE chain SET body = :body WHERE seq = 2"),
            {"body": json.dumps(body)},
        )
    assert any("entry 2" in problem for problem in busy.verify([]).problems)


def test_an_edited_ledger_is_not_served(stored, busy):
    with stored.databases.writer.begin() as connection:
        connection.execute(text("UPDATE budget_counter SET nano_epsilon = 0"))
    with pytest.raises(AnchorMismatchError, match="edited"):
        stored.open()
    assert busy.limit(Scope.population("people")) == Loss.parse("10")
