import errno
import os

import pytest

from budget.chain.anchor import AnchorRecord
from budget.chain.entries import EMPTY, entry_hash
from budget.checking.reconciliation import NothingToReconcileError
from budget.ledger import Ledger, Scope
from budget.storage.tables import metadata
from privacy.errors import AnchorMismatchError, LedgerUnavailableError
from privacy.losses import Loss

POPULATION = Scope.population("people")
OTHERS = Scope.population("others")


@pytest.fixture
def restored(stored, ledger):
    """A ledger put back to a copy taken before its last two charges."""
    stored.back_up()
    with ledger.recorded("new", "local:test") as change:
        change.set_limit(OTHERS, Loss.parse("3"))
    ledger.charge(stored.request("2"))
    ledger.charge(stored.request("1", scopes=(OTHERS,), population="others"))
    stored.restore()
    return stored.ledger()


def reconcile(ledger):
    ledger.reconcile("disk died", "local:test", lambda _: None)


def test_a_population_that_the_backup_never_knew_is_charged_and_stays_closed(
    stored, restored
):
    reconcile(restored)
    again = stored.open()
    assert again.spent(POPULATION) == Loss.parse("2")
    assert again.spent(OTHERS) == Loss.parse("1")
    assert again.remaining([OTHERS]) == {OTHERS: Loss(0)}
    assert again.verify([]).ok


def test_the_entry_follows_the_anchor_and_names_both_heads(stored, restored):
    anchored = stored.anchor.read().head
    reconcile(restored)
    *_, last, entry = restored.export()
    assert (entry["kind"], entry["seq"]) == ("reconcile", anchored.seq + 1)
    assert last["seq"] < anchored.seq
    assert stored.anchor.read().head.seq == entry["seq"]


def test_a_reconcile_whose_anchor_fails_is_repeated_and_charges_nothing_twice(
    stored, restored, monkeypatch
):
    def fail(_):
        raise OSError(errno.EIO, "input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(LedgerUnavailableError):
            reconcile(restored)
    with pytest.raises(AnchorMismatchError):
        stored.open()
    reconcile(restored)
    assert stored.open().spent(POPULATION) == Loss.parse("2")
    assert stored.open().verify([]).ok
    with pytest.raises(NothingToReconcileError):
        reconcile(restored)


def test_the_anchor_of_another_ledger_closes_every_population(stored, ledger):
    stored.anchor.path.unlink()
    stored.anchor.create(AnchorRecord("another", EMPTY, {"people": 0}))
    reconcile(stored.ledger())
    again = stored.open()
    assert again.remaining([POPULATION]) == {POPULATION: Loss(0)}
    assert again.verify([]).ok


def test_an_empty_database_cannot_be_reconciled(stored):
    metadata.create_all(stored.databases.writer)
    stored.anchor.create(AnchorRecord("lost", EMPTY, {}))
    with pytest.raises(AnchorMismatchError, match="no ledger"):
        reconcile(Ledger(stored.databases, stored.anchor))


def test_a_gap_that_no_anchor_explains_is_found(stored, restored):
    reconcile(restored)
    with stored.databases.writer.begin() as connection:
        run = connection.exec_driver_sql
        run("UPDATE chain SET seq = seq + 5 WHERE kind = 'reconcile'")
        found = run(
            "SELECT seq, kind, time, body FROM chain ORDER BY seq DESC LIMIT 1"
        ).one()
        previous = run(
            "SELECT hash FROM chain ORDER BY seq DESC LIMIT 1 OFFSET 1"
        ).scalar_one()
        forged = entry_hash(previous, *found)
        run(f"UPDATE chain SET hash = '{forged}' WHERE seq = {found.seq}")
    problems = restored.verify([]).problems
    assert any("missing before" in problem for problem in problems)
