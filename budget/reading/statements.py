"""Reading the ledger for people: every charge, refusal and change, in order.

Times are those of charges, never of answers (PRIVACY 6).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from budget.storage.records import Scope
from budget.storage.tables import chain, charge
from privacy.losses import Loss


@dataclass(frozen=True, slots=True)
class ChargeLine:
    """One question that was paid, or was free because its answer was stored."""

    query_id: str
    seq: int
    time: str
    principal: str
    project: str
    dataset: str
    snapshot: str
    loss: Loss
    request_json: str
    state: str
    reused: bool
    blocks: tuple[str, ...] = ()  # that were debited, of a population that has some


@dataclass(frozen=True, slots=True)
class EntryLine:
    """One entry that is no charge: a change, a refusal, a reconciliation."""

    seq: int
    kind: str
    time: str
    body: Mapping[str, object]


def read_charges(
    connection: Connection, *, population: str | None = None, project: str | None = None
) -> list[ChargeLine]:
    """Return the charges of a population or of a project, oldest first."""
    wanted = (
        select(charge, chain.c.body)
        .join(chain, chain.c.seq == charge.c.seq)
        .order_by(charge.c.seq)
    )
    if population is not None:
        wanted = wanted.where(charge.c.population == population)
    if project is not None:
        wanted = wanted.where(charge.c.project == project)
    return [
        ChargeLine(
            query_id=row.query_id,
            seq=row.seq,
            time=row.time,
            principal=row.principal,
            project=row.project,
            dataset=row.dataset,
            snapshot=row.snapshot,
            loss=Loss(row.nano_epsilon),
            request_json=row.request,
            state=row.state,
            reused=row.source_query_id is not None,
            blocks=blocks_in(json.loads(row.body)),
        )
        for row in connection.execute(wanted)
    ]


def charged_blocks(connection: Connection, query_id: str) -> frozenset[str]:
    """Return the blocks that one charge debits, none where it is not there."""
    body = connection.execute(
        select(chain.c.body)
        .join(charge, chain.c.seq == charge.c.seq)
        .where(charge.c.query_id == query_id)
    ).scalar_one_or_none()
    return frozenset() if body is None else frozenset(blocks_in(json.loads(body)))


def blocks_in(entry: Mapping[str, object]) -> tuple[str, ...]:
    """Return the blocks that an entry of a charge debits, in its order."""
    texts = entry.get("scopes")
    scopes = map(Scope.read, texts) if isinstance(texts, list) else ()
    return tuple(
        scope.name.partition("/")[2] for scope in scopes if scope.kind == "block"
    )


def last_reconciled(connection: Connection) -> int | None:
    """Return the sequence of the last reconciliation; None where there was none."""
    return connection.execute(
        select(func.max(chain.c.seq)).where(chain.c.kind == "reconcile")
    ).scalar()


def read_entries(
    connection: Connection, *kinds: str, after: int = 0, naming: str | None = None
) -> Iterator[EntryLine]:
    """Yield the entries of some kinds, oldest first.

    Args:
        connection: To the ledger.
        kinds: Which.
        after: Those after this sequence alone.
        naming: Those alone whose body holds these characters, anywhere.
    """
    wanted = select(chain).where(chain.c.kind.in_(kinds), chain.c.seq > after)
    if naming is not None:
        wanted = wanted.where(chain.c.body.contains(naming, autoescape=True))
    rows = connection.execute(wanted.order_by(chain.c.seq))
    for row in rows:
        yield EntryLine(row.seq, row.kind, row.time, json.loads(row.body))
