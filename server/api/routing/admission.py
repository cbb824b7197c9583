"""Requests beside questions: who comes in, what they send, and what is sent back.

The checks stand in CONTRACT's order: 401, 408, 413, 415, 406, the body's form (400,
422), role (403), what is not there or not yours (404), and what the body asks for.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from privacy.errors import CuratorError, InvalidOptionError
from server.api.forms.forms import answer_in
from server.api.routing.accepting import wanted_form
from server.api.routing.intake import Arrival, check_transport, receive
from server.api.routing.parts import parts_of
from server.api.schemas.admin import OptionalBody
from server.api.schemas.openapi import problem_responses
from server.api.schemas.problems import Problem, problem_of
from server.use_cases.approvals.second_persons import ProposalOpenError
from server.use_cases.identity.access import Caller
from server.use_cases.services.documents import Reply, encode
from server.use_cases.services.errors import (
    CommandRefusedError,
    NoSuchThingError,
    NotFoundError,
)
from server.use_cases.services.paging import NO_CURSOR, Page
from server.use_cases.services.strict_json import MalformedJsonError, read_json

MAX_PAGE = 200
MARKDOWN = "text/markdown"
_DEFAULT_PAGE = 50
_NAME = re.compile(r"[A-Za-z0-9_]{1,64}")
_LIMIT = re.compile(r"[0-9]{1,3}")
Body = TypeVar("Body", bound=BaseModel)

PAGE_PARAMETERS: list[dict[str, object]] = [
    {
        "name": "limit",
        "in": "query",
        "required": False,
        "schema": {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": 50},
        "description": "The most items of this page.",
    },
    {
        "name": "cursor",
        "in": "query",
        "required": False,
        "schema": {"type": "string", "maxLength": 64},
        "description": "What next_cursor said.",
    },
]
"""They are read after the key, so FastAPI must not check them before it."""


def route_of(request: Request) -> str:
    """Return the verb and the template of the path, as the table of roles has them."""
    return f"{request.method} {request.scope['route'].path}"


def enter(request: Request) -> Caller:
    """Return who asks, if the role has this route; refusals are on record.

    Raises:
        UnauthenticatedError: No valid key.
        ForbiddenError: The role has no such route.
        InvalidOptionError: The query string has what this route does not take.
        NotFoundError: A name in the path could be nobody's.
    """
    caller = _keyed(request)
    _admit(request, caller)
    _check_query(request)
    return caller


def _check_query(request: Request) -> None:
    described = request.scope["route"].openapi_extra or {}
    taken = [parameter["name"] for parameter in described.get("parameters", ())]
    given = [name for name, _ in request.query_params.multi_items()]
    if len(given) == len(set(given) & set(taken)):
        return
    message = (
        f"the query string may have {' and '.join(taken)}, each once"
        if taken
        else "this route takes no query string"
    )
    raise InvalidOptionError(message)


def _admit(request: Request, caller: Caller) -> None:
    parts_of(request).gate.check(caller, route_of(request))
    for name in request.path_params.values():
        if _NAME.fullmatch(name) is None:
            raise NotFoundError


def page_of(request: Request) -> Page:
    """Read ``limit`` and ``cursor``.

    Raises:
        InvalidOptionError: One is off its form.
    """
    given = request.query_params
    limit, cursor = given.get("limit", str(_DEFAULT_PAGE)), given.get("cursor")
    if _LIMIT.fullmatch(limit) is None or not 1 <= int(limit) <= MAX_PAGE:
        message = f"limit: a whole number from 1 to {MAX_PAGE}"
        raise InvalidOptionError(message)
    if cursor is not None and _NAME.fullmatch(cursor) is None:
        raise InvalidOptionError(NO_CURSOR)
    return Page(int(limit), cursor)


def read(request: Request, work: Callable[[Caller], Reply]) -> Response:
    """Answer a GET."""
    return answered(lambda: json_response(work(enter(request))))


def read_text(request: Request, work: Callable[[Caller], str]) -> Response:
    """Answer a GET with Markdown."""

    def decide() -> Response:
        written = work(enter(request)).encode()
        return Response(written, media_type=f"{MARKDOWN}; charset=utf-8")

    return answered(decide)


async def change(
    request: Request,
    model: type[Body],
    work: Callable[[Caller, Body], Reply],
    status: int = 200,
) -> Response:
    """Answer a request that changes something: read its body, then work in a thread."""

    def decide(arrival: Arrival) -> Response:
        caller = _keyed(request)
        body = _read_body(request, arrival, model)
        _admit(request, caller)
        return json_response(work(caller, body), status)

    return await _received(request, decide)


async def ask(
    request: Request, model: type[Body], work: Callable[[Caller, Body], bytes]
) -> Response:
    """Answer a request with a body, in the form that it wants, for nothing."""

    def decide(arrival: Arrival) -> Response:
        caller = _keyed(request)
        check_transport(request, arrival)
        form = wanted_form(request)
        body = _read_body(request, arrival, model)
        _admit(request, caller)
        return answer_in(form, work(caller, body))

    return await _received(request, decide)


async def _received(
    request: Request, decide: Callable[[Arrival], Response]
) -> Response:
    """Read a request's body, then work in a thread."""
    try:
        arrival = await receive(request)
    except ClientDisconnect:
        return Response(status_code=400)  # nobody is there to read it
    return await run_in_threadpool(answered, partial(decide, arrival))


def _keyed(request: Request) -> Caller:
    """Return who asks, whatever their role."""
    return parts_of(request).authenticate(request.headers.get("authorization"))


def _read_body(request: Request, arrival: Arrival, model: type[Body]) -> Body:
    check_transport(request, arrival)
    if request.url.query:
        raise Problem("invalid_request", "this route takes no query string")
    try:
        value = {} if _is_bare(arrival, model) else read_json(arrival.body)
        return model.model_validate(value, strict=True)
    except MalformedJsonError as error:
        raise Problem("malformed_json", str(error)) from None
    except ValidationError as error:
        raise Problem("invalid_request", _first(error)) from None


def _is_bare(arrival: Arrival, model: type[BaseModel]) -> bool:
    """Whether there is no body, where none is needed."""
    return not arrival.body and issubclass(model, OptionalBody)


def _first(error: ValidationError) -> str:
    """Say where a body has the wrong form; unknown keys are not quoted back."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    first = found[0]
    if first["type"] == "extra_forbidden":
        return "the body has an unknown key; docs/http.md lists those that are known"
    place = ".".join(str(part) for part in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    if first["type"] == "missing":
        said = "it is missing: add it"
    return f"{place or 'the body'}: {said}"


def answered(work: Callable[[], Response]) -> Response:
    """Run the work, and map what it refuses; what else fails goes on to the route."""
    try:
        return work()
    except ProposalOpenError as waiting:
        return json_response(waiting.proposal, 202)
    except Problem as problem:
        return problem.response()
    except CuratorError as error:
        return _problem(error).response()


def _problem(error: CuratorError) -> Problem:
    """Map a refusal; what a command names and is not there is a plain 404."""
    if isinstance(error, NoSuchThingError):
        return problem_of(NotFoundError())
    if isinstance(error, CommandRefusedError):
        return Problem("invalid_request", str(error))
    return problem_of(error)


def json_response(document: Reply, status: int = 200) -> Response:
    """Return a document as JSON."""
    content = encode(document)
    return Response(content, status_code=status, media_type="application/json")


def body_of(model: type[BaseModel]) -> dict[str, object]:
    """Describe a body that ``change`` reads, for the OpenAPI document."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    content = {"application/json": {"schema": schema}}
    required = not issubclass(model, OptionalBody)
    return {"requestBody": {"required": required, "content": content}}


PAGED: dict[str, object] = {"parameters": PAGE_PARAMETERS}
READING = problem_responses(401, 403, 404, 422, 500, 503)
CHANGING = problem_responses(400, 401, 403, 404, 408, 413, 415, 422, 500, 503)
