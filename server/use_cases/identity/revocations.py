"""What ends for good: it must not come back with the person or the ledger it was of."""

from sqlalchemy import ColumnElement, or_, select, update

from budget.ledger import RecordedTransaction
from server.persistence import tables


def revoke_keys(change: RecordedTransaction, *which: ColumnElement[bool]) -> None:
    """Revoke every live key that all conditions hold for."""
    live = select(tables.key.c.id).where(tables.key.c.revoked.is_(False), *which)
    for key_id in list(change.connection.execute(live).scalars()):
        change.update(tables.key, {"id": key_id}, {"revoked": True})


def end_proposals(change: RecordedTransaction, *which: ColumnElement[bool]) -> None:
    """Reject every open or approved proposal that all conditions hold for."""
    waiting = select(tables.proposal.c.id).where(
        tables.proposal.c.state.in_(["open", "approved"]), *which
    )
    for identifier in list(change.connection.execute(waiting).scalars()):
        change.update(tables.proposal, {"id": identifier}, {"state": "rejected"})


def concerns(principal: str) -> ColumnElement[bool]:
    """Return the condition that a principal made a proposal or decided on it."""
    proposal = tables.proposal
    return or_(proposal.c.proposed_by == principal, proposal.c.decided_by == principal)


def end_jobs(change: RecordedTransaction, principal: str) -> None:
    """Cancel what a principal submitted and no worker has ended."""
    job = tables.job
    change.connection.execute(
        update(job)
        .where(job.c.actor == principal, job.c.state.in_(["queued", "running"]))
        .values(cancel_requested=True)
    )
