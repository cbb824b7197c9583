"""Routes of custodians and auditors: snapshots, statements, reports."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict

from server.api.examples import SNAPSHOT, example_problems
from server.api.intake import check_transport, receive
from server.api.problems import PROBLEM_JSON, Problem
from server.strict_json import MalformedJsonError, read_json
from server.use_cases.access import Caller
from server.use_cases.answers import Document, encode
from server.use_cases.oversight import Oversight

MARKDOWN = "text/markdown"
MAX_REASON = 500
_TEXT = "# Privacy statement: population hospital\n"


class SnapshotShape(BaseModel):
    """A version of a dataset: active, kept, or removed."""

    model_config = ConfigDict(extra="allow")

    id: str
    dataset: str
    state: str


class SnapshotList(BaseModel):
    """Snapshots, oldest first."""

    model_config = ConfigDict(extra="allow")

    items: list[SnapshotShape]
    next_cursor: str | None


def add_oversight_routes(app: FastAPI) -> None:
    """Add the routes; ``app.state.oversight`` does what they ask."""
    _add_snapshot_routes(app)
    _add_statement_routes(app)


def _add_snapshot_routes(app: FastAPI) -> None:
    base = "/v1/admin/datasets/{dataset}/snapshots"

    @app.get(
        base,
        response_model=SnapshotList,
        responses=_refusals(),  # the example of 200 holds a null: see examples
        tags=["oversight"],
    )
    def snapshots(request: Request, dataset: str) -> Response:
        """List a dataset's snapshots; for its population's custodians."""
        return _json(_oversight(request).snapshots(_caller(request), dataset))

    @app.post(
        base + "/{snapshot}/activate",
        response_model=SnapshotShape,
        responses=_responses(SNAPSHOT, 400, 408, 413, 415),
        openapi_extra={
            "requestBody": {
                "required": False,
                "content": {
                    "application/json": {
                        "schema": {
                            "type": "object",
                            "properties": {
                                "reason": {"type": "string", "maxLength": MAX_REASON}
                            },
                            "additionalProperties": False,
                        },
                        "example": {"reason": "the protocol's amendment 2"},
                    }
                },
            }
        },
        tags=["oversight"],
    )
    async def activate(request: Request, dataset: str, snapshot: str) -> Response:
        """Answer from this snapshot, from the next request on; recorded."""
        arrival = await receive(request)

        def work() -> Document:
            caller = _caller(request)
            check_transport(request, arrival)
            reason = _reason(arrival.body)
            return _oversight(request).activate(caller, dataset, snapshot, reason)

        try:
            return _json(await run_in_threadpool(work))
        except Problem as problem:
            return problem.response()

    @app.delete(
        base + "/{snapshot}",
        response_model=SnapshotShape,
        responses=_responses({**SNAPSHOT, "state": "removed"}),
        tags=["oversight"],
    )
    def remove(request: Request, dataset: str, snapshot: str) -> Response:
        """Erase a snapshot's file; its answers, charges and overlap ids stay."""
        return _json(_oversight(request).remove(_caller(request), dataset, snapshot))


def _add_statement_routes(app: FastAPI) -> None:
    @app.get(
        "/v1/admin/populations/{population}/statement",
        response_class=Response,
        responses=_text_responses(),
        tags=["oversight"],
    )
    def statement(request: Request, population: str) -> Response:
        """Write a population's privacy statement; for custodians and auditors."""
        caller = _caller(request)
        return _text(_oversight(request).statement(caller, population))

    @app.get(
        "/v1/admin/projects/{project}/report",
        response_class=Response,
        responses=_text_responses(),
        tags=["oversight"],
    )
    def report(request: Request, project: str) -> Response:
        """Report a project to its ethics board; for custodians and auditors."""
        return _text(_oversight(request).report(_caller(request), project))


def _oversight(request: Request) -> Oversight:
    oversight: Oversight = request.app.state.oversight
    return oversight


def _caller(request: Request) -> Caller:
    caller: Caller = request.app.state.parts.authenticate(
        request.headers.get("authorization")
    )
    return caller


def _reason(body: bytes) -> str | None:
    """Read ``{"reason": TEXT}``; nothing at all is no reason.

    Raises:
        Problem: It is no JSON, or of another shape.
    """
    if not body:
        return None
    try:
        value = read_json(body)
    except MalformedJsonError as error:
        raise Problem("malformed_json", str(error)) from None
    if not isinstance(value, dict) or not value.keys() <= {"reason"}:
        raise Problem("invalid_request", 'send {"reason": TEXT}, or no body')
    reason = value.get("reason", "")
    if not isinstance(reason, str) or len(reason) > MAX_REASON:
        raise Problem("invalid_request", f"reason: text of {MAX_REASON} characters")
    return reason or None


def _responses(example: Document, *more: int) -> dict[int | str, dict[str, Any]]:
    return {
        200: {"content": {"application/json": {"example": example}}},
        **_refusals(*more),
    }


def _text_responses() -> dict[int | str, dict[str, Any]]:
    content = {MARKDOWN: {"schema": {"type": "string"}, "example": _TEXT}}
    described = {"description": "Markdown.", "content": content}
    return {200: described, **_refusals()}


def _refusals(*more: int) -> dict[int | str, dict[str, Any]]:
    schema = {"$ref": "#/components/schemas/ProblemShape"}
    return {
        status: {
            "description": "Refused: see the problem's type.",
            "content": {
                PROBLEM_JSON: {"schema": schema, "examples": example_problems(status)}
            },
        }
        for status in sorted({401, 403, 404, 422, 503, *more})
    }


def _json(document: Document) -> Response:
    return Response(encode(document), media_type="application/json")


def _text(markdown: str) -> Response:
    return Response(markdown.encode(), media_type=f"{MARKDOWN}; charset=utf-8")
