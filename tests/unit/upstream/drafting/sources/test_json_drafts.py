"""A draft of JSON has a table for the objects, and one for each list in them."""

import json

import pytest

from upstream.drafting.drafting import draft_manifest
from upstream.errors import IngestionError


def visit(number):
    return {
        "patient": {"id": number % 7 + 1},
        "visit": {"id": number, "dx": [{"code": "I10"}, {"code": "E11.9"}]},
        "tags": ["x"],
    }


def tables(text):
    return text.split("\n- name: ")[1:]


def test_objects_and_each_list_in_them_are_tables(tmp_path):
    for year in (2023, 2024):
        lines = (json.dumps(visit(year + n)) for n in range(30))
        (tmp_path / f"visits_{year}.ndjson").write_text("\n".join(lines))
    files = sorted(tmp_path.glob("*.ndjson"))
    rows, codes, tags = tables(draft_manifest(files, ["patient_id"]))
    assert rows.startswith(
        "visits\n  # visits_2023.ndjson and 1 more: an object a line."
    )
    assert 'files: ["visits_*.ndjson"]' in rows
    assert "  json:" not in rows
    assert '# left out: "visit_dx" is a list: a table of its own reads it' in rows
    assert '# left out: "tags" is a list' in rows
    assert codes.startswith("visits_visit_dx\n")
    assert 'json: {list: "visit.dx"}' in codes
    assert "a row is an element of the list visit.dx, beside the fields" in codes
    assert "name: visit_dx_code, type: text, domain: {hierarchy: icd10}" in codes
    assert "left out" not in codes
    assert 'json: {list: "tags"}' in tags
    for one in (rows, codes, tags):
        assert "unit_column: patient_id" in one
        assert "name: visit_id, type: integer" in one


def test_the_list_that_an_object_is_around_is_declared(tmp_path):
    path = tmp_path / "wards.json"
    path.write_text('{"made": "today", "rows": [{"ward": "A"}, {"ward": "B"}]}')
    (rows,) = tables(draft_manifest([path], []))
    assert 'json: {list: "rows"}' in rows
    assert "name: rows_ward" in rows
    assert "name: made" in rows


def test_a_file_for_each_patient_has_the_patient_in_each_row(tmp_path):
    for number in (1, 2):
        visits = [{"day": "2024-01-02"}, {"day": "2024-02-03"}]
        held = {"patient_id": number, "visits": visits}
        (tmp_path / f"p{number}.json").write_text(json.dumps(held))
    files = sorted(tmp_path.glob("*.json"))
    (rows,) = tables(draft_manifest(files, ["patient_id"]))
    assert 'json: {list: "visits"}' in rows
    assert "unit_column: patient_id" in rows
    assert "name: visits_day, type: date" in rows


def test_of_several_lists_each_is_a_table(tmp_path):
    path = tmp_path / "all.json"
    labs = [{"pid": 1, "flags": ["H", "L"], "grid": [[1, 2]]}]
    path.write_text(json.dumps({"people": [{"pid": 1}], "labs": labs}))
    text = draft_manifest([path], ["people_pid", "labs_pid"])
    people, measured, flags = tables(text)
    assert people.startswith("people\n")
    assert 'json: {list: "people"}' in people
    assert 'left out: "labs_flags" is a list: a table' in measured
    assert 'left out: "labs_grid" is a list of lists' in measured
    assert 'json: {list: "labs.flags"}' in flags


def test_files_whose_objects_differ_are_tables_of_their_own(tmp_path):
    (tmp_path / "a1.json").write_text('[{"pid": 1, "x": 2}]')
    (tmp_path / "a2.json").write_text('[{"b": 1, "c": 2, "d": 3}]')
    text = draft_manifest(sorted(tmp_path.glob("*.json")), ["pid"])
    assert [one.split("\n")[0] for one in tables(text)] == ["a1", "a2"]


def test_a_file_that_is_no_json_is_refused(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('[{"a": 1},')
    with pytest.raises(IngestionError, match="no JSON from line 1"):
        draft_manifest([path], ["a"])
