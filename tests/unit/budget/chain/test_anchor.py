import contextlib
import os
import shutil
import sqlite3

import pytest

from budget.chain.anchor import (
    ANCHOR_BYTES,
    RECORD_BYTES,
    AnchorFile,
    AnchorRecord,
    encode_record,
    require_room,
)
from budget.chain.entries import Head
from budget.ledger import Charged, Ledger, Scope
from privacy.errors import (
    AnchorMismatchError,
    AnchorMissingError,
    LedgerUnavailableError,
)
from privacy.losses import Loss

POPULATION = Scope.population("people")


def test_a_torn_record_leaves_the_other_whole(tmp_path):
    anchor = AnchorFile(tmp_path / "a")
    anchor.create(AnchorRecord("id", Head(1, "h1"), {}, 0))
    with anchor.locked() as held:
        held.write(AnchorRecord("id", Head(2, "h2"), {"p": 3}, 1))
    with (tmp_path / "a").open("r+b") as file:
        file.seek(RECORD_BYTES + 40)
        file.write(b"torn")
    assert anchor.read().head == Head(1, "h1")
    with (tmp_path / "a").open("r+b") as file:
        file.write(b"torn")
    with pytest.raises(AnchorMismatchError):
        anchor.read()


def test_an_anchor_is_never_made_twice(tmp_path):
    anchor = AnchorFile(tmp_path / "a")
    anchor.create(AnchorRecord("id", Head(1, "h"), {}))
    with pytest.raises(FileExistsError):
        anchor.create(AnchorRecord("id", Head(1, "h"), {}))


def test_the_anchor_holds_the_head_and_every_total(stored, ledger):
    ledger.charge(stored.request("1.5"))
    record = stored.anchor.read()
    assert record.totals == {"people": 1_500_000_000}
    assert record.head.seq == len(ledger.export())


def test_a_restored_backup_is_refused_by_readers_and_writers(stored, ledger):
    stored.back_up()
    ledger.charge(stored.request())
    stored.restore()
    for attempt in (
        stored.open,
        lambda: Ledger(stored.databases, stored.anchor).check(),
        lambda: ledger.charge(stored.request()),
    ):
        with pytest.raises(AnchorMismatchError):
            attempt()


def test_after_one_mismatch_nothing_is_served_any_more(stored, ledger, tmp_path):
    kept = tmp_path / "kept"
    shutil.copy(stored.anchor.path, kept)
    stored.anchor.path.write_bytes(bytes(ANCHOR_BYTES))
    with pytest.raises(AnchorMismatchError):
        ledger.charge(stored.request())
    shutil.copy(kept, stored.anchor.path)
    with pytest.raises(AnchorMismatchError):
        ledger.charge(stored.request())
    with pytest.raises(AnchorMismatchError):
        ledger.find_reusable("how many", Loss(1), project="study")
    assert isinstance(stored.open().charge(stored.request()), Charged)


def test_what_was_missing_is_compared_when_it_is_back(stored, ledger, tmp_path):
    kept = stored.anchor.path.rename(tmp_path / "kept")
    for attempt in (lambda: ledger.charge(stored.request()), ledger.require_matched):
        with pytest.raises(AnchorMissingError):
            attempt()
    shutil.copy(kept, stored.anchor.path)
    ledger.require_matched()
    assert isinstance(ledger.charge(stored.request()), Charged)


def _removed(stored):
    stored.database.unlink()


def _replaced(stored):
    (stored.folder / "backup").replace(stored.database)


@pytest.mark.parametrize("take_away", [_removed, _replaced])
def test_nothing_is_charged_into_a_file_that_was_taken_away(sqlite_stored, take_away):
    """Open connections go on in it, and what they write is lost with it."""
    stored = sqlite_stored
    ledger = stored.create()
    ledger.charge(stored.request())
    stored.back_up()
    entries, anchored = ledger.export(), stored.anchor.read()
    take_away(stored)
    for attempt in (
        lambda: ledger.charge(stored.request()),
        ledger.check,
        ledger.require_matched,
    ):
        with pytest.raises(AnchorMismatchError, match="file was removed or replaced"):
            attempt()
    assert ledger.export() == entries
    assert stored.anchor.read() == anchored


def test_a_file_that_is_taken_away_in_a_charge_is_not_committed_to(sqlite_stored):
    stored = sqlite_stored
    ledger = stored.create()
    entries = ledger.export()
    with (
        pytest.raises(AnchorMismatchError, match="file was removed or replaced"),
        ledger.recorded("cut", "local:test"),
    ):
        stored.database.unlink()
    assert ledger.export() == entries


def test_a_file_that_is_written_anew_in_its_place_is_the_same(sqlite_stored):
    stored = sqlite_stored
    ledger = stored.create()
    for change in (
        lambda c: c.execute("PRAGMA wal_checkpoint(TRUNCATE)"),
        lambda c: c.execute("VACUUM"),
        lambda _: stored.database.chmod(0o600),
    ):
        with contextlib.closing(sqlite3.connect(stored.database)) as connection:
            change(connection)
        assert isinstance(ledger.charge(stored.request("0.1")), Charged)
        ledger.check()


def test_an_anchor_behind_the_ledger_is_written_forward_at_start(
    stored, ledger, tmp_path
):
    old = tmp_path / "old"
    shutil.copy(stored.anchor.path, old)
    ledger.charge(stored.request())
    shutil.copy(old, stored.anchor.path)
    stored.open()
    assert stored.anchor.read().head.seq == len(ledger.export())


def test_a_failed_sync_of_the_anchor_keeps_the_charge_and_recovers(
    stored, ledger, monkeypatch
):
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(5, "EIO")))
    request = stored.request("1")
    with pytest.raises(LedgerUnavailableError) as caught:
        ledger.charge(request)
    assert caught.value.query_id == request.query_id
    monkeypatch.setattr(os, "fsync", real)
    assert ledger.spent(POPULATION) == Loss.parse("1")
    ledger.give_up(request.query_id)
    (orphan,) = ledger.take_up()[0]
    assert ledger.store_answer(orphan.charge, b"x") == b"x"
    ledger.check()


def test_an_unwritable_database_charges_nothing_and_recovers(sqlite_stored):
    stored, ledger = sqlite_stored, sqlite_stored.create()
    with stored.databases.writer.connect() as pooled:
        pooled.exec_driver_sql("PRAGMA busy_timeout = 10")
    with sqlite3.connect(stored.folder / "ledger.sqlite") as blocker:
        blocker.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailableError) as caught:
            ledger.charge(stored.request())
        assert caught.value.query_id is None
        blocker.execute("ROLLBACK")
    assert ledger.spent(POPULATION) == Loss(0)


def test_reconcile_charges_what_the_anchor_saw_and_fails_what_was_unfinished(
    stored, ledger
):
    unfinished = ledger.charge(
        stored.request("0.5", idempotency_key="k", fingerprint="f")
    )
    stored.back_up()
    ledger.charge(stored.request("2"))
    stored.restore()
    restored = Ledger(stored.databases, stored.anchor)
    called = []
    restored.reconcile("disk died", "local:test", called.append)
    assert len(called) == 1
    again = stored.open()
    assert again.spent(POPULATION) == Loss.parse("2.5")
    assert again.query(unfinished.charge.query_id).state == "failed"
    assert again.take_up()[0] == []
    assert again.verify([]).ok
    assert isinstance(again.charge(stored.request()), Charged)
    assert again.verify([]).ok


def test_reconcile_closes_every_population_where_the_anchor_is_gone(stored, ledger):
    stored.anchor.path.unlink()
    lost = Ledger(stored.databases, stored.anchor)
    lost.reconcile("anchor lost", "local:test", lambda _: None)
    again = stored.open()
    assert again.remaining([POPULATION])[POPULATION] == Loss(0)
    assert again.verify([]).ok


def test_reconcile_refuses_a_ledger_that_fits(stored, ledger):
    with pytest.raises(Exception, match="nothing to do"):
        ledger.reconcile("why not", "local:test", lambda _: None)


def test_an_anchor_of_another_ledger_is_refused(stored, ledger, tmp_path):
    record = stored.anchor.read()
    stored.anchor.path.unlink()
    stored.anchor.create(AnchorRecord("other", record.head, record.totals))
    with pytest.raises(AnchorMismatchError):
        stored.open()


def test_charges_of_a_snapshot_that_cannot_be_read_wait(sqlite_stored):
    ledger, request = sqlite_stored.create(), sqlite_stored.request("1")
    ledger.charge(request)
    ledger.give_up(request.query_id)
    unreadable = frozenset({request.snapshot})
    for _ in range(4):  # more often than a charge is executed
        assert ledger.take_up(unreadable) == ([], [])
    (orphan,) = ledger.take_up(frozenset({"s_other"}))[0]
    assert orphan.charge.query_id == request.query_id


def test_totals_have_room_to_grow_before_they_are_taken_in(stored, ledger):
    """What fits as zeros, and would not with all its digits, is refused at once."""
    names = [f"others{n:04}" + "x" * 40 for n in range(250)]
    as_zeros = {name: 0 for name in names}  # noqa: C420 - a mapping of numbers
    head = Head(1, "0" * 64)
    record = AnchorRecord("id", head, as_zeros)
    assert len(encode_record(record)) == RECORD_BYTES
    with pytest.raises(OSError, match="too many"):
        require_room(record)
    fits = AnchorRecord("id", head, dict.fromkeys(names[:80], 0))
    require_room(fits)


def test_more_caps_than_can_be_charged_are_refused_before_they_are_there(
    stored, ledger
):
    def make_many():
        with ledger.recorded("new", "local:test") as change:
            for n in range(250):
                scope = Scope.population(f"others{n:04}" + "x" * 40)
                change.set_limit(scope, Loss.parse("1"))

    with pytest.raises(LedgerUnavailableError):
        make_many()
    assert isinstance(ledger.charge(stored.request("1")), Charged)
    assert ledger.verify([]).ok


def test_an_older_copy_where_one_was_missing_is_refused_for_good(
    stored, ledger, tmp_path
):
    older = tmp_path / "older"
    ledger.charge(stored.request())
    shutil.copy(stored.anchor.path, older)
    ledger.charge(stored.request())
    newest = stored.anchor.path.rename(tmp_path / "newest")
    with pytest.raises(AnchorMissingError):
        ledger.charge(stored.request())
    shutil.copy(older, stored.anchor.path)
    with pytest.raises(AnchorMismatchError, match="older"):
        ledger.require_matched()
    shutil.copy(newest, stored.anchor.path)
    with pytest.raises(AnchorMismatchError):
        ledger.charge(stored.request())
