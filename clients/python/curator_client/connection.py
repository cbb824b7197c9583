"""HTTP to one server: sends again while that is safe, and reads problems."""

from __future__ import annotations

import time
from typing import Any

import httpx

from curator_client.refusals import CuratorUnreachable, refusal_of

_TRIES = 8
_RETRY_STATUSES = {409, 503}  # in progress; busy, or the ledger is away for a moment
_TIMEOUT = httpx.Timeout(120.0, connect=10.0)  # seconds; a query's deadline is 60
_MAX_PAUSE_SECONDS = 5.0


class Connection:
    """Sends JSON with a key, and returns JSON objects."""

    def __init__(
        self, url: str, key: str, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"},
            timeout=_TIMEOUT,
            transport=transport,
        )

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def get(self, path: str) -> dict[str, Any]:
        """Read a document.

        Raises:
            CuratorRefusal: The server refused.
            CuratorUnreachable: No reply came.
        """
        return self._read(self._send("GET", path, None, {}), {}, None)

    def post(
        self, path: str, body: dict[str, Any], idempotency_key: str | None = None
    ) -> dict[str, Any]:
        """Send a question.

        Raises:
            CuratorRefusal: The server refused.
            CuratorUnreachable: No reply came.
        """
        headers = {}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        reply = self._send("POST", path, body, headers)
        return self._read(reply, body, idempotency_key)

    def _send(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None,
        headers: dict[str, str],
    ) -> httpx.Response | None:
        """Return the last reply of a bounded number of tries; None where none came."""
        reply = None
        for attempt in range(_TRIES):
            if attempt:
                time.sleep(_pause_seconds(attempt - 1, reply))
            try:
                reply = self._http.request(method, path, json=body, headers=headers)
            except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
                raise CuratorUnreachable(str(error)) from error
            except httpx.TransportError:
                reply = None
            if reply is not None and reply.status_code not in _RETRY_STATUSES:
                break
        return reply

    def _read(
        self,
        reply: httpx.Response | None,
        body: dict[str, Any],
        idempotency_key: str | None,
    ) -> dict[str, Any]:
        document = None if reply is None else _json_object(reply)
        if reply is None or document is None:
            what = (
                "no reply" if reply is None else f"no JSON (status {reply.status_code})"
            )
            message = f"{what} from {self._http.base_url}"
            raise CuratorUnreachable(message, idempotency_key)
        if not reply.is_success:
            problem = {"status": reply.status_code, **document}
            refusal = refusal_of(problem, body.get("sql"))
            refusal.idempotency_key = idempotency_key
            raise refusal
        return document


def _pause_seconds(attempt: int, reply: httpx.Response | None) -> float:
    """Return how long to wait: ever longer, and as long as the server asks."""
    asked = "" if reply is None else str(reply.headers.get("Retry-After", ""))
    wanted = float(asked) if asked.isascii() and asked.isdigit() else 0.0
    backoff: float = 0.1 * 2.0**attempt
    return min(max(backoff, wanted), _MAX_PAUSE_SECONDS)


def _json_object(reply: httpx.Response) -> dict[str, Any] | None:
    try:
        document = reply.json()
    except ValueError:
        return None
    return document if isinstance(document, dict) else None
