"""L8: on a full disk a paid question waits, and is then answered for nothing more."""

import contextlib
import os
import tempfile
from pathlib import Path

import pytest

from budget.chain.anchor import AnchorFile
from budget.charging.disk_space import LARGEST_ANSWER_BYTES
from budget.charging.noisy_vectors import with_vectors
from budget.storage.tables import trial
from privacy.errors import LedgerUnavailableError
from privacy.losses import Loss
from query_lang.plans.costs import MAX_NUMBERS, NUMBER_BYTES
from server.use_cases.questions.measured import Measured
from tests.crash.instruments.disks import filled, small_disk
from tests.support.installations.clusters import Cluster
from tests.support.installations.stored_ledgers import SCOPES, StoredLedger

pytestmark = pytest.mark.thorough
MIB = 1 << 20
ANSWER = b"x" * (2 * MIB)
LITTLE = MIB // 2  # enough to claim in, too little for the answer


@pytest.fixture
def disk():
    """A small file system where an unprivileged PostgreSQL gets to as well."""
    with (
        tempfile.TemporaryDirectory(prefix="curator-disk-") as folder,
        small_disk(Path(folder), 400 * MIB) as disk,
    ):
        yield disk


@pytest.fixture(params=["sqlite", "postgresql"])
def stored(request, disk, tmp_path):
    """A ledger whose database lies on a small disk of its own."""
    with contextlib.ExitStack() as held:
        if request.param == "sqlite":
            stored = StoredLedger(disk)
            stored.anchor = AnchorFile(tmp_path / "anchor")
        else:
            request.getfixturevalue("cluster")  # skips where there are no binaries
            own = Cluster(disk / "cluster")
            own.folder.mkdir()
            held.callback(own.close)
            stored = StoredLedger(tmp_path, url=own.create().database())
        yield stored
        stored.databases.close()


def orphan(ledger, stored):
    """Return a charge that nobody works on, once executed."""
    paid = ledger.charge(stored.request("1")).charge
    ledger.give_up(paid.query_id)
    return paid


def recover(ledger):
    """Store an answer for every orphan, as recovery does."""
    for claimed in ledger.take_up()[0]:
        ledger.store_answer(claimed.charge, ANSWER)


def attempts(stored):
    with stored.databases.reader.connect() as connection:
        return connection.exec_driver_sql("SELECT attempts FROM charge").scalar_one()


def test_a_paid_question_waits_for_room_and_is_then_answered_for_nothing_more(
    stored, disk
):
    ledger = stored.create()
    paid = orphan(ledger, stored)
    with filled(disk, LITTLE):
        for _ in range(5):
            with pytest.raises(LedgerUnavailableError):
                recover(ledger)
            with contextlib.suppress(LedgerUnavailableError):
                ledger.give_up(paid.query_id)
        assert attempts(stored) == 1
    recover(ledger)
    assert attempts(stored) == 2
    assert ledger.query(paid.query_id).state == "answered"
    assert ledger.spent(SCOPES[0]) == Loss.parse("1")
    assert ledger.verify([]).ok


def test_what_the_disk_did_not_take_is_stored_as_it_was_drawn(stored, disk):
    """Nobody looks at PostgreSQL's disk before a charge: it may be full at its end."""
    ledger = stored.create()
    answer = os.urandom(2 * MIB).replace(b"\n", b" ")  # PostgreSQL compresses others
    paid = ledger.charge(stored.request("1")).charge
    kept = frozenset({paid.query_id})
    with filled(disk, LITTLE):
        with pytest.raises(LedgerUnavailableError):
            ledger.store_answer(paid, answer)
        ledger.note_drawn(paid.query_id)
        assert ledger.query(paid.query_id).state == "running"
    assert ledger.take_up(kept=kept) == ([], [])  # nobody draws for it again
    ledger.store_answer(paid, answer)
    assert ledger.query(paid.query_id).body == answer
    ledger.forget_drawn()
    assert ledger.verify([]).ok


def test_the_room_that_is_tried_is_that_of_the_largest_answer():
    shown = b"x" * (MAX_NUMBERS * NUMBER_BYTES)  # keys in it, and what stands beside
    measured = Measured("f" * 64, [[-(2**62) - 2**61] * MAX_NUMBERS]).encode()
    assert len(with_vectors(shown, measured)) + MIB <= LARGEST_ANSWER_BYTES


def test_a_trial_leaves_nothing_and_an_idle_ledger_makes_none(stored, disk):
    ledger = stored.create()
    before = stored.anchor.read()
    assert ledger.take_up()[0] == []
    assert stored.anchor.read() == before
    orphan(ledger, stored)
    before = stored.anchor.read()
    assert len(ledger.take_up()[0]) == 1
    assert stored.anchor.read().head == before.head
    assert stored.anchor.read().generation == before.generation + 1  # it was tried too
    with stored.databases.reader.connect() as connection:
        assert connection.execute(trial.select()).all() == []
