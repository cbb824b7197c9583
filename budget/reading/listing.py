"""The ledger as it is listed over HTTP: what people did, each charge with its end.

Nothing here is a sequence number, a hash, or the position of an end among other
entries: that position would reveal how long the execution ran, which depends on rows
(PRIVACY 6). A charge shows that it has ended once its reply has left.
Proof: docs/proofs/ledger.md.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    func,
    or_,
    select,
    true,
)
from typing_extensions import TypedDict

from budget.charging.queries import NO_CURSOR, read_cursor
from budget.reading.statements import blocks_in
from budget.storage.tables import chain, charge
from privacy.errors import InvalidOptionError
from privacy.losses import Loss
from privacy.times import shown_time

ENDS = ("answered", "failed")
"""Kinds of entries that execution brings about, at a time that depends on rows."""
IN_FLIGHT = "in_flight"

State = Literal["in_flight", "answered", "failed"]


class Line(TypedDict):
    """One line of the ledger: a charge with its end, a refusal, or a change.

    ``number`` is a charge's in its population, from 1. ``state`` is a charge's; its end
    shows once its reply has left.
    """

    number: int | None
    """Of a charge: its place in its population, from 1; null for other lines."""
    kind: Literal["charge", "free", "refused", "admin", "reconcile"]
    """`charge`: a paid query or release. `free`: answered for nothing. `refused`: for
    want of budget or of permission. `admin`: a change. `reconcile`: what a recovery set
    right."""
    time: str
    """When it was written, in UTC, to the second."""
    query_id: str | None
    """Id of the query; null where it is about none."""
    state: State | None
    """Of a charge: how it ended; `in_flight` until its reply has left. Null for other
    lines."""
    population: str | None
    """Name of the population; null where it is about none."""
    project: str | None
    """Name of the project; null where it is about none."""
    principal: str | None
    """Name of the principal who asked; null where nobody did."""
    epsilon: str | None
    """What was charged, or refused; null where nothing was asked for."""
    blocks: list[str]
    """Of a charge of a population with blocks: to the cap of each of which it was
    charged; else empty."""
    action: str | None
    """What was changed, such as `project.create`; null for queries."""
    actor: str | None
    """Name of the principal who changed it; null for queries."""


LineRow = Row[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Seen:
    """What a viewer may see of the ledger.

    Attributes:
        populations: Charges of these alone; None for every line there is.
        ends: Actions of ``admin`` entries that are ends of charges too.
    """

    populations: Collection[str] | None
    ends: Collection[str]


def lines_page(
    connection: Connection,
    seen: Seen,
    hidden: Collection[str],
    *,
    limit: int,
    cursor: str | None,
) -> tuple[list[Line], str | None]:
    """Return a page of lines, newest first, and the next cursor.

    The cursor counts the viewer's own lines that are older than the page: lines are
    only ever added, at the top, by what people do.

    Args:
        connection: An open transaction.
        seen: By whoever asks.
        hidden: Charges whose ends nobody may know of yet.
        limit: The most lines.
        cursor: Where the page before ended.

    Raises:
        InvalidOptionError: The cursor is none of ours.
    """
    total = count_lines(connection, seen)
    left = total if cursor is None else read_cursor(cursor)
    if cursor is not None and not 0 < left < total:
        raise InvalidOptionError(NO_CURSOR)
    newest = _lines(seen).order_by(chain.c.seq.desc()).offset(total - left)
    rows = connection.execute(newest.limit(limit)).all()
    following = str(left - limit) if left > limit else None
    return list(_shown(connection, rows, hidden)), following


def count_lines(connection: Connection, seen: Seen) -> int:
    """Return how many lines a viewer sees; no end of an execution adds one."""
    counted = select(func.count()).select_from(_lines(seen).subquery())
    return int(connection.execute(counted).scalar_one())


def _lines(seen: Seen) -> Select[tuple[object, ...]]:
    """Return the query for a viewer's lines: one for each entry that is no end."""
    lines = select(
        chain.c.seq,
        chain.c.kind,
        chain.c.time,
        chain.c.body,
        charge.c.population,
        charge.c.state,
    ).select_from(chain.outerjoin(charge, charge.c.seq == chain.c.seq))
    if seen.populations is not None:
        return lines.where(charge.c.population.in_(sorted(seen.populations)))
    return lines.where(is_line(seen.ends))


def is_line(ends: Collection[str]) -> ColumnElement[bool]:
    """Return the condition on entries that are no end of an execution."""
    others = [  # bodies are canonical JSON, so that ``action`` comes first
        ~chain.c.body.startswith(f'{{"action":"{action}"', autoescape=True)
        for action in sorted(ends)
    ]
    return and_(
        chain.c.kind.not_in(ENDS), or_(chain.c.kind != "admin", and_(true(), *others))
    )


def _shown(
    connection: Connection, rows: Sequence[LineRow], hidden: Collection[str]
) -> Iterator[Line]:
    numbers = _newest_numbers(connection, rows)
    for row in rows:
        yield _line(row, numbers.get(str(row.population)), hidden)
        if row.population is not None:
            numbers[str(row.population)] -= 1


def _newest_numbers(connection: Connection, rows: Sequence[LineRow]) -> dict[str, int]:
    """Return the number of each population's newest charge in a page.

    A population's charges are numbered from 1; a page leaves none of them out.
    """
    newest: dict[str, int] = {}
    for row in rows:
        if row.population is not None:
            newest.setdefault(row.population, row.seq)
    counted = select(func.count()).select_from(charge)
    return {
        name: connection.execute(
            counted.where(charge.c.population == name, charge.c.seq <= seq)
        ).scalar_one()
        for name, seq in newest.items()
    }


def _line(row: LineRow, number: int | None, hidden: Collection[str]) -> Line:
    body = json.loads(str(row.body))
    nano = body.get("nano_epsilon")
    query_id = body.get("query_id")
    return {
        "number": number,
        "kind": row.kind,
        "time": shown_time(str(row.time)),
        "query_id": query_id,
        "state": None if number is None else _state(row, query_id in hidden),
        "population": body.get("population"),
        "project": body.get("project"),
        "principal": body.get("principal"),
        "epsilon": str(Loss(nano)) if isinstance(nano, int) else None,
        "blocks": list(blocks_in(body)),
        "action": body.get("action"),
        "actor": body.get("actor"),
    }


def _state(row: LineRow, hidden: bool) -> State:  # noqa: FBT001 - looked up by its caller
    """Return a charge's state; one that runs in any process is in flight."""
    if hidden or row.state not in ENDS:
        return "in_flight"
    state: State = row.state
    return state
