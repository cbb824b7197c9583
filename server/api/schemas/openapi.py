"""What the OpenAPI document says of every route alike: keys, limits, failures."""

from typing import TypedDict, cast

from server.api.schemas.problems import PROBLEM_JSON

_PROBLEM = {"schema": {"$ref": "#/components/schemas/ProblemShape"}}
_OF_EVERY_ROUTE = (500,)
_OF_KEYED_ROUTES = (401, 429, 503)
_SECURITY_SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key of this server (`cur_...`), or a token of the issuer "
        "that it trusts.",
    }
}
_RETRY_AFTER: dict[str, object] = {
    "Retry-After": {
        "description": "Whole seconds to wait, at least 1.",
        "schema": {"type": "integer", "minimum": 1},
    }
}
_HEADERS: dict[str, dict[str, object]] = {
    "401": {
        "WWW-Authenticate": {
            "description": "The scheme that is wanted.",
            "schema": {"type": "string", "const": "Bearer"},
        }
    },
    "429": _RETRY_AFTER,
    "503": _RETRY_AFTER,
}


class _Operation(TypedDict, total=False):
    responses: dict[str, dict[str, object]]
    security: list[dict[str, list[str]]]


def problem_responses(*statuses: int) -> dict[int | str, dict[str, object]]:
    """Return the descriptions of refusals with these statuses."""
    return {
        status: {
            "description": "Refused: see the problem's type.",
            "content": {PROBLEM_JSON: dict(_PROBLEM)},
        }
        for status in statuses
    }


def complete(document: dict[str, dict[str, dict[str, object]]]) -> None:
    """Add to each operation what every route, or every route with a key, can send."""
    document["components"]["securitySchemes"] = dict(_SECURITY_SCHEMES)
    for path, verbs in document["paths"].items():
        for operation in verbs.values():
            _complete(cast("_Operation", operation), keyed=path.startswith("/v1/"))


def _complete(operation: _Operation, *, keyed: bool) -> None:
    statuses = (*_OF_KEYED_ROUTES, *_OF_EVERY_ROUTE) if keyed else _OF_EVERY_ROUTE
    responses = operation["responses"]
    for status, response in problem_responses(*statuses).items():
        responses.setdefault(str(status), response)
    for status, headers in _HEADERS.items():
        if status in responses:
            responses[status]["headers"] = headers
    operation["responses"] = dict(sorted(responses.items()))
    if keyed:
        operation["security"] = [{"bearer": []}]
