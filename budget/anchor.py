"""The anchor: a small file outside the data that remembers how far the ledger came.

Two records alternate in place, each with a checksum, so that a write cut short leaves
the other whole. The file is locked across processes for the whole of a ledger write.
"""

import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from budget.chain import Head, canonical_json
from privacy.errors import AnchorMismatchError

RECORD_BYTES = 16_384
_MAGIC = "curator-anchor-1"


@dataclass(frozen=True, slots=True)
class AnchorRecord:
    """What the ledger must contain.

    ``totals`` is what each population has spent, in nano-epsilon.
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
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(self.path, flags, 0o600)
        try:
            HeldAnchor(descriptor).write(record)
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
            AnchorMismatchError: There is no anchor.
            OSError: It cannot be opened.
        """
        with self._lock:
            descriptor = self._open(os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                yield HeldAnchor(descriptor)
            finally:
                os.close(descriptor)

    def read(self) -> AnchorRecord:
        """Return the newest whole record.

        Raises:
            AnchorMismatchError: There is none.
        """
        descriptor = self._open(os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            return HeldAnchor(descriptor).read()
        finally:
            os.close(descriptor)

    def _open(self, flags: int) -> int:
        try:
            return os.open(self.path, flags | os.O_CLOEXEC)
        except FileNotFoundError:
            message = (
                "the anchor is missing: bring it back, or accept what is lost with "
                "'curator ledger reconcile --reason'"
            )
            raise AnchorMismatchError(message) from None


class HeldAnchor:
    """The anchor while its lock is held."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

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
        raw = os.pread(self._descriptor, RECORD_BYTES, slot * RECORD_BYTES)
        digest, _, text = raw.rstrip(b"\0").partition(b"\n")
        if hashlib.sha256(text).hexdigest().encode() != digest:
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

        Raises:
            OSError: It could not be made durable.
        """
        slot = record.generation % 2
        content = encode(record)
        if os.pwrite(self._descriptor, content, slot * RECORD_BYTES) != RECORD_BYTES:
            message = "the anchor was written short"
            raise OSError(message)
        os.fsync(self._descriptor)


def encode(record: AnchorRecord) -> bytes:
    """Return a record's bytes.

    Raises:
        OSError: It holds more populations than a record has room for.
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
    words = hashlib.sha256(text).hexdigest().encode() + b"\n" + text
    if len(words) > RECORD_BYTES:
        message = "too many populations for one anchor record"
        raise OSError(message)
    return words.ljust(RECORD_BYTES, b"\0")
