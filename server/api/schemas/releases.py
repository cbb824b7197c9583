"""What custodians send about releases."""

from typing import Any

from server.api.schemas.admin import AdminBody, Day, Sentence


class ReleaseBody(AdminBody):
    """A release's spec, as a spec file has it (docs/releases.md)."""

    release: dict[str, Any]
    """The spec, whose keys docs/releases.md lists."""


class AnnouncementBody(ReleaseBody):
    """A release that is planned, and by which day."""

    by: Day
    """The day by which it is to be published; today or later."""


class WithdrawBody(AdminBody):
    """Why a release is withdrawn; recorded."""

    reason: Sentence
    """Why; recorded in the ledger."""
