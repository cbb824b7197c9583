"""Anonymized copies of codes, made by jobs from a custodian's files."""

import csv
import json
import random
import re

import pytest

from privacy.errors import InvalidOptionError
from server.use_cases.anonymization.copies import CopyFolders
from server.use_cases.anonymization.work.codes.jobs import RECORDS
from tests.support.copies import write_codes_copy
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.texts import Texts

LDA = {
    "method": "lda",
    "caps": ...,
    "age": "age",
    "system": "icd9cm",
    "weights": {"code": 0.3, "age": 0.7},
}


@pytest.fixture
def codes(tmp_path, monkeypatch):
    """Diagnoses of patients, and what jobs need."""
    monkeypatch.chdir(tmp_path)
    made = ImportingInstallation(tmp_path).create()
    made.load()
    drawn = random.Random(5)
    with made.services() as services, (tmp_path / "diagnoses.csv").open("w") as file:
        rows = csv.writer(file)
        rows.writerow(["patient_id", "code", "age", "ward"])
        for patient in range(40):
            for _ in range(drawn.randint(1, 5)):
                code = drawn.choice(["250.0", "250.1", "401.1", "401.9", "724"])
                rows.writerow([f"p{patient:03d}", code, drawn.randint(30, 60), "w"])
        file.flush()
        yield Texts(made, services)


def made(codes, **changes):
    path = write_codes_copy(codes.folder, **changes)
    return codes.done("anonymize.codes", file=str(path))


def records_of(codes, copy):
    path = CopyFolders(codes.services.settings.anonymized).path(copy) / RECORDS
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_repeats_are_censored_until_each_record_fits_k(codes):
    result = made(codes)
    rows = records_of(codes, result["copy"])
    assert list(rows[0]) == ["record", "code", "count"]
    assert result["patients"] == 40
    assert result["measures"]["prosecutor"] <= 1 / 5
    assert all(int(row["count"]) <= 3 for row in rows)
    folder = CopyFolders(codes.services.settings.anonymized).path(result["copy"])
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["kind"], manifest["declared"]["caps"]) == ("codes", 3)
    assert "p001" not in json.dumps([rows, manifest])


def test_trajectories_are_aligned_in_clusters_of_k(codes):
    result = made(codes, **LDA)
    rows = records_of(codes, result["copy"])
    assert list(rows[0]) == ["record", "place", "code", "age"]
    looks = {}
    for row in rows:
        told = (row["place"], row["code"], row["age"])
        looks.setdefault(row["record"], []).append(told)
    counts = [list(looks.values()).count(one) for one in looks.values()]
    assert min(counts) >= 5
    assert len(looks) + result["empty_records"] == 40
    assert result["measures"]["clusters"] > 1


@pytest.mark.parametrize("changes", [{}, LDA])
def test_plans_show_loss_and_risk_against_k(codes, changes):
    path = write_codes_copy(codes.folder, **changes)
    planned = codes.done("anonymize.codes", file=str(path), dry_run=True)
    assert [one["k"] for one in planned["choices"]] == [2, 3, 5, 10, 20]
    lost = "cul_mean" if not changes else "lm_code"
    assert planned["choices"][0][lost] < planned["choices"][-1][lost]
    assert ("by_cap" in planned) == (not changes)
    folder = CopyFolders(codes.services.settings.anonymized).folder
    assert [*folder.iterdir()] == []


def test_a_plan_of_more_than_there_are_says_so(codes):
    path = write_codes_copy(codes.folder, k=50)
    planned = codes.done("anonymize.codes", file=str(path), dry_run=True)
    assert planned["choices"][-1] == {"k": 50, "is_possible": False}
    assert "by_cap" not in planned


def test_everybody_else_is_counted_where_their_codes_are_given(codes):
    told = (codes.folder / "diagnoses.csv").read_text()
    more = told.replace("p0", "q0").split("\n", 1)[1]
    (codes.folder / "all.csv").write_text(told + more)
    alone = made(codes)["measures"]["cul_mean"]
    assert made(codes, people={"files": ["all.csv"]})["measures"]["cul_mean"] < alone
    (codes.folder / "all.csv").write_text(told.split("\n", 1)[0] + "\n" + more)
    path = write_codes_copy(codes.folder, people={"files": ["all.csv"]})
    ended = codes.run("anonymize.codes", file=str(path))
    assert "40 of 40 patients are not among the people" in ended["error"]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("row", "changes", "said"),
    [
        ("p1,nonsense,30,w", LDA, "no code of ICD-9-CM"),
        ("p1,724,thirty,w", LDA, "is no age in completed years"),
        ("p1,724,200,w", LDA, "below 0 or above 127"),
        ("p1,724,30,w", {"k": 50}, ", the people"),
    ],
)
def test_what_cannot_be_read_or_reached_makes_nothing(codes, row, changes, said):
    with (codes.folder / "diagnoses.csv").open("a") as file:
        file.write(row + "\n")
    path = write_codes_copy(codes.folder, **changes)
    ended = codes.run("anonymize.codes", file=str(path))
    assert ended["state"] == "failed"
    assert said in ended["error"]
    assert "thirty" not in ended["error"]


def test_incomplete_rows_are_left_out_and_counted(codes):
    with (codes.folder / "diagnoses.csv").open("a") as file:
        file.write("p900,,30,w\n,724,30,w\n")
    result = made(codes)
    assert (result["rows_incomplete"], result["patients"]) == (2, 40)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"caps": ...}, "gccens needs caps"),
        ({"age": "age"}, "age means nothing to gccens"),
        (LDA | {"system": ...}, "lda needs system"),
        (LDA | {"caps": 3}, "caps means nothing to lda"),
        (LDA | {"weights": {"code": 1, "age": 1}}, "weigh 1 together"),
        ({"code": "patient_id"}, "different columns"),
    ],
)
def test_a_file_that_is_wrong_is_refused_before_the_work(codes, changes, said):
    path = write_codes_copy(codes.folder, **changes)
    with pytest.raises(InvalidOptionError, match=re.escape(said)):
        codes.submit("anonymize.codes", file=str(path))
