"""Plain DuckDB on its own tables: no privacy, no service. The floor."""

from pathlib import Path

import duckdb
from timing import arguments, measure

folder = Path(arguments()[0])
code = arguments()[1]
connection = duckdb.connect()
for table in ("patients", "diagnoses"):
    connection.execute(f"CREATE TABLE {table} AS FROM '{folder}/{table}.parquet'")
for question, sql in {
    "Q1": "SELECT COUNT(*) FROM diagnoses",
    "Q2": "SELECT COUNT(*) FROM patients WHERE age >= 50 AND sex = 'F'",
    "Q3": f"SELECT COUNT(DISTINCT patient_id) FROM diagnoses WHERE icd = '{code}'",
    "Q4": 'SELECT "year", COUNT(*) FROM diagnoses GROUP BY "year"',
    "Q5": "SELECT icd, sex, COUNT(*) FROM diagnoses JOIN patients"
    " USING (patient_id) GROUP BY icd, sex",
}.items():
    measure(question, lambda sql=sql: connection.execute(sql).fetchall())
