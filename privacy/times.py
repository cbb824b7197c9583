"""Times as they are shown: on a public grid of whole seconds."""

from datetime import UTC, datetime


def shown_time(stored: str) -> str:
    """Return the second that a stored time lies in, UTC, ISO 8601.

    Finer digits tell what the request alone does not: how long whoever charged waited
    for the ledger, or for a worker's look (PRIVACY 6).

    >>> shown_time("2026-05-04T09:30:00.125000+00:00")
    '2026-05-04T09:30:00+00:00'
    """
    read = datetime.fromisoformat(stored).astimezone(UTC)
    return read.isoformat(timespec="seconds")


def shown_time_if_any(stored: str | None) -> str | None:
    """Return what ``shown_time`` does; None where there is no time yet."""
    return None if stored is None else shown_time(stored)
