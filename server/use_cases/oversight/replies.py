"""What the ledger's check says, as it is sent."""

from typing_extensions import TypedDict


class VerificationShape(TypedDict):
    """Whether the ledger is whole."""

    ok: bool
    """Whether the ledger is whole and its anchor agrees."""
    entries: int
    """Lines of the ledger's list."""
    problems: list[str]
    """What is wrong, a sentence each; empty where nothing is."""
