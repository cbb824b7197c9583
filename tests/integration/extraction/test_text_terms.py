"""Lists of terms are models, and pipelines join what several models find."""

import csv
import json

import pytest
from sqlalchemy import select

from privacy.errors import InvalidOptionError
from server.persistence.text_tables import text_origin, text_span
from server.use_cases.extraction.service import TextService
from tests.support.data.notes import declare, write_pipeline
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.texts import Texts

NOTES = {
    "p0001-1.txt": "Fever and joint pains, seen by Dr. Fever Smith on 03/05/2024.",
    "p0002-1.txt": "Denies fever. High temperature was ruled out. No cough.",
    "p0003-1.txt": "Nothing else. Weight 70 kg, aspirin 81 mg.",
    "p0004-1.txt": "No fever at first; a high\ntemperature since 03/06/2024.",
}
FEVER = {"span": "SYMPTOM", "meanings": ["R50.9"], "as": {"kind": "present"}}
COLUMNS = [
    {"name": "seen", "span": "DATE", "as": {"kind": "date", "order": "month_first"}},
    {"name": "fever", **FEVER},
    {"name": "no_fever", **FEVER, "denied": "only"},
    {"name": "symptom", "span": "SYMPTOM", "take": "last", "as": {"kind": "meaning"}},
    {"name": "drug", "span": "MEDICATION", "as": {"kind": "meaning"}},
]
TYPES = ["date", "boolean", "boolean", "text", "text"]


@pytest.fixture
def texts(tmp_path):
    made = ImportingInstallation(tmp_path).create()
    made.load()
    for name, said in NOTES.items():
        path = made.folder / "notes" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(said)
    source = {
        "kind": "text",
        "folder": "notes",
        "files": ["*.txt"],
        "id_pattern": r"p(?P<patient>\d+)-(?P<visit>\d)\.txt",
    }
    declare(made.folder, "notes", "people", source=source)
    (made.folder / "symptoms.csv").write_text(
        "fever,R50.9\nhigh temperature,R50.9\ncough,R05\njoint pain,M25.5\n"
    )
    with made.services() as services:
        yield Texts(made, services)


def write_terms(folder, **told):
    told = {
        "population": "people",
        "model": "symptoms",
        "terms": {"SYMPTOM": "symptoms.csv"},
        "forms": True,
        **told,
    }
    path = folder / "terms.yaml"
    path.write_text(json.dumps(told))
    return path


def write_terms_pipeline(folder, models, left_out=(), **more):
    path = write_pipeline(folder)
    text = path.read_text()
    both = zip(COLUMNS, TYPES, strict=True)
    made = [(one, kind) for one, kind in both if one["name"] not in left_out]
    columns = [
        {"name": "patient_id", "type": "integer", "nullable": False},
        *(_declared(*one) for one in made),
    ]
    head = text[text.index("load:") : text.index("      columns:\n        - {name: p")]
    table = {
        "name": "notes",
        "unit": {"name": "patient_id", "field": "patient"},
        "columns": [one for one, _ in made],
    }
    told = {"population": "people", "collection": "notes", "models": models}
    keys = {**told, "table": table, **more}
    lines = [f"{key}: {json.dumps(value)}" for key, value in keys.items()]
    path.write_text(
        "\n".join(lines) + f"\n{head}      columns: {json.dumps(columns)}\n"
    )
    return path


def _declared(column, kind):
    declared = {"name": column["name"], "type": kind}
    if kind == "date":
        domain = {"min": "2024-01-01", "max": "2024-12-31"}
        return {**declared, "domain": domain, "source": "study period"}
    if kind == "text":
        values = ["R50.9", "R05", "M25.5", "aspirin"]
        return {**declared, "domain": {"values": values}, "source": "the list"}
    return declared


def test_terms_are_found_with_their_denials_and_kept(texts):
    write_terms(texts.folder)
    made = texts.done("text.terms", declaration="terms.yaml")
    assert made["card"]["terms"] == {"SYMPTOM": 4}
    texts.read("notes.yaml")
    told = {"population": "people", "collection": "notes", "model": "symptoms"}
    tagged = texts.done("text.tag", **told)
    assert tagged["spans"] == {"MEASUREMENT": 1, "MEDICATION": 1, "SYMPTOM": 8}
    with texts.services.databases.reader.connect() as connection:
        rows = connection.execute(
            select(text_span.c.document, text_span.c.denied).where(
                text_span.c.label == "SYMPTOM"
            )
        ).all()
    assert sorted(rows) == [
        *((1, False),) * 3,  # of the doctor's name, too: a list knows words alone
        *((2, True),) * 3,
        (4, False),
        (4, True),
    ]
    target = texts.folder / "tagged.jsonl"
    service = TextService(texts.services, "local:test")
    service.export(None, "notes", finder="symptoms", written="json", target=target)
    spans = [json.loads(line)["spans"] for line in target.read_text().splitlines()]
    assert [one.get("denied", False) for one in spans[3]] == [True, False]


def test_a_pipeline_joins_what_rules_and_terms_found(texts):
    write_terms(texts.folder)
    texts.done("text.terms", declaration="terms.yaml")
    texts.read("notes.yaml")
    write_terms_pipeline(texts.folder, ["rules", "symptoms"])
    seen = texts.run("text.pipeline", pipeline="pipeline.yaml")
    assert seen["state"] == "done", seen["error"]
    assert seen["result"]["texts"]["present"] == {"fever": 2, "no_fever": 2}
    path = texts.installation.data / "texts" / seen["id"] / "table.csv"
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["patient_id", "seen", "fever", "no_fever", "symptom", "drug"],
        ["0001", "2024-03-05", "true", "false", "M25.5", ""],  # Dr. Fever is a name
        ["0002", "", "false", "true", "", ""],
        ["0003", "", "false", "false", "", "aspirin"],
        ["0004", "2024-03-06", "true", "true", "R50.9", ""],
    ]
    model = seen["lineage"]["inputs"][2]["model"]
    with texts.services.databases.reader.connect() as connection:
        origins = connection.execute(
            select(text_origin.c.column, text_origin.c.finder).where(
                text_origin.c.row == 4
            )
        ).all()
    assert dict(map(tuple, origins)) == {
        "patient_id": "",
        "seen": "rules",
        "fever": model,
        "no_fever": model,
        "symptom": model,
    }


@pytest.mark.long
def test_where_models_disagree_the_riskier_type_keeps_its_characters(texts):
    """The doctor is called Fever: a list that says so outranks a list of symptoms."""
    write_terms(texts.folder)
    texts.done("text.terms", declaration="terms.yaml")
    (texts.folder / "names.csv").write_text("Fever Smith\n")
    write_terms(texts.folder, model="names", terms={"NAME": "names.csv"}, forms=False)
    texts.done("text.terms", declaration="terms.yaml")
    texts.read("notes.yaml")
    for risks, last in (
        ({"SYMPTOM": "direct"}, "R50.9"),
        ({"NAME": "direct"}, "M25.5"),
    ):
        models = ["symptoms", "names"]
        write_terms_pipeline(texts.folder, models, left_out=["seen"], risks=risks)
        seen = texts.run("text.pipeline", pipeline="pipeline.yaml")
        assert seen["state"] == "done", seen["error"]
        path = texts.installation.data / "texts" / seen["id"] / "table.csv"
        with path.open(newline="") as file:
            row = next(iter(csv.DictReader(file)))
        assert row["symptom"] == last


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"terms": {}, "forms": False}, "declare terms"),
        ({"terms": {"A B": "symptoms.csv"}}, "terms"),
        ({"terms": {"A": "../x.csv"}}, "terms"),
        ({"population": "nobody"}, "no population 'nobody'"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_is_wrong_with_a_declaration_is_said_at_once(texts, told, said):
    write_terms(texts.folder, **told)
    with pytest.raises(InvalidOptionError, match=said):
        texts.submit("text.terms", declaration="terms.yaml")


def test_a_list_that_cannot_be_used_fails_its_job_and_leaves_nothing(texts):
    write_terms(texts.folder, terms={"SYMPTOM": "absent.csv"})
    seen = texts.run("text.terms", declaration="terms.yaml")
    assert "absent.csv: there is no such file" in seen["error"]
    (texts.folder / "absent.csv").write_text("fever,a\nfever,b\n")
    seen = texts.run("text.terms", declaration="terms.yaml")
    assert "absent.csv:2: 'fever' stands for two things" in seen["error"]
    assert TextService(texts.services, "local:test").models() == []


def test_a_pipeline_file_with_columns_that_contradict_themselves_is_refused(texts):
    texts.read("notes.yaml")
    path = write_terms_pipeline(texts.folder, ["rules"])
    sound = path.read_text()
    for old, new, said in (
        ('"span": "DATE"', '"field": "visit", "span": "DATE"', "one of field and span"),
        ('"span": "MEDICATION"', '"field": "visit"', "is of a span"),
        ('["rules"]', '["rules", "rules"]', "each model once"),
        ('["rules"]', "[]", "models"),
        ('["rules"]', '["absent"]', "no model 'absent'"),
    ):
        path.write_text(sound.replace(old, new))
        with pytest.raises(InvalidOptionError, match=said):
            texts.submit("text.pipeline", pipeline="pipeline.yaml")
