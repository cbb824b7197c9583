"""What strategies of sequences refuse before any charge."""

from typing import Final

from release.contract.errors import ReleaseRefusedError
from release.contract.sequence_domain import SequenceDomain

MAX_BEGINNINGS: Final = 2_000_000
"""The most first nodes of all trees: they are held one by one."""


def refuse_wide(domain: SequenceDomain) -> None:
    """Refuse a domain whose first level cannot be held one by one.

    Raises:
        ReleaseRefusedError: Split values times symbols are more than that.
    """
    if domain.beginnings > MAX_BEGINNINGS:
        message = (
            f"{domain.beginnings} first nodes (trees times symbols) are more than the "
            f"{MAX_BEGINNINGS} that can be held; take coarser symbols or split values"
        )
        raise ReleaseRefusedError(message)
