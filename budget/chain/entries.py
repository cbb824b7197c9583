"""The hash chain: each entry has the hash of the one before it."""

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, bindparam, insert, select

from budget.storage.prepared import Parameters, Prepared, Row, Statement
from budget.storage.tables import chain

FIRST_HASH = "0" * 64
SALT_BYTES = 16

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


def salted(body: Body) -> Body:
    """Return the body of an end, with 128 random bits that no route ever shows.

    Its entry's hash also covers the microsecond in which it was stored, which whoever
    knew the rest could find by trying them all.
    """
    return {**body, "salt": secrets.token_hex(SALT_BYTES)}


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
    return head_in(_LAST.rows(connection))


LAST = Statement(_LAST)
"""Reads the last entry, for ``head_in``."""


def head_in(rows: Sequence[Row]) -> Head:
    """Return the last entry, as it was read."""
    for seq, last_hash in rows:
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
    reading = named(head)
    rows = reading.statement.rows(connection, reading.parameters)
    return is_named(rows, ledger_id, head)


def named(head: Head) -> Statement:
    """Return what reads entry 1 and an entry, for ``is_named``."""
    return Statement(_FIRST_AND_NAMED, {"named": head.seq})


def is_named(rows: Sequence[Row], ledger_id: str, head: Head) -> bool:
    """Whether what was read is the ledger of that id, and passes through ``head``."""
    found = {seq: (entry_hash, body) for seq, entry_hash, body in rows}
    if 1 not in found or head.seq not in found:
        return False
    same = _ledger_id(found[1][1]) == ledger_id
    return bool(same and found[head.seq][0] == head.hash)


class Appender:
    """Appends entries inside one transaction.

    Args:
        head: The last entry.
        run: Runs the statement that inserts one, now or with the transaction's end.
    """

    def __init__(
        self, head: Head, run: Callable[[Prepared, Parameters], object]
    ) -> None:
        self.head = head
        self._run = run

    @classmethod
    def at_once(cls, connection: Connection) -> "Appender":
        """Return one whose entries are inserted as they are appended."""
        return cls(head_of(connection), lambda insert, row: insert.run(connection, row))

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
        self._run(
            _APPEND,
            {"seq": number, "kind": kind, "time": time, "body": text, "hash": digest},
        )
        self.head = Head(number, digest)
        return number, time
