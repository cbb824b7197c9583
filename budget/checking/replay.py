"""What the entries say every table must hold: the chain replayed from its start."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, Row, Table, select, type_coerce
from sqlalchemy.types import NullType

from budget.chain.entries import FIRST_HASH, Head, entry_hash
from budget.charging.accounts import ChargeRow, charge_row
from budget.storage.records import Scope
from budget.storage.tables import chain

TableRow = dict[str, object]
StoredAs = tuple[str, str | None]
"""The SHA-256 of an answer's row, and the answer that it is spliced from, if any."""


@dataclass(slots=True)
class Expected:
    """Every derived row, as the entries make it."""

    ledger_id: str | None = None
    head: Head = field(default_factory=lambda: Head(0, FIRST_HASH))
    limits: dict[str, int] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    charges: dict[str, ChargeRow] = field(default_factory=dict)
    answers: dict[str, StoredAs] = field(default_factory=dict)  # by query id
    rows: dict[str, list[TableRow]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    heads: dict[int, str] = field(default_factory=dict)  # seq -> hash
    totals: dict[int, dict[str, int]] = field(default_factory=dict)  # at one seq
    entries: int = 0

    def cap_totals(self) -> dict[str, int]:
        """Return what was spent of each cap so far, in nano-epsilon."""
        counted = ((Scope.read(text), nano) for text, nano in self.counters.items())
        return {scope.total_name: nano for scope, nano in counted if scope.is_promised}


def replay(connection: Connection, *, totals_at: int = 0) -> Expected:
    """Walk the chain from its start, checking every link.

    ``totals_at`` is the sequence at which the totals of caps are kept, for comparing
    them with an anchor's.
    """
    expected = Expected()
    for row in connection.execute(select(chain).order_by(chain.c.seq)):
        try:
            _check_link(expected, row)
            _APPLY[row.kind](expected, row, json.loads(row.body))
        except (KeyError, TypeError, ValueError, AttributeError):
            expected.problems.append(f"entry {row.seq} cannot be read")
        expected.head = Head(row.seq, row.hash)
        expected.heads[row.seq] = row.hash
        if row.seq == totals_at:
            expected.totals[row.seq] = expected.cap_totals()
        expected.entries += 1
    return expected


def _check_link(expected: Expected, row: Row[tuple[object, ...]]) -> None:
    previous = expected.head
    if row.seq != previous.seq + 1 and not _is_named_gap(row, previous):
        expected.problems.append(f"entries are missing before entry {row.seq}")
    words = entry_hash(previous.hash, row.seq, row.kind, row.time, row.body)
    if words != row.hash:
        expected.problems.append(f"entry {row.seq} does not fit its hash")


def _is_named_gap(row: Row[tuple[object, ...]], previous: Head) -> bool:
    """Whether a reconcile entry names the very gap before it, on both sides."""
    if row.kind != "reconcile":
        return False
    body = json.loads(row.body)
    follows = body["ledger_head"] == {"seq": previous.seq, "hash": previous.hash}
    return bool(follows and body["anchor_head"]["seq"] == row.seq - 1)


def _apply_charge(
    expected: Expected, row: Row[tuple[object, ...]], body: Mapping[str, object]
) -> None:
    derived = charge_row(body, row.seq, row.time)
    scopes, nano = body["scopes"], body["nano_epsilon"]
    if not isinstance(scopes, list) or not isinstance(nano, int):
        raise TypeError
    expected.charges[str(body["query_id"])] = {**derived, "state": "running"}
    for scope in scopes:
        expected.counters[scope] = expected.counters.get(scope, 0) + nano


def _apply_free(
    expected: Expected, row: Row[tuple[object, ...]], body: Mapping[str, object]
) -> None:
    derived = charge_row(body, row.seq, row.time)
    query_id = str(body["query_id"])
    expected.charges[query_id] = {**derived, "state": "answered"}
    expected.answers[query_id] = (str(body["sha256"]), None)
    if "stored_sha256" in body:
        source = str(body["source_query_id"])
        expected.answers[query_id] = (str(body["stored_sha256"]), source)


def _apply_answered(
    expected: Expected, _: Row[tuple[object, ...]], body: Mapping[str, object]
) -> None:
    query_id = str(body["query_id"])
    expected.charges[query_id]["state"] = "answered"
    expected.answers[query_id] = (str(body["sha256"]), None)


def _apply_failed(
    expected: Expected, _: Row[tuple[object, ...]], body: Mapping[str, object]
) -> None:
    expected.charges[str(body["query_id"])]["state"] = "failed"


def _apply_refused(
    expected: Expected, row: Row[tuple[object, ...]], body: Mapping[str, object]
) -> None:
    if "code" not in body:
        expected.problems.append(f"entry {row.seq} names no code")


def _apply_admin(
    expected: Expected, row: Row[tuple[object, ...]], body: Mapping[str, object]
) -> None:
    facts = body["facts"]
    if row.seq == 1 and isinstance(facts, dict):
        expected.ledger_id = facts["ledger_id"]
    limits, changes = body.get("limits", {}), body.get("changes", [])
    if not isinstance(limits, dict) or not isinstance(changes, list):
        raise TypeError
    for scope, nano in limits.items():
        expected.limits[scope] = nano
        expected.counters.setdefault(scope, 0)
    for change in changes:
        _apply_change(expected.rows.setdefault(change["table"], []), change)


def _apply_change(
    rows: list[TableRow], change: Mapping[str, dict[str, object]]
) -> None:
    if "insert" in change:
        rows.append(dict(change["insert"]))
        return
    if "delete" in change:
        rows[:] = [row for row in rows if not change["delete"].items() <= row.items()]
        return
    for row in rows:
        if change["key"].items() <= row.items():
            row.update(change["update"])


def _apply_reconcile(
    expected: Expected, row: Row[tuple[object, ...]], body: Mapping[str, object]
) -> None:
    added, failed = body["charged"], body["failed"]
    if not isinstance(added, dict) or not isinstance(failed, list):
        raise TypeError
    for scope, nano in added.items():
        expected.counters[scope] = expected.counters.get(scope, 0) + nano
    for query_id in failed:
        expected.charges[query_id]["state"] = "failed"
    _apply_admin(expected, row, body)


_APPLY = {
    "charge": _apply_charge,
    "free": _apply_free,
    "answered": _apply_answered,
    "failed": _apply_failed,
    "refused": _apply_refused,
    "admin": _apply_admin,
    "reconcile": _apply_reconcile,
}


def table_rows(connection: Connection, table: Table) -> list[TableRow]:
    """Return the rows that a table really holds: values as stored, of any type."""
    raw = [type_coerce(column, NullType()).label(column.name) for column in table.c]
    rows = connection.execute(select(*raw)).mappings()
    return [dict(row) for row in rows]
