"""The records of 130 hospitals as two tables: patients by their first stay, and stays.

Data: UCI data set 296, Diabetes 130-US hospitals (docs/tutorial-diabetes.md), read
from ``diabetes130/diabetic_data.csv.gz`` of a folder of shared data. What groups ask
about is one value of a short public list each, so that every table has declared cells.
"""

import csv
import gzip
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import duckdb
import yaml

SOURCE: Final = Path("diabetes130") / "diabetic_data.csv.gz"
UNIT: Final = "patient_nbr"
MOST_STAYS: Final = 20
"""Of a patient: rows beyond are left out, as in examples/diabetes130.yaml."""

AGES: Final = tuple(f"{low}-{low + 9}" for low in range(0, 100, 10))
LISTS: Final[Mapping[str, tuple[str, ...]]] = {
    "gender": ("Female", "Male"),
    "race": ("Caucasian", "AfricanAmerican", "Hispanic", "Asian"),
    "age_band": AGES,
    "admission": ("emergency", "urgent", "elective"),
    "diagnosis": (
        *("circulatory", "respiratory", "digestive", "diabetes", "injury"),
        *("musculoskeletal", "genitourinary", "neoplasms"),
    ),
    "a1c": ("none", "normal", "over 7", "over 8"),
    "insulin": ("No", "Steady", "Up", "Down"),
    "metformin": ("No", "Steady", "Up", "Down"),
    "readmitted": ("within 30 days", "later", "no"),
}
"""The declared values of each column; those with ``OTHER`` have one more, ``other``."""

OTHER: Final = frozenset({"gender", "race", "admission", "diagnosis"})
NULLABLE: Final = frozenset({"race"})
NUMBERS: Final[Mapping[str, tuple[int, int]]] = {
    "days": (1, 14),
    "medications": (0, 100),
}
OF_A_STAY: Final = (
    *("admission", "diagnosis", "a1c", "insulin", "metformin", "readmitted"),
    *NUMBERS,
)
OF_A_PATIENT: Final = ("gender", "race", "age_band", *OF_A_STAY)
COLUMNS: Final = {"patients": OF_A_PATIENT, "stays": OF_A_STAY}

_ADMISSIONS: Final = {"1": "emergency", "2": "urgent", "3": "elective"}
_A1C: Final = {"None": "none", "Norm": "normal", ">7": "over 7", ">8": "over 8"}
_READMITTED: Final = {"<30": "within 30 days", ">30": "later", "NO": "no"}
_CHAPTERS: Final = (  # Strack et al. 2014, table 2: by the primary ICD-9 code
    ("circulatory", ((390, 459), (785, 785))),
    ("respiratory", ((460, 519), (786, 786))),
    ("digestive", ((520, 579), (787, 787))),
    ("diabetes", ((250, 250),)),
    ("injury", ((800, 999),)),
    ("musculoskeletal", ((710, 739),)),
    ("genitourinary", ((580, 629), (788, 788))),
    ("neoplasms", ((140, 239),)),
)


def write_tables(shared: Path, folder: Path) -> None:
    """Write ``patients.csv`` and ``stays.csv`` of the shared data into a folder."""
    with gzip.open(shared / SOURCE, "rt", newline="") as file:
        stays = [_stay(row) for row in csv.DictReader(file)]
    stays.sort(key=lambda stay: int(stay["encounter_id"]))
    first: dict[str, dict[str, str]] = {}
    for stay in stays:
        first.setdefault(stay[UNIT], stay)
    _write(folder / "stays.csv", ("encounter_id", UNIT, *OF_A_STAY), stays)
    _write(folder / "patients.csv", (UNIT, *OF_A_PATIENT), first.values())


def _write(
    path: Path, names: tuple[str, ...], rows: Iterable[Mapping[str, str]]
) -> None:
    with path.open("w", newline="") as file:
        out = csv.DictWriter(file, names, extrasaction="ignore")
        out.writeheader()
        out.writerows(rows)


def _stay(row: Mapping[str, str]) -> dict[str, str]:
    low = int(row["age"].strip("[)").split("-")[0])
    return {
        "encounter_id": row["encounter_id"],
        UNIT: row["patient_nbr"],
        "gender": _listed("gender", row["gender"]),
        "race": "" if row["race"] == "?" else _listed("race", row["race"]),
        "age_band": f"{low}-{low + 9}",
        "admission": _ADMISSIONS.get(row["admission_type_id"], "other"),
        "diagnosis": _chapter(row["diag_1"]),
        "a1c": _A1C[row["A1Cresult"]],
        "insulin": row["insulin"],
        "metformin": row["metformin"],
        "readmitted": _READMITTED[row["readmitted"]],
        "days": row["time_in_hospital"],
        "medications": row["num_medications"],
    }


def _listed(column: str, value: str) -> str:
    return value if value in LISTS[column] else "other"


def _chapter(code: str) -> str:
    whole = code.split(".", maxsplit=1)[0]
    if whole.isdigit():
        for name, ranges in _CHAPTERS:
            if any(low <= int(whole) <= high for low, high in ranges):
                return name
    return "other"


def manifest(measure: Mapping[str, object]) -> str:
    """Return the manifest of both tables; its population counts ``measure``."""
    population = {
        "id": "people",
        "unit": "patient",
        "unit_type": "integer",
        "max_units": 100_000,
        "source": "benchmark",
        **measure,
    }
    tables = [
        _table("patients", [UNIT], 1, 100_000),
        _table("stays", ["encounter_id"], MOST_STAYS, 200_000),
    ]
    document = {
        "version": 1,
        "population": population,
        "dataset": "diabetes130",
        "snapshot_date": "2008-12-31",
        "linked": "by the publishers",
        "tables": tables,
    }
    return yaml.safe_dump(document, sort_keys=False)


def _table(name: str, key: list[str], most: int, rows: int) -> dict[str, object]:
    ids = dict.fromkeys((UNIT, *key))
    keys = [{"name": one, "type": "integer", "nullable": False} for one in ids]
    return {
        "name": name,
        "files": [f"{name}.csv"],
        "unit_column": UNIT,
        "key": key,
        "max_rows_per_unit": most,
        "max_rows": rows,
        "source": "benchmark",
        "columns": [*keys, *map(_column, COLUMNS[name])],
    }


def _column(name: str) -> dict[str, object]:
    column: dict[str, object] = {"name": name, "nullable": name in NULLABLE}
    if name in NUMBERS:
        low, high = NUMBERS[name]
        column |= {"type": "integer", "domain": {"min": low, "max": high}}
    else:
        domain: dict[str, object] = {"values": list(LISTS[name])}
        column |= {"type": "text", "domain": domain}
        if name in OTHER:
            domain["other"] = True
    return {**column, "source": "Strack et al. 2014"}


def opened(folder: Path) -> duckdb.DuckDBPyConnection:
    """Return a database of the written tables: what is true, for whoever may look."""
    connection = duckdb.connect()
    for name in COLUMNS:
        connection.execute(
            f"CREATE TABLE {name} AS SELECT * FROM read_csv('{folder / name}.csv')"
        )
    return connection
