"""The connection to a Curator server."""

from __future__ import annotations

import os
import time
import uuid
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import httpx

from curator_client.answer import Answer, Plan
from curator_client.refusals import CuratorRefusal, CuratorUnreachable

if TYPE_CHECKING:
    from types import TracebackType

_RETRIES = 8
_RETRY_STATUSES = {409, 503}
_TIMEOUT_SECONDS = 120.0
_MAX_PAUSE_SECONDS = 5.0


class Curator:
    """Asks one server, with one key.

    Args:
        url: The server, else ``CURATOR_URL``.
        key: Your API key, else ``CURATOR_API_KEY``.
        dataset: The dataset to ask where a call names none.
        transport: Another httpx transport, for tests and proxies.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        dataset: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        url = url or os.environ.get("CURATOR_URL")
        key = key or os.environ.get("CURATOR_API_KEY")
        if not url or not key:
            message = "give url and key, or set CURATOR_URL and CURATOR_API_KEY"
            raise ValueError(message)
        self._default_dataset = dataset
        self._http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"},
            timeout=_TIMEOUT_SECONDS,
            transport=transport,
        )

    def __enter__(self) -> Curator:  # noqa: PYI034 - Self is of Python 3.11
        """Use the connection in a block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def datasets(self) -> list[dict[str, Any]]:
        """List the datasets that you may ask."""
        return list(self._get("/v1/datasets")["items"])

    def dataset(self, name: str) -> dict[str, Any]:
        """Describe a dataset: tables, columns, public domains, limits."""
        return self._get(f"/v1/datasets/{name}")

    def budget(self) -> dict[str, Any]:
        """Return what your projects may spend, have spent and have left."""
        return self._get("/v1/budget")

    def queries(self, limit: int = 50) -> list[dict[str, Any]]:
        """List your latest queries, newest first."""
        return list(self._get(f"/v1/queries?limit={limit}")["items"])

    def answer(self, query_id: str) -> Answer:
        """Return one of your past answers again."""
        return Answer(self._get(f"/v1/queries/{query_id}")["answer"])

    def plan(
        self,
        sql: str,
        *,
        dataset: str | None = None,
        epsilon: str | float | Decimal | None = None,
        accuracy: dict[str, float] | None = None,
        project: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> Plan:
        """Price a question; costs nothing and touches no data.

        Args:
            sql: The question.
            dataset: Which dataset; may be left out where you have but one.
            epsilon: What to spend; or
            accuracy: ``{"within": 20, "confidence": 0.95}``, for the least epsilon.
            project: Which project pays, where several could.
            options: ``bounds``, ``weights``, ``reuse``.

        Raises:
            CuratorRefusal: The question is refused; the message shows where.
        """
        body = _body(sql, epsilon, accuracy, project, options)
        return Plan(self._post(self._path(dataset, "plan"), body, {}))

    def query(
        self,
        sql: str,
        *,
        dataset: str | None = None,
        epsilon: str | float | Decimal | None = None,
        accuracy: dict[str, float] | None = None,
        project: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> Answer:
        """Ask a question and pay for it, once: retries reuse one idempotency key.

        Takes what ``plan`` takes.

        Raises:
            CuratorRefusal: The question is refused; nothing was spent unless the
                code is ``query_failed``.
            CuratorUnreachable: No reply came.
        """
        body = _body(sql, epsilon, accuracy, project, options)
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        return Answer(self._post(self._path(dataset, "queries"), body, headers))

    def _path(self, dataset: str | None, verb: str) -> str:
        name = dataset or self._default_dataset or self._only_dataset()
        return f"/v1/datasets/{name}/{verb}"

    def _only_dataset(self) -> str:
        names = [str(item["name"]) for item in self.datasets()]
        if len(names) != 1:
            message = f"name a dataset; you may ask: {', '.join(names) or 'none'}"
            raise ValueError(message)
        self._default_dataset = names[0]
        return names[0]

    def _get(self, path: str) -> dict[str, Any]:
        return self._send("GET", path, None, {})

    def _post(
        self, path: str, body: dict[str, Any], headers: dict[str, str]
    ) -> dict[str, Any]:
        return self._send("POST", path, body, headers)

    def _send(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None,
        headers: dict[str, str],
    ) -> dict[str, Any]:
        """Send, and send again while that is safe and may help."""
        problem: CuratorRefusal | None = None
        for attempt in range(_RETRIES):
            pause = min(0.1 * 2**attempt, _MAX_PAUSE_SECONDS)
            try:
                reply = self._http.request(method, path, json=body, headers=headers)
            except httpx.TransportError:
                problem = None
            else:
                if reply.status_code < 400:  # noqa: PLR2004 - HTTP's own border
                    document: dict[str, Any] = reply.json()
                    return document
                problem = CuratorRefusal(_problem(reply), (body or {}).get("sql"))
                if reply.status_code not in _RETRY_STATUSES:
                    break
                pause = max(pause, _seconds(reply.headers.get("Retry-After")))
            time.sleep(pause)
        if problem is not None:
            raise problem
        message = f"no reply from {self._http.base_url} after {_RETRIES} tries"
        raise CuratorUnreachable(message)


def _seconds(text: str | None) -> float:
    return min(float(text), _MAX_PAUSE_SECONDS) if text and text.isdigit() else 0.0


def _problem(reply: httpx.Response) -> dict[str, Any]:
    try:
        problem: dict[str, Any] = reply.json()
    except ValueError:
        problem = {"type": "unknown", "detail": reply.reason_phrase}
    return {"status": reply.status_code, **problem}


def _body(
    sql: str,
    epsilon: str | float | Decimal | None,
    accuracy: dict[str, float] | None,
    project: str | None,
    options: dict[str, Any] | None,
) -> dict[str, Any]:
    body: dict[str, Any] = {"sql": sql}
    if epsilon is not None:
        body["epsilon"] = format(Decimal(str(epsilon)), "f")
    if accuracy is not None:
        body["accuracy"] = accuracy
    if project is not None:
        body["project"] = project
    if options:
        body["options"] = options
    return body
