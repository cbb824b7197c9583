"""What the ledger's check says, as it is sent."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict


class VerificationShape(TypedDict):
    """Whether the ledger is whole."""

    ok: bool
    entries: Annotated[int, Field(description="Lines of the ledger's list.")]
    problems: list[str]
