"""The ledger as a list, for auditors: CONTRACT 5."""

import json
from collections.abc import Collection, Sequence

from sqlalchemy import Connection, Row, func, select

from budget.queries import MAX_SEQ, read_cursor
from budget.tables import chain, charge
from privacy.losses import Loss

EntryRow = Row[tuple[object, ...]]
_ENDS = ("answered", "failed")
_MOST_NAMED = 500  # more are not named one by one to the database


Entry = dict[str, object]


def export_entries(connection: Connection) -> list[Entry]:
    """Return every entry, in order, with what a charge or an answer belongs to.

    An answer shows its charge's time: its own would tell how long execution took.
    """
    rows = connection.execute(select(chain).order_by(chain.c.seq)).all()
    return _shown(connection, rows)


def entries_page(
    connection: Connection,
    *,
    limit: int,
    cursor: str | None,
    populations: Collection[str] | None,
    hidden: Collection[str],
) -> tuple[list[Entry], str | None]:
    """Return a page of entries, newest first, and the next cursor.

    It begins before the first end of a question that is still in flight.

    Args:
        connection: An open transaction.
        limit: The most entries.
        cursor: Where the page before ended.
        populations: Charges of these alone; None for every entry there is.
        hidden: Questions whose replies have not left.

    Raises:
        InvalidOptionError: The cursor is none of ours.
    """
    before = MAX_SEQ if cursor is None else read_cursor(cursor)
    before = min(before, horizon(connection, hidden))
    query = select(chain).where(chain.c.seq < before)
    if populations is not None:
        query = query.join(charge, charge.c.seq == chain.c.seq).where(
            charge.c.population.in_(sorted(populations))
        )
    newest = query.order_by(chain.c.seq.desc()).limit(limit + 1)
    rows = connection.execute(newest).all()
    following = str(rows[limit - 1].seq) if len(rows) > limit else None
    return _shown(connection, rows[:limit]), following


def horizon(connection: Connection, hidden: Collection[str]) -> int:
    """Return the sequence of the first entry that must not be seen yet.

    That is the first end of a question whose reply has not left: that entry, and any
    count of entries from there on, would tell how long execution took.
    """
    first = connection.execute(
        select(func.min(charge.c.seq)).where(
            charge.c.query_id.in_(sorted(hidden)), charge.c.state.in_(_ENDS)
        )
    ).scalar_one()
    if first is None:
        return MAX_SEQ
    later = connection.execute(
        select(chain.c.seq, chain.c.body)
        .where(chain.c.seq > first, chain.c.kind.in_(_ENDS))
        .order_by(chain.c.seq)
    )
    ends = (row.seq for row in later if json.loads(row.body)["query_id"] in hidden)
    return next(ends, MAX_SEQ)


def entries_before(connection: Connection, seq: int) -> int:
    """Return how many entries come before a sequence."""
    count = select(func.count()).select_from(chain).where(chain.c.seq < seq)
    return int(connection.execute(count).scalar_one())


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
