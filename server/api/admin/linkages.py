"""/v1/admin/linkages: doubtful pairs of records, and what clerks decide of them."""

from server.api.routing.operations import Asked, Operations
from server.api.schemas.admin import VerdictBody
from server.use_cases.linkage.replies import (
    ActsShape,
    AgreementsShape,
    DecisionShape,
    DoubtDetail,
    DoubtItem,
    LinkageDetail,
    LinkageItem,
)
from server.use_cases.linkage.review import ReviewService, pair_of
from server.use_cases.services.documents import Reply

LINKAGES = Operations("linkages")
_PATH = "/v1/admin/linkages"
_ONE = f"{_PATH}/{{linkage}}"
_PAIR = f"{_ONE}/doubts/{{pair}}"
_RUNS: list[dict[str, object]] = [
    {
        "name": name,
        "in": "query",
        "required": False,
        "schema": {"type": "string", "maxLength": 64},
        "description": f"{said}: a run by its number, its job or its snapshot.",
    }
    for name, said in (("after", "Acts behind this one"), ("upto", "Acts up to it"))
]


@LINKAGES.lists(_PATH, LinkageItem)
def list_linkages(asked: Asked) -> Reply:
    """List the linkages of your populations, newest first."""
    return ReviewService(asked.services).page(asked.viewer, asked.page())


@LINKAGES.reads(_ONE, LinkageDetail)
def show_linkage(asked: Asked, linkage: str) -> Reply:
    """Show a linkage: its report, what is undecided, and its runs."""
    return ReviewService(asked.services).show(asked.viewer, linkage)


@LINKAGES.lists(f"{_ONE}/doubts", DoubtItem)
def list_doubts(asked: Asked, linkage: str) -> Reply:
    """List the doubtful pairs of the latest run, the surest first."""
    service = ReviewService(asked.services)
    return service.doubts(asked.viewer, linkage, asked.page())


@LINKAGES.reads(_PAIR, DoubtDetail)
def show_doubt(asked: Asked, linkage: str, pair: str) -> Reply:
    """Show a doubtful pair: both records, and why they agree as they do."""
    service = ReviewService(asked.services)
    return service.doubt(asked.viewer, linkage, *pair_of(pair))


@LINKAGES.changes(f"POST {_PAIR}/decisions", DecisionShape, VerdictBody, status=201)
def create_decision(asked: Asked, body: VerdictBody, linkage: str, pair: str) -> Reply:
    """Say what you think of a pair, doubtful or not; the next run goes by it."""
    service = ReviewService(asked.services)
    return service.decide(asked.viewer, linkage, pair_of(pair), body.verdict)


@LINKAGES.lists(f"{_ONE}/decisions", DecisionShape)
def list_decisions(asked: Asked, linkage: str) -> Reply:
    """List what clerks decided, the newest first, also what was taken back."""
    service = ReviewService(asked.services)
    return service.decisions(asked.viewer, linkage, asked.page())


@LINKAGES.changes(f"POST {_ONE}/decisions/{{decision}}/undo", DecisionShape)
def undo_decision(asked: Asked, linkage: str, decision: str) -> Reply:
    """Take a decision back; that it was made, and who took it back, is kept."""
    return ReviewService(asked.services).undo(asked.viewer, linkage, decision)


@LINKAGES.reads(f"{_ONE}/agreement", AgreementsShape)
def show_agreement(asked: Asked, linkage: str) -> Reply:
    """Say what each clerk decided, and how any two of them agree."""
    return ReviewService(asked.services).agreement(asked.viewer, linkage)


@LINKAGES.reads(f"{_ONE}/acts", ActsShape, _RUNS)
def list_acts(asked: Asked, linkage: str) -> Reply:
    """List the merges and splits of patients, by the runs that made them."""
    told = asked.request.query_params
    found = ReviewService(asked.services).acts(
        asked.viewer, linkage, after=told.get("after"), upto=told.get("upto")
    )
    return ActsShape(acts=found)
