"""No reader, of any process, sees what is committed and not yet anchored."""

import contextlib
import errno
import os
import threading

import pytest

from budget.chain.anchor import RECORD_BYTES, HeldAnchor
from budget.ledger import InFlight, Ledger, Replay, Scope
from budget.reading.listing import Seen
from budget.storage.databases import Databases
from budget.storage.records import NO_PROJECT
from budget.storage.tables import chain
from privacy.errors import AnchorMismatchError, LedgerUnavailableError
from privacy.losses import Loss

OTHER = Scope.project("other")
ALL = Seen(populations=None, ends=())


class KilledError(BaseException):
    """Ends a write where it stands; nothing catches it, as with a kill."""


def fail(*_):
    raise OSError(errno.EIO, "input/output error")


def die(*_):
    raise KilledError


@pytest.fixture
def second(stored, ledger):
    """The same ledger as a process of its own has it."""
    databases = Databases(stored.url)
    yield Ledger(databases, stored.anchor)
    databases.close()


def grant(ledger):
    with ledger.recorded("grant", "local:test") as change:
        change.set_limit(OTHER, Loss.parse("3"))


def read_all(ledger, query_id="none"):
    return (
        lambda: ledger.limit(OTHER),
        lambda: ledger.remaining([OTHER]),
        lambda: ledger.history("ada", limit=5, cursor=None),
        lambda: ledger.query(query_id),
        lambda: ledger.find_reusable("how many", Loss(1), project="study"),
        lambda: ledger.lines(ALL, lambda _: (), limit=5, cursor=None),
        lambda: ledger.count_lines(ALL),
        ledger.export,
    )


def refuse_all(ledger, query_id="none"):
    for read in read_all(ledger, query_id):
        with pytest.raises(LedgerUnavailableError):
            read()


def write_unanchored(ledger, write=grant, how=fail):
    """Write an entry whose anchor is not written: its disk fails, or a kill."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HeldAnchor, "write", how)
        with pytest.raises((LedgerUnavailableError, KilledError)):
            write(ledger)


@pytest.mark.parametrize("how", [fail, die])
def test_another_process_reads_a_change_only_once_it_is_anchored(
    stored, ledger, second, how
):
    write_unanchored(ledger, how=how)
    before = stored.anchor.read().head.seq
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HeldAnchor, "write", fail)
        refuse_all(second)
        refuse_all(ledger)
    assert stored.anchor.read().head.seq == before
    assert second.limit(OTHER) == Loss.parse("3")
    assert (
        stored.anchor.read().head.seq == stored.anchor.synced_sequence() == before + 1
    )


@pytest.mark.parametrize("how", [fail, die])
def test_a_copy_from_before_what_was_read_is_refused(stored, ledger, second, how):
    stored.back_up()
    write_unanchored(ledger, how=how)
    assert second.limit(OTHER) == Loss.parse("3")
    second._databases.close()
    stored.restore()
    with pytest.raises(AnchorMismatchError):
        stored.open()


def test_an_answer_that_no_reply_holds_is_read_only_once_it_is_anchored(
    stored, ledger, second
):
    request = stored.request(query_id="job_1", project=NO_PROJECT)
    work = ledger.charge_work(request, "begin", lambda _: None)
    write_unanchored(
        ledger,
        lambda ledger: ledger.store_work(
            work, b"made", "publish", "local:test", lambda _: None
        ),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HeldAnchor, "write", fail)
        refuse_all(second, "job_1")
    assert second.query("job_1").body == b"made"
    assert stored.anchor.synced_sequence() == len(second.export())


def test_nobody_waits_for_the_anchor_of_an_answer_whose_reply_has_not_left(
    stored, ledger, second
):
    paid = ledger.charge(stored.request(idempotency_key="k", fingerprint="f"))
    query_id = paid.charge.query_id
    stored.hidden.add(query_id)
    reader = Ledger(second._databases, stored.anchor, unreleased=lambda: {query_id})
    write_unanchored(ledger, lambda ledger: ledger.store_answer(paid.charge, b"noisy"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HeldAnchor, "write", fail)
        for read in read_all(reader, query_id):
            read()
    if stored.databases.is_shared:  # else no other process serves it
        assert reader.lookup_key("ada", "k", "f") == InFlight()
    assert stored.anchor.synced_sequence() == len(reader.export()) - 1


def test_a_released_end_that_is_not_anchored_holds_every_reader_back(
    stored, ledger, second
):
    paid = ledger.charge(stored.request(idempotency_key="k", fingerprint="f"))
    write_unanchored(ledger, lambda ledger: ledger.store_answer(paid.charge, b"noisy"))
    ledger.release([paid.charge.query_id])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HeldAnchor, "write", fail)
        refuse_all(second, paid.charge.query_id)
        with pytest.raises(LedgerUnavailableError):
            second.lookup_key("ada", "k", "f")
    assert second.lookup_key("ada", "k", "f") == Replay(paid.charge.query_id, b"noisy")


def test_a_reader_between_a_commit_and_its_anchor_waits_for_it(
    stored, ledger, second, monkeypatch
):
    going_on, at_anchor = threading.Event(), threading.Event()
    put = HeldAnchor._put

    def put_slowly(self, content, offset):
        at_anchor.set()
        assert going_on.wait(60)
        put(self, content, offset)

    monkeypatch.setattr(HeldAnchor, "_put", put_slowly)
    seen = []
    writing = threading.Thread(target=grant, args=(ledger,))
    writing.start()
    assert at_anchor.wait(60)
    reading = threading.Thread(
        target=lambda: seen.append(
            (second.limit(OTHER), stored.anchor.synced_sequence())
        )
    )
    reading.start()
    reading.join(0.2)
    assert seen == []
    going_on.set()
    writing.join()
    reading.join()
    assert seen == [(Loss.parse("3"), len(ledger.export()))]


def test_a_record_that_was_written_but_never_synced_is_synced_before_it_is_read(
    stored, ledger, second, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", die)
        with pytest.raises(KilledError):
            grant(ledger)
    written = stored.anchor.read().head.seq
    assert stored.anchor.synced_sequence() == written - 1
    synced, sync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(fd) or sync(fd))
    assert second.limit(OTHER) == Loss.parse("3")
    assert len(synced) == 1
    assert stored.anchor.synced_sequence() == written


@pytest.mark.parametrize(
    "mark", [b"", b"\0" * 128, b"f" * 64 + b"\n999999" + b"\0" * 57]
)
def test_an_anchor_whose_mark_is_missing_or_torn_is_synced_and_marked(
    stored, ledger, second, mark
):
    with stored.anchor.path.open("r+b") as file:
        file.truncate(2 * RECORD_BYTES)
        file.seek(2 * RECORD_BYTES)
        file.write(mark)
    assert stored.anchor.synced_sequence() == 0
    assert second.limit(OTHER) is None
    assert stored.anchor.synced_sequence() == len(ledger.export())


def test_a_lost_anchor_lets_nobody_read_but_who_looks_for_what_is_wrong(
    stored, ledger, second
):
    stored.anchor.path.unlink()
    with pytest.raises(AnchorMismatchError):
        second.limit(OTHER)
    assert not second.verify([]).ok
    with (
        second._databases.unchecked(),
        second._databases.reader.connect() as connection,
    ):
        assert connection.execute(chain.select()).first() is not None


def test_a_revocation_acts_although_its_anchor_is_not_written(stored, ledger, second):
    grant(ledger)
    assert second.limit(OTHER) == Loss.parse("3")

    def lower(ledger):
        with ledger.recorded("cap", "local:test") as change:
            change.set_limit(OTHER, Loss(0))

    write_unanchored(ledger, lower)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HeldAnchor, "write", fail)
        with contextlib.suppress(LedgerUnavailableError):
            assert second.limit(OTHER) == Loss(0)
    assert second.limit(OTHER) == Loss(0)
