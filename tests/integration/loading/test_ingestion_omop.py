"""The OMOP template on 28 synthetic persons, and the star schema on a few rows."""

import csv
import gzip
import shutil
from collections import Counter
from pathlib import Path

import duckdb
import pytest

from upstream.drafting.manifest_check import manifest_problems
from upstream.ingestion.ingestion import ingest
from upstream.manifests.manifest import load_manifest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
CONCEPTS = """\
concept_id,concept_name,domain_id,vocabulary_id,concept_code
8507,MALE,Gender,Gender,M
8532,FEMALE,Gender,Gender,F
9202,Outpatient Visit,Visit,Visit,OP
"""


def rows_of(path):
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def source(test_data):
    folder = test_data / "omop_synthea27nj"
    if not folder.is_dir():
        pytest.skip("no OMOP test data")
    return folder


@pytest.fixture(scope="module")
def loaded(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("omop")
    manifest = folder / "omop_cdm54.yaml"
    shutil.copy(EXAMPLES / manifest.name, manifest)
    (folder / "concept.csv").write_text(CONCEPTS)
    for table in load_manifest(manifest).tables:
        packed = source / f"{table.name.upper()}.csv.gz"
        if packed.exists():
            with gzip.open(packed) as file, (folder / table.files[0]).open("wb") as out:
                shutil.copyfileobj(file, out)
    assert manifest_problems(manifest) == ()
    target = folder / "s.duckdb"
    ingested = ingest(
        load_manifest(manifest),
        base=folder,
        import_folder=folder,
        secret=bytes(32),
        target=target,
    )
    with duckdb.connect(str(target), read_only=True) as connection:
        yield ingested, connection


@pytest.mark.long
def test_every_row_of_the_omop_tables_is_kept(loaded, source):
    ingested, _ = loaded
    for report in ingested.report.tables:
        if report.name == "concept":
            assert report.rows_kept == 3
            continue
        rows = rows_of(source / f"{report.name.upper()}.csv.gz")
        assert report.rows_read == report.rows_kept == len(rows), report.name
        assert report.units == len({row["person_id"] for row in rows})
        moved = {c.name: c.clamped for c in report.columns if c.clamped or c.to_null}
        assert set(moved) <= {"value_as_number", "days_supply"}, report.name


@pytest.mark.long
def test_a_join_of_omop_tables_counts_as_in_plain_python(loaded, source):
    _, connection = loaded
    sexes = {
        row["person_id"]: int(row["gender_concept_id"])
        for row in rows_of(source / "PERSON.csv.gz")
    }
    visits = rows_of(source / "VISIT_OCCURRENCE.csv.gz")
    expected = Counter(
        (sexes[row["person_id"]], int(row["visit_concept_id"])) for row in visits
    )
    found = connection.sql(
        "SELECT gender_concept_id, visit_concept_id, count(*) FROM visit_occurrence "
        "JOIN person USING (unit_key) GROUP BY ALL"
    ).fetchall()
    assert {(sex, visit): count for sex, visit, count in found} == expected


def test_the_star_schema_loads(tmp_path):
    shutil.copy(EXAMPLES / "star_schema.yaml", tmp_path)
    (tmp_path / "dim_patient.csv").write_text(
        "patient_id,sex,birth_date\nb,F,1950-02-28\na,M,2001-12-31\n"
    )
    header = "event_id,patient_id,event_date,diagnosis,ward_code,length_days,cost\n"
    (tmp_path / "fact_event_1.csv").write_text(
        header + "1,a,2020-01-01,E11.9,W1,3,10.50\n2,b,2021-05-05,?,W2,700,0\n"
    )
    (tmp_path / "fact_event_2.csv").write_text(header)
    (tmp_path / "dim_ward.csv").write_text("ward_code,clinic\nW1,surgery\nW2,x\n")
    manifest = tmp_path / "star_schema.yaml"
    assert manifest_problems(manifest) == ()
    ingested = ingest(
        load_manifest(manifest),
        base=tmp_path,
        import_folder=tmp_path,
        secret=bytes(32),
        target=tmp_path / "s.duckdb",
    )
    _, events, _ = ingested.report.tables
    changed = {c.name: (c.clamped, c.to_null) for c in events.columns}
    assert changed["diagnosis"] == (0, 1)
    assert changed["length_days"] == (1, 0)
