"""Errors of mechanisms; they hold no data."""

from privacy.errors import CuratorError


class UnpaidMeasurementError(CuratorError):
    """A measurement would spend more than was charged for it; no seal was opened.

    Never seen while pricing and measuring agree: it is a fault of ours.
    """

    code = "query_failed"
