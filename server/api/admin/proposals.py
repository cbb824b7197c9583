"""/v1/admin: changes that wait for a second person, and the ledger."""

from fastapi import FastAPI, Request
from starlette.responses import Response

from budget.reading.listing import Line
from server.api.routing.admission import (
    CHANGING,
    PAGED,
    READING,
    body_of,
    change,
    page_of,
    read,
)
from server.api.routing.parts import parts_of
from server.api.schemas import admin as wire
from server.use_cases.approvals.proposals import ProposalService
from server.use_cases.approvals.replies import ProposalShape
from server.use_cases.custody.administration import CustodyService
from server.use_cases.identity.access import Caller
from server.use_cases.oversight.auditing import AuditService
from server.use_cases.oversight.ledger_lines import ledger_page
from server.use_cases.oversight.replies import VerificationShape
from server.use_cases.services.documents import Reply
from server.use_cases.services.paging import ListOf


def add_proposal_routes(app: FastAPI) -> None:
    """Add the routes of proposals."""

    @app.get(
        "/v1/admin/proposals",
        response_model=ListOf[ProposalShape],
        responses=READING,
        openapi_extra=PAGED,
        tags=["proposals"],
    )
    def proposals(request: Request) -> Response:
        """List the proposals for your populations, newest first."""
        services = parts_of(request).services
        return read(
            request,
            lambda caller: CustodyService(services, caller).proposals(page_of(request)),
        )

    @app.get(
        "/v1/admin/proposals/{proposal}",
        response_model=ProposalShape,
        responses=READING,
        tags=["proposals"],
    )
    def one_proposal(proposal: str, request: Request) -> Response:
        """Show a proposal: the whole change, old and new values."""
        return read(request, lambda caller: _service(request).seen_by(caller, proposal))

    _add_decisions(app)


def _service(request: Request) -> ProposalService:
    return ProposalService(parts_of(request).services)


def _add_decisions(app: FastAPI) -> None:
    @app.post(
        "/v1/admin/proposals/{proposal}/approve",
        response_model=ProposalShape,
        responses=CHANGING,
        tags=["proposals"],
    )
    async def approve(proposal: str, request: Request) -> Response:
        """Approve a proposal: whoever made it may then make the change, once."""

        def work(caller: Caller, _: wire.NoBody) -> Reply:
            return _service(request).approve(caller, proposal)

        return await change(request, wire.NoBody, work)

    @app.post(
        "/v1/admin/proposals/{proposal}/reject",
        response_model=ProposalShape,
        responses=CHANGING,
        openapi_extra=body_of(wire.ReasonBody),
        tags=["proposals"],
    )
    async def reject(proposal: str, request: Request) -> Response:
        """Reject a proposal, also one of your own, or one that was approved."""

        def work(caller: Caller, body: wire.ReasonBody) -> Reply:
            return _service(request).reject(caller, proposal, body.reason)

        return await change(request, wire.ReasonBody, work)


def add_ledger_routes(app: FastAPI) -> None:
    """Add the routes of the ledger."""

    @app.get(
        "/v1/admin/ledger",
        response_model=ListOf[Line],
        responses=READING,
        openapi_extra=PAGED,
        tags=["ledger"],
    )
    def entries(request: Request) -> Response:
        """List the ledger, newest first; custodians see their populations' charges."""
        services = parts_of(request).services
        return read(
            request, lambda caller: ledger_page(services, caller, page_of(request))
        )

    @app.get(
        "/v1/admin/ledger/verify",
        response_model=VerificationShape,
        responses=READING,
        tags=["ledger"],
    )
    def verify(request: Request) -> Response:
        """Find any edit, deletion, reordering or truncation of the ledger."""
        services = parts_of(request).services
        return read(
            request, lambda caller: AuditService(services, caller.name).outline()
        )
