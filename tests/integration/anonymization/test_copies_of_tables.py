"""Anonymized copies of tables: read from a custodian's files, made whole by jobs."""

import csv
import json
import re

import pytest

from privacy.errors import InvalidOptionError
from server.use_cases.anonymization.copies import CopyFolders
from server.use_cases.anonymization.work.tables.jobs import ROWS
from tests.support.copies import write_stays, write_table_copy


def made(tables, **changes):
    path = write_table_copy(tables.folder, **changes)
    return tables.done("anonymize.tables", file=str(path))


def refused(tables, **changes):
    path = write_table_copy(tables.folder, **changes)
    ended = tables.run("anonymize.tables", file=str(path))
    assert ended["state"] == "failed"
    return ended["error"]


def rows_of(tables, copy):
    path = CopyFolders(tables.services.settings.anonymized).path(copy) / ROWS
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_each_class_has_k_patients_and_none_is_named(tables):
    result = made(tables)
    rows = rows_of(tables, result["copy"])
    assert (result["rows"], result["patients"], len(rows)) == (180, 120, 180)
    assert result["principle"] == (
        "5-anonymity of patients and distinct 2-diversity of outcome"
    )
    assert list(rows[0]) == ["age", "postcode", "sex", "admitted", "outcome", "drug"]
    assert result["columns_left_out"] == ["ward", "mrn"]
    assert result["measures"]["prosecutor"] <= 1 / 5
    assert result["measures"]["homogeneous"] == {"outcome": 0.0}
    assert "p007" not in json.dumps(rows)
    folder = CopyFolders(tables.services.settings.anonymized).path(result["copy"])
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["kind"] == "tables"
    assert manifest["declared"]["k"] == 5
    assert any("homogeneity" in one for one in manifest["broken_by"])
    assert "p007" not in json.dumps(manifest)
    assert sorted(one.name for one in folder.iterdir()) == ["manifest.json", ROWS]


def test_a_plan_shows_loss_and_risk_against_k_and_makes_nothing(tables):
    path = write_table_copy(tables.folder)
    planned = tables.done("anonymize.tables", file=str(path), dry_run=True)
    choices = planned["choices"]
    assert [one["k"] for one in choices] == [2, 3, 5, 10, 20, 50, 100]
    assert choices[0]["lm"] < choices[3]["lm"] < choices[-1]["lm"]
    assert choices[0]["marketer"] > choices[-1]["marketer"]
    assert planned["risk_as_is"]["unique"] > 0.9
    folder = CopyFolders(tables.services.settings.anonymized).folder
    assert [*folder.iterdir()] == []


def test_what_there_is_too_little_of_is_counted(tables):
    assert "not even all rows in one class (120 patients, 3 values of outcome)" in (
        refused(tables, k=500)
    )


def test_the_summary_says_what_a_second_person_approves(tables):
    folder = CopyFolders(tables.services.settings.anonymized)
    copy = made(tables)["copy"]
    manifest = json.loads((folder.path(copy) / "manifest.json").read_text())
    table, columns, risk = manifest["summary"]
    assert table == (
        "a table of 180 of 180 rows of 120 patients, by mondrian: 5-anonymity of "
        "patients and distinct 2-diversity of outcome"
    )
    assert columns == (
        "generalized: age, postcode, sex, admitted; as they are: outcome, drug"
    )
    assert risk.startswith("risk: prosecutor 0.")


def test_incognito_says_the_level_of_each_column(tables):
    told = {
        "age": {"kind": "number", "widths": [10, 20]},
        "postcode": {"kind": "prefix", "lengths": [3, 1]},
        "sex": {"kind": "category"},
        "admitted": {"kind": "date"},
    }
    result = made(
        tables, method="incognito", k=3, suppression=0.1, quasi_identifiers=told
    )
    assert set(result["levels"]) == {"age", "postcode", "sex", "admitted"}
    assert result["measures"]["suppressed"] <= 18
    assert len(rows_of(tables, result["copy"])) == result["rows_published"]


def test_files_as_hospitals_export_them(tables):
    write_stays(
        tables.folder, name="a.csv", separator=";", encoding="cp1252", patients=60
    )
    write_stays(tables.folder, name="b.csv", separator=";", encoding="cp1252", first=60)
    told = {"files": ["[ab].csv"], "encoding": "windows-1252", "missing": ["NA"]}
    result = made(tables, table=told)
    assert result["files"] == ["a.csv", "b.csv"]
    assert (result["rows"], result["patients"]) == (180, 120)


def test_a_row_that_cannot_be_read_is_set_aside_and_told_of(tables):
    with (tables.folder / "stays.csv").open("a") as file:
        file.write("p900,44,30301\n")
    result = made(tables)
    assert (result["rows"], result["rows_set_aside"]) == (180, 1)
    assert result["set_aside"][0].startswith("stays.csv:182: 3 fields where")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"keep": ["mrn"]}, "most patients have a value of 'mrn' that nobody else has"),
        (
            {"sensitive": {"mrn": {}}},
            "most patients have a value of 'mrn' that nobody else has",
        ),
        (
            {"patient": None, "keep": ["mrn"]},
            "most patients have a value of 'mrn' that nobody else has",
        ),
        ({"k": 200}, "200-anonymity of patients"),
        (
            {"sensitive": {"outcome": {"close": 0.1, "order": ["home"]}}},
            "values are missing from the order",
        ),
        (
            {
                "method": "incognito",
                "quasi_identifiers": {
                    name: {"kind": "prefix", "lengths": list(range(60, 0, -1))}
                    for name in ("postcode", "admitted", "mrn", "drug")
                },
                "keep": [],
            },
            "take fewer columns or levels",
        ),
        ({"patient": "who"}, "has no column 'who'"),
        ({"table": {"files": ["none.csv"]}}, "none.csv"),
        (
            {"quasi_identifiers": {"sex": {"kind": "number"}}},
            "sex: 180 values are no number below 10^15 (the first is in row 1)",
        ),
    ],
)
def test_a_custodians_mistakes_make_nothing(tables, changes, said):
    assert said in refused(tables, **changes)
    folder = CopyFolders(tables.services.settings.anonymized).folder
    assert not folder.exists() or [*folder.iterdir()] == []


def test_columns_of_their_own_values_are_published_where_the_file_says_so(tables):
    result = made(tables, keep=["mrn"], unique=["mrn"])
    assert "mrn" in rows_of(tables, result["copy"])[0]


def test_rows_of_nobody_are_refused(tables):
    with (tables.folder / "stays.csv").open("a") as file:
        file.write(",44,30301,F,2024-01-01,home,d1,w,1\n")
    assert "1 of 181 rows name no patient in 'patient_id'" in refused(tables)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"patient": ...}, "patient"),
        ({"keep": ["age"]}, "the column 'age' stands in two places"),
        ({"keep": ["drug", "drug"]}, "keep: has 'drug' twice: write it once"),
        ({"suppression": 0.1}, "suppression means nothing to mondrian"),
        (
            {"method": "incognito", "quasi_identifiers": {"age": {"kind": "number"}}},
            "write the widths of 'age'",
        ),
        ({"quasi_identifiers": {"age": {"kind": "numbr"}}}, "write one of 'number'"),
        (
            {"quasi_identifiers": {"sex": {"kind": "hierarchy", "file": "../x.csv"}}},
            "no file '../x.csv' lies under CURATOR_IMPORT",
        ),
    ],
)
def test_a_file_that_is_wrong_is_refused_before_the_work(tables, changes, said):
    path = write_table_copy(tables.folder, **changes)
    with pytest.raises(InvalidOptionError, match=re.escape(said)):
        tables.submit("anonymize.tables", file=str(path))


def test_ids_that_a_linkage_joins_are_one_patient(tables):
    head = "source,id,key,record,in_latest_export\n"
    rows = [f"stays,p{n:03d},{n // 2},{n},true\n" for n in range(120)]
    path = tables.folder / "crosswalk.csv"
    path.write_text(head + "".join(rows))
    linked = {"files": ["crosswalk.csv"], "source": "stays"}
    assert made(tables, linked=linked)["patients"] == 60
    path.write_text(head + "".join(rows[1:]))
    assert "1 of 180 rows have an id that the crosswalk lacks" in refused(
        tables, linked=linked
    )
