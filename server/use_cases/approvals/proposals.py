"""Proposals: who sees them, approves them, rejects them."""

from collections.abc import Callable

from sqlalchemy import Connection, select

from server.persistence import tables
from server.use_cases.approvals.changes import because
from server.use_cases.approvals.replies import ProposalShape
from server.use_cases.approvals.second_persons import (
    HOST,
    ProposalRow,
    are_independent,
    population_made,
    proposal_document,
    proposal_documents,
    state_of,
    why_stale,
)
from server.use_cases.identity.access import Caller, populations_of
from server.use_cases.services.errors import (
    CommandRefusedError,
    NoSuchThingError,
    NotFoundError,
)
from server.use_cases.services.services import Services, now_text

WAITING = ("open", "approved")
_REJECTABLE = (*WAITING, "stale")


class ProposalService:
    """Shows proposals, and takes custodians' decisions; each is one chain entry."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def listed(self, *, waiting: bool = False) -> list[ProposalShape]:
        """List all proposals, newest first, for the host."""
        table = tables.proposal
        with self._services.databases.reader.connect() as connection:
            rows = connection.execute(
                select(table).order_by(table.c.created.desc(), table.c.id.desc())
            ).all()
            documents = proposal_documents(connection, rows, HOST)
        return [one for one in documents if not waiting or one["state"] in WAITING]

    def shown(self, identifier: str) -> ProposalShape:
        """Show one proposal to the host.

        Raises:
            NoSuchThingError: There is none.
        """
        with self._services.databases.reader.connect() as connection:
            row = _found(connection, identifier)
            if row is None:
                message = f"no proposal {identifier!r}: see 'curator proposal list'"
                raise NoSuchThingError(message)
            return proposal_document(connection, row, HOST)

    def seen_by(self, caller: Caller, identifier: str) -> ProposalShape:
        """Show one proposal to a custodian.

        Raises:
            NotFoundError: Unknown, or of a population that is not theirs.
        """
        with self._services.databases.reader.connect() as connection:
            row = _visible(connection, caller, identifier)
            return proposal_document(connection, row, caller.name)

    def approve(self, caller: Caller, identifier: str) -> ProposalShape:
        """Approve a proposal; whoever made it may then make the change, once.

        Raises:
            NotFoundError: Unknown, or of a population that is not theirs.
            CommandRefusedError: It no longer waits, or the two are not two persons.
        """
        return self._decide(caller, identifier, "approved", _check_approvable)

    def reject(
        self, caller: Caller, identifier: str, reason: str | None = None
    ) -> ProposalShape:
        """Reject a proposal, also one's own or one that was approved and not used.

        The reason is recorded, and shown with the proposal.

        Raises:
            NotFoundError: Unknown, or of a population that is not theirs.
            CommandRefusedError: It no longer waits.
        """
        return self._decide(caller, identifier, "rejected", _check_waiting, reason)

    def _decide(
        self,
        caller: Caller,
        identifier: str,
        state: str,
        check: Callable[[Connection, Caller, ProposalRow], None],
        reason: str | None = None,
    ) -> ProposalShape:
        facts = {"proposal": identifier, **because(reason)}
        with self._services.ledger.recorded(
            f"proposal.{state}", caller.name, facts
        ) as change:
            row = _visible(change.connection, caller, identifier)
            check(change.connection, caller, row)
            facts["digest"] = row.digest
            decision = {
                "state": state,
                "decided_by": caller.name,
                "decided": now_text(),
            }
            change.update(tables.proposal, {"id": identifier}, decision)
        return self.seen_by(caller, identifier)


def _check_waiting(connection: Connection, __: Caller, row: ProposalRow) -> None:
    state = state_of(connection, row)
    if state not in _REJECTABLE:
        message = f"this proposal is {state}: it no longer waits for anybody"
        raise CommandRefusedError(message)


def _check_approvable(connection: Connection, caller: Caller, row: ProposalRow) -> None:
    state = state_of(connection, row)
    if state == "stale":
        now = "; ".join(why_stale(connection, row))
        message = (
            f"this proposal is stale: {now}; the change must be proposed "
            "again, from what is there now (reject this one, so that it never serves)"
        )
        raise CommandRefusedError(message)
    if state != "open":
        message = f"this proposal is {state}: only open ones can be approved"
        raise CommandRefusedError(message)
    if not are_independent(connection, caller.name, row.proposed_by):
        message = (
            "the second person must be another one than the first: you proposed this, "
            "or one of you created the other or issued a key that the other holds"
        )
        raise CommandRefusedError(message)


def _found(connection: Connection, identifier: str) -> ProposalRow | None:
    return connection.execute(
        select(tables.proposal).where(tables.proposal.c.id == identifier)
    ).one_or_none()


def visible_creations(connection: Connection, viewer: str) -> list[str]:
    """Return the ids of the proposals to create a population that a custodian sees.

    Everybody's while they wait for somebody; then those of the two persons, and of the
    population's custodians where it was created.
    """
    held = populations_of(connection, viewer)
    rows = connection.execute(
        select(tables.proposal).where(tables.proposal.c.population.is_(None))
    ).all()
    return [
        row.id
        for row in rows
        if state_of(connection, row) == "open"
        or viewer in {row.proposed_by, row.decided_by}
        or population_made(row) in held
    ]


def _visible(connection: Connection, caller: Caller, identifier: str) -> ProposalRow:
    """Return a proposal of the caller's populations, or of one that is to be."""
    row = _found(connection, identifier)
    if row is None:
        raise NotFoundError
    if row.population is None:
        seen = identifier in visible_creations(connection, caller.name)
    else:
        seen = row.population in populations_of(connection, caller.name)
    if not seen:
        raise NotFoundError
    return row
