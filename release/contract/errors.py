"""Refusals of releases."""

from privacy.errors import CuratorError


class ReleaseRefusedError(CuratorError):
    """A release as it was asked for cannot be made; says why and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class BrokenReleaseError(CuratorError):
    """A published release's files are not what its manifest says."""

    code = "refused"
