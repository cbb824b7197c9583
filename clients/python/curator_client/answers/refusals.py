"""What the server refused, shown where it stands in the question.

CuratorError
├── CuratorUnreachableError   no reply, or none that a Curator would send
└── CuratorRefusalError       any problem that the server sent
    ├── UnauthenticatedError  the key is unknown, revoked or disabled
    ├── NotFoundError         unknown, or not yours
    ├── SqlRefusedError       the text breaks a rule; nothing was spent
    ├── InvalidRequestError   the loss, an option or the project does not fit
    ├── BudgetExceededError   a limit has no room; nothing was spent
    ├── TooBusyError          too many requests at once, or too fast; nothing was spent
    └── QueryFailedError      execution failed after the charge, which stays
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from curator_client.answers.plan import attainable_lines


class CuratorError(Exception):
    """Root of what this client raises about a server."""


class CuratorUnreachableError(CuratorError):
    """No answer came, after every retry.

    Attributes:
        idempotency_key: Ask again with ``query(..., idempotency_key=...)`` and the same
            question: should the first try have been paid, its answer comes for nothing
            more. None where nothing could have been paid.
    """

    def __init__(self, message: str, idempotency_key: str | None = None) -> None:
        self.idempotency_key = idempotency_key
        super().__init__(message)


@dataclass(frozen=True)
class Retrying:
    """What asking again needs: the key of the question, and when."""

    idempotency_key: str | None = None
    after_seconds: float | None = None


_NO_RETRYING = Retrying()


class CuratorRefusalError(CuratorError):
    """A problem that the server sent.

    Attributes:
        code: The stable code, such as ``"sql_not_allowed"``.
        status: The HTTP status.
        problem: The whole problem document.
        idempotency_key: Of the query that was refused; where ``query_id`` is set, a
            charge was made, and the same question with this key asks for its answer.
        retry_after_seconds: How long the server asks to wait; None where it does not.
    """

    def __init__(
        self,
        problem: dict[str, Any],
        sql: str | None = None,
        retrying: Retrying = _NO_RETRYING,
    ) -> None:
        self.problem = problem
        self.code = str(problem.get("type", "unknown"))
        self.status = int(problem.get("status", 0))
        self.idempotency_key = retrying.idempotency_key
        self.retry_after_seconds = retrying.after_seconds
        lines = [_message(problem, sql)]
        if retrying.after_seconds is not None:
            lines.append(f"try again in {retrying.after_seconds:g} s")
        super().__init__("\n".join(lines))

    def advised(self, advice: str) -> None:
        """Add a line to the message."""
        self.args = (f"{self}\nhint: {advice}",)

    @property
    def query_id(self) -> str | None:
        """The id of the charge, where one was made."""
        found = self.problem.get("query_id")
        return None if found is None else str(found)


class UnauthenticatedError(CuratorRefusalError):
    """The key is unknown, revoked or disabled."""


class NotFoundError(CuratorRefusalError):
    """Unknown, or not yours: the server does not tell which."""


class SqlRefusedError(CuratorRefusalError):
    """The text breaks a rule; ``problem`` has rule, line, column and hint.

    Where the fix is mechanical it has the text with it, too, under ``rewritten``.
    """


class InvalidRequestError(CuratorRefusalError):
    """The loss, an option or the project does not fit."""


class BudgetExceededError(CuratorRefusalError):
    """A limit has no room for the charge; nothing was spent."""


class ConfirmationNeededError(CuratorRefusalError):
    """The project wants so dear a question confirmed; nothing was spent."""


class TooBusyError(CuratorRefusalError):
    """Too many requests at once, or too fast; nothing was spent."""


class QueryFailedError(CuratorRefusalError):
    """Execution failed after the charge. The charge stays."""


_BY_CODE: dict[str, type[CuratorRefusalError]] = {
    "unauthenticated": UnauthenticatedError,
    "not_found": NotFoundError,
    "sql_syntax": SqlRefusedError,
    "sql_not_allowed": SqlRefusedError,
    "unknown_column": SqlRefusedError,
    "no_public_domain": SqlRefusedError,
    "too_many_groups": SqlRefusedError,
    "invalid_request": InvalidRequestError,
    "epsilon_out_of_range": InvalidRequestError,
    "idempotency_mismatch": InvalidRequestError,
    "budget_exceeded": BudgetExceededError,
    "confirmation_needed": ConfirmationNeededError,
    "busy": TooBusyError,
    "rate_limited": TooBusyError,
    "query_failed": QueryFailedError,
}


def refusal_of(
    problem: dict[str, Any], sql: str | None = None, retrying: Retrying = _NO_RETRYING
) -> CuratorRefusalError:
    """Return the exception for a problem document."""
    kind = _BY_CODE.get(str(problem.get("type")), CuratorRefusalError)
    return kind(problem, sql, retrying)


def _message(problem: dict[str, Any], sql: str | None) -> str:
    lines = [f"{problem.get('type')}: {problem.get('detail')}"]
    lines += _place(problem, sql)
    if problem.get("hint"):
        lines.append(f"hint: {problem['hint']}")
    if problem.get("rewritten"):
        lines.append(f"this would be answered: {problem['rewritten']}")
    lines += _advice(problem)
    return "\n".join(lines)


def _advice(problem: dict[str, Any]) -> list[str]:
    """Say what remains, and what can be done about it."""
    if problem.get("type") == "unauthenticated":
        return ["the key is mistyped, revoked, or its owner is disabled"]
    left = problem.get("remaining")
    if not isinstance(left, dict):
        return []
    shown = [f"{name} {left[name]}" for name in left if left[name] is not None]
    return [
        f"remaining: {', '.join(shown)}",
        *attainable_lines(problem.get("attainable")),
        "nothing was spent; a smaller epsilon, or a wider accuracy, costs less",
    ]


def _place(problem: dict[str, Any], sql: str | None) -> list[str]:
    """Return the refused line with a caret under the refused column."""
    line, column = problem.get("line"), problem.get("column")
    texts = (sql or "").split("\n")
    if not isinstance(line, int) or not isinstance(column, int):
        return []
    if not 1 <= line <= len(texts) or column < 1:
        return []
    text = texts[line - 1].rstrip("\r")
    indent = "".join("\t" if sign == "\t" else " " for sign in text[: column - 1])
    return [f"  {text}", f"  {indent}^"]
