"""What a copy of codes publishes, and what it lost and risks, whichever the method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CodesCopy:
    """A copy of codes.

    Attributes:
        header: Of what follows ``record``.
        records: What is published of each record, in no order that tells of its source.
        members: Likewise, by patient as he was given: his class; None where records
            are not in classes.
        measures: What was lost and is risked.
    """

    header: Sequence[str]
    records: Sequence[Sequence[Sequence[str]]]
    members: Mapping[int, int] | None
    measures: dict[str, object]


class CodesMethod(Protocol):
    """A method on the records that it was given."""

    def made(self, k: int) -> CodesCopy:
        """Return a copy in which nobody is told apart from fewer than k.

        Raises:
            ValueError: There is none; the message says why.
        """
        ...
