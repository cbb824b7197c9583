"""The six questions of the demo."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_client import AccuracyWish


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question in words and in SQL, with its price or its wish."""

    text: str
    sql: str
    epsilon: str | None = None
    accuracy: "AccuracyWish | None" = None


QUESTIONS = (
    DemoQuestion(
        "How many stays of patients of 60 and over?",
        "SELECT COUNT(*) FROM encounters WHERE age >= 60",
        epsilon="0.5",
    ),
    DemoQuestion(
        "How many different patients are women born before 1960?",
        "SELECT COUNT(DISTINCT patient_id) FROM patients"
        " WHERE sex = 'F' AND birth_year < 1960",
        epsilon="0.1",
    ),
    DemoQuestion(
        "Patients of 60 and over, by diagnosis group?",
        "SELECT diagnosis_group, COUNT(DISTINCT patient_id) FROM encounters"
        " WHERE age >= 60 GROUP BY diagnosis_group",
        epsilon="0.5",
    ),
    DemoQuestion(
        "Patients with a type 2 diabetes code, to within 50 at 95 %?",
        "SELECT COUNT(DISTINCT patient_id) AS patients FROM diagnoses"
        " WHERE code IN ('E11.9', 'E11.2')",
        accuracy={"within": 50, "confidence": 0.95},
    ),
    DemoQuestion(
        "Respiratory stays by year and how they ended, missing endings included?",
        "SELECT year, discharged_to, COUNT(*) AS stays FROM encounters"
        " WHERE diagnosis_group = 'respiratory' GROUP BY year, discharged_to",
        epsilon="1",
    ),
    DemoQuestion(
        "Patients given metformin or insulin between July and December 2025?",
        "SELECT drug, COUNT(DISTINCT patient_id) AS patients FROM prescriptions"
        " WHERE started BETWEEN '2025-07-01' AND '2025-12-31'"
        " AND drug IN ('metformin', 'insulin') GROUP BY drug",
        epsilon="0.5",
    ),
)
