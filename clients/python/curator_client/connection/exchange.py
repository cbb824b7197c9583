"""One request and its answer, without a network: what to send, and when again.

A conversation is a generator of steps: it yields a ``Request`` and is sent what came of
it, or yields a ``Pause`` and is sent nothing. ``curator_client.connection.lines`` holds
the two drivers that carry the steps out, one that waits and one that awaits; what is
decided between them is written once, here and in ``curator_client.questions``.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from curator_client.answers.refusals import (
    CuratorUnreachableError,
    Retrying,
    refusal_of,
)

_RETRY_STATUSES = frozenset({409, 429, 503})  # in progress; too fast; busy or away
_AWAY = 503
_SPOKEN_SECONDS = 1.0  # a wait as long as this is said
_REDIRECTS = range(300, 400)


@dataclass(frozen=True)
class Patience:
    """How often to send again, and how long to wait in between.

    Attributes:
        tries: At most so many.
        tries_to_connect: At most so many where no connection was ever made.
        longest_pause_seconds: Between tries; a server that asks for more is obeyed up
            to ``longest_asked_seconds``.
        longest_asked_seconds: A server that asks for more than this is not waited for.
    """

    tries: int = 12
    tries_to_connect: int = 4
    longest_pause_seconds: float = 5.0
    longest_asked_seconds: float = 90.0


PATIENCE = Patience()


@dataclass(frozen=True)
class Request:
    """What to send; the same bytes at each try."""

    method: str
    path: str
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """What the server sent; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_success(self) -> bool:
        """Whether the status is one of 200 to 299."""
        return self.status < _REDIRECTS.start


@dataclass(frozen=True)
class Lost:
    """No reply came.

    Attributes:
        reason: Why, in words.
        final: Sending again is no use: the address or the certificate is wrong.
        unsent: No connection was made, so the server saw nothing.
    """

    reason: str
    final: bool = False
    unsent: bool = False


@dataclass(frozen=True)
class Pause:
    """Wait so long, and say why where there is something to say."""

    seconds: float
    why: str | None = None


Outcome = Reply | Lost | None
T = TypeVar("T")
Steps = Generator[Request | Pause, Outcome, T]


def exchange(request: Request, patience: Patience) -> Steps[Reply]:
    """Send until a reply comes that is worth reading; a bounded number of tries.

    Raises:
        CuratorUnreachableError: No reply came.
    """
    sent = False
    outcome: Outcome = None
    for attempt in range(patience.tries):
        outcome = yield request
        if isinstance(outcome, Lost):
            sent = sent or not outcome.unsent
        pause = _next_pause(outcome, attempt, sent=sent, patience=patience)
        if pause is None:
            break
        yield pause
    if isinstance(outcome, Reply):
        return outcome
    reason = outcome.reason if isinstance(outcome, Lost) else "no reply"
    raise CuratorUnreachableError(reason, request.headers.get("Idempotency-Key"))


def _next_pause(
    outcome: Outcome, attempt: int, *, sent: bool, patience: Patience
) -> Pause | None:
    """Return how long to wait before the next try; None where there is none."""
    tries = patience.tries if sent else patience.tries_to_connect
    if isinstance(outcome, Reply):
        tries = patience.tries if _may_pass(outcome) else 0
    elif isinstance(outcome, Lost) and outcome.final:
        tries = 0
    if attempt + 1 >= tries:
        return None
    backoff = min(0.1 * float(2**attempt), patience.longest_pause_seconds)
    asked = asked_seconds(outcome) if isinstance(outcome, Reply) else 0.0
    if asked > patience.longest_asked_seconds:
        return None
    return _spoken(max(backoff, asked), outcome)


def _may_pass(reply: Reply) -> bool:
    """Whether sending again may bring another reply.

    A server that is not busy, and names no time to come back, waits for its operator.
    """
    if reply.status == _AWAY and _trouble(reply) is not None:
        return "retry-after" in reply.headers
    return reply.status in _RETRY_STATUSES


def _trouble(reply: Reply) -> str | None:
    """Say what is wrong with a server that is away; None where it is only busy."""
    problem = _json_object(reply) or {}
    code = problem.get("type", "busy")
    return None if code == "busy" else f"{code}: {problem.get('detail')}"


def _spoken(seconds: float, outcome: Outcome) -> Pause:
    if seconds < _SPOKEN_SECONDS:
        return Pause(seconds)
    if not isinstance(outcome, Reply):
        return Pause(seconds, "no reply")
    why = {409: "still in progress", 429: "too many requests"}
    said = why.get(outcome.status) or _trouble(outcome) or "busy"
    return Pause(seconds, said)


def asked_seconds(reply: Reply) -> float:
    """Return what the server's Retry-After asks for; 0 where it asks for nothing."""
    asked = reply.headers.get("retry-after", "")
    return float(asked) if asked.isascii() and asked.isdigit() else 0.0


def document_of(reply: Reply, request: Request, sql: str | None) -> dict[str, Any]:
    """Read a reply as the document that it should be.

    Raises:
        CuratorRefusalError: It is a problem.
        CuratorUnreachableError: It is nothing that a Curator server sends.
    """
    key = request.headers.get("Idempotency-Key")
    document = _json_object(reply)
    if document is None or (not reply.is_success and "type" not in document):
        raise CuratorUnreachableError(_stranger(reply), key)
    if reply.is_success:
        return document
    problem = {"status": reply.status, **document}
    raise refusal_of(problem, sql, Retrying(key, asked_seconds(reply) or None))


def _stranger(reply: Reply) -> str:
    """Say what came instead of a Curator's reply."""
    if reply.status in _REDIRECTS:
        target = reply.headers.get("location", "another address")
        return f"it redirects to {target}: give that address instead"
    kind = reply.headers.get("content-type", "no content type").partition(";")[0]
    return (
        f"no JSON document of a Curator server came (status {reply.status}, {kind}): "
        "is the address right?"
    )


def _json_object(reply: Reply) -> dict[str, Any] | None:
    try:
        document = json.loads(reply.content)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None
