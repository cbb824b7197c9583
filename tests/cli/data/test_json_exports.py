"""Nested JSON, from an export to a dataset: what docs/custodians.md promises."""

import json

from tests.cli.data.test_messy_exports import answered

VISITS = 40


def visit(number):
    codes = ["I10", "E11.9", "J45"][: number % 4]
    return {
        "patient": {"id": number % 10 + 1, "sex": "fm"[number % 2]},
        "visit": {"id": number, "arrived": f"2023-0{number % 9 + 1}-11"},
        "urgent": number % 3 == 0,
        "weight": None if number % 5 == 0 else 60 + number / 10,
        "diagnoses": [{"code": code} for code in codes],
    }


def test_nested_objects_become_two_tables_without_a_script(curator, tmp_path):
    folder = tmp_path / "export"
    folder.mkdir()
    visits = [visit(number) for number in range(VISITS)]
    (folder / "visits.ndjson").write_text("\n".join(map(json.dumps, visits)))
    wards = {"wards": [{"ward": "A", "beds": 10}, {"ward": "B", "beds": 12}]}
    (folder / "wards.json").write_text(json.dumps(wards))
    files = (folder / "visits.ndjson", folder / "wards.json")
    draft = curator.run("manifest", "draft", *files, "--unit", "patient_id").stdout
    assert 'json: {list: "diagnoses"}' in draft
    manifest = folder / "m.yaml"
    manifest.write_text(
        answered(draft).replace("name: patnr,", "name: patnr, from: patient_id,")
    )
    assert curator.json("manifest", "check", manifest)["ok"]
    curator.run("dataset", "load", manifest, "--dry-run")
    report = curator.json("dataset", "load", manifest)["report"]
    kept = {table["name"]: table["rows_kept"] for table in report["tables"]}
    diagnoses = sum(len(one["diagnoses"]) for one in visits)
    assert kept == {"visits": VISITS, "visits_diagnoses": diagnoses, "wards": 2}
    (rows, _, _) = report["tables"]
    values = {column["name"]: column["values"] for column in rows["columns"]}
    assert values["weight"] == VISITS * 4 // 5
    assert values["urgent"] == VISITS
