"""What the demo of linking declares: loads, a linkage, a copy, questions."""

from server.demo.linking.registrations import WARDS
from server.demo.linking.writing import NOTE_PATTERN
from server.demo.notes.people import LAST_DAY

_LIMITS = """\
    unit: patient
    unit_type: integer
    epsilon_cap: "10"
    epsilon_per_query: {min: "0.001", max: "5"}
    max_units: 5000
    source: demo protocol, section 2
"""
_ADMISSIONS = f"""\
      max_rows_per_unit: 6
      source: an admission is a row
      columns:
      - {{name: KEY, type: integer, nullable: false}}
      - name: ward
        type: text
        domain: {{values: [{", ".join(WARDS)}], other: true}}
        source: list of wards
"""
UNLINKED = f"""\
version: 1
population:
  id: numbers
{_LIMITS.replace("    ", "  ")}\
dataset: by_number
snapshot_date: {LAST_DAY}
tables:
- name: admissions
  files: [admissions_utf8.csv]
  unit_column: patient_no
{_ADMISSIONS.replace("      ", "  ").replace("KEY", "patient_no")}"""
GOLD = """\
population: people
collection: gold
gold: {format: json, path: gold.jsonl}
"""
SPEC = """\
training: {algorithm: ap, iterations: 10}
types: [PATIENT, ID, SMOKING]
"""
LINKAGE = f"""\
# Which records are one patient's, and what is loaded with their unit keys.
population: people
linkage: patients
match:
  fields:
    name: {{kind: full_name}}
    birth_date: {{kind: date, order: day_first}}
    sex: {{kind: category, map: {{male: M, female: F}}}}
    phone: {{kind: phone}}
    address: {{kind: address}}
    hospital_no: {{kind: id}}
sources:
- kind: table
  name: admissions
  files: [admissions.csv]
  encoding: windows-1252
  id: [patient_no]
  fields:
    name: [given_name, surname]
    birth_date: born
    sex: sex
    phone: phone
    address: [street, postcode, town]
    hospital_no: patient_no
  view: {{diagnosis: sensitive, ward: quasi_identifier}}
- kind: table
  name: laboratory
  files: [laboratory.csv]
  id: [lab_id]
  fields:
    name: [first_names, family_name]
    birth_date: birth_date
    sex: gender
    phone: phone_number
    address: address
- kind: texts
  name: notes
  collection: notes
  source:
    kind: text
    folder: notes
    files: ["*.txt"]
    id_pattern: '{NOTE_PATTERN}'
  models: [names]
  fields:
  - {{name: name, span: PATIENT, take: surest}}
  - {{name: hospital_no, span: ID, take: surest}}
  marks: {{birth_date: DATE, phone: PHONE}}
  risks: {{DATE: indirect, SMOKING: health}}
  table:
    columns:
    - {{name: smokes, span: SMOKING, as: {{kind: present}}}}
rounds: 2
load:
  version: 1
  population:
    id: people
{_LIMITS}\
  dataset: hospital
  snapshot_date: {LAST_DAY}
  tables:
    - name: admissions
      unit_column: patient_key
{_ADMISSIONS.replace("KEY", "patient_key")}\
    - name: laboratory
      unit_column: patient_key
      max_rows_per_unit: 6
      source: a sample is a row
      columns:
      - {{name: patient_key, type: integer, nullable: false}}
      - name: test
        type: text
        domain: {{values: [HbA1c, Potassium], other: true}}
        source: list of tests
    - name: notes
      unit_column: patient_key
      max_rows_per_unit: 20
      source: notes of wards
      columns:
      - {{name: patient_key, type: integer, nullable: false}}
      - {{name: smokes, type: boolean, nullable: false}}
"""
COPY = """\
# A copy of the notes for others: no differential privacy.
population: people
name: mining
collection: notes
finder: names
linked: {files: [crosswalk.csv], source: notes}
profile: full
replacement: surrogate
types: {PATIENT: name, ID: record_number, SMOKING: none}
known:
  table: {files: [view.csv]}
  patient: key
  attributes: {name: name, phone: phone, address: street}
"""
IN_ADMISSIONS = "SELECT COUNT(DISTINCT {unit}) AS patients FROM admissions"
BOTH = (
    "SELECT COUNT(DISTINCT patient_key) AS patients FROM laboratory "
    "WHERE test = 'HbA1c' AND patient_key IN (SELECT patient_key FROM notes "
    "WHERE smokes)"
)
