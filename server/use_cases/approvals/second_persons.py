"""Two persons: what one custodian proposes, another approves (PRIVACY 5).

The approval binds to the digest of the exact change, lapses, and serves once. A change
that has none is undone and becomes a proposal, so that the very same command or request
can be repeated once somebody else has approved it.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, Row, select

from budget.ledger import RecordedTransaction
from budget.storage.tables import chain
from privacy.errors import CuratorError
from privacy.times import shown_time, shown_time_if_any
from server.persistence import tables
from server.use_cases.approvals.changes import Altered, Change, shown_value
from server.use_cases.approvals.differences import differences
from server.use_cases.approvals.meanings import meaning_of
from server.use_cases.approvals.replies import ProposalShape, ProposalState
from server.use_cases.approvals.stale_changes import (
    Proposed,
    created_name,
    set_since,
    stale_words,
)
from server.use_cases.approvals.stored_changes import read_altered
from server.use_cases.identity.access import custodians_of, populations_of
from server.use_cases.services.services import Services, now_text, random_id

LAPSE = timedelta(days=7)
OVERLAPS = ("overlap.override", "overlap.compare")
"""Changes that name other populations and keyed units, not for every viewer."""

HOST = "local:"  # no principal has such a name
_OPEN = ("open", "approved")
_NEVER_BEFORE = ("copy", "copy_held")  # kinds of facts without an old value
_REJECTED = "proposal.rejected"  # the action of an entry

ProposalRow = Row[tuple[object, ...]]


class SecondPersonNeededError(CuratorError):
    """A change has no approval; what was begun is undone."""

    code = "refused"

    def __init__(self, change: Change) -> None:
        self.change = change
        super().__init__(f"{change.action} needs two persons")


class ProposalOpenError(CuratorError):
    """The change is proposed now: another custodian must approve it."""

    code = "refused"

    def __init__(self, proposal: ProposalShape, besides: str = "") -> None:
        """Take the proposal, and a sentence on what its proposer should know."""
        self.proposal = proposal
        super().__init__(
            f"{proposal['action']} needs two persons, and is proposed now as "
            f"{proposal['proposal']}: another custodian approves it, with their own "
            f"key, by 'curator proposal approve {proposal['proposal']}' or POST "
            f"/v1/admin/proposals/{proposal['proposal']}/approve, before "
            f"{proposal['lapses']}; then repeat the same command or request (an "
            f"installation made with 'curator init --single-custodian' needs only one)"
            f"{besides and f'. {besides}'}"
        )


def person(actor: str) -> str:
    """Return who an actor is; everybody on the host is one person."""
    return HOST if actor.startswith(HOST) else actor


def are_independent(connection: Connection, first: str, second: str) -> bool:
    """Whether two actors are two persons.

    Neither may have been created by the other, or hold a live key that the other
    issued.
    """
    one, other = person(first), person(second)
    return one != other and not (
        _depends(connection, one, other) or _depends(connection, other, one)
    )


def _depends(connection: Connection, name: str, maker: str) -> bool:
    created_by = connection.execute(
        select(tables.principal.c.created_by).where(tables.principal.c.name == name)
    ).scalars()
    issued_by = connection.execute(
        select(tables.key.c.issued_by).where(
            tables.key.c.principal == name, tables.key.c.revoked.is_(False)
        )
    ).scalars()
    return maker in {person(actor) for actor in (*created_by, *issued_by)}


def may_approve(
    connection: Connection, approver: str, population: str | None, proposer: str
) -> bool:
    """Whether ``approver`` is an enabled custodian independent of the proposer.

    Any custodian serves where the population is about to be created.
    """
    return approver in custodians_of(connection, population) and are_independent(
        connection, approver, proposer
    )


def state_of(connection: Connection, proposal: ProposalRow) -> ProposalState:
    """Return a proposal's state.

    What was not used in time is lapsed; what can no longer be made as it was proposed
    is stale, and a limit that was set since makes it so for good.
    """
    return _state(proposal, why_stale(connection, proposal))


def _state(proposal: ProposalRow, stale: Sequence[str]) -> ProposalState:
    state: ProposalState = proposal.state
    if state not in _OPEN:
        return state
    if proposal.lapses <= now_text():
        return "lapsed"
    return "stale" if stale else state


def why_stale(connection: Connection, proposal: ProposalRow) -> list[str]:
    """Return, in words, what a waiting proposal would alter and is otherwise now."""
    if proposal.state not in _OPEN:
        return []
    return stale_words(connection, Proposed.of(proposal))


def is_single_custodian(connection: Connection) -> bool:
    """Whether ``curator init`` was told that there is but one custodian."""
    value: str = connection.execute(
        select(tables.installation.c.value).where(
            tables.installation.c.name == "single_custodian"
        )
    ).scalar_one()
    return value == "true"


def check_second_person(connection: Connection, actor: str, change: Change) -> None:
    """Look whether a change could be made now; uses nothing up.

    Raises:
        SecondPersonNeededError: It has no approval that serves.
    """
    if not is_single_custodian(connection):
        _approval(connection, actor, change)


def require_second_person(
    entry: RecordedTransaction, actor: str, change: Change
) -> str | None:
    """Use up the approval of a change, inside the transaction that makes it.

    Returns:
        Who approved; None in a single-custodian installation. The entry says either.

    Raises:
        SecondPersonNeededError: It has no approval that serves.
    """
    if is_single_custodian(entry.connection):
        entry.note("second_person", "none: a single-custodian installation")
        return None
    approval = _approval(entry.connection, actor, change)
    entry.update(tables.proposal, {"id": approval.id}, {"state": "used"})
    entry.note(
        f"approval of {change.action}",
        {"proposal": approval.id, "approved_by": approval.decided_by},
    )
    return str(approval.decided_by)


def _approval(connection: Connection, actor: str, change: Change) -> ProposalRow:
    for proposal in _proposals(connection, actor, change):
        if proposal.state == "approved" and may_approve(
            connection, proposal.decided_by, proposal.population, actor
        ):
            return proposal
    raise SecondPersonNeededError(change)


def _proposals(connection: Connection, actor: str, change: Change) -> list[ProposalRow]:
    """Return the same person's unlapsed proposals of this very change.

    Without those of limits that were set since: what they agreed to has passed.
    """
    rows = connection.execute(
        select(tables.proposal)
        .where(
            tables.proposal.c.digest == change.digest(),
            tables.proposal.c.state.in_(_OPEN),
            tables.proposal.c.lapses > now_text(),
        )
        .order_by(tables.proposal.c.created)
    ).all()
    return [
        row
        for row in rows
        if person(row.proposed_by) == person(actor)
        and not set_since(connection, Proposed.of(row))
    ]


@contextmanager
def asking_second_person(services: Services, actor: str) -> Iterator[None]:
    """Turn a change without an approval into a proposal, once the change is undone.

    Raises:
        ProposalOpenError: The change waits for somebody else.
    """
    try:
        yield
    except SecondPersonNeededError as needed:
        change = needed.change
    else:
        return
    propose(services, actor, change)


def propose(services: Services, actor: str, change: Change) -> None:
    """Record a proposal, unless the same one is open.

    Raises:
        ProposalOpenError: Always: it names the proposal.
    """
    created = datetime.now(UTC)
    row: dict[str, str | None] = {
        "id": random_id("pr"),
        "action": change.action,
        "population": change.population,
        "change": change.stored(),
        "digest": change.digest(),
        "proposed_by": actor,
        "created": created.isoformat(timespec="microseconds"),
        "lapses": (created + LAPSE).isoformat(timespec="microseconds"),
        "state": "open",
        "decided_by": None,
        "decided": None,
    }
    with services.ledger.recorded("proposal.create", actor) as entry:
        for known in _proposals(entry.connection, actor, change):
            if known.state == "open":  # raising writes nothing
                raise ProposalOpenError(
                    proposal_document(entry.connection, known, actor)
                )
        entry.insert(tables.proposal, row)
        made = proposal_row(entry.connection, str(row["id"]))
        document = proposal_document(entry.connection, made, actor)
    raise ProposalOpenError(document)


def population_made(row: ProposalRow) -> str | None:
    """Return the population that a used proposal helped to create, if it did."""
    if row.population is not None or row.state != "used":
        return None
    altered = read_altered(str(row.change))
    return next((name for one in altered if (name := created_name(one))), None)


def proposal_row(connection: Connection, identifier: str) -> ProposalRow:
    """Return one proposal; it must exist."""
    return connection.execute(
        select(tables.proposal).where(tables.proposal.c.id == identifier)
    ).one()


def visible_populations(
    connection: Connection, viewer: str, populations: Sequence[str]
) -> list[str]:
    """Return those of some populations that a viewer may know of; the host, all."""
    if viewer.startswith(HOST):
        return list(populations)
    held = populations_of(connection, viewer)
    return [name for name in populations if name in held]


def proposal_document(
    connection: Connection, row: ProposalRow, viewer: str
) -> ProposalShape:
    """Show a proposal with its whole change, in words too."""
    (document,) = proposal_documents(connection, [row], viewer)
    return document


def proposal_documents(
    connection: Connection, rows: Sequence[ProposalRow], viewer: str
) -> list[ProposalShape]:
    """Show proposals, each as ``proposal_document`` does."""
    reasons = decision_reasons(connection, rows)
    return [_document(connection, row, viewer, reasons.get(row.id)) for row in rows]


def _document(
    connection: Connection, row: ProposalRow, viewer: str, decision_reason: str | None
) -> ProposalShape:
    """Show a proposal.

    All but what an overlap tells of populations that are not the viewer's: the digest
    binds to that as well.
    """
    altered = read_altered(str(row.change))
    if row.action in OVERLAPS and not viewer.startswith(HOST):
        altered = [_shown_to(connection, viewer, one) for one in altered]
    change = json.loads(str(row.change))
    change["altered"] = [one.document() for one in altered]
    stale = why_stale(connection, row)
    meaning = meaning_of(connection, row.action, row.population, altered)
    return {
        "proposal": row.id,
        "state": _state(row, stale),
        "action": row.action,
        "population": row.population,
        "words": [in_words(one) for one in altered],
        "differences": [line for one in altered for line in _lines(one)],
        "does": meaning.does,
        "leaves": meaning.leaves,
        "stale": stale,
        "change": change,
        "digest": row.digest,
        "proposed_by": row.proposed_by,
        "created": shown_time(str(row.created)),
        "lapses": shown_time(str(row.lapses)),
        "decided_by": row.decided_by,
        "decided": shown_time_if_any(row.decided),
        "decision_reason": decision_reason,
    }


def decision_reasons(
    connection: Connection, rows: Sequence[ProposalRow]
) -> dict[str, str]:
    """Return why proposals were rejected, by id, from the ledger, where somebody said.

    An entry tells of the one proposal that its facts name, whatever its words say.
    """
    rejected = {str(row.id) for row in rows if row.state == "rejected"}
    if not rejected:
        return {}
    entries = connection.execute(
        select(chain.c.body).where(
            chain.c.kind == "admin", chain.c.body.contains(_REJECTED)
        )
    ).scalars()
    bodies = (json.loads(body) for body in entries)
    facts = [body["facts"] for body in bodies if body["action"] == _REJECTED]
    return {
        fact["proposal"]: str(fact["reason"])
        for fact in facts
        if fact.get("proposal") in rejected and "reason" in fact
    }


def named_populations(altered: Altered) -> list[str] | None:
    """Return the populations of an overlap's fact, not for every viewer; None: none."""
    found: object = altered.new
    return found.get("populations") if isinstance(found, dict) else None


def _shown_to(connection: Connection, viewer: str, altered: Altered) -> Altered:
    """Return an overlap without others' names and without the digests it binds to."""
    named = named_populations(altered)
    if named is None:
        return altered
    shown = shown_populations(connection, viewer, named)
    return replace(altered, new={"populations": shown})


def shown_populations(
    connection: Connection, viewer: str, populations: Sequence[str]
) -> list[str]:
    """Return the names of populations that a viewer may know, and whether more are."""
    held = visible_populations(connection, viewer, populations)
    return [*held, *(["another population"] if len(held) < len(populations) else [])]


def _lines(altered: Altered) -> list[str]:
    subject = altered.subject
    is_copy = subject is not None and subject.kind in _NEVER_BEFORE
    if is_copy or named_populations(altered) is not None:
        return [in_words(altered)]
    return differences(altered)


def in_words(altered: Altered) -> str:
    """Return one altered fact: its name, its old value, its new value."""
    named = named_populations(altered)
    if named is not None:
        return f"{altered.what}: {', '.join(named) or 'none'}"
    subject = altered.subject
    if subject is not None and subject.kind in _NEVER_BEFORE:
        return f"{altered.what}: {altered.new}"  # nothing was there before
    return f"{altered.what}: {shown_value(altered.old)} -> {shown_value(altered.new)}"
