"""The manifest of the synthetic hospital."""

MANIFEST = """\
version: 1
population:
  id: hospital
  unit: patient
  unit_type: text
  epsilon_cap: "10"
  epsilon_per_query: {min: "0.001", max: "5"}
  max_units: 25000
  source: demo protocol, section 2
dataset: hospital
snapshot_date: 2025-12-31
display: {hide_below: 11}
tables:
- name: patients
  files: [patients.csv]
  unit_column: patient_id
  key: [patient_id]
  max_rows_per_unit: 1
  max_rows: 25000
  source: one master record for each patient
  columns:
  - {name: patient_id, type: text, nullable: false}
  - name: sex
    type: text
    nullable: false
    constant_in_unit: true
    domain: {values: [F, M], other: true}
    source: registration form
  - name: birth_year
    type: integer
    nullable: false
    constant_in_unit: true
    domain: {min: 1900, max: 2025}
    source: registration form
- name: encounters
  files: [encounters.csv]
  unit_column: patient_id
  key: [encounter_id]
  max_rows_per_unit: 20
  max_rows: 100000
  source: protocol, at most twenty stays of a patient are studied
  columns:
  - {name: encounter_id, type: integer, nullable: false}
  - {name: patient_id, type: text, nullable: false}
  - name: admitted
    type: date
    nullable: false
    domain: {min: 2020-01-01, max: 2025-12-31}
    source: study period
  - name: year
    type: integer
    nullable: false
    domain: {min: 2020, max: 2025}
    source: study period
  - name: age
    type: integer
    nullable: false
    domain: {min: 0, max: 120}
    source: human life span
  - name: department
    type: text
    nullable: false
    domain:
      values:
        [cardiology, pulmonology, internal, surgery, emergency, oncology, psychiatry]
      other: true
    source: list of departments
  - name: diagnosis_group
    type: text
    nullable: false
    domain:
      values:
        [circulatory, respiratory, endocrine, digestive, injury, neoplasm,
         genitourinary, mental]
      other: true
    source: groups of ICD-10 chapters
  - name: length_of_stay
    type: integer
    nullable: false
    domain: {min: 1, max: 90}
    source: protocol, stays over 90 days count as 90
  - name: discharged_to
    type: text
    domain: {values: [home, died]}
    source: discharge form
- name: diagnoses
  files: [diagnoses.csv]
  unit_column: patient_id
  max_rows_per_unit: 80
  max_rows: 200000
  source: protocol, four codes for each of twenty stays
  columns:
  - {name: encounter_id, type: integer, nullable: false}
  - {name: patient_id, type: text, nullable: false}
  - {name: code, type: text, nullable: false}
  - name: rank
    type: text
    nullable: false
    domain: {values: [main, secondary]}
    source: coding guideline
- name: prescriptions
  files: [prescriptions.parquet]
  unit_column: patient_id
  max_rows_per_unit: 40
  max_rows: 100000
  source: protocol, two drugs for each of twenty stays
  columns:
  - {name: patient_id, type: text, nullable: false}
  - name: started
    type: date
    nullable: false
    domain: {min: 2020-01-01, max: 2025-12-31}
    source: study period
  - name: drug
    type: text
    nullable: false
    domain:
      values:
        [metformin, insulin, ramipril, bisoprolol, atorvastatin, amoxicillin,
         salbutamol, paracetamol, ibuprofen, pantoprazole]
      other: true
    source: hospital formulary
  - name: days_supply
    type: integer
    nullable: false
    domain: {min: 1, max: 90}
    source: dispensing rules
- name: labs
  files: [labs.csv]
  unit_column: patient_id
  max_rows_per_unit: 40
  max_rows: 100000
  source: protocol, two results for each of twenty stays
  columns:
  - {name: patient_id, type: text, nullable: false}
  - name: taken
    type: date
    nullable: false
    domain: {min: 2020-01-01, max: 2025-12-31}
    source: study period
  - name: test
    type: text
    nullable: false
    domain: {values: [hba1c, creatinine, crp, haemoglobin]}
    source: laboratory catalogue
  - name: value
    type: decimal
    scale: 1
    domain: {min: 0, max: 500}
    source: measuring range of the laboratory
  - name: unit
    type: text
    nullable: false
    domain: {values: ["%", umol/L, mg/L, g/dL]}
    source: laboratory catalogue
  - {name: abnormal, type: boolean, nullable: false}
"""
