"""What custodians send about releases."""

from typing import Any

from server.api.schemas.admin import AdminBody, Sentence


class ReleaseBody(AdminBody):
    """A release's spec, as a spec file has it (docs/releases.md)."""

    release: dict[str, Any]
    """The spec, whose keys docs/releases.md lists."""


class WithdrawBody(AdminBody):
    """Why a release is withdrawn; recorded."""

    reason: Sentence
    """Why; recorded in the ledger."""
