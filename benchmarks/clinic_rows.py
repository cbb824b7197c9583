"""Made-up rows of the benchmarks' clinic, as a snapshot file in the stored layout.

Everything is drawn by DuckDB's hash of a row's number and a salt, so a size gives the
same rows each time. Diagnoses of a patient: two geometric draws, eight on average and
forty at most; codes are skewed, days uniform.
"""

from pathlib import Path
from typing import Final

import duckdb

from benchmarks.clinic import CODES, DRUGS, FIRST_DAY, LAST_DAY, MOST_ROWS

MEAN_ROWS: Final = 8  # diagnoses of a patient
_DAYS = (LAST_DAY - FIRST_DAY).days + 1
_UNIFORM = (
    "CREATE MACRO uniform(number, salt) AS"
    " ((hash(number * 64 + salt) >> 11) + 1) / 9007199254740993.0"
)
_PATIENTS = """
CREATE TABLE raw_patients AS
SELECT i, CAST(hash(i, 'unit') >> 1 AS BIGINT) AS unit_key,
  CAST(hash(i, 'patients') >> 1 AS BIGINT) AS row_hash,
  CAST(floor(uniform(i, 1) * 101) AS BIGINT) AS age,
  CASE WHEN uniform(i, 2) < 0.51 THEN 'F' ELSE 'M' END AS sex,
  CAST(100 + CAST(floor(uniform(i, 3) * 50) AS BIGINT) AS VARCHAR) AS zip3
FROM range(?) AS numbers(i)
"""
_STORED_PATIENTS = """
CREATE TABLE snapshot.patients AS
SELECT unit_key, row_hash, CAST(1 AS INTEGER) AS row_rank, age, sex, zip3
FROM raw_patients ORDER BY unit_key
"""
_COUNTED = """
SELECT unit_key, unnest(range(CAST(least({most}, {draws}) AS BIGINT))) AS j, i
FROM raw_patients
"""
_DRAW = "floor(ln(uniform(i, {salt})) / ln({stay}))"
_DIAGNOSES = """
CREATE TABLE snapshot.diagnoses AS
SELECT unit_key, row_hash,
  CAST(row_number() OVER (PARTITION BY unit_key ORDER BY row_hash) AS INTEGER)
    AS row_rank,
  icd, CAST(year(day) AS BIGINT) AS year, day, cost
FROM (
  SELECT unit_key, CAST(hash(n, 'diagnoses') >> 1 AS BIGINT) AS row_hash,
    CAST($codes AS VARCHAR[])[CAST(floor(pow({codes} + 1, uniform(n, 4))) AS BIGINT)]
      AS icd,
    $first + CAST(floor(uniform(n, 5) * {days}) AS INTEGER) AS day,
    CAST(least(1000000, round(-15000 * ln(uniform(n, 6) * uniform(n, 7)))) AS BIGINT)
      AS cost
  FROM (SELECT unit_key, i * 64 + j AS n FROM ({counted}))
) ORDER BY unit_key, row_rank
"""
_PRESCRIPTIONS = """
CREATE TABLE snapshot.prescriptions AS
SELECT unit_key, row_hash,
  CAST(row_number() OVER (PARTITION BY unit_key ORDER BY row_hash) AS INTEGER)
    AS row_rank, drug, day
FROM (
  SELECT unit_key, CAST(hash(n, 'prescriptions') >> 1 AS BIGINT) AS row_hash,
    CAST($drugs AS VARCHAR[])[1 + CAST(floor(uniform(n, 8) * {drugs}) AS BIGINT)]
      AS drug,
    $first + CAST(floor(uniform(n, 9) * {days}) AS INTEGER) AS day
  FROM (SELECT unit_key, i * 64 + j AS n FROM ({counted}))
) ORDER BY unit_key, row_rank
"""


def write_snapshot(path: Path, diagnoses: int) -> None:
    """Write a snapshot with about that many diagnoses, and half as many drugs."""
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS snapshot")
        connection.execute(_UNIFORM)
        connection.execute(_PATIENTS, [diagnoses // MEAN_ROWS])
        connection.execute(_STORED_PATIENTS)
        connection.execute(
            _DIAGNOSES.format(codes=len(CODES), days=_DAYS, counted=_counted(10, 11)),
            {"codes": list(CODES), "first": FIRST_DAY},
        )
        connection.execute(
            _PRESCRIPTIONS.format(drugs=len(DRUGS), days=_DAYS, counted=_counted(12)),
            {"drugs": list(DRUGS), "first": FIRST_DAY},
        )
        connection.execute("DETACH snapshot")


def _counted(*salts: int) -> str:
    """Return SQL with a row for each event: a geometric number of them a salt."""
    mean = MEAN_ROWS / 2
    stay = mean / (mean + 1)
    draws = " + ".join(_DRAW.format(salt=salt, stay=stay) for salt in salts)
    return _COUNTED.format(most=MOST_ROWS, draws=draws)
