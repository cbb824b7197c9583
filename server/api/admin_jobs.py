"""/v1/admin/jobs: custodians submit, watch and cancel background work."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Protocol

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from server.api.intake import Arrival, check_transport, receive
from server.api.problems import PROBLEM_JSON, Problem
from server.strict_json import MalformedJsonError, read_json
from server.use_cases.access import Caller
from server.use_cases.answers import Document, encode
from server.use_cases.jobs import JobsOffice, Viewer

MAX_PAGE = 200
_PATH = "/v1/admin/jobs"
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/NewJobBody"}}
        },
    },
}


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


class NewJobBody(BaseModel):
    """A job to be queued: its kind, and what that kind wants to know."""

    model_config = ConfigDict(extra="forbid")

    kind: str = Field(examples=["dataset.load"])
    parameters: dict[str, Any] = Field(examples=[{"manifest": "hospital.yaml"}])


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


class _Parts(Protocol):
    """The parts of the application that these routes use."""

    @property
    def authenticate(self) -> Callable[[str | None], Caller]:
        """Find the principal of an Authorization header."""
        ...

    @property
    def jobs(self) -> JobsOffice:
        """The office of jobs."""
        ...


def _parts(request: Request) -> _Parts:
    parts: _Parts = request.app.state.parts
    return parts


def _caller(request: Request) -> Caller:
    return _parts(request).authenticate(request.headers.get("authorization"))


def _custodian(request: Request) -> tuple[JobsOffice, Viewer]:
    """Return the office and the custodian who asks; other roles are refused."""
    office = _parts(request).jobs
    return office, office.viewer(_caller(request))


def add_job_routes(app: FastAPI) -> None:
    """Add the routes of jobs."""
    refusals = _problems(401, 403, 404, 422, 500, 503)

    @app.post(
        _PATH,
        status_code=202,
        response_model=JobDetail,
        responses={**refusals, **_problems(400, 408, 413, 415)},
        openapi_extra=_BODY,
        tags=["jobs"],
    )
    async def submit(request: Request) -> Response:
        """Queue a job; its parameters are checked first, no row is read."""
        try:
            arrival = await receive(request)
            return await run_in_threadpool(_submit, request, arrival)
        except Problem as problem:
            return problem.response()
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it

    @app.get(_PATH, response_model=JobList, responses=refusals, tags=["jobs"])
    def page(
        request: Request,
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
        cursor: Annotated[str | None, Query(max_length=64)] = None,
    ) -> Response:
        """List the jobs of your populations, newest first."""
        office, viewer = _custodian(request)
        return _json(office.page(viewer, limit=limit, cursor=cursor))

    @app.get(
        f"{_PATH}/{{job_id}}",
        response_model=JobDetail,
        responses=refusals,
        tags=["jobs"],
    )
    def one(job_id: str, request: Request) -> Response:
        """Return one job: state, progress, result, lineage."""
        office, viewer = _custodian(request)
        return _json(office.show(viewer, job_id))

    @app.post(
        f"{_PATH}/{{job_id}}/cancel",
        response_model=JobDetail,
        responses=refusals,
        tags=["jobs"],
    )
    def cancel(job_id: str, request: Request) -> Response:
        """Cancel a job: at once where it is queued, else within seconds."""
        office, viewer = _custodian(request)
        return _json(office.cancel(viewer, job_id))


def _submit(request: Request, arrival: Arrival) -> Response:
    """Queue a job, or refuse: 401, the body's transport, its form, the role."""
    caller = _caller(request)
    check_transport(request, arrival)
    if request.url.query:
        raise Problem("invalid_request", "this route takes no query string")
    kind, parameters = _read(arrival.body)
    office = _parts(request).jobs
    return _json(office.submit(office.viewer(caller), kind, parameters), status=202)


def _read(body: bytes) -> tuple[str, dict[str, object]]:
    """Return kind and parameters of a body.

    Raises:
        Problem: It is not strict JSON, or of another shape.
    """
    try:
        value = read_json(body)
    except MalformedJsonError as error:
        raise Problem("malformed_json", str(error)) from None
    if not isinstance(value, dict) or set(value) != {"kind", "parameters"}:
        raise Problem("invalid_request", "give kind and parameters, and nothing else")
    kind, parameters = value["kind"], value["parameters"]
    if not isinstance(kind, str) or not isinstance(parameters, dict):
        message = "kind is a string, parameters an object"
        raise Problem("invalid_request", message)
    return kind, {**parameters}


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    problem = {"schema": {"$ref": "#/components/schemas/ProblemShape"}}
    return {
        status: {
            "description": "Refused: see the problem's type.",
            "content": {PROBLEM_JSON: problem},
        }
        for status in statuses
    }


def _json(document: Document, *, status: int = 200) -> Response:
    return Response(encode(document), status, media_type="application/json")
