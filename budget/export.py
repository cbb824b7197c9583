"""The ledger as a list, for auditors: CONTRACT 5."""

import json

from sqlalchemy import Connection, select

from budget.tables import chain, charge
from privacy.losses import Loss


def export_entries(connection: Connection) -> list[dict[str, object]]:
    """Return every entry, in order, with what a charge or an answer belongs to.

    An answer shows its charge's time: its own would tell how long execution took.
    """
    owners = {
        row.query_id: row
        for row in connection.execute(
            select(
                charge.c.query_id,
                charge.c.population,
                charge.c.project,
                charge.c.principal,
                charge.c.time,
            )
        )
    }
    entries = []
    for row in connection.execute(select(chain).order_by(chain.c.seq)):
        body = json.loads(row.body)
        query_id = body.get("query_id")
        owner = owners.get(query_id)
        nano = body.get("nano_epsilon")
        entries.append(
            {
                "seq": row.seq,
                "kind": row.kind,
                "time": _of(owner, "time") or row.time,
                "query_id": query_id,
                "population": body.get("population") or _of(owner, "population"),
                "project": body.get("project") or _of(owner, "project"),
                "principal": body.get("principal") or _of(owner, "principal"),
                "epsilon": None if nano is None else str(Loss(nano)),
                "hash": row.hash,
                "action": body.get("action"),
                "actor": body.get("actor"),
            }
        )
    return entries


def _of(owner: object, name: str) -> object:
    return None if owner is None else getattr(owner, name)
