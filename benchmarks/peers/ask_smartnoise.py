"""SmartNoise SQL on PostgreSQL, by patient, eight rows of each."""

import warnings
from pathlib import Path

import psycopg2
from timing import arguments, measure

warnings.filterwarnings("ignore")
from snsql import Privacy, from_connection  # noqa: E402 - its warnings come first

folder, code, kept, dsn = arguments()
connection = psycopg2.connect(dsn)
cursor = connection.cursor()
cursor.execute("CREATE TABLE patients (patient_id bigint, age int, sex text, cost int)")
cursor.execute(
    "CREATE TABLE diag (patient_id bigint, icd text, yr int, cost int)"
)  # its grammar keeps YEAR for itself
for file, table in (("patients", "patients"), ("diagnoses", "diag")):
    with (Path(folder) / f"{file}.csv").open() as rows:
        cursor.copy_expert(f"COPY {table} FROM STDIN WITH (FORMAT csv, HEADER)", rows)
cursor.execute("CREATE INDEX ON patients (patient_id)")
cursor.execute(
    "CREATE VIEW joined AS SELECT d.patient_id, d.icd, d.yr, p.sex FROM diag d"
    " JOIN patients p ON d.patient_id = p.patient_id"
)  # its subset has no join of two private tables
connection.commit()
connection.autocommit = True
cursor.execute("ANALYZE")

_NUMBER = {"type": "int", "lower": 0, "upper": 3000}
_COLUMNS = {
    "diag": {"icd": {"type": "string"}, "yr": _NUMBER},
    "patients": {"age": _NUMBER, "sex": {"type": "string"}},
    "joined": {"icd": {"type": "string"}, "yr": _NUMBER, "sex": {"type": "string"}},
}


def reader(table, most):
    """Return SmartNoise's reader of one table."""
    described = {
        "max_ids": most,
        "censor_dims": False,
        "patient_id": {"type": "int", "private_id": True},
        **_COLUMNS[table],
    }
    return from_connection(
        connection,
        privacy=Privacy(epsilon=1.0, delta=1e-6),
        metadata={"": {"public": {table: described}}},
        engine="postgres",
    )


rows, people, joined = reader("diag", int(kept)), reader("patients", 1), None
joined = reader("joined", int(kept))
for question, asked, sql in (
    ("Q1", rows, "SELECT COUNT(*) AS n FROM public.diag"),
    (
        "Q2",
        people,
        "SELECT COUNT(*) AS n FROM public.patients WHERE age >= 50 AND sex = 'F'",
    ),
    (
        "Q3",
        rows,
        f"SELECT COUNT(DISTINCT patient_id) AS n FROM public.diag WHERE icd = '{code}'",
    ),
    ("Q4", rows, "SELECT yr, COUNT(*) AS n FROM public.diag GROUP BY yr"),
    (
        "Q5",
        joined,
        "SELECT icd, sex, COUNT(*) AS n FROM public.joined GROUP BY icd, sex",
    ),
):
    measure(question, lambda asked=asked, sql=sql: asked.execute(sql))
