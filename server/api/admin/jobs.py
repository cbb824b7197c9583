"""/v1/admin/jobs: custodians submit, watch and cancel background work."""

from server.api.routing.operations import Asked, Operations
from server.api.schemas.admin import JobBody
from server.use_cases.jobs.replies import JobDetail, JobItem
from server.use_cases.services.documents import Reply

JOBS = Operations("jobs")
_PATH = "/v1/admin/jobs"


@JOBS.changes(f"POST {_PATH}", JobDetail, JobBody, status=202)
def submit_job(asked: Asked, body: JobBody) -> Reply:
    """Queue a job; its parameters are checked first, no row is read."""
    return asked.parts.jobs.submit(asked.viewer, body.kind, body.parameters)


@JOBS.lists(_PATH, JobItem)
def list_jobs(asked: Asked) -> Reply:
    """List the jobs of your populations, newest first."""
    return asked.parts.jobs.page(asked.viewer, asked.page())


@JOBS.reads(f"{_PATH}/{{job}}", JobDetail)
def show_job(asked: Asked, job: str) -> Reply:
    """Return one job: state, progress, result, lineage."""
    return asked.parts.jobs.show(asked.viewer, job)


@JOBS.changes(f"POST {_PATH}/{{job}}/cancel", JobDetail)
def cancel_job(asked: Asked, job: str) -> Reply:
    """Cancel a job: at once where it is queued, else within seconds."""
    return asked.parts.jobs.cancel(asked.viewer, job)
