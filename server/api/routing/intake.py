"""Reading a request to plan or query: body, arrival, and checks before any answer."""

import asyncio
import hashlib
import re
import time
from dataclasses import dataclass

from starlette.requests import Request

from server.api.schemas.problems import Problem
from server.use_cases.questions.asking.submissions import IdempotencyKey

MAX_BODY_BYTES = 16 * 1024
BODY_TIMEOUT_SECONDS = 10.0
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request whose body is read; ``time`` is when its last byte was."""

    time: float  # monotonic
    body: bytes
    problem: Problem | None = None  # of the body's transport; 401 comes before it


async def receive(request: Request) -> Arrival:
    """Read the body, at most ``MAX_BODY_BYTES`` of it, within the timeout."""
    try:
        async with asyncio.timeout(BODY_TIMEOUT_SECONDS):
            body, problem = await _read(request)
    except TimeoutError:
        body, problem = b"", Problem("request_timeout", "the body came too slowly")
    return Arrival(time.monotonic(), body, problem)


async def _read(request: Request) -> tuple[bytes, Problem | None]:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            return b"", Problem("too_large", "a body holds at most 16 KiB")
    return bytes(body), None


def check_transport(request: Request, arrival: Arrival) -> None:
    """Raise the arrival's own problem, then refuse encodings: 408, 413, 415.

    Raises:
        Problem: The body came too slowly, is too large, or is encoded.
    """
    if arrival.problem is not None:
        raise arrival.problem
    if "content-encoding" in request.headers:
        raise Problem("unsupported_media_type", "send the body without an encoding")


def read_key(request: Request, body: bytes) -> IdempotencyKey | None:
    """Return the request's Idempotency-Key with the fingerprint of its body.

    Raises:
        Problem: The key is off its grammar or repeated, or the URL has a query.
    """
    if request.url.query:
        raise Problem("invalid_request", "this route takes no query string")
    keys = request.headers.getlist("idempotency-key")
    if not keys:
        return None
    if len(keys) > 1 or _KEY.fullmatch(keys[0]) is None:
        raise Problem(
            "invalid_request",
            "Idempotency-Key: one value of 1 to 255 visible ASCII characters",
        )
    parts = (request.method.encode(), request.url.path.encode(), body)
    return IdempotencyKey(keys[0], hashlib.sha256(b"\0".join(parts)).hexdigest())
