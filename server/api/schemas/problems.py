"""Errors over HTTP: one shape, application/problem+json (RFC 9457), stable codes."""

import json
import sqlite3
from dataclasses import dataclass, field
from http import HTTPStatus

from sqlalchemy.exc import DatabaseError, OperationalError
from starlette.responses import Response

from privacy.errors import CuratorError, LedgerUnavailableError, QueryError
from server.telemetry.logs import note
from server.use_cases.services.errors import QueryFailedError, RateLimitedError

_UNREACHED = (
    "the database cannot be read or written now: look whether it was done, and if not, "
    "send it again"
)
PROBLEM_JSON = "application/problem+json"

STATUS_BY_CODE = {
    "malformed_json": 400,
    "unauthenticated": 401,
    "budget_exceeded": 402,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "not_acceptable": 406,
    "request_timeout": 408,
    "in_progress": 409,
    "confirmation_needed": 409,
    "too_large": 413,
    "unsupported_media_type": 415,
    "range_not_satisfiable": 416,
    "invalid_request": 422,
    "sql_syntax": 422,
    "sql_not_allowed": 422,
    "unknown_column": 422,
    "no_public_domain": 422,
    "too_many_groups": 422,
    "epsilon_out_of_range": 422,
    "idempotency_mismatch": 422,
    "rate_limited": 429,
    "internal_error": 500,
    "ledger_unavailable": 503,
    "anchor_mismatch": 503,
    "parser_unavailable": 503,
    "executor_unavailable": 503,
    "dataset_unavailable": 503,
    "busy": 503,
    "query_failed": 504,
}


@dataclass(frozen=True, slots=True)
class Problem(Exception):  # noqa: N818 - RFC 9457 calls it a problem
    """A refusal or failure on its way to the caller."""

    code: str
    detail: str
    members: dict[str, object] = field(default_factory=dict)
    retry_after_seconds: int = 1

    def document(self) -> dict[str, object]:
        """Return the problem document."""
        status = STATUS_BY_CODE[self.code]
        return {
            "type": self.code,
            "title": HTTPStatus(status).phrase,
            "status": status,
            "detail": self.detail,
            **self.members,
        }

    def body(self) -> bytes:
        """Return the problem document as JSON bytes."""
        return json.dumps(self.document(), ensure_ascii=False).encode()

    def headers(self) -> dict[str, str]:
        """Return the headers that go with the code."""
        if STATUS_BY_CODE[self.code] in {429, 503} and self.code != "anchor_mismatch":
            return {"Retry-After": str(self.retry_after_seconds)}
        if self.code == "unauthenticated":
            return {"WWW-Authenticate": "Bearer"}
        return {}

    def response(self) -> Response:
        """Return the whole response."""
        note(code=self.code)
        return Response(
            self.body(),
            status_code=STATUS_BY_CODE[self.code],
            media_type=PROBLEM_JSON,
            headers=self.headers(),
        )


CHARGED = (
    "the ledger cannot be written now; the question is charged, and its answer costs "
    "nothing more: send it again with the same Idempotency-Key, or read it at "
    "/v1/queries/ and its query_id"
)


def problem_of_failure(error: Exception) -> Problem:
    """Map what is no error of ours; its words may quote anything, and are not shown.

    A database that cannot be read or written is out of service: another writer holds
    it, its disk is full, or its file was replaced or damaged while it was served. Of
    such a file drivers raise the root of their errors itself.
    """
    is_down = isinstance(error, OperationalError | sqlite3.OperationalError)
    if is_down or type(error) in {DatabaseError, sqlite3.DatabaseError}:
        return Problem("ledger_unavailable", _UNREACHED)
    return Problem("internal_error", "the server failed")


def problem_of(error: CuratorError) -> Problem:
    """Map one of our own errors; it holds no data, so its words may be shown."""
    members: dict[str, object] = {}
    if isinstance(error, QueryError):
        members = {
            "rule": error.rule,
            "line": error.line,
            "column": error.column,
            "hint": error.hint,
        }
        if error.rewritten is not None:
            members["rewritten"] = error.rewritten
        return Problem(error.code, error.detail, members)
    if isinstance(error, QueryFailedError):
        members = {"query_id": error.query_id}
    if isinstance(error, RateLimitedError):
        wait = error.retry_after_seconds
        return Problem(error.code, str(error), retry_after_seconds=wait)
    if isinstance(error, LedgerUnavailableError) and error.query_id is not None:
        return Problem(error.code, CHARGED, {"query_id": error.query_id})
    return Problem(error.code, str(error), members)
