"""Names of weekdays and months, in English, as PostgreSQL's TO_CHAR writes them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

WEEKDAYS: Final = (
    *("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
)
MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
SHORT_NAME: Final = 3
"""Letters of Dy and Mon."""

PADDED_NAME: Final = 9
"""Letters and blanks of Day and Month, as PostgreSQL writes them."""


@dataclass(frozen=True, slots=True)
class DayName:
    """How a day or month is named.

    Attributes:
        unit: Of what.
        letters: So many of the first, or None for all.
        case: Of the letters.
        padded: Whether blanks are added.
    """

    unit: Literal["weekday", "month"]
    letters: int | None
    case: Literal["capital", "upper", "lower"]
    padded: bool

    def of(self, moment: date) -> str:
        """Return the name of a day."""
        if self.unit == "weekday":
            whole = WEEKDAYS[moment.isoweekday() - 1]
        else:
            whole = MONTHS[moment.month - 1]
        name = whole[: self.letters]
        name = {"capital": name, "upper": name.upper(), "lower": name.lower()}[
            self.case
        ]
        return name.ljust(PADDED_NAME) if self.padded else name


def _names() -> Mapping[str, DayName]:
    """Return PostgreSQL's names: Day, DAY and day, and FMDay without blanks."""
    found: dict[str, DayName] = {}
    cases: tuple[tuple[Literal["capital", "upper", "lower"], Callable[[str], str]], ...]
    cases = ("capital", str), ("upper", str.upper), ("lower", str.lower)
    units: tuple[tuple[Literal["weekday", "month"], str, str], ...]
    units = ("weekday", "Day", "Dy"), ("month", "Month", "Mon")
    for unit, full, short in units:
        for case, written in cases:
            found[written(full)] = DayName(unit, None, case, padded=True)
            found["FM" + written(full)] = DayName(unit, None, case, padded=False)
            for prefix in ("", "FM"):
                field = prefix + written(short)
                found[field] = DayName(unit, SHORT_NAME, case, padded=False)
    return found


NAMES: Final = _names()
"""Fields of texts that are names, in English."""
