"""Every block of the page about FHIR runs; its script reads what servers send."""

import csv
import importlib.util
import json
import re
import shutil

import pytest

from tests.support.installations.pages import ROOT, run_page

EXAMPLES = ROOT / "examples/fhir"


def script(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FLATTEN, SAMPLE = script("flatten"), script("sample")
LOINC = "http://loinc.org"


def flattened(tmp_path, *resources):
    export = tmp_path / "export"
    export.mkdir()
    lines = "".join(json.dumps(resource) + "\n" for resource in resources)
    (export / "Any.ndjson").write_text(lines)
    counted = FLATTEN.flatten(export, tmp_path)
    tables = {}
    for table in FLATTEN.COLUMNS:
        with (tmp_path / f"{table}.csv").open(newline="") as file:
            tables[table] = list(csv.DictReader(file))
    return counted, tables


def observation(**more):
    return {
        "resourceType": "Observation",
        "id": "o1",
        "status": "final",
        "subject": {"reference": "https://a.org/fhir/Patient/7/_history/2"},
        "code": {"coding": [{"system": LOINC, "code": "4548-4"}]},
        "valueQuantity": {"value": 7.25, "code": "%"},
        "effectiveDateTime": "2024-02-03T23:30:00-05:00",
        **more,
    }


def test_a_value_is_a_row_with_its_day_as_written(tmp_path):
    _, tables = flattened(tmp_path, observation())
    assert tables["observations"] == [
        {
            "observation_id": "o1", "part": "0", "patient_id": "7", "encounter_id": "",
            "code": "4548-4", "value": "7.25", "unit": "%", "observed": "2024-02-03",
        }
    ]  # fmt: skip


def test_numbers_are_written_without_exponents(tmp_path):
    quantities = [{"value": 1e-7}, {"value": 12}]
    told = [observation(valueQuantity=one) for one in quantities]
    _, tables = flattened(tmp_path, *told)
    assert [row["value"] for row in tables["observations"]] == ["0.0000001", "12"]


def test_two_pressures_are_two_rows_and_errors_are_none(tmp_path):
    part = {"code": observation()["code"], "valueQuantity": {"value": 120}}
    pressures = observation(valueQuantity=None, component=[part, part, {}])
    wrong = observation(status="entered-in-error")
    counted, tables = flattened(tmp_path, pressures, wrong, {"resourceType": "Group"})
    assert [row["part"] for row in tables["observations"]] == ["1", "2"]
    assert counted["passed over"] == 2


def test_a_refuted_entry_is_left_out_by_its_verification_status(tmp_path):
    condition = {
        "resourceType": "Condition",
        "id": "c1",
        "subject": {"reference": "urn:uuid:0b1c"},
        "code": {"coding": [{"system": "http://snomed.info/sct", "code": "1"}]},
    }
    wrong = {"coding": [{"code": "entered-in-error"}]}
    _, tables = flattened(
        tmp_path, condition, {**condition, "verificationStatus": wrong}
    )
    (row,) = tables["conditions"]
    assert (row["patient_id"], row["code"], row["recorded"]) == ("0b1c", "", "")


def test_a_birth_date_may_be_a_year_alone(tmp_path):
    people = [
        {"resourceType": "Patient", "id": str(n), "birthDate": written, **more}
        for n, (written, more) in enumerate(
            [("1950", {}), ("1950-02-28", {"deceasedDateTime": "2020"}), (None, {})]
        )
    ]
    _, tables = flattened(tmp_path, *people)
    told = [(row["birth_year"], row["deceased"]) for row in tables["patients"]]
    assert told == [("1950", "false"), ("1950", "true"), ("", "false")]


def test_a_broken_line_is_named(tmp_path):
    (tmp_path / "Patient.ndjson").write_text('{"resourceType": "Patient"}\n{oops\n')
    with pytest.raises(ValueError, match=r"Patient\.ndjson, line 2: no JSON"):
        FLATTEN.flatten(tmp_path, tmp_path / "out")


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fhir")
    shutil.copytree(EXAMPLES, folder / "examples/fhir")
    return run_page("fhir.md", folder)


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("curl") is None, reason="the page uses curl")
def test_every_block_of_the_page_runs_to_its_answers(walked):
    made = list(SAMPLE.resources(SAMPLE.DEFAULT_PATIENTS))
    with_diabetes = {
        one["subject"]["reference"]
        for one in made
        if one["resourceType"] == "Condition"
        and one["code"]["coding"][0]["code"] == "E11.9"
    }
    found = re.findall(
        r"^ *(female|male|unknown|other|NULL) +([-\d]+) ±", walked, re.MULTILINE
    )
    assert len(found) == 5
    total = sum(int(count) for _, count in found)
    assert abs(total - len(with_diabetes)) < 120  # five cells of noise of scale 1
    assert "above_9" in walked
    assert "ok: true" in walked
