"""Real input: 101,766 encounters of 71,518 patients, asked over HTTP."""

import csv
import gzip
import shutil
from pathlib import Path

import pytest

from server.use_cases.custody import CustodyOffice, LoadChoices
from tests.harness import Installation, ask, client, serve_in_thread
from tests.samplers import ZeroSampler

EXAMPLE = Path(__file__).parents[2] / "examples" / "diabetes130.yaml"


@pytest.fixture(scope="module")
def rows(test_data):
    with gzip.open(test_data / "diabetes130/diabetic_data.csv.gz", "rt") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def diabetes(test_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("diabetes")
    with (
        gzip.open(test_data / "diabetes130/diabetic_data.csv.gz") as packed,
        (folder / "diabetic_data.csv").open("wb") as plain,
    ):
        shutil.copyfileobj(packed, plain)
    shutil.copy(EXAMPLE, folder)
    installation = Installation(folder).create()
    with installation.services() as services:
        loaded = CustodyOffice(services, "local:test").load(
            folder / EXAMPLE.name, LoadChoices(), None
        )
    (report,) = loaded["report"]["tables"]
    assert report["rows_read"] == 101_766
    assert report["units"] == 71_518
    key = installation.analyst(dataset="diabetes130", allotment="8")
    return installation, key


@pytest.mark.slow
def test_patients_by_sex_are_those_of_the_file(diabetes, rows):
    installation, key = diabetes
    sql = "SELECT gender, COUNT(DISTINCT patient_nbr) FROM encounters GROUP BY gender"
    with serve_in_thread(installation, ZeroSampler) as url, client(url, key) as http:
        answer = ask(http, sql, dataset="diabetes130").json()
    counted = dict(answer["rows"])
    for sex in ("Female", "Male"):
        truth = {r["patient_nbr"] for r in rows if r["gender"] == sex}
        assert abs(counted[sex] - len(truth)) <= 3  # constant in unit: a few disagree


@pytest.mark.slow
def test_a_real_answer_is_noisy_within_what_it_says(diabetes, rows):
    installation, key = diabetes
    sql = (
        "SELECT COUNT(DISTINCT patient_nbr) FROM encounters"
        " WHERE time_in_hospital_days >= 7"
    )
    truth = len({r["patient_nbr"] for r in rows if int(r["time_in_hospital"]) >= 7})
    with serve_in_thread(installation) as url, client(url, key) as http:
        reply = ask(http, sql, dataset="diabetes130", epsilon="0.5")
    assert reply.status_code == 200, reply.text
    answer = reply.json()
    ((count,),) = answer["rows"]
    assert 0 < abs(count - truth) + 1 < 60  # exp(-30) to be further off
