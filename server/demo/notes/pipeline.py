"""What the demo of notes declares: a load, a gold standard, a list, a pipeline."""

from server.demo.notes.people import ALLERGENS, LAST_DAY

_POPULATION = """\
  population:
    id: hospital
    unit: patient
    unit_type: text
    epsilon_cap: "10"
    epsilon_per_query: {min: "0.001", max: "5"}
    max_units: 2500
    source: demo protocol, section 1
"""
PATIENTS_TABLE = f"""\
version: 1
{_POPULATION.replace(chr(10) + "  ", chr(10)).removeprefix("  ")}\
dataset: registry
snapshot_date: {LAST_DAY}
tables:
- name: patients
  files: [patients.csv]
  unit_column: patient_id
  key: [patient_id]
  max_rows_per_unit: 1
  source: one record for each patient
  columns:
  - {{name: patient_id, type: text, nullable: false}}
  - name: sex
    type: text
    domain: {{values: [F, M], other: true}}
    source: registration form
  - name: birth_year
    type: integer
    domain: {{min: 1900, max: {LAST_DAY.year}}}
    source: registration form
"""
GOLD = """\
population: hospital
collection: {name}
gold: {{format: json, path: {name}/gold.jsonl}}
"""
TERMS = """\
population: hospital
model: allergens
terms: {ALLERGEN: allergens.csv}
"""
ALLERGEN_LIST = "\n".join(
    [
        *(f"{name},{name}" for name in ALLERGENS),
        "sulfonamides,sulfa",
        "pcn,penicillin",
        "",
    ]
)
SPEC = """\
types: [SMOKING, FALL, AGE]
"""
PIPELINE = f"""\
# What each column of the private table is made of, and how it is loaded.
population: hospital
collection: notes
source:
  kind: text
  folder: notes
  files: ["*/*.txt"]
  id_pattern: '(?P<patient_id>P\\d{{7}})/(?P<day>[\\d-]{{10}})-(?P<kind>[a-z]+)\\.txt'
models: [habits, allergens]
table:
  name: notes
  unit: {{name: patient_id, field: patient_id}}
  columns:
  - {{name: day, field: day, as: {{kind: date}}}}
  - {{name: kind, field: kind}}
  - {{name: smokes, span: SMOKING, as: {{kind: present}}}}
  - {{name: fell, span: FALL, as: {{kind: present}}}}
  - {{name: age, span: AGE, take: surest, as: {{kind: age}}}}
  - {{name: allergen, span: ALLERGEN, as: {{kind: meaning}}}}
load:
  version: 1
{_POPULATION}\
  dataset: notes
  snapshot_date: {LAST_DAY}
  tables:
  - name: notes
    unit_column: patient_id
    max_rows_per_unit: 20
    source: discharge letters, ward and radiology notes
    columns:
    - {{name: patient_id, type: text, nullable: false}}
    - name: day
      type: date
      domain: {{min: 2023-01-01, max: {LAST_DAY}}}
      source: study period
    - name: kind
      type: text
      domain: {{values: [admission, progress, nursing, radiology, discharge]}}
      source: kinds of notes
    - {{name: smokes, type: boolean, nullable: false}}
    - {{name: fell, type: boolean, nullable: false}}
    - {{name: age, type: integer, domain: {{min: 0, max: 120}}, source: life span}}
    - name: allergen
      type: text
      domain: {{values: [{", ".join(ALLERGENS)}]}}
      source: list of allergens
"""
QUESTIONS = (
    (
        "How many patients smoke? No table says so: it is in their notes.",
        "SELECT COUNT(DISTINCT patient_id) FROM notes WHERE smokes",
        "0.5",
    ),
    (
        "How many of 65 and over have fallen?",
        "SELECT COUNT(DISTINCT patient_id) FROM notes WHERE fell AND age >= 65",
        "0.5",
    ),
    (
        "What are patients allergic to, as their notes name it?",
        "SELECT allergen, COUNT(DISTINCT patient_id) FROM notes GROUP BY allergen",
        "1",
    ),
)
"""In words, in SQL, and what each costs (epsilon)."""
