import csv
import hashlib
import sys
from collections import Counter, defaultdict
from datetime import date

import duckdb
import pytest
import yaml

from server.demo.hospital import write_hospital
from server.demo.questions import QUESTIONS
from tests.support.compiling import compile_query
from upstream.manifests.manifest import load_manifest

PATIENTS = 3_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_hospital(tmp_path_factory.mktemp("hospital"), PATIENTS).parent


@pytest.fixture(scope="module")
def manifest(folder):
    return yaml.safe_load((folder / "hospital.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def encounters(folder):
    return rows_of(folder / "encounters.csv")


def rows_of(path):
    if path.suffix == ".parquet":
        with duckdb.connect() as connection:
            found = connection.execute(f"SELECT * FROM '{path}'")
            names = [column[0] for column in found.description]
            rows = found.fetchall()
        return [dict(zip(names, row, strict=True)) for row in rows]
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def digests(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
    }


def test_equal_arguments_make_equal_bytes(folder, tmp_path):
    write_hospital(tmp_path, PATIENTS)
    assert digests(tmp_path) == digests(folder)


def test_another_seed_is_another_hospital(folder, tmp_path):
    write_hospital(tmp_path, PATIENTS, seed=2)
    same = {"hospital.yaml"}
    theirs, ours = digests(tmp_path), digests(folder)
    assert {name for name in ours if ours[name] == theirs[name]} == same


def test_it_is_written_without_pandas_or_pyarrow(tmp_path, monkeypatch):
    for module in ("pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, module, None)
    assert write_hospital(tmp_path, 50).is_file()


def test_every_declared_column_is_in_its_file_and_no_file_is_left_over(
    folder, manifest
):
    files = {"hospital.yaml"}
    for table in manifest["tables"]:
        (file,) = table["files"]
        files.add(file)
        declared = {column["name"] for column in table["columns"]}
        assert declared == set(rows_of(folder / file)[0])
    assert {path.name for path in folder.iterdir()} == files


def test_every_value_lies_in_its_declared_domain(folder, manifest):
    for table in manifest["tables"]:
        rows = rows_of(folder / table["files"][0])
        for column in table["columns"]:
            domain = column.get("domain")
            if domain is None:
                continue
            seen = {str(row[column["name"]]) for row in rows} - {"", "None"}
            assert all(belongs(value, domain, column["type"]) for value in seen)


def belongs(value, domain, column_type):
    if "values" in domain:
        return value in map(str, domain["values"]) or domain.get("other", False)
    read = date.fromisoformat if column_type == "date" else float
    return read(str(domain["min"])) <= read(value) <= read(str(domain["max"]))


def test_no_patient_has_more_rows_than_declared(folder, manifest):
    for table in manifest["tables"]:
        rows = Counter(row["patient_id"] for row in rows_of(folder / table["files"][0]))
        assert max(rows.values()) <= table["max_rows_per_unit"]
        assert len(rows) <= PATIENTS


def test_each_public_fact_has_a_source(manifest):
    assert manifest["population"]["source"]
    for table in manifest["tables"]:
        assert table["source"]
        for column in table["columns"]:
            assert ("domain" in column) <= ("source" in column)


def test_ages_follow_from_birth_and_admission(folder, encounters):
    born = {
        row["patient_id"]: int(row["birth_year"])
        for row in rows_of(folder / "patients.csv")
    }
    for row in encounters:
        year = int(row["admitted"][:4])
        assert int(row["year"]) == year
        assert int(row["age"]) == max(year - born[row["patient_id"]], 0)


def test_nobody_comes_back_after_dying(encounters):
    days = defaultdict(list)
    for row in encounters:
        days[row["patient_id"]].append((row["admitted"], row["discharged_to"]))
    deaths = 0
    for stays in days.values():
        died = [day for day, ending in stays if ending == "died"]
        assert len(died) <= 1
        assert not died or died[0] == max(day for day, _ in stays)
        deaths += len(died)
    assert deaths > PATIENTS / 100


def test_lungs_fill_the_beds_in_winter(encounters):
    months = Counter(
        row["admitted"][5:7]
        for row in encounters
        if row["diagnosis_group"] == "respiratory"
    )
    assert months["01"] > 2 * months["07"]


def test_diabetes_brings_metformin_pressure_and_kidney_disease(folder):
    codes = defaultdict(set)
    for row in rows_of(folder / "diagnoses.csv"):
        codes[row["patient_id"]].add(row["code"])
    for row in rows_of(folder / "prescriptions.parquet"):
        codes[row["patient_id"]].add(row["drug"])
    diabetic = [found for found in codes.values() if "E11.9" in found]
    others = [found for found in codes.values() if "E11.9" not in found]
    for sign in ("metformin", "I10", "N18.3"):
        assert share(sign, diabetic) > 1.5 * share(sign, others)


def share(sign, patients):
    return sum(sign in found for found in patients) / len(patients)


def test_only_men_have_prostate_cancer(folder):
    sex = {row["patient_id"]: row["sex"] for row in rows_of(folder / "patients.csv")}
    prostate = {
        sex[row["patient_id"]]
        for row in rows_of(folder / "diagnoses.csv")
        if row["code"] == "C61"
    }
    assert prostate == {"M"}


def test_every_test_has_one_unit(folder):
    units = {(row["test"], row["unit"]) for row in rows_of(folder / "labs.csv")}
    assert len(units) == 4


def test_the_manifest_keeps_every_rule(folder):
    declared = load_manifest(folder / "hospital.yaml")
    assert declared.population.id == "hospital"


def test_every_question_can_be_asked(folder):
    dataset = load_manifest(folder / "hospital.yaml").schema()
    for question in QUESTIONS:
        assert compile_query(question.sql, dataset).measures


def test_there_are_six_questions_and_each_has_one_price():
    assert len(QUESTIONS) == 6
    assert all((q.epsilon is None) != (q.accuracy is None) for q in QUESTIONS)
