"""Ten study groups: what each is about, and by what it looks at it."""

from dataclasses import dataclass
from typing import Final

from benchmarks.economy.questions import Clause, Condition


@dataclass(frozen=True, slots=True)
class Group:
    """A study group.

    Attributes:
        name: Of the group, and of its project.
        about: What nearly all its questions are restricted to; empty: all patients.
        columns: By which it looks at that, the favourite first.
    """

    name: str
    about: tuple[Clause, ...]
    columns: tuple[str, ...]


def _of(column: str, *values: str | int) -> tuple[Clause, ...]:
    return (Clause((Condition(column, values),)),)


GROUPS: Final = (
    Group("readmission", (), ("readmitted", "age_band", "gender", "admission", "days")),
    Group("hba1c", (), ("a1c", "readmitted", "insulin", "age_band", "gender")),
    Group("insulin", (), ("insulin", "metformin", "a1c", "age_band", "race")),
    Group(
        "old_age",
        _of("age_band", "70-79", "80-89", "90-99"),
        ("age_band", "gender", "diagnosis", "readmitted", "days"),
    ),
    Group(
        "emergency",
        _of("admission", "emergency"),
        ("diagnosis", "age_band", "readmitted", "gender", "days"),
    ),
    Group(
        "heart",
        _of("diagnosis", "circulatory"),
        ("age_band", "gender", "readmitted", "a1c", "insulin"),
    ),
    Group(
        "lungs",
        _of("diagnosis", "respiratory"),
        ("age_band", "admission", "gender", "readmitted", "medications"),
    ),
    Group("equity", (), ("race", "gender", "age_band", "readmitted", "a1c")),
    Group("metformin", (), ("metformin", "a1c", "readmitted", "gender", "age_band")),
    Group(
        "long_stays",
        _of("days", 7, 14),
        ("diagnosis", "age_band", "admission", "medications", "readmitted"),
    ),
)
