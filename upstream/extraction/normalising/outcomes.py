"""A value, or why there is none: nothing is guessed."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Doubt(StrEnum):
    """Why a text has no value. The set is closed: reports count by it."""

    AMBIGUOUS = "ambiguous"  # it can be read in two ways
    IMPOSSIBLE = "impossible"  # there is no such day, age or number
    INCOMPLETE = "incomplete"  # a part of it is missing, such as the year
    UNIT = "unit"  # no unit, or one that is not known or of another kind
    UNKNOWN = "unknown"  # it is none of the values that are declared
    UNREADABLE = "unreadable"  # it has no form that is known


@dataclass(frozen=True, slots=True)
class Normalised:
    """A value as a table holds it, or None and why."""

    value: str | None
    doubt: Doubt | None = None


class DoubtError(Exception):
    """A text has no value; what reads it whole says so."""

    def __init__(self, doubt: Doubt) -> None:
        self.doubt = doubt
        super().__init__(str(doubt))


def normalised(read: Callable[[], str]) -> Normalised:
    """Return what ``read`` does, or why it found no value."""
    try:
        return Normalised(read())
    except DoubtError as error:
        return Normalised(None, error.doubt)
