"""The demo's second release: patients' ways through the departments."""

from typing import Final

NAME: Final = "pathways"

SPEC: Final = """\
release:
  name: pathways
  dataset: hospital
  kind: sequences
  strategy: prefix_tree
  from: patients JOIN encounters ON patients.patient_id = encounters.patient_id
  order: encounters.admitted
  symbol: {column: encounters.department}
  max_length: 5
  split: {column: patients.sex}
  epsilon: 2
  readers: public
"""

NEXT: Final = (
    "SELECT SYMBOL_AT(2) AS next, COUNT(*) AS patients FROM pathways"
    " WHERE STARTS_WITH('emergency') GROUP BY SYMBOL_AT(2)"
)
QUESTIONS: Final = (
    ("Where do patients stay next who came by emergency? NULL: nowhere yet", NEXT),
)
"""In words, and in SQL."""
