"""The ledger's list over HTTP: who sees which lines."""

from budget.reading.listing import Line, Seen
from server.use_cases.identity.access import Caller, populations_of
from server.use_cases.releases.times import unseen_jobs
from server.use_cases.services.paging import ListOf, Page, listed
from server.use_cases.services.services import Services
from server.use_cases.services.work_ends import RELEASE_ENDS

WHOLE = Seen(populations=None, ends=RELEASE_ENDS)
"""What auditors see: every line."""


def ledger_page(services: Services, caller: Caller, page: Page) -> ListOf[Line]:
    """List the ledger, newest first: all for auditors, for custodians their charges."""
    items, following = services.ledger.lines(
        seen_by(services, caller),
        unseen_jobs,
        limit=page.limit,
        cursor=page.cursor,
    )
    return listed(items, following)


def seen_by(services: Services, caller: Caller) -> Seen:
    """Return what a caller sees of the ledger."""
    if caller.role == "auditor":
        return WHOLE
    with services.databases.reader.connect() as connection:
        populations = populations_of(connection, caller.name)
    return Seen(frozenset(populations), RELEASE_ENDS)
