"""What happens when the anchor cannot be written, or be had."""

import errno
import fcntl
import os

import pytest

from budget.chain import anchor as anchors
from budget.chain.anchor import RECORD_BYTES, AnchorFile, AnchorRecord
from budget.chain.entries import Head
from budget.ledger import Charged, Ledger, Replay, Scope
from budget.storage.tables import metadata
from privacy.errors import AnchorMismatchError, LedgerUnavailableError
from privacy.losses import Loss
from tests.support.installations.stored_ledgers import StoredLedger

POPULATION = Scope.population("people")


def fail(_):
    raise OSError(errno.EIO, "input/output error")


def test_a_failed_write_spares_the_last_durable_record(stored, ledger, monkeypatch):
    before = stored.anchor.read()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        for _ in range(3):
            with pytest.raises(LedgerUnavailableError):
                ledger.charge(stored.request())
            assert stored.anchor.read() == before
    ledger.charge(stored.request())
    after = stored.anchor.read()
    # the first charge, anchored before the last; those between were never written
    assert after.generation == before.generation + 2
    assert after.head.seq == before.head.seq + 2
    assert after.totals == {"people": Loss.parse("2").nano_epsilon}


def test_an_answer_is_not_replayed_before_it_is_anchored(stored, ledger, monkeypatch):
    paid = ledger.charge(stored.request(idempotency_key="k", fingerprint="f"))
    before = stored.anchor.read()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        for attempt in (
            lambda: ledger.store_answer(paid.charge, b"noisy"),
            lambda: ledger.lookup_key("ada", "k", "f"),
            lambda: ledger.query(paid.charge.query_id),
            lambda: ledger.find_reusable("how many", Loss(1), project="study"),
        ):
            with pytest.raises(LedgerUnavailableError):
                attempt()
        assert stored.anchor.read() == before
    ledger.release([paid.charge.query_id])
    assert ledger.lookup_key("ada", "k", "f") == Replay(paid.charge.query_id, b"noisy")
    assert stored.anchor.read().head.seq == len(ledger.export())


def test_a_claim_beside_a_failing_anchor_counts_no_attempt(stored, ledger, monkeypatch):
    exhausted = ledger.charge(stored.request("0.1")).charge.query_id
    for _ in range(2):
        ledger.give_up(exhausted)
        ledger.take_up()[0]
    ledger.give_up(exhausted)
    paid = ledger.charge(stored.request("0.1"))
    ledger.give_up(paid.charge.query_id)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        for _ in range(4):
            with pytest.raises(LedgerUnavailableError):
                ledger.take_up()[0]
    assert [orphan.charge for orphan in ledger.take_up()[0]] == [paid.charge]
    assert ledger.query(exhausted).state == "failed"
    assert ledger.verify([]).ok


def test_a_lock_that_is_not_let_go_makes_the_ledger_unavailable(
    stored, ledger, monkeypatch
):
    monkeypatch.setattr(anchors, "LOCK_SECONDS", 0.02)
    holder = os.open(stored.anchor.path, os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)
    for attempt in (lambda: ledger.charge(stored.request()), ledger.check):
        with pytest.raises(LedgerUnavailableError):
            attempt()
    os.close(holder)
    assert isinstance(ledger.charge(stored.request()), Charged)


def test_a_thread_that_holds_the_anchor_is_waited_for_no_longer_than_agreed(
    stored, monkeypatch
):
    monkeypatch.setattr(anchors, "LOCK_SECONDS", 0.02)
    stored.create()
    with (
        stored.anchor.locked(),
        pytest.raises(TimeoutError),
        stored.anchor.locked(),
    ):
        pass


def test_a_forked_copy_of_the_descriptor_keeps_no_lock(stored, ledger):
    with stored.anchor.locked() as held:
        copy = os.dup(held._descriptor)
    assert isinstance(ledger.charge(stored.request()), Charged)
    os.close(copy)


def test_a_short_write_of_the_anchor_is_an_error(tmp_path, monkeypatch):
    anchor = AnchorFile(tmp_path / "a")
    first = AnchorRecord("id", Head(1, "h1"), {}, 0)
    anchor.create(first)
    monkeypatch.setattr(os, "pwrite", lambda *_: 3)
    with anchor.locked() as held, pytest.raises(OSError, match="short"):
        held.write(AnchorRecord("id", Head(2, "h2"), {}, 1))
    assert anchor.read() == first


def limit_many_populations(ledger):
    with ledger.recorded("many", "local:test") as change:
        for number in range(RECORD_BYTES // 60):
            change.set_limit(Scope.population(f"{number:060}"), Loss(1))


def test_populations_beyond_the_anchor_are_refused_before_the_commit(stored, ledger):
    entries = len(ledger.export())
    with pytest.raises(LedgerUnavailableError):
        limit_many_populations(ledger)
    assert len(ledger.export()) == entries
    assert isinstance(ledger.charge(stored.request()), Charged)


def test_a_total_that_fell_below_the_anchor_stops_the_ledger(stored, ledger):
    ledger.charge(stored.request("1"))
    with stored.databases.writer.begin() as connection:
        connection.exec_driver_sql("UPDATE budget_counter SET nano_epsilon = 0")
    with pytest.raises(AnchorMismatchError):
        ledger.charge(stored.request("1"))
    with pytest.raises(AnchorMismatchError):
        ledger.check()


def test_an_initialisation_beside_an_anchor_writes_nothing(stored, tmp_path):
    stored.create()
    other = StoredLedger(tmp_path / "other")
    other.folder.mkdir()
    metadata.create_all(other.databases.writer)
    with pytest.raises(FileExistsError):
        Ledger.initialise(other.databases, stored.anchor, actor="local:test")
    assert Ledger(other.databases, stored.anchor).export() == []
    other.databases.close()


def test_another_process_can_bring_the_anchor_to_the_ledgers_end(
    stored, ledger, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(LedgerUnavailableError):
            ledger.charge(stored.request())
    before = stored.anchor.read()
    stored.open().catch_up()
    assert stored.anchor.read().head.seq == before.head.seq + 1
    ledger.catch_up()
    assert stored.anchor.read().head.seq == before.head.seq + 1
