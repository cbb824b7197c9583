"""One line a request, written after its reply has left; and its X-Request-Id.

The request's id is ours: what a client sends under that name is never read. Paths
appear as route templates, so that no line holds what a client chose.
"""

import logging
import secrets
from collections.abc import Callable, Mapping

from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.api.routing.edge import ASKED_BY
from server.telemetry.logs import HeldLines, noting

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
REQUEST_ID = "X-Request-Id"
UNKNOWN_ROUTE = "unknown"
Observe = Callable[[Mapping[str, object]], None]
_log = logging.getLogger("curator.access")


class AccessLog:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, then write its line and what was held of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identifier = f"r_{secrets.token_hex(12)}"
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                header = (REQUEST_ID.lower().encode(), identifier.encode())
                message = {**message, "headers": [*message["headers"], header]}
            await send(message)

        held = HeldLines()
        with noting() as notes:
            try:
                with held.holding():
                    await self._app(scope, receive, send_with_id)
            finally:
                held.write()
                facts = {
                    "request_id": identifier,
                    "method": _method(scope),
                    "route": route_of(scope),
                    "status": status,
                    **notes,
                }
                _observe(scope, facts)
                _log.info("request", extra=facts)


def route_of(scope: Scope) -> str:
    """Return the template of the request's route; ``unknown`` where none fits."""
    route = scope.get("route")
    path = getattr(route, "path", None)
    return path if isinstance(path, str) else _matching_route(scope)


def _matching_route(scope: Scope) -> str:
    app = scope.get("app")
    for route in getattr(app, "routes", ()):
        if isinstance(route, Route) and route.matches(scope)[0] != Match.NONE:
            return str(route.path)
    return UNKNOWN_ROUTE


def _method(scope: Scope) -> str:
    method = scope.get(ASKED_BY, scope["method"])
    return method if method in METHODS else "OTHER"


def _observe(scope: Scope, facts: Mapping[str, object]) -> None:
    observe: Observe | None = getattr(scope["app"].state, "observe", None)
    if observe is not None:
        observe(facts)
