"""Charges whose work is a job's: a release is paid once, however often it is begun.

Their id is the job's. Who works on them is the job's lease to say, so that recovery
never takes them for a question; how often they may be begun again is counted here.
Proof: docs/proofs/ledger.md.
"""

from collections.abc import Callable

from sqlalchemy import ColumnElement, Connection, Row, select, update

from budget.chain.recorded import RecordedTransaction
from budget.chain.writing import Write, read_accounts
from budget.charging import leases
from budget.charging.filter import charge_all
from budget.charging.queries import read_query
from budget.storage.records import (
    NO_PROJECT,
    ChargeRequest,
    FailedReplay,
    Refused,
    Replay,
)
from budget.storage.tables import charge
from privacy.charges import Charge
from privacy.errors import LedgerUnavailableError
from privacy.losses import Loss

Also = Callable[[RecordedTransaction], None]
"""Further changes of one entry, in the transaction that it is written in."""


def is_of_a_job() -> ColumnElement[bool]:
    """Return the condition on charges whose work is a job's."""
    return charge.c.project == NO_PROJECT


def take_up(
    write: Write, request: ChargeRequest, *, is_made: bool
) -> "Charge | Refused | Settled":
    """Charge a job's work, or take it up again for nothing.

    Returns:
        The charge; or the refusal; or how the work ended before. Work that was begun
        as often as a question may be has failed, unless it is made: whoever asks writes
        that, at a public time.
    """
    row = find(write.connection, request.query_id)
    if row is not None:
        return _again(write, row, is_made=is_made)
    accounts = read_accounts(write.connection, request.scopes)
    outcome = charge_all(write, request, None, accounts)
    if isinstance(outcome, Refused):
        return outcome
    return Charge(request.query_id, request.loss)


def _again(
    write: Write, row: Row[tuple[object, ...]], *, is_made: bool
) -> "Charge | Settled":
    if row.state != "running":
        return _ended(write.connection, row)
    if not is_made:
        if row.attempts >= leases.MAX_EXECUTIONS:
            return FailedReplay(row.query_id)
        _count_attempt(write.connection, row.query_id)
    return Charge(row.query_id, Loss(row.nano_epsilon))


Settled = Replay | FailedReplay


def _ended(connection: Connection, row: Row[tuple[object, ...]]) -> Settled:
    known = read_query(connection, row.query_id)
    if row.state == "answered" and known is not None and known.body is not None:
        return Replay(row.query_id, known.body)
    return FailedReplay(row.query_id)


def not_begun(connection: Connection, query_id: str) -> None:
    """Say that a work's charge began nothing yet: its first attempt is to come."""
    connection.execute(
        update(charge).where(charge.c.query_id == query_id).values(attempts=0)
    )


def made_before(connection: Connection, query_id: str) -> bytes | None:
    """Return what a job's work made, where it has; the first is what it made."""
    known = read_query(connection, query_id)
    return None if known is None else known.body


def is_begun(connection: Connection, query_id: str) -> bool:
    """Whether a job's work was charged and has not ended."""
    row = find(connection, query_id)
    return row is not None and row.state == "running"


def require_running(connection: Connection, query_id: str) -> None:
    """Refuse to store what belongs to no open charge.

    Raises:
        LedgerUnavailableError: The work has ended, or was never charged.
    """
    if not is_begun(connection, query_id):
        message = "the charge of this work has ended"
        raise LedgerUnavailableError(message, query_id=query_id)


def find(connection: Connection, query_id: str) -> Row[tuple[object, ...]] | None:
    """Return the charge of a job's work; None where there is none."""
    wanted = select(charge).where(charge.c.query_id == query_id, is_of_a_job())
    return connection.execute(wanted).one_or_none()


def _count_attempt(connection: Connection, query_id: str) -> None:
    connection.execute(
        update(charge)
        .where(charge.c.query_id == query_id)
        .values(attempts=charge.c.attempts + 1)
    )
