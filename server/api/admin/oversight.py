"""/v1/admin: snapshots, statements, reports; for custodians and auditors."""

from server.api.routing.operations import Asked, Operations
from server.api.schemas.admin import ActivationBody
from server.use_cases.datasets.replies import RemovedSnapshotShape, SnapshotShape
from server.use_cases.oversight.oversight import OversightService
from server.use_cases.services.documents import Reply

OVERSIGHT = Operations("oversight")
_SNAPSHOTS = "/v1/admin/datasets/{dataset}/snapshots"
_ONE = f"{_SNAPSHOTS}/{{snapshot}}"


def _service(asked: Asked) -> OversightService:
    return OversightService(asked.services, asked.caller)


@OVERSIGHT.lists(_SNAPSHOTS, SnapshotShape)
def list_snapshots(asked: Asked, dataset: str) -> Reply:
    """List a dataset's snapshots, newest first: active, kept or removed."""
    return _service(asked).snapshots(dataset, asked.page())


@OVERSIGHT.changes(
    f"POST {_ONE}/activate", SnapshotShape, ActivationBody, may_wait=True
)
def activate_snapshot(
    asked: Asked, body: ActivationBody, dataset: str, snapshot: str
) -> Reply:
    """Activate a snapshot: it answers from the next request on.

    Where its declarations differ, a reason and a second person are needed. What it
    publishes is compared with who is recorded by now, as a load's is.
    """
    return _service(asked).activate(
        dataset, snapshot, body.reason, override_overlap=body.override_overlap
    )


@OVERSIGHT.changes(f"DELETE {_ONE}", RemovedSnapshotShape)
def remove_snapshot(asked: Asked, dataset: str, snapshot: str) -> Reply:
    """Erase a snapshot's file; its answers, charges and overlap ids stay."""
    return _service(asked).remove(dataset, snapshot)


@OVERSIGHT.writes("/v1/admin/populations/{population}/statement")
def show_statement(asked: Asked, population: str) -> str:
    """Write a population's privacy statement."""
    return _service(asked).statement(population)


@OVERSIGHT.writes("/v1/admin/projects/{project}/report")
def show_report(asked: Asked, project: str) -> str:
    """Report a project to its ethics board."""
    return _service(asked).report(project)
