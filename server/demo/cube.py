"""The demo's release: a spec as a custodian writes it, and what readers ask of it."""

from typing import Final

NAME: Final = "stays"

SPEC: Final = """\
release:
  name: stays
  dataset: hospital
  kind: cube
  strategy: cells
  from: patients JOIN encounters ON patients.patient_id = encounters.patient_id
  count: rows
  dimensions:
    - {column: patients.sex}
    - {column: encounters.age, bands: 20}
    - {column: encounters.diagnosis_group}
    - {column: encounters.year}
  bounds: {tables: {encounters: 12}}
  epsilon: 2
  readers: public
"""

BY_GROUP: Final = (
    "SELECT diagnosis_group, COUNT(*) AS stays FROM stays"
    " WHERE age NOT IN ('0-19', '20-39', '40-59') GROUP BY diagnosis_group"
)
BY_YEAR: Final = (
    "SELECT year, COUNT(*) AS stays,"
    " AVG(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) AS women FROM stays"
    " WHERE diagnosis_group = 'respiratory' GROUP BY year"
)
QUESTIONS: Final = (
    ("Stays of patients of 60 and over, by diagnosis group?", BY_GROUP),
    ("Respiratory stays by year, and the share of them that are women's?", BY_YEAR),
)
"""In words, and in SQL."""
