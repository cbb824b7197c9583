"""The rows that every tool is asked about, as Parquet and CSV files.

Drawn by DuckDB's hash of a row's number, so that a size gives the same rows each time:
eight diagnoses for each patient on average, forty at most, 200 codes with a skew,
21 years.
"""

from pathlib import Path

import duckdb

from benchmarks.peers.facts import CODES, MOST_ROWS

_MEAN_ROWS = 8

_UNIFORM = (
    "CREATE MACRO uniform(number, salt) AS"
    " ((hash(number * 64 + salt) >> 11) + 1) / 9007199254740993.0"
)
_PATIENTS = """
CREATE TABLE patients AS
SELECT i + 1 AS patient_id, CAST(floor(uniform(i, 1) * 101) AS BIGINT) AS age,
  CASE WHEN uniform(i, 2) < 0.51 THEN 'F' ELSE 'M' END AS sex,
  CAST(floor(uniform(i, 3) * 1000) AS BIGINT) AS cost
FROM range($patients) AS numbers(i)
"""
_DRAW = "floor(ln(uniform(patient_id, {salt})) / ln(0.8))"
_DIAGNOSES = f"""
CREATE TABLE diagnoses AS
SELECT patient_id,
  CAST($codes AS VARCHAR[])[CAST(floor(pow(201, uniform(n, 4))) AS BIGINT)] AS icd,
  CAST(2000 + floor(uniform(n, 5) * 21) AS BIGINT) AS "year",
  CAST(floor(uniform(n, 6) * 1000) AS BIGINT) AS cost
FROM (
  SELECT patient_id, patient_id * 64 + unnest(range(CAST(
    least({MOST_ROWS}, {_DRAW.format(salt=7)} + {_DRAW.format(salt=8)}) AS BIGINT
  ))) AS n FROM patients
) ORDER BY hash(n)
"""


def write_tables(folder: Path, rows: int) -> None:
    """Write patients and diagnoses, about ``rows`` of these, once."""
    if (folder / "diagnoses.csv").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.execute(_UNIFORM)
        connection.execute(_PATIENTS, {"patients": rows // _MEAN_ROWS})
        connection.execute(_DIAGNOSES, {"codes": list(CODES)})
        for table in ("patients", "diagnoses"):
            for kind in ("parquet", "csv"):
                connection.execute(f"COPY {table} TO '{folder / table}.{kind}'")
