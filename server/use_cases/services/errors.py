"""Refusals of use cases: what the caller asked is unknown, not theirs, or not now."""

from collections.abc import Mapping, Sequence

from privacy.errors import CuratorError, InvalidLossError
from privacy.losses import Loss


class NotFoundError(CuratorError):
    """Unknown, or not the caller's: the two are one answer."""

    code = "not_found"

    def __init__(self, message: str = "no such thing, or it is not yours") -> None:
        super().__init__(message)


class UnauthenticatedError(CuratorError):
    """No valid key came with the request."""

    code = "unauthenticated"


class ForbiddenError(CuratorError):
    """The caller's role has no such route."""

    code = "forbidden"


class RateLimitedError(CuratorError):
    """The caller asks too often, or too much at once; a function of requests alone."""

    code = "rate_limited"

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        self.retry_after_seconds = retry_after_seconds  # at least 1
        super().__init__(message)


class InProgressError(CuratorError):
    """The key's first request is still being answered."""

    code = "in_progress"


class IdempotencyMismatchError(CuratorError):
    """The key came before with another body."""

    code = "idempotency_mismatch"


class QueryFailedError(CuratorError):
    """Execution failed after the charge: always this, whatever the cause."""

    code = "query_failed"

    def __init__(self, query_id: str) -> None:
        self.query_id = query_id
        super().__init__(
            "the query could not be completed; its charge stays, asking again is a "
            "new charge"
        )


class OverBudgetError(CuratorError):
    """The charge would pass a limit; nothing was spent."""

    code = "budget_exceeded"

    def __init__(
        self,
        *,
        requested: Loss,
        word: str,
        remaining: Mapping[str, object],
        attainable: Mapping[str, object] | None,
        which: str,
    ) -> None:
        self.requested = requested
        self.remaining = remaining  # of the limits that the caller may see
        self.attainable = attainable  # what these would bring; None where nothing
        super().__init__(
            f"the answer would cost {word} {requested}, more than {which} allows"
        )


class UnattainableError(InvalidLossError):
    """No loss that one query may spend brings an accuracy; nothing was spent."""

    def __init__(
        self, refused: InvalidLossError, ways: Sequence[Mapping[str, object]]
    ) -> None:
        self.ways = ways  # what can be as accurate, instead
        super().__init__(text=refused.text, reason=refused.reason)


class ConfirmationNeededError(CuratorError):
    """The project wants dear questions confirmed, and this one was not."""

    code = "confirmation_needed"


class BusyError(CuratorError):
    """Too much is under way; nothing was begun, and asking again is safe."""

    code = "busy"


class DatasetUnavailableError(CuratorError):
    """The file with a dataset's rows cannot be read; nothing was charged."""

    code = "dataset_unavailable"

    def __init__(self) -> None:
        super().__init__(
            "the dataset cannot be read now, whatever is asked: its custodian finds "
            "why with 'curator doctor'; ask again later"
        )


class CommandRefusedError(CuratorError):
    """A custodian's command was refused; the message says what to do."""

    code = "refused"


class NoSuchThingError(CommandRefusedError):
    """What the command names is not there; over HTTP this is a plain 404."""


class JobStoppedError(Exception):
    """A job's work ends here: it was cancelled, or its worker must let go of it."""


class LeaseLostError(JobStoppedError):
    """Somebody else has the job now, or it has ended."""
