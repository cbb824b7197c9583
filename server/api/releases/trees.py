"""GET /v1/releases/{release}/tree: a published tree, branch by branch, for nothing."""

import json

from fastapi import FastAPI, Request
from starlette.responses import Response

from privacy.errors import InvalidOptionError
from server.api.routing.admission import READING, read
from server.api.routing.parts import parts_of
from server.use_cases.releases.replies import TreeBranch
from server.use_cases.releases.trees import WantedBranch

_TREE: dict[str, object] = {
    "parameters": [
        {
            "name": "prefix",
            "in": "query",
            "required": False,
            "schema": {"type": "string", "maxLength": 4096, "default": "[]"},
            "description": 'A JSON list of the first symbols, such as `["triage"]`.',
        },
        {
            "name": "split",
            "in": "query",
            "required": False,
            "schema": {"type": "string", "maxLength": 1024},
            "description": "The value of the splitting dimension as JSON, such as "
            '`"F"` or `null`; left out: all together.',
        },
    ]
}
_MOST = 4_096


def add_release_tree_routes(app: FastAPI) -> None:
    """Add the route by which trees are read."""

    @app.get(
        "/v1/releases/{release}/tree",
        response_model=TreeBranch,
        responses=READING,
        openapi_extra=_TREE,
        tags=["releases"],
    )
    def show_release_tree(release: str, request: Request) -> Response:
        """Return a path of a published tree, and how many sequences go on how."""
        queries = parts_of(request).release_queries
        return read(
            request, lambda caller: queries.branch(caller, release, _wanted(request))
        )


def _wanted(request: Request) -> WantedBranch:
    """Read ``prefix`` and ``split``.

    Raises:
        InvalidOptionError: One is off its form.
    """
    given = request.query_params
    prefix = _value(given.get("prefix", "[]"), "prefix")
    if not isinstance(prefix, list) or not all(_is_scalar(each) for each in prefix):
        message = 'prefix: a JSON list of symbols, such as ["triage"]'
        raise InvalidOptionError(message)
    if "split" not in given:
        return WantedBranch(tuple(prefix))
    return WantedBranch(tuple(prefix), _value(given["split"], "split"), has_split=True)


def _value(text: str, name: str) -> object:
    message = f"{name}: JSON, such as {'[]' if name == 'prefix' else 'null'}"
    if len(text) > _MOST:
        raise InvalidOptionError(message)
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidOptionError(message) from None
    return found


def _is_scalar(value: object) -> bool:
    return not isinstance(value, list | dict)
