"""The outermost layer: headers on every reply, and the last net for bugs.

Whatever is done here is a function of the request's line and headers alone.
"""

import logging
import re

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.api.schemas.problems import Problem, problem_of_failure

NOTHING_LOADS = "default-src 'none'; frame-ancestors 'none'"
SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": NOTHING_LOADS,
    "cache-control": "no-store",
}
"""Of every reply; a route that needs another value sets its own."""
ASKED_BY = "curator.method"
"""Where a scope has the method of a request that is served by another's route."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_AUTHORIZATION = b"authorization"
_log = logging.getLogger("curator.api")


class Edge:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection's scope."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        reply = _Reply(send)
        refusal = _misread(scope)
        if refusal is not None:
            await refusal(scope, receive, reply.send)
            return
        scope = {**scope, "headers": _one_authorization(scope["headers"])}
        if scope["method"] == "HEAD":  # uvicorn knows that it was, and sends no body
            scope |= {"method": "GET", ASKED_BY: "HEAD"}
        try:
            await self._app(scope, receive, reply.send)
        except Exception as error:  # noqa: BLE001 - a bug must not show what it met
            _log.error("internal error", extra={"error": type(error).__name__})
            if not reply.started:
                response = problem_of_failure(error).response()
                await response(scope, receive, reply.send)


def _misread(scope: Scope) -> Response | None:
    """Return the refusal of a request that a proxy before us could read otherwise.

    A path with an escaped slash passes by a rule for paths; a body of two lengths ends
    where each reader likes (RFC 9112, 6.3). No name of ours holds a slash or a control
    character, over which databases stumble.
    """
    if _CONTROL.search(scope["path"]) or b"%2f" in scope.get("raw_path", b"").lower():
        return Problem("not_found", "no such route").response()
    names = {name for name, _ in scope["headers"]}
    if {b"content-length", b"transfer-encoding"} <= names:
        told = "send Content-Length or Transfer-Encoding, not both"
        response = Problem("invalid_request", told).response()
        response.headers["connection"] = "close"  # what follows is anybody's guess
        return response
    return None


class _Reply:
    """Sends a reply with our headers, and knows whether it has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = list(message.get("headers", ()))
            there = {name.lower() for name, _ in headers}
            for name, value in SECURITY_HEADERS.items():
                if name.encode() not in there:
                    headers.append((name.encode(), value.encode()))
            message = {**message, "headers": headers}
        await self._send(message)


def _one_authorization(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Join repeated Authorization headers, as RFC 9110 reads them: that fits nobody."""
    values = [value for name, value in headers if name == _AUTHORIZATION]
    if len(values) < 2:  # noqa: PLR2004 - repeated
        return headers
    others = [header for header in headers if header[0] != _AUTHORIZATION]
    return [*others, (_AUTHORIZATION, b", ".join(values))]
