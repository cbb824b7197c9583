"""/v1/admin/jobs: custodians submit, watch and cancel background work."""

from typing import Any, Literal

from fastapi import FastAPI, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

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
from server.api.schemas.admin import JobBody, NoBody
from server.use_cases.identity.access import Caller
from server.use_cases.services.documents import Document

_PATH = "/v1/admin/jobs"


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


class JobItem(_Shape):
    """A job in a list. ``done`` of ``total`` counts the stage, in its own unit."""

    id: str
    kind: str
    population: str | None
    actor: str
    created: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    stage: str | None
    done: int
    total: int | None
    attempts: int
    cancel_requested: bool
    started: str | None
    ended: str | None


class JobList(_Shape):
    """Jobs of the caller's populations, newest first."""

    items: list[JobItem]
    next_cursor: str | None


class LineageShape(_Shape):
    """What a job read, with which code, and what it made."""

    inputs: list[dict[str, Any]]
    code_version: str
    outputs: list[dict[str, Any]]


class JobDetail(JobItem):
    """A job. ``result`` may count raw rows: it is for custodians alone."""

    error: str | None
    result: dict[str, Any] | None
    parameters: dict[str, Any]
    lineage: LineageShape


def add_job_routes(app: FastAPI) -> None:
    """Add the routes of jobs."""

    @app.post(
        _PATH,
        status_code=202,
        response_model=JobDetail,
        responses=CHANGING,
        openapi_extra=body_of(JobBody),
        tags=["jobs"],
    )
    async def submit(request: Request) -> Response:
        """Queue a job; its parameters are checked first, no row is read."""
        jobs = parts_of(request).jobs

        def work(caller: Caller, body: JobBody) -> Document:
            return jobs.submit(jobs.viewer(caller), body.kind, body.parameters)

        return await change(request, JobBody, work, 202)

    @app.get(
        _PATH,
        response_model=JobList,
        responses=READING,
        openapi_extra=PAGED,
        tags=["jobs"],
    )
    def page(request: Request) -> Response:
        """List the jobs of your populations, newest first."""
        jobs = parts_of(request).jobs
        return read(
            request, lambda caller: jobs.page(jobs.viewer(caller), page_of(request))
        )

    @app.get(
        f"{_PATH}/{{job}}", response_model=JobDetail, responses=READING, tags=["jobs"]
    )
    def one(job: str, request: Request) -> Response:
        """Return one job: state, progress, result, lineage."""
        jobs = parts_of(request).jobs
        return read(request, lambda caller: jobs.show(jobs.viewer(caller), job))

    @app.post(
        f"{_PATH}/{{job}}/cancel",
        response_model=JobDetail,
        responses=CHANGING,
        tags=["jobs"],
    )
    async def cancel(job: str, request: Request) -> Response:
        """Cancel a job: at once where it is queued, else within seconds."""
        jobs = parts_of(request).jobs

        def work(caller: Caller, _: NoBody) -> Document:
            return jobs.cancel(jobs.viewer(caller), job)

        return await change(request, NoBody, work)
