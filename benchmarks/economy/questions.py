"""Questions of study groups: what each means, of which kind it is, and how it reads."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """What a question is to the group that asks it."""

    COUNT = "count"
    TABLE = "table"
    COHORT = "cohort"
    REPEAT = "repeat"
    ROLL_UP = "roll-up"
    COMPLEMENT = "complement"
    DIFFERENCE = "difference"
    RATE = "rate"
    AVERAGE = "average"


@dataclass(frozen=True, slots=True)
class Condition:
    """A column lies in a set of its declared values."""

    column: str
    values: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """All of some conditions hold; ``negated``: not all of them do."""

    conditions: tuple[Condition, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Cohort:
    """Who is meant by their stays.

    Attributes:
        stays: Clauses that one stay meets, all of them.
        absent: Those without such a stay are meant.
        least: So many such stays, at least.
    """

    stays: tuple[Clause, ...]
    absent: bool = False
    least: int = 1


@dataclass(frozen=True, slots=True)
class Measure:
    """What is shown of the rows: their number, of patients or stays, or a mean.

    Attributes:
        of: ``patients``, ``stays``, ``average`` or ``rate``.
        column: Of an average, or of the rate's condition.
        value: That the rate is of.
    """

    of: str
    column: str = ""
    value: str = ""

    @property
    def is_count(self) -> bool:
        """Whether it counts."""
        return self.of in {"patients", "stays"}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a question asks, whatever its words are."""

    table: str
    measure: Measure
    where: tuple[Clause, ...] = ()
    keys: tuple[str, ...] = ()
    cohort: Cohort | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it is asked.

    Attributes:
        number: Its place in the whole sequence.
        group: Who asks.
        kind: What it is to them.
        meaning: What it means.
        sql: Its words; DuckDB reads them too, and says what is true.
    """

    number: int
    group: str
    kind: Kind
    meaning: Meaning
    sql: str


PATIENTS: Final = Measure("patients")
STAYS: Final = Measure("stays")
