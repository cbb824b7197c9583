"""The anchor: a small file outside the data that remembers how far the ledger came.

Two records alternate in place, each with a checksum, so that a write cut short leaves
the other whole. The file is locked across processes for the whole of a ledger write.
After them stands a mark: the sequence of the last record that was synced. Readers look
at it without the lock, so that nobody who reads waits for one who writes. Behind it are
draw records: questions whose noise was drawn and not stored (``draws``).
"""

import contextlib
import fcntl
import hashlib
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from budget.chain.draws import MOST_NOTES, NOTE_BYTES, DrawNotes
from budget.chain.entries import Head, canonical_json
from privacy.errors import AnchorMismatchError, AnchorMissingError

RECORD_BYTES = 16_384
LOCK_SECONDS = 10.0
_POLL_SECONDS = 0.001
_LOCKED = "the anchor's lock is held elsewhere"
_MAGIC = "curator-anchor-1"
_MARK_AT = 2 * RECORD_BYTES
_MARK_BYTES = 128
_NOTES_AT = _MARK_AT + 4_096  # in blocks of their own
ANCHOR_BYTES = _NOTES_AT + MOST_NOTES * NOTE_BYTES
"""Of the whole file; it is written over in place."""
_SHORT = "the anchor was written short"


@dataclass(frozen=True, slots=True)
class AnchorRecord:
    """What the ledger must contain.

    ``totals`` is what was spent of each cap, in nano-epsilon: by population, or by
    population and block (``Scope.total_name``).
    """

    ledger_id: str
    head: Head
    totals: Mapping[str, int]
    generation: int = 0


class AnchorFile:
    """The anchor at one path."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def create(self, record: AnchorRecord) -> None:
        """Make the anchor.

        Raises:
            FileExistsError: There is one.
            OSError: It cannot be written; then there is none.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(self.path, flags, 0o600)
        try:
            held = HeldAnchor(descriptor)
            held.write(record)
            held.draws.reserve()
        except OSError:
            self.path.unlink()  # half an anchor would keep the next try from making one
            raise
        finally:
            os.close(descriptor)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def locked(self) -> Iterator["HeldAnchor"]:
        """Hold the one lock of all writers, across threads and processes.

        Raises:
            AnchorMissingError: There is no anchor.
            OSError: It cannot be opened, or its lock not be had in time.
        """
        deadline = time.monotonic() + LOCK_SECONDS
        if not self._lock.acquire(timeout=LOCK_SECONDS):
            raise TimeoutError(_LOCKED)
        try:
            descriptor = self._open(os.O_RDWR)
            try:
                _lock(descriptor, fcntl.LOCK_EX, deadline)
                yield HeldAnchor(descriptor)
            finally:
                _unlock(descriptor)
        finally:
            self._lock.release()

    def read(self) -> AnchorRecord:
        """Return the newest whole record.

        Raises:
            AnchorMismatchError: None is whole.
            AnchorMissingError: There is no anchor.
            OSError: It cannot be opened, or its lock not be had in time.
        """
        descriptor = self._open(os.O_RDONLY)
        try:
            _lock(descriptor, fcntl.LOCK_SH, time.monotonic() + LOCK_SECONDS)
            return HeldAnchor(descriptor).read()
        finally:
            _unlock(descriptor)

    def synced_sequence(self) -> int:
        """Return the sequence of the last entry that is anchored, and synced.

        Asked without the lock: it may be an older one by a moment, never a later one.

        Raises:
            AnchorMissingError: There is no anchor.
            OSError: It cannot be opened.
        """
        descriptor = self._open(os.O_RDONLY)
        try:
            return HeldAnchor(descriptor).synced_sequence()
        finally:
            os.close(descriptor)

    def drawn(self) -> frozenset[str]:
        """Return the questions that are noted as drawn and not stored.

        Asked without the lock.

        Raises:
            AnchorMissingError: There is no anchor.
            OSError: It cannot be opened.
        """
        descriptor = self._open(os.O_RDONLY)
        try:
            return HeldAnchor(descriptor).draws.noted()
        finally:
            os.close(descriptor)

    def _open(self, flags: int) -> int:
        try:
            return os.open(self.path, flags | os.O_CLOEXEC)
        except FileNotFoundError:
            raise AnchorMissingError from None


class HeldAnchor:
    """The anchor while its lock is held."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.draws = DrawNotes(descriptor, _NOTES_AT)

    def read(self) -> AnchorRecord:
        """Return the newest whole record.

        Raises:
            AnchorMismatchError: Neither record is whole.
        """
        records = [record for slot in (0, 1) if (record := self._read_slot(slot))]
        if not records:
            message = (
                "the anchor cannot be read: restore it, or accept what is lost with "
                "'curator ledger reconcile --reason'"
            )
            raise AnchorMismatchError(message)
        return max(records, key=lambda record: record.generation)

    def _read_slot(self, slot: int) -> AnchorRecord | None:
        text = _verified(os.pread(self._descriptor, RECORD_BYTES, slot * RECORD_BYTES))
        if text is None:
            return None
        words = json.loads(text)
        if words["magic"] != _MAGIC:
            return None
        return AnchorRecord(
            words["ledger_id"],
            Head(words["seq"], words["hash"]),
            words["totals"],
            words["generation"],
        )

    def write(self, record: AnchorRecord) -> None:
        """Write a record over the older one, and sync it.

        Where it cannot be made durable it is spoilt again, so that the next write
        comes here too and spares the last durable record.

        Raises:
            OSError: It could not be made durable.
        """
        content = encode_record(record)
        offset = record.generation % 2 * RECORD_BYTES
        try:
            self._put(content, offset)
        except OSError:
            self._spoil(offset)
            raise
        self._mark(record.head.seq)

    def confirm(self, head: Head) -> None:
        """Sync the newest record, whose head this is, where nobody said that it was.

        A process that was killed may have written it without a sync.

        Raises:
            OSError: It could not be made durable.
        """
        if self.synced_sequence() < head.seq:
            os.fsync(self._descriptor)
            self._mark(head.seq)

    def synced_sequence(self) -> int:
        """Return the sequence in the mark; 0 where it is not whole."""
        text = _verified(os.pread(self._descriptor, _MARK_BYTES, _MARK_AT))
        return 0 if text is None else int(text)

    def _mark(self, seq: int) -> None:
        """Say to readers how far the synced record came; itself it needs no sync."""
        content = _checksummed(str(seq).encode()).ljust(_MARK_BYTES, b"\0")
        if os.pwrite(self._descriptor, content, _MARK_AT) != len(content):
            raise OSError(_SHORT)

    def _put(self, content: bytes, offset: int) -> None:
        if os.pwrite(self._descriptor, content, offset) != len(content):
            raise OSError(_SHORT)
        os.fsync(self._descriptor)

    def _spoil(self, offset: int) -> None:
        with contextlib.suppress(OSError):  # the other record is whole in any case
            os.pwrite(self._descriptor, bytes(64), offset)


_MOST: Final = 2**62
"""No total, sequence or generation has more digits."""


def require_room(record: AnchorRecord) -> None:
    """Refuse totals that would not fit any more once they have grown.

    To be asked when there are more of them, before that is committed: a charge, or a
    reconcile, could else fail for want of digits, and for ever.

    Raises:
        OSError: They would not.
    """
    grown = {name: _MOST for name in record.totals}  # noqa: C420 - mypy reads it so
    encode_record(AnchorRecord(record.ledger_id, Head(_MOST, "0" * 64), grown, _MOST))


def encode_record(record: AnchorRecord) -> bytes:
    """Return a record as it lies in the file.

    Raises:
        OSError: It does not fit.
    """
    text = canonical_json(
        {
            "magic": _MAGIC,
            "ledger_id": record.ledger_id,
            "seq": record.head.seq,
            "hash": record.head.hash,
            "totals": dict(record.totals),
            "generation": record.generation,
        }
    ).encode()
    words = _checksummed(text)
    if len(words) > RECORD_BYTES:
        message = "too many populations and blocks for one anchor record"
        raise OSError(message)
    return words.ljust(RECORD_BYTES, b"\0")


def _checksummed(text: bytes) -> bytes:
    """Return a text with its checksum before it."""
    return hashlib.sha256(text).hexdigest().encode() + b"\n" + text


def _verified(raw: bytes) -> bytes | None:
    """Return the text that lies in a part of the file; None where it is not whole."""
    end = raw.find(b"\0")
    words, padding = (raw, b"") if end < 0 else (raw[:end], raw[end:])
    _, _, text = words.partition(b"\n")
    if padding != bytes(len(padding)) or _checksummed(text) != words:
        return None
    return text


def _lock(descriptor: int, how: int, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError(_LOCKED) from None
            time.sleep(_POLL_SECONDS)
        else:
            return


def _unlock(descriptor: int) -> None:
    """Let go at once: a forked copy of the descriptor would keep the lock."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
