"""Reading charges and answers back."""

from collections.abc import Sequence

from sqlalchemy import Connection, Engine, Row, bindparam, func, select

from budget.chain.writing import ReleaseTest
from budget.charging.noisy_vectors import document_of, vectors_of
from budget.charging.splices import Splice
from budget.storage.prepared import Prepared, Statement
from budget.storage.prepared import Row as Tuple
from budget.storage.records import (
    FailedReplay,
    InFlight,
    Mismatch,
    PaidQuestion,
    QueryRecord,
    Replay,
    Scope,
    Settled,
    StoredAnswer,
)
from budget.storage.tables import answer, chain, charge, counter
from privacy.errors import InvalidOptionError
from privacy.losses import Loss

MAX_SEQ = 2**62
NO_CURSOR = "cursor: pass on what next_cursor said"
_KEYED = Prepared(
    select(
        charge.c.query_id, charge.c.fingerprint, charge.c.state, charge.c.held_boot
    ).where(
        charge.c.principal == bindparam("principal"),
        charge.c.idempotency_key == bindparam("key"),
    )
)
_BODY = Prepared(
    select(answer.c.body, answer.c.spliced_from).where(
        answer.c.query_id == bindparam("query_id")
    )
)
_TOTAL = func.coalesce(charge.c.total_nano, charge.c.nano_epsilon)
_REUSABLE = Prepared(
    select(charge.c.query_id, _TOTAL)
    .where(
        charge.c.question.in_((bindparam("question"), bindparam("former"))),
        charge.c.state == "answered",
        charge.c.held_boot.is_(None),
        charge.c.source_query_id.is_(None),
        bindparam("at_least") <= _TOTAL,
        charge.c.private_history.is_(False)
        | (charge.c.project == bindparam("project")),
    )
    .order_by(_TOTAL.desc(), charge.c.seq)
)
_RESTORED = (
    select(func.max(chain.c.seq)).where(chain.c.kind == "reconcile").scalar_subquery()
)
"""Up to where a restored ledger may have forgotten what was charged."""

_PAID = Prepared(
    select(
        charge.c.query_id,
        charge.c.question,
        _TOTAL,
        charge.c.request,
        charge.c.state,
        charge.c.held_boot,
        charge.c.refines,
        charge.c.seq > func.coalesce(_RESTORED, 0),
    )
    .where(
        charge.c.project == bindparam("project"),
        charge.c.snapshot == bindparam("snapshot"),
        charge.c.source_query_id.is_(None),
    )
    .order_by(charge.c.seq.desc())
    .limit(bindparam("most"))
)


def look_up_key(
    connection: Connection,
    asked: tuple[str, str, str | None],
    is_released: ReleaseTest,
) -> Settled | None:
    """Return what a (principal, key, fingerprint) brought before.

    Another fingerprint is a mismatch even while the first request is in flight.
    """
    principal, key, fingerprint = asked
    reading = reading_key(principal, key)
    rows = reading.statement.rows(connection, reading.parameters)
    return settled_in(rows, connection, fingerprint, is_released)


def reading_key(principal: str, key: str) -> Statement:
    """Return what reads the question of a key, for ``settled_in``."""
    return Statement(_KEYED, {"principal": principal, "key": key})


def is_known(reader: Engine, principal: str, key: str) -> bool:
    """Whether a key came before; asked alone, since most keys are new."""
    reading = reading_key(principal, key)
    return bool(reading.statement.alone(reader, reading.parameters).rows)


def settled_in(
    rows: Sequence[Tuple],
    connection: Connection,
    fingerprint: str | None,
    is_released: ReleaseTest,
) -> Settled | None:
    """Return what a key brought before, as its question was read."""
    if not rows:
        return None
    ((query_id, first_fingerprint, state, held_boot),) = rows
    if first_fingerprint != fingerprint:
        return Mismatch()
    in_flight = state == "running" or held_boot is not None
    if in_flight or not is_released(query_id):
        return InFlight()
    return _ended(connection, query_id, state)


def _ended(connection: Connection, query_id: str, state: str) -> Settled:
    if state == "failed":
        return FailedReplay(query_id)
    return Replay(query_id, _body(connection, query_id))


def find_reusable(
    connection: Connection,
    questions: tuple[str, str],
    at_least: Loss,
    project: str,
    is_released: ReleaseTest,
) -> StoredAnswer | None:
    """Return the best released answer to the same question that may be shown.

    Args:
        connection: To the ledger.
        questions: The question's identity, and the one that an earlier version gave it.
        at_least: What must have been paid.
        project: Of the asker.
        is_released: Whether a question's reply has left.
    """
    asked = {
        "question": questions[0],
        "former": questions[1],
        "at_least": at_least.nano_epsilon,
        "project": project,
    }
    for query_id, nano_epsilon in _REUSABLE.rows(connection, asked):
        if is_released(query_id):
            stored, _ = _stored(connection, query_id)  # paid, hence whole
            body, vectors = document_of(stored), vectors_of(stored)
            return StoredAnswer(query_id, Loss(nano_epsilon), body, vectors)
    return None


def paid_questions(
    connection: Connection,
    project: str,
    snapshot: str,
    most: int,
    is_released: ReleaseTest,
) -> list[PaidQuestion]:
    """Return what one project paid for on one snapshot and was shown, newest first.

    Args:
        connection: To the ledger.
        project: Whose charges; nobody else's are looked at.
        snapshot: That they asked.
        most: So many of the newest charges are looked at, answered or not: if those
            that are answered were counted alone, the oldest would be left out as soon
            as an answer is stored, before its reply leaves (PRIVACY 6). What another
            one of them refined is left out: their noise is not independent.
        is_released: Whether a question's reply has left.
    """
    asked = {"project": project, "snapshot": snapshot, "most": most}
    found, drawn_on, replaced = [], set[str](), set[str]()
    for query_id, question, nano, request, *told in _PAID.rows(connection, asked):
        state, held_boot, refines, is_known = told
        is_shown = state == "answered" and held_boot is None and is_released(query_id)
        if is_shown and query_id not in replaced:
            refinable = bool(is_known) and query_id not in drawn_on
            paid = PaidQuestion(query_id, question, Loss(nano), request, refinable)
            found.append(paid)
        if refines is not None:  # an older one: it comes later in this order
            drawn_on.add(refines)
            replaced |= {refines} if is_shown else set()
    return found


def can_be_refined(connection: Connection, query_id: str) -> bool:
    """Whether nothing draws on an answer's noise, nor may have before a restore."""
    refining = select(charge.c.query_id).where(charge.c.refines == query_id)
    answered = select(charge.c.query_id).where(
        charge.c.query_id == query_id,
        charge.c.state == "answered",
        charge.c.source_query_id.is_(None),
        charge.c.seq > func.coalesce(_RESTORED, 0),
    )
    known = connection.execute(answered).first() is not None
    return known and connection.execute(refining).first() is None


def spent_of_population(connection: Connection, population: str) -> dict[Scope, Loss]:
    """Return what was charged to a population's cap, or to those of its blocks.

    Args:
        connection: To the ledger.
        population: A name; that it is there no more changes nothing.
    """
    block = str(Scope.block(population, ""))
    rows = connection.execute(
        select(counter.c.scope, counter.c.nano_epsilon).where(
            (counter.c.scope == str(Scope.population(population)))
            | counter.c.scope.startswith(block, autoescape=True)
        )
    )
    return {Scope.read(scope): Loss(nano) for scope, nano in rows}


def measured_vectors(connection: Connection, query_id: str) -> bytes | None:
    """Return what was stored behind the document of a paid answer."""
    stored, spliced_from = _stored(connection, query_id)
    return None if spliced_from is not None else vectors_of(stored)


def read_history(
    connection: Connection, principal: str, limit: int, cursor: str | None
) -> tuple[list[QueryRecord], str | None]:
    """Return a page of a principal's questions, newest first, and the next cursor.

    The cursor is the last question of the page before: an entry's sequence would count
    everybody's entries, and so tell when executions end.

    Raises:
        InvalidOptionError: The cursor is none of the principal's questions.
    """
    own = select(charge).where(charge.c.principal == principal)
    if cursor is not None:
        last = connection.execute(own.where(charge.c.query_id == cursor)).one_or_none()
        if last is None:
            raise InvalidOptionError(NO_CURSOR)
        own = own.where(charge.c.seq < last.seq)
    rows = connection.execute(own.order_by(charge.c.seq.desc()).limit(limit + 1)).all()
    following = str(rows[limit - 1].query_id) if len(rows) > limit else None
    return [record_of(row) for row in rows[:limit]], following


def read_cursor(cursor: str) -> int:
    """Return the sequence that a cursor names.

    Raises:
        InvalidOptionError: The cursor is none of ours.
    """
    if not (cursor.isascii() and cursor.isdigit()) or int(cursor) > MAX_SEQ:
        raise InvalidOptionError(NO_CURSOR)
    return int(cursor)


def read_query(connection: Connection, query_id: str) -> QueryRecord | None:
    """Return one question, with its answer if it has one."""
    row = connection.execute(
        select(charge).where(charge.c.query_id == query_id)
    ).one_or_none()
    if row is None:
        return None
    body = _body(connection, query_id) if row.state == "answered" else None
    return record_of(row, body)


def reading_body(query_id: str) -> Statement:
    """Return what reads a paid question's stored answer, for ``body_in``."""
    return Statement(_BODY, {"query_id": query_id})


def body_in(rows: Sequence[Tuple]) -> bytes | None:
    """Return the document of a paid answer, as read; None where there is none yet."""
    for body, _ in rows:
        return document_of(bytes(body))
    return None


def _body(connection: Connection, query_id: str) -> bytes:
    """Return the bytes that answered a question that has ended with an answer.

    Raises:
        AnchorMismatchError: What is stored is not what was sent.
    """
    stored, spliced_from = _stored(connection, query_id)
    if spliced_from is None:
        return document_of(stored)
    shown, _ = _stored(connection, spliced_from)  # paid, hence whole
    return Splice.decode(stored).rebuilt(shown)


def _stored(connection: Connection, query_id: str) -> tuple[bytes, str | None]:
    reading = reading_body(query_id)
    for body, spliced_from in reading.statement.rows(connection, reading.parameters):
        return bytes(body), spliced_from
    raise LookupError(query_id)


def record_of(row: Row[tuple[object, ...]], body: bytes | None = None) -> QueryRecord:
    """Return a charge as a question of its principal."""
    return QueryRecord(
        query_id=row.query_id,
        principal=row.principal,
        project=row.project,
        dataset=row.dataset,
        snapshot=row.snapshot,
        time=row.time,
        state=row.state,
        loss=Loss(row.nano_epsilon),
        reused=row.source_query_id is not None,
        held=row.held_boot is not None,
        request_json=row.request,
        body=body,
    )
