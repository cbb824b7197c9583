"""The connection to a Curator server."""

from __future__ import annotations

import os
import uuid
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from curator_client.answer import Answer, Plan
from curator_client.connection import Connection
from curator_client.refusals import CuratorError

if TYPE_CHECKING:
    from types import TracebackType

    import httpx


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
        self._display: dict[str, dict[str, Any]] = {}  # by dataset
        self._connection = Connection(url, key, transport)

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
        self._connection.close()

    def datasets(self) -> list[dict[str, Any]]:
        """List the datasets that you may ask."""
        return list(self._connection.get("/v1/datasets")["items"])

    def dataset(self, name: str) -> dict[str, Any]:
        """Describe a dataset: tables, columns, public domains, limits."""
        return self._connection.get(_path(name))

    def budget(self) -> dict[str, Any]:
        """Return what your projects may spend, have spent and have left."""
        return self._connection.get("/v1/budget")

    def queries(self, limit: int = 50) -> list[dict[str, Any]]:
        """List your latest queries, newest first."""
        return list(self._connection.get(f"/v1/queries?limit={limit}")["items"])

    def answer(self, query_id: str) -> Answer:
        """Return one of your past answers again.

        Raises:
            LookupError: It is still in flight, or failed.
        """
        stored = self._connection.get(f"/v1/queries/{quote(query_id, safe='')}")
        if stored.get("answer") is None:
            message = f"query {query_id} is {stored.get('state')}: it has no answer"
            raise LookupError(message)
        return Answer(stored["answer"], hide_below=self._hide_below(stored["dataset"]))

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
        path = _path(dataset or self._usual_dataset(), "plan")
        return Plan(self._connection.post(path, body))

    def query(
        self,
        sql: str,
        *,
        dataset: str | None = None,
        epsilon: str | float | Decimal | None = None,
        accuracy: dict[str, float] | None = None,
        project: str | None = None,
        options: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Ask a question and pay for it, once: retries reuse one idempotency key.

        Takes what ``plan`` takes, and ``idempotency_key``: that of an earlier try which
        was cut off (``CuratorUnreachable`` has it), else a fresh one is made.

        Raises:
            CuratorRefusal: The question is refused; nothing was spent unless the
                code is ``query_failed``.
            CuratorUnreachable: No reply came.
        """
        body = _body(sql, epsilon, accuracy, project, options)
        name = dataset or self._usual_dataset()
        key = idempotency_key or uuid.uuid4().hex
        document = self._connection.post(_path(name, "queries"), body, key)
        return Answer(document, hide_below=self._hide_below(name))

    def _usual_dataset(self) -> str:
        """Return the dataset that the constructor named, or the only one there is."""
        if self._default_dataset is None:
            names = [str(item["name"]) for item in self.datasets()]
            if len(names) != 1:
                message = f"name a dataset; you may ask: {', '.join(names) or 'none'}"
                raise ValueError(message)
            self._default_dataset = names[0]
        return self._default_dataset

    def _hide_below(self, dataset: str) -> int | None:
        """Return the dataset's display rule, asked for once; None where it has none.

        It only adds a note to what is shown, so an answer never fails for want of it.
        """
        if dataset not in self._display:
            try:
                self._display[dataset] = self.dataset(dataset).get("display") or {}
            except CuratorError:
                return None
        threshold = self._display[dataset].get("hide_below")
        return threshold if isinstance(threshold, int) else None


def _path(dataset: str, *verb: str) -> str:
    return "/".join(["/v1/datasets", quote(dataset, safe=""), *verb])


def _body(
    sql: str,
    epsilon: str | float | Decimal | None,
    accuracy: dict[str, float] | None,
    project: str | None,
    options: dict[str, Any] | None,
) -> dict[str, Any]:
    body: dict[str, Any] = {"sql": sql}
    if epsilon is not None:
        body["epsilon"] = _loss_text(epsilon)
    if accuracy is not None:
        body["accuracy"] = accuracy
    if project is not None:
        body["project"] = project
    if options:
        body["options"] = options
    return body


def _loss_text(epsilon: str | float | Decimal) -> str:
    """Return the loss as the wire writes it: digits and a point, no exponent."""
    return epsilon if isinstance(epsilon, str) else format(Decimal(str(epsilon)), "f")
