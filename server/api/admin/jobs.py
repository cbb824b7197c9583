"""/v1/admin/jobs: custodians submit, watch and cancel background work."""

from fastapi import FastAPI, Request
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
from server.use_cases.jobs.replies import JobDetail, JobItem
from server.use_cases.services.documents import Reply
from server.use_cases.services.paging import ListOf

_PATH = "/v1/admin/jobs"


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

        def work(caller: Caller, body: JobBody) -> Reply:
            return jobs.submit(jobs.viewer(caller), body.kind, body.parameters)

        return await change(request, JobBody, work, 202)

    @app.get(
        _PATH,
        response_model=ListOf[JobItem],
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

        def work(caller: Caller, _: NoBody) -> Reply:
            return jobs.cancel(jobs.viewer(caller), job)

        return await change(request, NoBody, work)
