"""Ordinary questions of epidemiologists, over the example manifests."""

from pathlib import Path

from engines.duckdb.engine import capacity
from server.configuration.settings import Settings
from server.use_cases.publishing.cost_settings import question_limits
from upstream.manifests.manifest import load_manifest

EXAMPLES = Path(__file__).parents[3] / "examples"
DATASETS = {
    "omop": EXAMPLES / "omop_cdm54.yaml",
    "star": EXAMPLES / "star_schema.yaml",
    "clinic": EXAMPLES / "clinic" / "clinic.yaml",
}


def schema_of(name):
    return load_manifest(DATASETS[name]).schema()


def default_limits(folder):
    """Return what a question may cost with default settings."""
    settings = Settings(data=folder / "d", anchor=folder / "a")
    return question_limits(settings, capacity(settings.executors))


OMOP = {
    "people by sex": "SELECT gender_concept_id, COUNT(*) FROM person GROUP BY 1",
    "people by decade of birth": (
        "SELECT age_band(year_of_birth, 10) AS decade, COUNT(*) FROM person GROUP BY 1"
    ),
    "visits by kind": (
        "SELECT visit_concept_id, COUNT(*) FROM visit_occurrence GROUP BY 1"
    ),
    "people by kind of visit": (
        "SELECT visit_concept_id, COUNT(DISTINCT person_id) FROM visit_occurrence"
        " GROUP BY 1"
    ),
    "length of stay": (
        "SELECT AVG(visit_end_date - visit_start_date) FROM"
        " visit_occurrence WHERE visit_concept_id = 9201"
    ),
    "people with a condition": (
        "SELECT COUNT(DISTINCT person_id) FROM condition_occurrence"
        " WHERE condition_concept_id IN (201826, 443238)"
    ),
    "condition by sex": (
        "SELECT p.gender_concept_id, COUNT(DISTINCT p.person_id) FROM person p"
        " JOIN condition_occurrence c ON c.person_id = p.person_id"
        " WHERE c.condition_concept_id = 201826 GROUP BY 1"
    ),
    "condition by name of its concept": (
        "SELECT COUNT(DISTINCT c.person_id) FROM condition_occurrence c JOIN concept o"
        " ON o.concept_id = c.condition_concept_id"
        " WHERE o.concept_name LIKE '%diabetes%'"
    ),
    "condition without a drug": (
        "SELECT COUNT(*) FROM person p WHERE p.person_id IN (SELECT person_id FROM"
        " condition_occurrence WHERE condition_concept_id = 201826) AND p.person_id"
        " NOT IN (SELECT person_id FROM drug_exposure WHERE drug_concept_id = 1503297)"
    ),
    "condition and drug by EXISTS": (
        "SELECT COUNT(*) FROM person p WHERE EXISTS (SELECT * FROM"
        " condition_occurrence c WHERE c.person_id = p.person_id AND"
        " c.condition_concept_id = 201826) AND NOT EXISTS (SELECT * FROM drug_exposure"
        " d WHERE d.person_id = p.person_id AND d.drug_concept_id = 1503297)"
    ),
    "drug within 90 days of a condition": (
        "SELECT COUNT(DISTINCT c.person_id) FROM condition_occurrence c JOIN"
        " drug_exposure d ON d.person_id = c.person_id AND d.drug_exposure_start_date"
        " BETWEEN c.condition_start_date AND c.condition_start_date + 90"
        " WHERE c.condition_concept_id = 201826 AND d.drug_concept_id = 1503297"
    ),
    "drug within 90 days of a first condition": (
        "WITH first AS (SELECT person_id, MIN(condition_start_date) AS day FROM"
        " condition_occurrence WHERE condition_concept_id = 201826 GROUP BY person_id)"
        " SELECT COUNT(DISTINCT f.person_id) FROM first f JOIN drug_exposure d ON"
        " d.person_id = f.person_id AND d.drug_exposure_start_date BETWEEN f.day AND"
        " f.day + 90 WHERE d.drug_concept_id = 1503297"
    ),
    "two conditions": (
        "SELECT COUNT(DISTINCT a.person_id) FROM condition_occurrence a JOIN"
        " condition_occurrence b ON a.person_id = b.person_id WHERE"
        " a.condition_concept_id = 201826 AND b.condition_concept_id = 320128"
    ),
    "a condition again within 30 days": (
        "SELECT COUNT(DISTINCT a.person_id) FROM condition_occurrence a WHERE EXISTS"
        " (SELECT * FROM condition_occurrence b WHERE b.person_id = a.person_id AND"
        " b.condition_concept_id = a.condition_concept_id AND b.condition_start_date >"
        " a.condition_start_date AND b.condition_start_date <="
        " a.condition_start_date + 30)"
    ),
    "readmitted within 30 days": (
        "WITH stays AS (SELECT person_id, visit_start_date, LAG(visit_end_date) OVER"
        " (PARTITION BY person_id ORDER BY visit_start_date) AS before FROM"
        " visit_occurrence WHERE visit_concept_id = 9201) SELECT COUNT(*) FROM stays"
        " WHERE visit_start_date - before <= 30"
    ),
    "three prescriptions at least": (
        "WITH many AS (SELECT person_id FROM drug_exposure WHERE drug_concept_id ="
        " 1503297 GROUP BY person_id HAVING COUNT(*) >= 3) SELECT COUNT(*) FROM many"
    ),
    "highest HbA1c": (
        "WITH worst AS (SELECT person_id, MAX(value_as_number) AS v FROM measurement"
        " WHERE measurement_concept_id = 3004410 GROUP BY person_id) SELECT"
        " MEDIAN(v) FROM worst"
    ),
    "last HbA1c by sex": (
        "WITH l AS (SELECT person_id, LAST(value_as_number ORDER BY measurement_date)"
        " AS v FROM measurement WHERE measurement_concept_id = 3004410 GROUP BY"
        " person_id) SELECT p.gender_concept_id, AVG(l.v) FROM l JOIN person p ON"
        " p.person_id = l.person_id GROUP BY 1"
    ),
    "measurements in the visit": (
        "SELECT COUNT(*) FROM measurement m JOIN visit_occurrence v ON v.person_id ="
        " m.person_id AND v.visit_occurrence_id = m.visit_occurrence_id WHERE"
        " v.visit_concept_id = 9203"
    ),
    "deaths within a year of a condition": (
        "SELECT COUNT(DISTINCT c.person_id) FROM condition_occurrence c JOIN death d ON"
        " d.person_id = c.person_id AND d.death_date <= c.condition_start_date + 365"
        " WHERE c.condition_concept_id = 4329847"
    ),
    "codes": (
        "SELECT COUNT(DISTINCT person_id) FROM condition_occurrence WHERE"
        " condition_source_value LIKE 'E11%'"
    ),
    "codes by a list": (
        "SELECT COUNT(DISTINCT person_id) FROM condition_occurrence WHERE"
        " condition_source_value IN ('E11.9', 'E11.65', 'E11.22')"
    ),
    "codes that hold a text": (
        "SELECT COUNT(DISTINCT person_id) FROM condition_occurrence WHERE"
        " condition_source_value LIKE '%E11%'"
    ),
    "five tables": (
        "SELECT p.gender_concept_id, COUNT(DISTINCT p.person_id) FROM person p JOIN"
        " observation_period o ON o.person_id = p.person_id JOIN condition_occurrence c"
        " ON c.person_id = p.person_id JOIN visit_occurrence v ON v.person_id ="
        " c.person_id AND v.visit_occurrence_id = c.visit_occurrence_id LEFT JOIN death"
        " d ON d.person_id = p.person_id WHERE c.condition_concept_id = 201826 GROUP"
        " BY 1"
    ),
    "in the period observed": (
        "SELECT COUNT(DISTINCT c.person_id) FROM condition_occurrence c JOIN"
        " observation_period o ON o.person_id = c.person_id AND c.condition_start_date"
        " BETWEEN o.observation_period_start_date AND o.observation_period_end_date"
    ),
    "drug and measurement": (
        "SELECT COUNT(DISTINCT d.person_id) FROM drug_exposure d JOIN measurement m ON"
        " m.person_id = d.person_id AND m.measurement_date >"
        " d.drug_exposure_start_date WHERE d.drug_concept_id = 1503297 AND"
        " m.measurement_concept_id = 3004410 AND m.value_as_number > 7"
    ),
}
STAR = {
    "events by chapter": (
        "SELECT icd_chapter(diagnosis), COUNT(DISTINCT patient_id) FROM fact_event"
        " GROUP BY 1"
    ),
    "events by clinic": (
        "SELECT w.clinic, COUNT(*), AVG(f.length_days) FROM fact_event f JOIN dim_ward"
        " w ON w.ward_code = f.ward_code GROUP BY 1"
    ),
    "events by sex and year": (
        "SELECT p.sex, EXTRACT(YEAR FROM f.event_date) AS y, COUNT(*) FROM fact_event"
        " f JOIN dim_patient p ON p.patient_id = f.patient_id GROUP BY 1, 2"
    ),
    "costs by age": (
        "SELECT age_band(age_years(p.birth_date, f.event_date), 10) AS band,"
        " SUM(f.cost) FROM fact_event f JOIN dim_patient p ON p.patient_id ="
        " f.patient_id GROUP BY 1"
    ),
    "median cost of diabetes": (
        "SELECT MEDIAN(cost) FROM fact_event WHERE diagnosis LIKE 'E11%'"
    ),
    "stroke after diabetes": (
        "SELECT COUNT(DISTINCT a.patient_id) FROM fact_event a JOIN fact_event b ON"
        " b.patient_id = a.patient_id AND b.event_date > a.event_date WHERE"
        " a.diagnosis LIKE 'E11%' AND b.diagnosis LIKE 'I63%'"
    ),
    "stroke within a year of diabetes": (
        "SELECT COUNT(DISTINCT a.patient_id) FROM fact_event a WHERE a.diagnosis LIKE"
        " 'E11%' AND EXISTS (SELECT * FROM fact_event b WHERE b.patient_id ="
        " a.patient_id AND b.diagnosis LIKE 'I63%' AND b.event_date BETWEEN"
        " a.event_date AND a.event_date + 365)"
    ),
    "no stroke the year before, rolled up": (
        "WITH d AS (SELECT patient_id, MIN(event_date) AS day FROM fact_event WHERE"
        " diagnosis LIKE 'E11%' GROUP BY patient_id HAVING COUNT(*) >= 2) SELECT"
        " COUNT(*) FROM d WHERE NOT EXISTS (SELECT * FROM fact_event s WHERE"
        " s.patient_id = d.patient_id AND s.diagnosis LIKE 'I63%' AND s.event_date"
        " BETWEEN d.day - 365 AND d.day)"
    ),
    "running cost": (
        "WITH r AS (SELECT patient_id, SUM(length_days) OVER (PARTITION BY patient_id"
        " ORDER BY event_date) AS days FROM fact_event) SELECT"
        " COUNT(DISTINCT patient_id) FROM r WHERE days > 100"
    ),
}
CLINIC = {
    "visits by drug": "SELECT level(drug, 'group'), COUNT(*) FROM visits GROUP BY 1",
    "visits by floor": (
        "SELECT w.floor, COUNT(*) FROM visits v JOIN wards w ON w.ward = v.ward"
        " GROUP BY 1"
    ),
    "readmitted": (
        "SELECT COUNT(DISTINCT a.person_id) FROM visits a JOIN visits b ON"
        " b.person_id = a.person_id AND b.visit_no = a.visit_no + 1"
    ),
    "smokers by chapter": (
        "SELECT icd_chapter(v.code), COUNT(DISTINCT v.person_id) FROM visits v JOIN"
        " persons p ON p.person_id = v.person_id WHERE p.smoker GROUP BY 1"
    ),
}
QUESTIONS = [
    (dataset, name, sql)
    for dataset, questions in (("omop", OMOP), ("star", STAR), ("clinic", CLINIC))
    for name, sql in questions.items()
]
