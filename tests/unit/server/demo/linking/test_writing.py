"""The files of the hospital whose patients have several ids."""

import csv
import hashlib
import re

import pytest

from server.demo.linking.registrations import ADMISSIONS, LABORATORY
from server.demo.linking.writing import NOTE_PATTERN, write_demo
from upstream.extraction.gold.json_spans import read_json_spans

PATIENTS = 150


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("linking")


@pytest.fixture(scope="module")
def truth(folder):
    return write_demo(folder, PATIENTS, seed=3)


def digests(folder):
    return {
        path.relative_to(folder): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def rows_of(path, delimiter, encoding):
    with path.open(encoding=encoding, newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


@pytest.mark.long
def test_equal_arguments_make_equal_bytes_and_another_seed_others(
    folder, truth, tmp_path
):
    write_demo(tmp_path / "same", PATIENTS, seed=3)
    assert digests(tmp_path / "same") == digests(folder)
    write_demo(tmp_path / "other", PATIENTS, seed=4)
    assert not set(digests(tmp_path / "other").values()) & set(digests(folder).values())


def test_the_two_exports_have_nothing_in_common_but_the_patients(folder, truth):
    admissions = rows_of(folder / "admissions.csv", ";", "cp1252")
    laboratory = rows_of(folder / "laboratory.csv", ",", "utf-8")
    assert tuple(admissions[0]) == ADMISSIONS
    assert tuple(laboratory[0]) == LABORATORY
    assert not set(ADMISSIONS) & set(LABORATORY)
    for row in admissions:
        assert re.fullmatch(r"(\d\d/\d\d/\d{4})?", row["born"])
        assert truth.records["admissions", row["patient_no"]]
    for row in laboratory:
        assert re.fullmatch(r"(\d{4}-\d\d-\d\d)?", row["birth_date"])
        assert truth.records["laboratory", row["lab_id"]]


def test_the_first_export_cannot_be_read_as_utf_8(folder, truth):
    with pytest.raises(UnicodeDecodeError):
        (folder / "admissions.csv").read_bytes().decode()


def test_notes_lie_in_one_folder_and_their_gold_standard_beside_the_truth(
    folder, truth
):
    names = sorted(path.name for path in (folder / "notes").iterdir())
    ids = {re.fullmatch(NOTE_PATTERN, name)["id"] for name in names}
    assert ids == {name for source, name in truth.records if source == "notes"}
    gold = list(read_json_spans(folder / "truth" / "gold.jsonl"))
    assert {each.document.id for each in gold} == ids
    for each in gold:
        assert all(span.end <= len(each.document.text) for span in each.spans)


def test_the_truth_is_written_as_it_is_returned(folder, truth):
    records = rows_of(folder / "truth" / "records.csv", ",", "utf-8")
    assert {(row["source"], row["id"]): row["person"] for row in records} == dict(
        truth.records
    )
    people = rows_of(folder / "truth" / "people.csv", ",", "utf-8")
    assert {row["person"] for row in people} == set(truth.people)


def test_a_hospital_without_patients_has_files_without_rows(tmp_path):
    assert write_demo(tmp_path, 0).records == {}
    assert rows_of(tmp_path / "admissions.csv", ";", "cp1252") == []
