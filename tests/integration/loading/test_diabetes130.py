"""Real input: 101,766 encounters of 71,518 patients, loaded once, asked over HTTP."""

import csv
import gzip
import io
import shutil
from collections import Counter
from pathlib import Path

import duckdb
import pytest

from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)
from tests.support.noise.samplers import ZeroSampler
from upstream.manifests.manifest import load_manifest

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "diabetes130.yaml"


@pytest.fixture(scope="module")
def source_rows(test_data):
    packed = test_data / "diabetes130" / "diabetic_data.csv.gz"
    with gzip.open(packed, "rt", newline="") as file:
        return list(csv.DictReader(io.StringIO(file.read())))


@pytest.fixture(scope="module")
def diabetes(test_data, tmp_path_factory):
    """Return an installation with the example's data, and the load's report."""
    folder = tmp_path_factory.mktemp("diabetes")
    packed = test_data / "diabetes130" / "diabetic_data.csv.gz"
    with gzip.open(packed) as file, (folder / "diabetic_data.csv").open("wb") as out:
        shutil.copyfileobj(file, out)
    shutil.copy(EXAMPLE, folder)
    installation = Installation(folder).create()
    with installation.services() as services:
        loaded = LoadService(services, "local:test").load(
            folder / EXAMPLE.name, LoadChoices(), None
        )
    return installation, loaded


@pytest.fixture(scope="module")
def served(diabetes):
    installation, _ = diabetes
    return installation, installation.analyst(dataset="diabetes130", allotment="8")


@pytest.fixture
def connection(diabetes):
    installation, loaded = diabetes
    target = installation.data / "snapshots" / f"{loaded['snapshot']}.duckdb"
    with duckdb.connect(str(target), read_only=True) as connection:
        yield connection


@pytest.mark.long
@pytest.mark.slow
def test_the_report_counts_what_plain_python_counts(diabetes, source_rows):
    installation, loaded = diabetes
    (report,) = loaded["report"]["tables"]
    stays = Counter(row["patient_nbr"] for row in source_rows)
    assert report["rows_read"] == len(source_rows) == 101_766
    assert report["units"] == len(stays) == 71_518
    assert report["dropped_over_bound"] == sum(max(0, n - 20) for n in stays.values())
    assert report["rows_kept"] == sum(min(20, n) for n in stays.values())
    assert report["dropped_null_unit"] == report["deduplicated"] == 0
    (overlap,) = (installation.data / "overlap").iterdir()
    assert overlap.stat().st_size == 16 * 71_518


def mended(code):
    """Bring back the zeros that a spreadsheet took from ICD-9 codes."""
    return code.zfill(3) if code.isdigit() else code


@pytest.mark.long
@pytest.mark.slow
def test_every_column_of_the_file_is_declared(source_rows):
    (table,) = load_manifest(EXAMPLE).tables
    assert {c.file_columns[0] for c in table.columns} == source_rows[0].keys()
    assert len(table.columns) == 50
    without = {c.name for c in table.columns if not c.domain}
    booleans = {"medication_changed", "diabetes_medication"}
    assert without - booleans == {"encounter_id", "patient_nbr"}


@pytest.mark.long
@pytest.mark.slow
def test_stored_values_count_as_in_plain_python(connection, source_rows):
    stays = Counter(row["patient_nbr"] for row in source_rows)
    light = [row for row in source_rows if stays[row["patient_nbr"]] <= 20]
    few = "unit_key NOT IN (SELECT unit_key FROM encounters WHERE row_rank = 20)"
    fewer = [row for row in light if stays[row["patient_nbr"]] < 20]

    def stored(expression):
        query = f"SELECT {expression}, count(*) FROM encounters WHERE {few} GROUP BY 1"
        return dict(connection.sql(query).fetchall())

    assert stored("race") == Counter(
        {"?": None, "Other": "other"}.get(r["race"], r["race"]) for r in fewer
    )
    assert stored("age_band") == Counter(
        f"{a}-{a + 9}" for a in (int(r["age"].strip("[)").split("-")[0]) for r in fewer)
    )
    for name in ("diag_1", "diag_2", "diag_3"):
        assert stored(name) == Counter(
            None if r[name] == "?" else mended(r[name]) for r in fewer
        )
    assert stored("medication_changed") == Counter(r["change"] == "Ch" for r in fewer)
    assert stored("num_medications") == Counter(
        min(int(r["num_medications"]), 100) for r in fewer
    )


@pytest.mark.long
@pytest.mark.slow
def test_no_unit_passes_its_bound(connection):
    assert connection.sql(
        "SELECT max(n), bool_and(n = top) FROM (SELECT count(*) AS n, "
        "max(row_rank) AS top FROM encounters GROUP BY unit_key)"
    ).fetchall() == [(20, True)]


@pytest.mark.long
@pytest.mark.slow
def test_patients_by_sex_are_those_of_the_file(served, source_rows):
    installation, key = served
    sql = "SELECT gender, COUNT(DISTINCT patient_nbr) FROM encounters GROUP BY gender"
    with serve_in_thread(installation, ZeroSampler) as url, client(url, key) as http:
        answer = ask(http, sql, dataset="diabetes130").json()
    counted = dict(answer["rows"])
    for sex in ("Female", "Male"):
        truth = {r["patient_nbr"] for r in source_rows if r["gender"] == sex}
        assert abs(counted[sex] - len(truth)) <= 3  # constant in unit: a few disagree


@pytest.mark.long
@pytest.mark.slow
def test_a_real_answer_is_noisy_within_what_it_says(served, source_rows):
    installation, key = served
    sql = (
        "SELECT COUNT(DISTINCT patient_nbr) FROM encounters"
        " WHERE time_in_hospital_days >= 7"
    )
    truth = len(
        {r["patient_nbr"] for r in source_rows if int(r["time_in_hospital"]) >= 7}
    )
    with serve_in_thread(installation) as url, client(url, key) as http:
        reply = ask(http, sql, dataset="diabetes130", epsilon="0.5")
    assert reply.status_code == 200, reply.text
    answer = reply.json()
    ((count,),) = answer["rows"]
    assert 0 < abs(count - truth) + 1 < 60  # exp(-30) to be further off
