"""/v1/admin: snapshots, statements, reports; for custodians and auditors."""

from fastapi import FastAPI, Request
from starlette.responses import Response

from server.api.admin.custody import PROPOSED
from server.api.routing.admission import (
    CHANGING,
    MARKDOWN,
    PAGED,
    READING,
    body_of,
    change,
    page_of,
    read,
    read_text,
)
from server.api.routing.parts import parts_of
from server.api.schemas import admin as wire
from server.use_cases.datasets.replies import RemovedSnapshotShape, SnapshotShape
from server.use_cases.identity.access import Caller
from server.use_cases.oversight.oversight import OversightService
from server.use_cases.services.documents import Reply
from server.use_cases.services.paging import ListOf

_SNAPSHOTS = "/v1/admin/datasets/{dataset}/snapshots"
_WRITTEN: dict[int | str, dict[str, object]] = {
    **READING,
    200: {
        "description": "Markdown.",
        "content": {MARKDOWN: {"schema": {"type": "string"}}},
    },
}


def add_oversight_routes(app: FastAPI) -> None:
    """Add the routes."""
    _add_snapshot_readings(app)
    _add_snapshot_changes(app)
    _add_statements(app)


def _service(request: Request, caller: Caller) -> OversightService:
    return OversightService(parts_of(request).services, caller)


def _add_snapshot_readings(app: FastAPI) -> None:
    @app.get(
        _SNAPSHOTS,
        response_model=ListOf[SnapshotShape],
        responses=READING,
        openapi_extra=PAGED,
        tags=["oversight"],
    )
    def snapshots(dataset: str, request: Request) -> Response:
        """List a dataset's snapshots, newest first: active, kept or removed."""
        return read(
            request,
            lambda caller: _service(request, caller).snapshots(
                dataset, page_of(request)
            ),
        )


def _add_snapshot_changes(app: FastAPI) -> None:
    @app.post(
        _SNAPSHOTS + "/{snapshot}/activate",
        response_model=SnapshotShape,
        responses={**CHANGING, **PROPOSED},
        openapi_extra=body_of(wire.ActivationBody),
        tags=["oversight"],
    )
    async def activate(dataset: str, snapshot: str, request: Request) -> Response:
        """Answer from this snapshot, from the next request on.

        Where its declarations differ, a reason and a second person are needed. What it
        publishes is compared with who is recorded by now, as a load's is.
        """

        def work(caller: Caller, body: wire.ActivationBody) -> Reply:
            return _service(request, caller).activate(
                dataset,
                snapshot,
                body.reason,
                override_overlap=body.override_overlap,
            )

        return await change(request, wire.ActivationBody, work)

    @app.delete(
        _SNAPSHOTS + "/{snapshot}",
        response_model=RemovedSnapshotShape,
        responses=CHANGING,
        tags=["oversight"],
    )
    async def remove(dataset: str, snapshot: str, request: Request) -> Response:
        """Erase a snapshot's file; its answers, charges and overlap ids stay."""

        def work(caller: Caller, _: wire.NoBody) -> Reply:
            return _service(request, caller).remove(dataset, snapshot)

        return await change(request, wire.NoBody, work)


def _add_statements(app: FastAPI) -> None:
    @app.get(
        "/v1/admin/populations/{population}/statement",
        response_class=Response,
        responses=_WRITTEN,
        tags=["oversight"],
    )
    def statement(population: str, request: Request) -> Response:
        """Write a population's privacy statement."""
        return read_text(
            request, lambda caller: _service(request, caller).statement(population)
        )

    @app.get(
        "/v1/admin/projects/{project}/report",
        response_class=Response,
        responses=_WRITTEN,
        tags=["oversight"],
    )
    def report(project: str, request: Request) -> Response:
        """Report a project to its ethics board."""
        return read_text(
            request, lambda caller: _service(request, caller).report(project)
        )
