"""curator text run: from notes to a loaded table, with the origin of each value."""

import csv
import re
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Commands
from tests.effort import gate_first
from tests.support.data.notes import made_note, write_gold, write_notes
from tests.support.installations.harness import (
    ImportingInstallation,
    ask,
    client,
    serve_in_thread,
)
from tests.support.installations.remembered import remembered
from upstream.extraction.models.model import ModelSpec

PAGE = Path(__file__).parents[3] / "docs" / "text.md"
NOTES = range(1, 41)
QUICK = "training: {algorithm: ap, iterations: 6}\n"


def of_page(name):
    """Return a file that the page shows."""
    return re.search(rf"```yaml\n# {name}\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """Commands where notes were read and a model was trained, and the page's files."""
    monkeypatch.chdir(tmp_path)
    made = ImportingInstallation(tmp_path).create()
    made.load()
    write_gold(tmp_path, range(100, 160))
    write_notes(tmp_path, NOTES)
    for name in ("notes.yaml", "gold.yaml", "pipeline.yaml"):
        (tmp_path / name).write_text(of_page(name))
    (tmp_path / "quick.yaml").write_text(QUICK)
    commands = Commands(made)
    remembered(made, ("texts and a model",), lambda: train(commands))
    return commands


def train(commands):
    commands.run("text", "read", "gold.yaml")
    commands.run("model", "train", "names", "gold", "--spec", "quick.yaml")


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """Commands on an installation without a population, and the page's files."""
    monkeypatch.chdir(tmp_path)
    write_gold(tmp_path, range(100, 160))
    write_notes(tmp_path, NOTES)
    for name in ("notes.yaml", "gold.yaml", "pipeline.yaml"):
        (tmp_path / name).write_text(of_page(name))
    (tmp_path / "quick.yaml").write_text(QUICK)
    return Commands(ImportingInstallation(tmp_path).create())


def changed(tmp_path, **more):
    """Write the page's pipeline with other keys."""
    told = {**yaml.safe_load(of_page("pipeline.yaml")), **more}
    told["load"]["snapshot_date"] = "2024-12-31"
    path = tmp_path / "changed.yaml"
    path.write_text(yaml.safe_dump(told, default_style=None))
    return path


def loaded(texts):
    return [one["name"] for one in texts.json("dataset", "list")["items"]]


def true_age(number):
    text, spans = made_note(number)
    return next(text[start:end] for start, end, label in spans if label == "AGE")


def test_the_page_shows_what_a_model_is_trained_as_if_nothing_is_said():
    assert ModelSpec.model_validate(yaml.safe_load(of_page("spec.yaml"))) == ModelSpec()


def test_the_pages_walk_ends_in_a_count_with_noise(texts, tmp_path):
    texts.run("text", "read", "notes.yaml")
    made = texts.json("text", "run", "pipeline.yaml")
    assert (made["dataset"], made["texts"]["rows"]) == ("notes", len(NOTES))
    folder = texts.installation.data / "texts" / made["job"]
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    with (folder / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    right = [row["age"] == true_age(n) for row, n in zip(rows, NOTES, strict=True)]
    assert sum(right) >= 0.9 * len(NOTES)
    assert all(re.fullmatch(r"2024-\d\d-\d\d|", row["seen"]) for row in rows)
    assert any(row["weight"] for row in rows)
    key = texts.installation.analyst(dataset="notes")
    with (
        serve_in_thread(texts.installation) as url,
        client(url, key) as http,
    ):
        reply = ask(http, "SELECT COUNT(*) FROM notes", "5", dataset="notes")
    assert reply.status_code == 200, reply.text
    assert abs(reply.json()["rows"][0][0] - len(NOTES)) < 100
    (output,) = texts.json("job", "show", made["job"])["lineage"]["outputs"]
    assert (output["dataset"], output["snapshot"]) == ("notes", made["snapshot"])
    assert texts.json("ledger", "verify")["ok"]


@pytest.mark.long
def test_who_has_texts_alone_begins_with_the_population_of_a_pipeline(empty, tmp_path):
    said = empty.said("text", "read", "notes.yaml")
    assert "no population 'people': create one: curator population create FILE" in said
    assert "curator population create FILE" in empty.said("text", "tag", "n", "rules")
    made = empty.json("population", "create", "pipeline.yaml")
    assert made["name"] == "people"
    empty.run("text", "read", "notes.yaml")
    empty.run("text", "read", "gold.yaml")
    empty.run("model", "train", "names", "gold", "--spec", "quick.yaml")
    assert empty.json("text", "run", "pipeline.yaml")["texts"]["rows"] == len(NOTES)
    page = of_page("notes.yaml").replace(": people", ": poeple")
    (tmp_path / "notes.yaml").write_text(page)
    said = empty.said("text", "read", "notes.yaml")
    assert "no population 'poeple': did you mean 'people'?" in said


def test_a_pipeline_whose_population_is_wrong_creates_none(empty, tmp_path):
    page = of_page("pipeline.yaml")
    (tmp_path / "pipeline.yaml").write_text(page.replace('epsilon_cap: "', "cap: "))
    said = empty.said("population", "create", "pipeline.yaml")
    assert re.search(r"pipeline.yaml:\d+:\d+: ", said)
    assert empty.json("population", "list")["items"] == []


def test_a_value_is_traced_to_the_very_bytes_of_a_file(texts, tmp_path):
    texts.run("text", "read", "notes.yaml")
    job = texts.json("text", "run", "pipeline.yaml")["job"]
    found = {
        one["column"]: one for one in texts.json("text", "origin", job, "7")["items"]
    }
    assert found["patient_id"]["from_to"] is None
    age = found["age"]
    start, end = age["from_to"]
    raw = (tmp_path / age["file"]).read_bytes()
    assert raw[start:end].decode() == true_age(NOTES[6])
    assert age["finder"].startswith("model_")
    assert "made no row 99" in texts.said("text", "origin", job, "99")


def test_a_pipeline_with_a_source_reads_tags_and_loads(texts, tmp_path):
    source = yaml.safe_load(of_page("notes.yaml"))["source"]
    path = changed(tmp_path, source=source, collection="fresh")
    made = texts.json("text", "run", path)
    assert made["texts"] == {
        **made["texts"],
        "collection": "fresh",
        "rows": len(NOTES),
    }
    (fresh,) = [
        one for one in texts.json("text", "list")["items"] if one["name"] == "fresh"
    ]
    assert (fresh["documents"], len(fresh["spans"])) == (len(NOTES), 1)


@pytest.mark.long
def test_what_has_no_value_is_counted_by_its_reason(texts, tmp_path):
    texts.run("text", "read", "notes.yaml")
    told = yaml.safe_load(of_page("pipeline.yaml"))["table"]
    told["columns"][0]["as"] = {"kind": "date", "order": "day_first"}
    path = changed(tmp_path, table=told)
    made = texts.json("text", "run", path)
    count = made["texts"]["without_value"]["seen"]["impossible"]
    said = rf"seen: {count} of \d+ dates are impossible: .* order right \(day_first\)"
    assert re.match(said, made["texts"]["warnings"][-1])


@pytest.mark.long
def test_rows_of_nobody_are_counted_in_a_warning(texts, tmp_path):
    notes = yaml.safe_load(of_page("notes.yaml"))
    pattern = r"p(?P<patient>(?!0001|0002)\d+)?\d*-(?P<visit>\d)\.txt"
    notes["source"]["id_pattern"] = pattern
    (tmp_path / "notes.yaml").write_text(yaml.safe_dump(notes))
    texts.run("text", "read", "notes.yaml")
    made = texts.json("text", "run", "pipeline.yaml")
    (warning,) = made["texts"]["warnings"]
    assert warning == (
        f"2 of {len(NOTES)} rows have no value for the unit column patient_id "
        "(2 missing): they are dropped"
    )
    (table,) = made["report"]["tables"]
    assert (table["rows_kept"], table["dropped_null_unit"]) == (len(NOTES) - 2, 2)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("old", "new", "said"),
    gate_first(
        3,
        [
            ("take: first", "take: best", r"pipeline.yaml:\d+:\d+: .*take"),
            (
                "take: first",
                "tkae: first",
                r":\d+:\d+: .*unknown key: did you mean take",
            ),
            ("unit: kg", "unit: stone", r"pipeline.yaml:\d+:\d+: .*one of"),
            ("field: patient", "span: NAME", "a model may be wrong about people"),
            (
                "    id: people",
                "    id: others",
                r":\d+:\d+: load: its population is others, another than .*, people",
            ),
            (
                "name: age, type",
                "name: aeg, type",
                "for the column aeg: did you mean age",
            ),
            (
                "take: first",
                "take: best",
                "take: write one of 'first', 'last' or 'surest'",
            ),
            ("kind: date", "kind: day", "as: write one of 'date', 'age'"),
            ("  - name: notes", "  - name: other", "declare one table, notes"),
            ("max_rows_per_unit: 10", "max_rows_per_unit: x", r"yaml:\d+:\d+: "),
            ("models: [names]", "models: [nobody]", "no model 'nobody'"),
            ("models: [names]", "models: [name]", "'name': did you mean 'names'"),
            ("collection: notes", "collection: noets", "'noets': did you mean 'notes'"),
            ("collection: notes", "collection: nothing", "no collection 'nothing'"),
        ],
    ),
)
def test_what_is_wrong_in_a_pipeline_is_said_with_its_place(
    texts, tmp_path, old, new, said
):
    texts.run("text", "read", "notes.yaml")
    page = of_page("pipeline.yaml")
    assert old in page
    (tmp_path / "pipeline.yaml").write_text(page.replace(old, new))
    assert re.search(said, texts.said("text", "run", "pipeline.yaml"))


def test_a_column_that_nothing_is_made_for_is_told_with_its_own_line(texts, tmp_path):
    page = of_page("pipeline.yaml").replace("name: age, type", "name: aeg, type")
    (tmp_path / "pipeline.yaml").write_text(page)
    line = page[: page.index("name: aeg")].count("\n") + 1
    said = texts.said("text", "run", "pipeline.yaml")
    assert f"pipeline.yaml:{line}:" in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    gate_first(
        1,
        [
            (
                "span: AGE,",
                "span: AGES,",
                r":\d+:\d+: no type 'AGES': did you mean 'AGE'",
            ),
            ("  unit: {", "  rows: {span: AGES}\n  unit: {", "no type 'AGES'"),
            (
                "field: patient",
                "field: pateint",
                r":\d+:\d+: no field 'pateint': did you",
            ),
            (
                "table:",
                "risks: {WIEGHT: health}\ntable:",
                r":\d+:\d+: no type 'WIEGHT': did",
            ),
            (
                "table:",
                "risks: {ward: direct}\ntable:",
                "no type 'ward': the models find AGE",
            ),
            (
                "span: WEIGHT,",
                "field: colour,",
                "no field 'colour': the documents have",
            ),
        ],
    ),
)
def test_what_no_model_finds_and_no_document_has_is_not_loaded(
    texts, tmp_path, old, new, said
):
    texts.run("text", "read", "notes.yaml")
    page = of_page("pipeline.yaml")
    assert old in page
    (tmp_path / "pipeline.yaml").write_text(page.replace(old, new))
    assert re.search(said, texts.said("text", "run", "pipeline.yaml"))
    assert loaded(texts) == ["clinic"]


@pytest.mark.long
def test_a_dry_run_reports_what_would_be_and_keeps_nothing(texts, tmp_path):
    texts.run("text", "read", "notes.yaml")
    made = texts.json("text", "run", "pipeline.yaml", "--dry-run")
    assert (made["snapshot"], made["texts"]["rows"]) == (None, len(NOTES))
    assert list((texts.installation.data / "texts").iterdir()) == []
    assert loaded(texts) == ["clinic"]
    assert texts.json("text", "run", "pipeline.yaml")["snapshot"]


@pytest.mark.long
def test_a_column_without_any_value_is_a_warning(texts, tmp_path):
    texts.run("text", "read", "notes.yaml")
    table = yaml.safe_load(of_page("pipeline.yaml"))["table"]
    table["columns"][2]["as"] = {"kind": "number", "unit": "mmhg"}
    made = texts.json("text", "run", changed(tmp_path, table=table))
    (warning,) = made["texts"]["warnings"]
    assert warning.startswith(f"weight has no value in any row: {len(NOTES)} ")


@pytest.mark.long
def test_a_table_of_nobody_or_of_nothing_is_refused(texts, tmp_path):
    texts.run("text", "read", "notes.yaml")
    table = yaml.safe_load(of_page("pipeline.yaml"))["table"]
    table["unit"]["as"] = {"kind": "code", "pattern": "X"}
    path = changed(tmp_path, table=table)
    assert "no row has a value for the unit column" in texts.said("text", "run", path)


@pytest.mark.long
def test_the_tables_of_a_collection_go_with_it(texts, tmp_path):
    texts.run("text", "read", "notes.yaml")
    made = texts.json("text", "run", "pipeline.yaml")
    folder = texts.installation.data / "texts"
    assert [path.name for path in folder.iterdir()] == [made["job"]]
    texts.run("text", "delete", "notes")
    assert list(folder.iterdir()) == []
    assert texts.said("text", "origin", made["job"], "1")
