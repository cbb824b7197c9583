"""Which role may use which route: the one table, for routes, docs and tests.

Roles are given once, when a principal is created, and never change.
"""

from collections.abc import Mapping

from budget.ledger import Ledger
from server.use_cases.identity.access import Caller
from server.use_cases.services.errors import ForbiddenError

ROLES = ("analyst", "custodian", "auditor", "admin")

ANALYST = frozenset({"analyst"})
CUSTODIAN = frozenset({"custodian"})
AUDITOR = frozenset({"auditor"})
ADMIN = frozenset({"admin"})
READERS = ANALYST | CUSTODIAN
"""Who may read releases, where they are public or granted."""
EVERYBODY: frozenset[str] = frozenset()
"""Routes that ask for no key."""

PLAN = "POST /v1/datasets/{dataset}/plan"

ROUTES: Mapping[str, frozenset[str]] = {
    PLAN: ANALYST,
    "POST /v1/datasets/{dataset}/queries": ANALYST,
    "POST /v1/datasets/{dataset}/plans": ANALYST,
    "POST /v1/datasets/{dataset}/studies": ANALYST,
    "GET /v1/datasets": ANALYST,
    "GET /v1/datasets/{dataset}": ANALYST,
    "GET /v1/datasets/{dataset}/sample": ANALYST,
    "GET /v1/datasets/{dataset}/sample.csv": ANALYST,
    "GET /v1/datasets/{dataset}/metadata": ANALYST,
    "GET /v1/queries": ANALYST,
    "GET /v1/queries/{query_id}": ANALYST,
    "GET /v1/budget": ANALYST,
    "POST /v1/releases/{release}/queries": READERS,
    "GET /v1/admin/populations": CUSTODIAN,
    "GET /v1/admin/populations/{population}": CUSTODIAN,
    "PATCH /v1/admin/populations/{population}": CUSTODIAN,
    "POST /v1/admin/populations/{population}/custodians": ADMIN,
    "DELETE /v1/admin/populations/{population}/custodians/{principal}": ADMIN,
    "GET /v1/admin/datasets": CUSTODIAN,
    "GET /v1/admin/datasets/{dataset}": CUSTODIAN,
    "GET /v1/admin/datasets/{dataset}/snapshots": CUSTODIAN,
    "POST /v1/admin/datasets/{dataset}/snapshots/{snapshot}/activate": CUSTODIAN,
    "DELETE /v1/admin/datasets/{dataset}/snapshots/{snapshot}": CUSTODIAN,
    "GET /v1/admin/populations/{population}/statement": CUSTODIAN | AUDITOR,
    "GET /v1/admin/projects": CUSTODIAN,
    "POST /v1/admin/projects": CUSTODIAN,
    "GET /v1/admin/projects/{project}": CUSTODIAN,
    "GET /v1/admin/projects/{project}/report": CUSTODIAN | AUDITOR,
    "PATCH /v1/admin/projects/{project}": CUSTODIAN,
    "POST /v1/admin/projects/{project}/grants": CUSTODIAN,
    "DELETE /v1/admin/projects/{project}/grants/principals/{principal}": CUSTODIAN,
    "DELETE /v1/admin/projects/{project}/grants/datasets/{dataset}": CUSTODIAN,
    "GET /v1/admin/principals": ADMIN,
    "POST /v1/admin/principals": ADMIN,
    "POST /v1/admin/principals/{principal}/disable": ADMIN,
    "POST /v1/admin/principals/{principal}/enable": ADMIN,
    "GET /v1/admin/keys": ADMIN,
    "POST /v1/admin/keys": ADMIN,
    "DELETE /v1/admin/keys/{key}": ADMIN,
    "GET /v1/admin/proposals": CUSTODIAN,
    "GET /v1/admin/proposals/{proposal}": CUSTODIAN,
    "POST /v1/admin/proposals/{proposal}/approve": CUSTODIAN,
    "POST /v1/admin/proposals/{proposal}/reject": CUSTODIAN,
    "POST /v1/admin/jobs": CUSTODIAN,
    "GET /v1/admin/jobs": CUSTODIAN,
    "GET /v1/admin/jobs/{job}": CUSTODIAN,
    "POST /v1/admin/jobs/{job}/cancel": CUSTODIAN,
    "GET /v1/admin/linkages": CUSTODIAN,
    "GET /v1/admin/linkages/{linkage}": CUSTODIAN,
    "GET /v1/admin/linkages/{linkage}/doubts": CUSTODIAN,
    "GET /v1/admin/linkages/{linkage}/doubts/{pair}": CUSTODIAN,
    "POST /v1/admin/linkages/{linkage}/doubts/{pair}/decisions": CUSTODIAN,
    "POST /v1/admin/linkages/{linkage}/decisions/{decision}/undo": CUSTODIAN,
    "GET /v1/admin/linkages/{linkage}/decisions": CUSTODIAN,
    "GET /v1/admin/linkages/{linkage}/agreement": CUSTODIAN,
    "GET /v1/admin/linkages/{linkage}/acts": CUSTODIAN,
    "GET /v1/admin/anonymized": CUSTODIAN,
    "GET /v1/admin/anonymized/{copy}": CUSTODIAN,
    "POST /v1/admin/releases/plan": CUSTODIAN,
    "POST /v1/admin/releases": CUSTODIAN,
    "GET /v1/admin/releases": CUSTODIAN,
    "GET /v1/admin/releases/{release}": CUSTODIAN,
    "GET /v1/admin/releases/{release}/verify": CUSTODIAN,
    "POST /v1/admin/releases/{release}/withdraw": CUSTODIAN,
    "POST /v1/admin/announcements": CUSTODIAN,
    "GET /v1/admin/announcements": CUSTODIAN,
    "GET /v1/admin/announcements/{announcement}": CUSTODIAN,
    "POST /v1/admin/announcements/{announcement}/withdraw": CUSTODIAN,
    "GET /v1/catalog": READERS,
    "GET /v1/releases": READERS,
    "GET /v1/announcements": READERS,
    "GET /v1/releases/key": READERS,
    "GET /v1/releases/{release}": READERS,
    "GET /v1/releases/{release}/download": READERS,
    "GET /v1/releases/{release}/tree": READERS,
    "GET /v1/admin/ledger": CUSTODIAN | AUDITOR,
    "GET /v1/admin/ledger/verify": AUDITOR,
    "GET /healthz": EVERYBODY,
    "GET /readyz": EVERYBODY,
    "GET /openapi.json": EVERYBODY,
    "GET /": EVERYBODY,
    "GET /front/page.css": EVERYBODY,
    "GET /front/start.js": EVERYBODY,
    "GET /clients/{file}": EVERYBODY,
    "GET /manual": EVERYBODY,
    "GET /manual/{path:path}": EVERYBODY,
    "GET /docs": EVERYBODY,
    "GET /docs/page.css": EVERYBODY,
    "GET /docs/start.js": EVERYBODY,
    "GET /docs/swagger-ui.css": EVERYBODY,
    "GET /docs/swagger-ui-bundle.js": EVERYBODY,
}


class Gate:
    """Lets a role in where the table says so; refusals are written down."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def check(self, caller: Caller, route: str) -> None:
        """Refuse a caller whose role has no such route.

        Args:
            caller: Who asks.
            route: The verb and the path's template.

        Raises:
            ForbiddenError: The role has no such route.
        """
        if caller.role in ROUTES[route]:
            return
        self._ledger.refuse(caller.name, "forbidden", {"role": caller.role})
        message = f"a key of the role {caller.role} has no such route"
        raise ForbiddenError(message)
