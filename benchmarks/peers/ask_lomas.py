"""lomas-server over HTTP with its SmartNoise route, by patient, eight rows of each.

Its admin database is a YAML file held in memory: nothing durable is written.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import httpx
import yaml
from timing import arguments, measure, say

SERVE = (
    "import sys, uvicorn;"
    " uvicorn.run('lomas_server.app:app', port=int(sys.argv[1]), log_level='warning')"
)
folder, code, kept, port = arguments()
work = Path(folder) / "lomas"
work.mkdir(exist_ok=True)
for table in ("patients", "diagnoses"):
    head, _, rest = (Path(folder) / f"{table}.csv").read_text().partition("\n")
    (work / f"{table}.csv").write_text(f"{head.replace('year', 'yr')}\n{rest}")


def written(name, value):
    """Write a YAML file; return its path."""
    path = work / name
    path.write_text(yaml.safe_dump(value))
    return str(path)


def number(upper):
    """Describe an integer column."""
    return {"type": "int", "precision": 64, "lower": 0, "upper": upper}


COLUMNS = {
    "patients": {"age": number(100), "sex": {"type": "string"}, "cost": number(1000)},
    "diagnoses": {
        "icd": {"type": "string"},
        "yr": number(3000),
        "cost": number(1000),
    },
}
datasets, granted = [], []
for table, columns in COLUMNS.items():
    metadata = written(
        f"{table}.yaml",
        {
            "max_ids": int(kept) if table == "diagnoses" else 1,
            "rows": 1_000_000,
            "row_privacy": False,
            "censor_dims": False,
            "columns": {
                "patient_id": {"private_id": True, **number(10**7)},
                **columns,
            },
        },
    )
    source = {"database_type": "PATH_DB", "path": str(work / f"{table}.csv")}
    described = {"database_type": "PATH_DB", "path": metadata}
    datasets.append(
        {
            "dataset_name": table,
            "dataset_access": source,
            "metadata_access": described,
        }
    )
    granted.append(
        {
            "dataset_name": table,
            "initial_epsilon": 1e6,
            "initial_delta": 1.0,
            "total_spent_epsilon": 0.0,
            "total_spent_delta": 0.0,
        }
    )
user = {"user_name": "bench", "may_query": True, "datasets_list": granted}
admin = written(
    "admin.yaml",
    {"users": [user], "datasets": datasets, "queries": [], "metadata": {}},
)
settings = {
    "develop_mode": False,
    "submit_limit": 300,
    "server": {
        "time_attack": {"method": "jitter", "magnitude": 0.0},
        "host_ip": "127.0.0.1",
        "host_port": int(port),
        "log_level": "warning",
        "reload": False,
        "workers": 1,
    },
    "admin_database": {"db_type": "yaml", "db_file": admin},
    "private_db_credentials": [],
    "dp_libraries": {
        "opendp": {"contrib": True, "floating_point": True, "honest_but_curious": True}
    },
}
environment = {
    **os.environ,
    "LOMAS_CONFIG_PATH": written(
        "runtime.yaml", {"runtime_args": {"settings": settings}}
    ),
    "LOMAS_SECRETS_PATH": written("secrets.yaml", {"admin_database": {}}),
    "OTEL_SDK_DISABLED": "true",
    "PYTHONWARNINGS": "ignore",
}
server = subprocess.Popen(
    [sys.executable, "-c", SERVE, port], env=environment, stdout=subprocess.DEVNULL
)
client = httpx.Client(
    base_url=f"http://127.0.0.1:{port}", timeout=120, headers={"user-name": "bench"}
)


def ready():
    """Wait until it answers."""
    for _ in range(1200):
        try:
            client.get("/state")
        except httpx.TransportError:
            if server.poll() is not None:
                break
            time.sleep(0.1)
        else:
            return
    message = "the server did not start"
    raise RuntimeError(message)


def ask(table, sql):
    """Ask one question."""
    body = {
        "dataset_name": table,
        "query_str": sql,
        "epsilon": 1.0,
        "delta": 1e-6,
        "mechanisms": {"count": "laplace"},
        "postprocess": True,
    }
    client.post("/smartnoise_sql_query", json=body).raise_for_status()


try:
    ready()
    for question, table, sql in (
        ("Q1", "diagnoses", "SELECT COUNT(*) AS n FROM df"),
        (
            "Q2",
            "patients",
            "SELECT COUNT(*) AS n FROM df WHERE age >= 50 AND sex = 'F'",
        ),
        (
            "Q3",
            "diagnoses",
            f"SELECT COUNT(DISTINCT patient_id) AS n FROM df WHERE icd = '{code}'",
        ),
        ("Q4", "diagnoses", "SELECT yr, COUNT(*) AS n FROM df GROUP BY yr"),
    ):
        measure(question, lambda table=table, sql=sql: ask(table, sql))
    say("Q5", error="a data set is one file: no join of two")
finally:
    server.terminate()
    server.wait(30)
