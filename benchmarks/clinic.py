"""The benchmarks' public schema, and questions over it beside plain SQL of their shape.

Five questions that other tools of differential privacy are measured by too (rows,
patients, patients with one code, by year, by code and sex over a join), and cohort
questions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final

from privacy.contributions import NO_BOUNDS, ContributionBounds
from privacy.schema import (
    Column,
    ColumnType,
    Dataset,
    RangeDomain,
    Table,
    ValuesDomain,
)

DIABETES: Final = tuple(f"E11.{digit}" for digit in range(10))
STROKES: Final = tuple(f"I63.{digit}" for digit in range(10))
_OTHER_CODES = tuple(
    f"{letter}{number}.{number % 10}"
    for letter in "ABCDFGHJKLMNOPQRST"
    for number in range(20, 30)
)
CODES: Final = tuple(
    code
    for code in (*DIABETES[:1], *_OTHER_CODES, *DIABETES[1:], *STROKES)
    if code is not None
)
DRUGS: Final = ("metformin", "insulin", "aspirin", "statin")
FIRST_YEAR, LAST_YEAR = 2000, 2020
FIRST_DAY, LAST_DAY = date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31)
MOST_ROWS = 40
KEPT_ROWS = 8  # that the bounded questions keep of each patient

_T = ColumnType
_UNIT = Column("patient_id", _T.INTEGER, nullable=False)
_DAY = Column("day", _T.DATE, nullable=False, domain=RangeDomain(FIRST_DAY, LAST_DAY))
PATIENTS = Table(
    "patients",
    (
        _UNIT,
        Column("age", _T.INTEGER, nullable=False, domain=RangeDomain(0, 100)),
        Column("sex", _T.TEXT, nullable=False, domain=ValuesDomain(("F", "M"))),
        Column(
            "zip3",
            _T.TEXT,
            nullable=False,
            domain=ValuesDomain(tuple(str(number) for number in range(100, 150))),
        ),
    ),
    unit_column="patient_id",
    max_rows_per_unit=1,
    key=("patient_id",),
)
DIAGNOSES = Table(
    "diagnoses",
    (
        _UNIT,
        Column("icd", _T.TEXT, nullable=False, domain=ValuesDomain(CODES)),
        Column(
            "year",
            _T.INTEGER,
            nullable=False,
            domain=RangeDomain(FIRST_YEAR, LAST_YEAR),
        ),
        _DAY,
        Column(
            "cost", _T.DECIMAL, scale=2, nullable=False, domain=RangeDomain(0, 10_000)
        ),
    ),
    unit_column="patient_id",
    max_rows_per_unit=MOST_ROWS,
)
PRESCRIPTIONS = Table(
    "prescriptions",
    (
        _UNIT,
        Column("drug", _T.TEXT, nullable=False, domain=ValuesDomain(DRUGS)),
        _DAY,
    ),
    unit_column="patient_id",
    max_rows_per_unit=MOST_ROWS,
)
TABLES: Final = (PATIENTS, DIAGNOSES, PRESCRIPTIONS)
DATASET: Final = Dataset(
    name="clinic",
    population="people",
    unit="patient",
    snapshot_date=LAST_DAY,
    tables={table.name: table for table in TABLES},
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A question of ours beside SQL that somebody would write by hand.

    Attributes:
        name: In the printed table.
        asked: A text of our language.
        plain: The same rows by DuckDB's own SQL, over the stored columns.
        bounds: That the question asks for; ``plain`` keeps the same rows.
    """

    name: str
    asked: str
    plain: str
    bounds: ContributionBounds = NO_BOUNDS


_KEPT = ContributionBounds(tables=(("diagnoses", KEPT_ROWS),))
_BELOW = f"row_rank <= {KEPT_ROWS}"

FIVE: Final = (
    Comparison(
        "Q1 rows",
        "SELECT COUNT(*) FROM diagnoses",
        "SELECT count(*) FROM diagnoses",
    ),
    Comparison(
        "Q2 patients",
        "SELECT COUNT(*) FROM patients WHERE age >= 50 AND sex = 'F'",
        "SELECT count(*) FROM patients WHERE age >= 50 AND sex = 'F'",
    ),
    Comparison(
        "Q3 patients with a code",
        "SELECT COUNT(DISTINCT patient_id) FROM diagnoses WHERE icd = 'E11.3'",
        "SELECT count(DISTINCT unit_key) FROM diagnoses WHERE icd = 'E11.3'",
    ),
    Comparison(
        "Q4 by year",
        "SELECT year, COUNT(*) FROM diagnoses GROUP BY year",
        "SELECT year, count(*) FROM diagnoses GROUP BY year",
    ),
    Comparison(
        "Q5 by code and sex",
        "SELECT d.icd, p.sex, COUNT(*) FROM diagnoses d"
        " JOIN patients p ON d.patient_id = p.patient_id GROUP BY d.icd, p.sex",
        "SELECT icd, sex, count(*) FROM diagnoses JOIN patients USING (unit_key)"
        " GROUP BY icd, sex",
    ),
)
FIVE_BOUNDED: Final = (
    Comparison(
        f"Q1, {KEPT_ROWS} rows a patient",
        FIVE[0].asked,
        f"SELECT count(*) FROM diagnoses WHERE {_BELOW}",
        _KEPT,
    ),
    Comparison(
        f"Q3, {KEPT_ROWS} rows a patient",
        FIVE[2].asked,
        "SELECT count(DISTINCT unit_key) FROM diagnoses"
        f" WHERE icd = 'E11.3' AND {_BELOW}",
        _KEPT,
    ),
    Comparison(
        f"Q4, {KEPT_ROWS} rows a patient",
        FIVE[3].asked,
        f"SELECT year, count(*) FROM diagnoses WHERE {_BELOW} GROUP BY year",
        _KEPT,
    ),
    Comparison(
        f"Q5, {KEPT_ROWS} rows a patient",
        FIVE[4].asked,
        "SELECT icd, sex, count(*) FROM diagnoses d JOIN patients p USING (unit_key)"
        f" WHERE d.{_BELOW} GROUP BY icd, sex",
        _KEPT,
    ),
)

_COHORT = """
WITH diabetes AS (
  SELECT patient_id, MIN(day) AS first_day
  FROM diagnoses WHERE icd LIKE 'E11%'
  GROUP BY patient_id HAVING COUNT(*) >= 2
)
SELECT age_band(p.age, 10) AS band, EXTRACT(MONTH FROM c.first_day) AS month,
  COUNT(DISTINCT c.patient_id) AS patients
FROM diabetes c JOIN patients p ON p.patient_id = c.patient_id
WHERE EXISTS (
    SELECT * FROM prescriptions r WHERE r.patient_id = c.patient_id
    AND r.drug = 'metformin' AND r.day BETWEEN c.first_day AND c.first_day + 90)
  AND NOT EXISTS (
    SELECT * FROM diagnoses s WHERE s.patient_id = c.patient_id
    AND s.icd LIKE 'I63%' AND s.day < c.first_day)
GROUP BY age_band(p.age, 10), EXTRACT(MONTH FROM c.first_day)
"""
_PLAIN_BAND = "(age // 10 * 10) || '-' || (age // 10 * 10 + 9)"
_PLAIN_COHORT = f"""
WITH diabetes AS (
  SELECT unit_key, min(day) AS first_day
  FROM diagnoses WHERE icd LIKE 'E11%'
  GROUP BY unit_key HAVING count(*) >= 2
)
SELECT {_PLAIN_BAND} AS band, month(c.first_day) AS month, count(DISTINCT c.unit_key)
FROM diabetes c JOIN patients p ON p.unit_key = c.unit_key
WHERE EXISTS (
    SELECT 1 FROM prescriptions r WHERE r.unit_key = c.unit_key
    AND r.drug = 'metformin' AND r.day BETWEEN c.first_day AND c.first_day + 90)
  AND NOT EXISTS (
    SELECT 1 FROM diagnoses s WHERE s.unit_key = c.unit_key
    AND s.icd LIKE 'I63%' AND s.day < c.first_day)
GROUP BY band, month
"""
_JOINED = """
SELECT age_band(p.age, 10) AS band, COUNT(DISTINCT d.patient_id) AS patients
FROM (
  SELECT patient_id, MIN(day) AS first_day, COUNT(*) AS codes
  FROM diagnoses WHERE icd LIKE 'E11%' GROUP BY patient_id
) d
JOIN patients p ON p.patient_id = d.patient_id
JOIN prescriptions r ON r.patient_id = d.patient_id
WHERE d.codes >= 2 AND r.drug = 'metformin'
  AND r.day BETWEEN d.first_day AND d.first_day + 90
GROUP BY age_band(p.age, 10)
"""
_PLAIN_JOINED = f"""
SELECT {_PLAIN_BAND} AS band, count(DISTINCT d.unit_key)
FROM (
  SELECT unit_key, min(day) AS first_day, count(*) AS codes
  FROM diagnoses WHERE icd LIKE 'E11%' GROUP BY unit_key
) d
JOIN patients p ON p.unit_key = d.unit_key
JOIN prescriptions r ON r.unit_key = d.unit_key
WHERE d.codes >= 2 AND r.drug = 'metformin'
  AND r.day BETWEEN d.first_day AND d.first_day + 90
GROUP BY band
"""
_NUMBERED = """
SELECT f.year, p.sex, COUNT(*) AS patients
FROM (
  SELECT patient_id, year
  FROM (
    SELECT patient_id, year,
      ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day) AS place
    FROM diagnoses WHERE icd LIKE 'E11%'
  ) n
  WHERE place = 1
) f
JOIN patients p ON p.patient_id = f.patient_id
GROUP BY f.year, p.sex
"""
_PLAIN_NUMBERED = """
SELECT f.year, p.sex, count(*)
FROM (
  SELECT unit_key, year FROM diagnoses WHERE icd LIKE 'E11%'
  QUALIFY row_number() OVER (PARTITION BY unit_key ORDER BY day, row_hash) = 1
) f
JOIN patients p ON p.unit_key = f.unit_key
GROUP BY f.year, p.sex
"""
_MEMBERS = """
SELECT sex, SUM(age) AS years, COUNT(*) AS patients FROM patients
WHERE patient_id IN (SELECT patient_id FROM diagnoses WHERE icd LIKE 'E11%')
  AND patient_id IN (
    SELECT patient_id FROM prescriptions WHERE drug = 'metformin'
    GROUP BY patient_id HAVING COUNT(*) >= 2)
GROUP BY sex
"""
_PLAIN_MEMBERS = """
SELECT sex, sum(age), count(*) FROM patients
WHERE unit_key IN (SELECT unit_key FROM diagnoses WHERE icd LIKE 'E11%')
  AND unit_key IN (
    SELECT unit_key FROM prescriptions WHERE drug = 'metformin'
    GROUP BY unit_key HAVING count(*) >= 2)
GROUP BY sex
"""
COHORTS: Final = (
    Comparison("C1 cohort by band and month", _COHORT, _PLAIN_COHORT),
    Comparison("C2 cohort by joins", _JOINED, _PLAIN_JOINED),
    Comparison("C3 first diagnosis", _NUMBERED, _PLAIN_NUMBERED),
    Comparison("C4 members of two lists", _MEMBERS, _PLAIN_MEMBERS),
)
BY_NAME: Final[Mapping[str, Comparison]] = {
    each.name: each for each in (*FIVE, *FIVE_BOUNDED, *COHORTS)
}
