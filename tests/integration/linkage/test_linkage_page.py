"""The page about linking: its files are true, and notes are linked as it says."""

import re

import pytest
import yaml
from sqlalchemy import select

from server.persistence.text_tables import text_finding, text_origin, text_span
from server.use_cases.linkage.work.declarations import Linkage
from tests.support.installations.harness import (
    ImportingInstallation,
)
from tests.support.linking import PAGE, Linking, of_page
from upstream.linkage.declared import FieldKind, LinkageSpec

TERMS = "fever,R50.9\ncough,R05\n"
ROWS = (
    ("Ottilie", "Quandt", "1951-03-02", "fever and cough"),
    ("Bela", "Zsigmond", "1962-11-30", "nothing"),
    ("Ida", "Vermeulen", "1947-07-14", "fever"),
)


def test_every_kind_of_field_stands_in_the_page():
    table = PAGE.read_text().split("| `kind` of a field |")[1].split("\n\n")[0]
    told = set(re.findall(r"`(\w+)`", table.split("|---|---|")[1]))
    assert set(FieldKind.__args__) <= told


def test_every_key_of_match_stands_in_the_page():
    page = PAGE.read_text()
    assert all(f"`{key}`" in page for key in LinkageSpec.model_fields if key != "seed")


def test_the_page_s_files_are_declarations():
    told = of_page("patients.yaml")
    source = of_page("notes_source.yaml")
    told["sources"].append(source)
    declared = Linkage.model_validate(told)
    (texts,) = declared.texts
    assert texts.types() == {
        "surname": "SURNAME",
        "birth_date": "BIRTH_DATE",
        "phone": "PHONE",
    }


@pytest.fixture
def linking(tmp_path):
    made = ImportingInstallation(tmp_path).create()
    made.load()
    with made.services() as services:
        yield Linking(made, services)


def write_hospital(folder):
    """Write a registry of many and notes of three, whose fields name them."""
    lines = ["no,given,last,born"]
    names = [f"{a}{b}" for a in ("An", "Ber", "Cla", "Dor", "Ev") for b in range(12)]
    for number, name in enumerate(names, 1):
        last = f"{['Kowal', 'Lind', 'Moor', 'Nagy', 'Olsen'][number % 5]}{number}"
        lines.append(f"R{number},{name},{last},19{20 + number}-0{1 + number % 9}-11")
    for number, (given, last, born, _) in enumerate(ROWS, 900):
        lines.append(f"R{number},{given},{last},{born}")
    (folder / "registry.csv").write_text("\n".join(lines) + "\n")
    notes = folder / "notes"
    notes.mkdir()
    for number, (given, last, born, said) in enumerate(ROWS):
        name = f"{given}_{last}_{born}_{number}.txt"
        (notes / name).write_text(f"{given} {last} came with {said} today.")
    (folder / "symptoms.csv").write_text(TERMS)


def linkage_of_notes():
    pattern = r"(?P<given>\w+?)_(?P<last>\w+?)_(?P<born>[\d-]+)_\d\.txt"
    population = of_page("patients.yaml")["load"]["population"]
    present = {"kind": "present"}
    key = {"name": "patient_key", "type": "integer", "nullable": False}
    fields = ("given", "last", "born")
    kinds = {"given": "name", "last": "name", "born": "date"}
    told = {"unit_column": "patient_key", "max_rows_per_unit": 5, "source": "test"}
    return {
        "population": "patients",
        "linkage": "patients",
        "match": {"fields": {name: {"kind": kinds[name]} for name in fields}},
        "rounds": 2,
        "sources": [
            {
                "kind": "table",
                "name": "registry",
                "files": ["registry.csv"],
                "id": ["no"],
                "fields": {name: name for name in fields},
            },
            {
                "kind": "texts",
                "name": "notes",
                "collection": "notes",
                "source": {
                    "kind": "text",
                    "folder": "notes",
                    "files": ["*.txt"],
                    "id_pattern": pattern,
                },
                "models": ["symptoms"],
                "fields": [{"name": name, "field": name} for name in fields],
                "marks": {"last": "NAME"},
                "table": {
                    "columns": [{"name": "fever", "span": "SYMPTOM", "as": present}]
                },
            },
        ],
        "load": {
            "version": 1,
            "population": {**population, "id": "patients", "epsilon_cap": "100000"},
            "dataset": "hospital",
            "snapshot_date": "2024-12-31",
            "tables": [
                {"name": "registry", **told, "columns": [key]},
                {
                    "name": "notes",
                    **told,
                    "columns": [key, {"name": "fever", "type": "boolean"}],
                },
            ],
        },
    }


@pytest.mark.long
def test_notes_are_linked_searched_and_loaded_under_their_patients_keys(linking):
    folder = linking.folder
    write_hospital(folder)
    path = folder / "patients.yaml"
    path.write_text(yaml.safe_dump(linkage_of_notes()))
    linking.create_population(path)
    told = {"model": "symptoms", "terms": {"SYMPTOM": "symptoms.csv"}}
    terms = {"population": "patients", **told}
    (folder / "terms.yaml").write_text(yaml.safe_dump(terms))
    linking.done("text.terms", declaration="terms.yaml")
    loaded = linking.link()
    keys = linking.crosswalk()
    for number, (given, last, born, _) in enumerate(ROWS):
        note = f"{given}_{last}_{born}_{number}.txt"
        assert keys["notes", note] == keys["registry", f"R{900 + number}"]
    rounds = loaded["linked"]["rounds"]["rounds"]
    assert [one["spans"] for one in rounds] == [0, len(ROWS)]
    view = linking.service.view("patients", keys["registry", "R900"])
    names = [one for one in view if one["finder"] == "known"]
    assert [one["value"] for one in names] == ["Quandt"]
    assert {one["value"] for one in view if one["class"] == "sensitive"} == {
        "fever",
        "cough",
    }

    assert left_of_texts(linking) == {"findings": 1, "spans": len(ROWS), "origins": 1}
    linking.service.delete("patients")
    assert set(left_of_texts(linking).values()) == {0}


def left_of_texts(linking):
    """Return how much there is of what the loop found, and of values' origins."""
    spans = select(text_span).where(text_span.c.finder.startswith("known_"))
    findings = select(text_finding).where(text_finding.c.finder.startswith("known_"))
    with linking.services.databases.reader.connect() as connection:
        return {
            "findings": len(connection.execute(findings).all()),
            "spans": len(connection.execute(spans).all()),
            "origins": min(1, len(connection.execute(text_origin.select()).all())),
        }


def test_a_linkage_of_texts_that_were_not_read_is_refused(linking):
    write_hospital(linking.folder)
    path = linking.folder / "patients.yaml"
    told = linkage_of_notes()
    told["sources"][1]["models"] = ["rules"]
    told["sources"][1].pop("source")
    path.write_text(yaml.safe_dump(told))
    linking.create_population(path)
    with pytest.raises(Exception, match="no collection 'notes'"):
        linking.submit("linkage.link", linkage="patients.yaml")
