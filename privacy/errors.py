"""Errors that any package may raise; each has a stable code and holds no data.

CuratorError
├── InvalidLossError        epsilon_out_of_range
├── QueryError              the text was refused; rule, place and hint
│   ├── SqlSyntaxError      sql_syntax
│   ├── SqlNotAllowedError  sql_not_allowed
│   ├── UnknownColumnError  unknown_column
│   ├── NoPublicDomainError no_public_domain
│   └── TooManyGroupsError  too_many_groups
├── InvalidOptionError      invalid_request
├── BudgetExceededError     budget_exceeded
├── LedgerUnavailableError  ledger_unavailable
├── AnchorMismatchError     anchor_mismatch
└── ExecutionError          query_failed
"""

from typing import ClassVar


class CuratorError(Exception):
    """Root of all errors that Curator raises on purpose."""

    code: ClassVar[str] = "internal_error"


class InvalidLossError(CuratorError):
    """A loss is off its grammar, its grid or its range."""

    code = "epsilon_out_of_range"

    def __init__(self, *, text: str, reason: str | None = None) -> None:
        self.text = text
        self.reason = reason or (
            "write a plain decimal with at most six digits before and nine after "
            "the point"
        )
        super().__init__(f"epsilon out of range: {self.reason}")


class QueryError(CuratorError):
    """The text of a query was refused; a function of text and policy alone."""

    def __init__(
        self, *, rule: str, line: int, column: int, detail: str, hint: str
    ) -> None:
        self.rule = rule
        self.line = line  # from 1
        self.column = column  # from 1
        self.detail = detail
        self.hint = hint
        self.rewritten: str | None = None  # the text as it may be asked, if one is sure
        self.tried = 0  # further texts that were compiled to find it
        self.steps = 0  # that binding took: expressions, and values of their lists
        super().__init__(f"{detail} (line {line}, column {column}): {hint}")


class SqlSyntaxError(QueryError):
    """The text is not SQL."""

    code = "sql_syntax"


class SqlNotAllowedError(QueryError):
    """The text is SQL outside the private subset, or breaks one of its rules."""

    code = "sql_not_allowed"


class UnknownColumnError(QueryError):
    """A name fits no column in scope."""

    code = "unknown_column"


class NoPublicDomainError(QueryError):
    """A group key has no declared public domain."""

    code = "no_public_domain"


class TooManyGroupsError(QueryError):
    """The declared domains span more cells than one answer may hold."""

    code = "too_many_groups"


class InvalidOptionError(CuratorError):
    """An option of a request does not fit its query."""

    code = "invalid_request"


class BudgetExceededError(CuratorError):
    """The privacy filter refused the charge; nothing was spent."""

    code = "budget_exceeded"


class LedgerUnavailableError(CuratorError):
    """The ledger or its anchor could not be written durably.

    After a charge, ``query_id`` names it: the charge stays, and a retry with the
    same key brings the answer for nothing more.
    """

    code = "ledger_unavailable"

    def __init__(self, message: str, *, query_id: str | None = None) -> None:
        self.query_id = query_id
        super().__init__(message)


class StoppingError(LedgerUnavailableError):
    """The server stops before it could execute; it answers when it is back."""

    def __init__(self) -> None:
        super().__init__("the server stops now; ask again with the same key")


class AnchorMismatchError(CuratorError):
    """The ledger does not contain what its anchor holds: a restored or other copy."""

    code = "anchor_mismatch"


class AnchorMissingError(AnchorMismatchError, LedgerUnavailableError):
    """The anchor's file is not there: it may come back as it was."""

    code = "ledger_unavailable"

    def __init__(self) -> None:
        super().__init__(
            "the anchor is missing: bring it back, or accept what is lost with "
            "'curator ledger reconcile --reason'"
        )


class ExecutionError(CuratorError):
    """Execution failed after the charge; carries no cause."""

    code = "query_failed"
