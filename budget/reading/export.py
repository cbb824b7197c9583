"""The ledger whole, for the host: CONTRACT 5. HTTP shows ``budget.reading.listing``."""

import json
from collections.abc import Sequence

from sqlalchemy import Connection, Row, select

from budget.storage.tables import chain, charge
from privacy.losses import Loss

EntryRow = Row[tuple[object, ...]]
_MOST_NAMED = 500  # more are not named one by one to the database


Entry = dict[str, object]


def export_entries(connection: Connection) -> list[Entry]:
    """Return every entry, in order, with what a charge or an answer belongs to.

    An answer shows its charge's time: its own would tell how long execution took.
    """
    rows = connection.execute(select(chain).order_by(chain.c.seq)).all()
    return _shown(connection, rows)


def _shown(connection: Connection, rows: Sequence[EntryRow]) -> list[Entry]:
    bodies = [json.loads(row.body) for row in rows]
    asked = {body["query_id"] for body in bodies if "query_id" in body}
    owners = _owners(connection, asked)
    return [
        _entry(row, body, owners.get(body.get("query_id")))
        for row, body in zip(rows, bodies, strict=True)
    ]


def _owners(connection: Connection, asked: set[str]) -> dict[str, object]:
    query = select(
        charge.c.query_id,
        charge.c.population,
        charge.c.project,
        charge.c.principal,
        charge.c.time,
    )
    if len(asked) <= _MOST_NAMED:
        query = query.where(charge.c.query_id.in_(sorted(asked)))
    return {row.query_id: row for row in connection.execute(query)}


def _entry(row: EntryRow, body: Entry, owner: object) -> Entry:
    nano = body.get("nano_epsilon")
    return {
        "seq": row.seq,
        "kind": row.kind,
        "time": _of(owner, "time") or row.time,
        "query_id": body.get("query_id"),
        "population": body.get("population") or _of(owner, "population"),
        "project": body.get("project") or _of(owner, "project"),
        "principal": body.get("principal") or _of(owner, "principal"),
        "epsilon": str(Loss(nano)) if isinstance(nano, int) else None,
        "hash": row.hash,
        "action": body.get("action"),
        "actor": body.get("actor"),
    }


def _of(owner: object, name: str) -> object:
    return None if owner is None else getattr(owner, name)
