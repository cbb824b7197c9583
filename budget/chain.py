"""The hash chain: each entry seals all before it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, bindparam, insert, select

from budget.prepared import Prepared
from budget.tables import chain

FIRST_HASH = "0" * 64

Body = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry of a chain: its sequence and its hash."""

    seq: int
    hash: str


EMPTY = Head(0, FIRST_HASH)

_LAST = Prepared(
    select(chain.c.seq, chain.c.hash).order_by(chain.c.seq.desc()).limit(1)
)
_FIRST_AND_NAMED = Prepared(
    select(chain.c.seq, chain.c.hash, chain.c.body).where(
        (chain.c.seq == 1) | (chain.c.seq == bindparam("named"))
    )
)
_APPEND = Prepared(insert(chain))


def canonical_json(value: object) -> str:
    """Return the one JSON text of a value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def entry_hash(previous: str, seq: int, kind: str, time: str, body: str) -> str:
    """Return the hash of an entry over the previous hash and its own words."""
    words = canonical_json([previous, seq, kind, time, body])
    return hashlib.sha256(words.encode()).hexdigest()


def now_text() -> str:
    """Return the time as entries record it; it orders nothing."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def head_of(connection: Connection) -> Head:
    """Return the last entry."""
    for seq, last_hash in _LAST.rows(connection):
        return Head(seq, last_hash)
    return EMPTY


def ledger_id_of(connection: Connection) -> str | None:
    """Return the random id that entry 1 gave this ledger; None where it is empty."""
    body = connection.execute(
        select(chain.c.body).where(chain.c.seq == 1)
    ).scalar_one_or_none()
    return None if body is None else _ledger_id(body)


def _ledger_id(first_body: str) -> str:
    """Return the id in the body of entry 1; empty where it cannot be read."""
    try:
        return str(json.loads(first_body)["facts"]["ledger_id"])
    except (ValueError, KeyError, TypeError):
        return ""


def is_contained(connection: Connection, ledger_id: str, head: Head) -> bool:
    """Whether this is the ledger of that id, and its chain passes through ``head``."""
    found = {
        seq: (entry_hash, body)
        for seq, entry_hash, body in _FIRST_AND_NAMED.rows(
            connection, {"named": head.seq}
        )
    }
    if 1 not in found or head.seq not in found:
        return False
    same = _ledger_id(found[1][1]) == ledger_id
    return bool(same and found[head.seq][0] == head.hash)


class Appender:
    """Appends entries inside one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.head = head_of(connection)

    def append(
        self, kind: str, body: Body, *, seq: int | None = None
    ) -> tuple[int, str]:
        """Append one entry.

        Args:
            kind: What happened.
            body: Its facts.
            seq: Another sequence than the next one; for reconcile alone.

        Returns:
            Its sequence and time.
        """
        number = self.head.seq + 1 if seq is None else seq
        time, text = now_text(), canonical_json(body)
        digest = entry_hash(self.head.hash, number, kind, time, text)
        _APPEND.run(
            self._connection,
            {"seq": number, "kind": kind, "time": time, "body": text, "hash": digest},
        )
        self.head = Head(number, digest)
        return number, time
