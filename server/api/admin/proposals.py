"""/v1/admin: changes that wait for a second person, and the ledger."""

from budget.reading.listing import Line
from server.api.routing.operations import Asked, Operations
from server.api.schemas.admin import ReasonBody
from server.use_cases.approvals.proposals import ProposalService
from server.use_cases.approvals.replies import ProposalShape
from server.use_cases.custody.administration import CustodyService
from server.use_cases.oversight.auditing import AuditService
from server.use_cases.oversight.ledger_lines import ledger_page
from server.use_cases.oversight.replies import VerificationShape
from server.use_cases.services.documents import Reply

PROPOSALS = Operations("proposals")
LEDGER = Operations("ledger")
_PROPOSALS = "/v1/admin/proposals"
_ONE = f"{_PROPOSALS}/{{proposal}}"
_LEDGER = "/v1/admin/ledger"


@PROPOSALS.lists(_PROPOSALS, ProposalShape)
def list_proposals(asked: Asked) -> Reply:
    """List the proposals for your populations, newest first."""
    return CustodyService(asked.services, asked.caller).proposals(asked.page())


@PROPOSALS.reads(_ONE, ProposalShape)
def show_proposal(asked: Asked, proposal: str) -> Reply:
    """Show a proposal: the whole change, old and new values."""
    return ProposalService(asked.services).seen_by(asked.caller, proposal)


@PROPOSALS.changes(f"POST {_ONE}/approve", ProposalShape)
def approve_proposal(asked: Asked, proposal: str) -> Reply:
    """Approve a proposal: whoever made it may then make the change, once."""
    return ProposalService(asked.services).approve(asked.caller, proposal)


@PROPOSALS.changes(f"POST {_ONE}/reject", ProposalShape, ReasonBody)
def reject_proposal(asked: Asked, body: ReasonBody, proposal: str) -> Reply:
    """Reject a proposal, also one of your own, or one that was approved."""
    service = ProposalService(asked.services)
    return service.reject(asked.caller, proposal, body.reason)


@LEDGER.lists(_LEDGER, Line)
def list_ledger_lines(asked: Asked) -> Reply:
    """List the ledger, newest first; custodians see their populations' charges."""
    return ledger_page(asked.services, asked.caller, asked.page())


@LEDGER.reads(f"{_LEDGER}/verify", VerificationShape)
def verify_ledger(asked: Asked) -> Reply:
    """Verify the ledger: any edit, deletion, reordering or truncation is found."""
    return AuditService(asked.services, asked.caller.name).outline()
