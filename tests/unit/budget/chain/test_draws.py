"""Questions that were drawn and not stored are noted in place, in the anchor's file."""

import os

import pytest

from budget.chain.anchor import AnchorFile
from budget.chain.draws import MOST_NOTES, NOTE_BYTES
from privacy.errors import LedgerUnavailableError
from tests.support.installations.stored_ledgers import StoredLedger


@pytest.fixture
def stored(tmp_path):
    return StoredLedger(tmp_path)


@pytest.fixture
def ledger(stored):
    return stored.create()


def noted(stored):
    return AnchorFile(stored.anchor.path).drawn()


def test_a_note_grows_no_file_and_spares_the_anchor(stored, ledger):
    size, record = stored.anchor.path.stat().st_size, stored.anchor.read()
    for number in range(MOST_NOTES):
        ledger.note_drawn(f"q_{number}")
    assert noted(stored) == {f"q_{number}" for number in range(MOST_NOTES)}
    assert stored.anchor.path.stat().st_size == size
    assert stored.anchor.read() == record
    assert stored.anchor.synced_sequence() == record.head.seq
    ledger.note_drawn("q_0")  # again: it has its place
    for refused in ("q_one_more", "x" * (NOTE_BYTES + 1)):
        with pytest.raises(LedgerUnavailableError):
            ledger.note_drawn(refused)


def test_an_anchor_of_an_earlier_version_gets_the_room_as_its_ledger_opens(stored):
    stored.create()
    size = stored.anchor.path.stat().st_size
    os.truncate(stored.anchor.path, size - MOST_NOTES * NOTE_BYTES - 100)
    assert noted(stored) == frozenset()
    ledger = stored.open()
    assert stored.anchor.path.stat().st_size == size
    ledger.note_drawn("q_1")
    assert noted(stored) == {"q_1"}


def test_a_noted_orphan_fails_unless_this_process_has_its_answer(stored, ledger):
    kept, lost, plain = (ledger.charge(stored.request("1")).charge for _ in range(3))
    for paid in (kept, lost):
        ledger.note_drawn(paid.query_id)
    later = stored.ledger()
    later.open()
    claimed, _ = later.take_up(kept=frozenset({kept.query_id}))
    assert {orphan.query_id for orphan in claimed} == {kept.query_id, plain.query_id}
    assert later.query(lost.query_id).state == "failed"
    assert later.verify([]).ok


def test_a_note_is_kept_until_its_charge_has_ended(stored, ledger):
    one, other = (ledger.charge(stored.request("1")).charge for _ in range(2))
    for paid in (one, other):
        ledger.note_drawn(paid.query_id)
    ledger.store_answer(one, b"noisy")
    ledger.forget_drawn()
    assert noted(stored) == {other.query_id}
    ledger.fail(other.query_id)
    ledger.forget_drawn()
    assert noted(stored) == frozenset()
