"""Texts are read, tagged and judged, and models trained, as jobs of custodians."""

import json
import threading

import pytest
from sqlalchemy import select

from privacy.errors import InvalidOptionError
from server.bootstrap import job_kinds, make_runner
from server.persistence.schema import RECORDED_TABLES
from server.persistence.text_tables import text_origin
from server.use_cases.extraction import reading
from server.use_cases.extraction.pipelines import stages, table_making
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.services.errors import NotFoundError
from server.use_cases.services.paging import Page
from server.use_cases.services.text_cipher import TextKeyError
from tests.effort import gate_first
from tests.support.data.notes import (
    declare,
    made_note,
    write_gold,
    write_notes,
    write_pipeline,
)
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.texts import OPERATOR, Texts

QUICK = {"training": {"algorithm": "ap", "iterations": 5}, "rules": "none"}


@pytest.fixture(params=gate_first(1, ["sqlite", "postgresql"]))
def texts(request, tmp_path):
    shared = request.param == "postgresql"
    url = request.getfixturevalue("empty_database") if shared else ""
    made = ImportingInstallation(tmp_path, url=url).create()
    made.load()
    with made.services() as services:
        yield Texts(made, services)


def test_a_folder_of_notes_becomes_a_collection(texts):
    path = write_notes(texts.folder, range(1, 31))
    (texts.folder / "notes" / "p0099-1.txt").write_text("  ")
    (texts.folder / "notes" / "readme.txt").write_text("no patient")
    seen = texts.run("text.read", declaration="notes.yaml")
    result = seen["result"]
    assert (result["collection"], result["documents"]) == ("notes", 30)
    assert result["quarantined"] == {"empty": 1, "no_id": 1}
    assert seen["lineage"]["inputs"][0]["path"] == str(path)
    assert seen["lineage"]["outputs"] == [{"collection": result["id"], "name": "notes"}]
    parts = texts.parts()
    found = parts.collection("people", "notes")
    documents = [one.document for page in parts.pages(found.id) for one in page]
    assert [one.text for one in documents] == [made_note(n)[0] for n in range(1, 31)]
    assert documents[6].fields == {"patient": "0007", "visit": "1"}


def test_what_is_begun_is_in_the_chain_once_without_any_text(texts):
    write_notes(texts.folder, range(1, 4))
    job = texts.submit("text.read", declaration="notes.yaml")
    runner = make_runner(texts.services, threading.Event(), beat_seconds=0.05)
    runner.begin_due()  # before its turn
    facts = {"population": "people", "job": job, "kind": "text.read"}
    assert [one["facts"] for one in texts.entries()] == [facts]
    runner.begin_due()
    texts.work()
    assert len(texts.entries()) == 1
    assert texts.jobs.show(OPERATOR, job)["attempts"] == 1
    assert texts.services.ledger.verify(RECORDED_TABLES).ok


def test_a_gold_standard_comes_in_and_a_model_is_trained_judged_and_used(texts):
    write_gold(texts.folder, range(100, 180))
    write_gold(texts.folder, range(200, 230), name="held_out")
    write_notes(texts.folder, range(1, 21))
    read = texts.read("gold.yaml")
    assert read["spans"] == {"AGE": 80, "DATE": 80, "NAME": 80, "WEIGHT": 80}
    texts.read("held_out.yaml")
    texts.read("notes.yaml")
    trained = texts.run(
        "text.train", population="people", model="names", gold="gold", spec=QUICK
    )
    card = trained["result"]["card"]
    assert (card["documents"], card["spans"]["NAME"]) == (80, 80)
    judged = texts.done(
        "text.evaluate", population="people", gold="held_out", models=["names", "rules"]
    )
    first, second = judged["models"]
    assert (first["name"], first["knows_gold"]) == ("names", False)
    assert first["strict"]["f1"] > 0.9 > second["strict"]["f1"]
    compared = judged["comparison"]["spans"]
    assert compared["first_f1"] == first["strict"]["f1"]
    assert compared["significant"]
    tagged = texts.run(
        "text.tag", population="people", collection="notes", model="names"
    )
    model = trained["result"]["model"]
    assert tagged["result"]["finder"] == model
    assert tagged["result"]["spans"]["NAME"] >= 18
    assert tagged["lineage"]["inputs"][1] == {"model": model, "name": "names"}
    parts = texts.parts()
    found = parts.collection("people", "notes")
    one = next(iter(parts.annotated(found.id, model)))
    assert {span.source for span in one.spans} == {model}
    said = json.dumps([trained, judged, tagged])
    assert not any(name in said for name in ("Ann Lee", "Patient ", " kg"))


@pytest.mark.long
def test_folds_say_how_good_a_model_is_without_a_second_gold_standard(texts):
    write_gold(texts.folder, range(40))
    texts.read("gold.yaml")
    told = {"population": "people", "gold": "gold", "spec": QUICK}
    result = texts.done("text.train", model="folded", folds=2, **told)
    judged = result["card"]["by_folds"]
    assert judged["documents"] == 40
    assert judged["strict"]["f1"] > 0.8
    assert len(result["card"]["fold_f1"]) == 2
    wrong = texts.run("text.train", model="other", folds=2, fold_by="ward", **told)
    assert (wrong["state"], "no field 'ward'" in wrong["error"]) == ("failed", True)


@pytest.mark.long
def test_models_of_the_same_folds_are_compared_fold_by_fold(texts):
    write_gold(texts.folder, range(60))
    texts.read("gold.yaml")
    told = {"population": "people", "gold": "gold"}
    poor = {**QUICK, "features": {"context": False, "layout": False, "forms": False}}
    for model, spec, folds in (("a", QUICK, 4), ("b", poor, 4), ("c", QUICK, 3)):
        texts.done("text.train", model=model, spec=spec, folds=folds, **told)
    both = texts.done("text.evaluate", models=["a", "b"], **told)["comparison"]
    assert both["folds"]["folds"] == 4
    assert 0 <= both["folds"]["probability"] <= 1
    assert both["folds"]["first_f1"] >= both["folds"]["second_f1"]
    for other in ("c", "rules"):
        made = texts.done("text.evaluate", models=["a", other], **told)
        assert "folds" not in made["comparison"]


def test_a_card_says_what_a_model_learned_and_what_it_misses(texts):
    write_gold(texts.folder, range(40))
    texts.read("gold.yaml")
    spec = {**QUICK, "types": ["NAME", "AGE"]}
    told = {"population": "people", "gold": "gold", "model": "two", "spec": spec}
    card = texts.done("text.train", **told)["card"]
    assert card["spans"] == {"AGE": 40, "NAME": 40}
    assert card["tuned"]["documents"] == 8  # a fifth is kept aside for thresholds
    assert card["tuned"]["strict"]["f1"] > 0.5
    assert isinstance(card["tuned"]["misses"], list)
    judged = texts.done(
        "text.evaluate", population="people", gold="gold", models=["two"]
    )
    assert judged["types_left_out"] == ["DATE", "WEIGHT"]
    (model,) = judged["models"]
    assert set(model["types"]) <= {"AGE", "NAME"}
    assert model["knows_gold"]


def test_a_gold_standard_that_marks_nothing_judges_nobody(texts):
    (texts.folder / "bare.jsonl").write_text('{"id": "a", "text": "b", "spans": []}')
    gold = {"format": "json", "path": "bare.jsonl"}
    declare(texts.folder, "bare", "people", gold=gold)
    texts.read("bare.yaml")
    told = {"population": "people", "gold": "bare", "models": ["rules"]}
    assert "marks no span" in texts.run("text.evaluate", **told)["error"]


def test_types_that_a_model_does_not_know_by_name_are_told(texts):
    write_gold(texts.folder, range(10))
    texts.read("gold.yaml")
    told = {"population": "people", "gold": "gold", "models": ["rules"]}
    (judged,) = texts.done("text.evaluate", **told)["models"]
    assert judged["types_not_found"] == ["WEIGHT"]


def test_a_source_of_which_no_document_is_read_is_refused_with_the_reason(texts):
    path = write_notes(texts.folder, range(1, 4))
    declared = path.read_text()
    path.write_text(declared.replace("p(?P", "q(?P"))
    error = texts.run("text.read", declaration="notes.yaml")["error"]
    assert "no document was read: 3 no_id; " in error
    assert "p0001-1.txt: its path does not match id_pattern" in error
    path.write_text(declared)
    assert texts.read("notes.yaml")["documents"] == 3


def test_a_model_learns_from_lists_of_terms_too(texts):
    write_gold(texts.folder, range(40))
    texts.read("gold.yaml")
    (texts.folder / "wards.csv").write_text("north\nsouth\n")
    told = {"population": "people", "model": "wards", "terms": {"WARD": "wards.csv"}}
    (texts.folder / "wards.yaml").write_text(json.dumps(told))
    texts.done("text.terms", declaration="wards.yaml")
    told = {"population": "people", "gold": "gold", "spec": QUICK}
    made = texts.done("text.train", model="m", dictionaries=["wards"], **told)
    assert made["card"]["dictionaries"] == ["wards"]
    (one,) = texts.parts().opened(made["model"]).dictionaries
    assert one.name == "WARD"
    seen = texts.run("text.train", model="n", dictionaries=["m"], **told)
    assert "m is no list of terms" in seen["error"]
    seen = texts.run("text.train", model="n", dictionaries=["wards", "wards"], **told)
    assert "two dictionaries have one name" in seen["error"]


def test_a_reading_that_was_cut_off_goes_on_where_it_was(texts, monkeypatch):
    monkeypatch.setattr(reading, "BATCH_DOCUMENTS", 4)
    write_notes(texts.folder, range(1, 31))
    (texts.folder / "notes" / "p0000-1.txt").write_text(" ")
    job = texts.submit("text.read", declaration="notes.yaml")
    stored, cut = reading.Target.write, []

    def write(self, batch, reached):
        made = stored(self, batch, reached)
        if made.documents >= 10 * (1 + len(cut)) and len(cut) < 2:
            cut.append(made.documents)
            raise OSError
        return made

    monkeypatch.setattr(reading.Target, "write", write)
    monkeypatch.setattr("server.use_cases.jobs.running.POSTPONED_MS", -1)
    texts.work()
    seen = texts.jobs.show(OPERATOR, job)
    assert (seen["state"], seen["attempts"]) == ("done", 3)
    assert (seen["result"]["documents"], len(cut)) == (30, 2)
    parts = texts.parts()
    held = [one for page in parts.pages(seen["result"]["id"]) for one in page]
    assert [one.number for one in held] == list(range(1, 31))
    assert [one.document.text for one in held] == [
        made_note(n)[0] for n in range(1, 31)
    ]


def test_a_failed_or_cancelled_reading_leaves_nothing(texts):
    declare(
        texts.folder,
        "none",
        "people",
        source={"kind": "text", "folder": ".", "files": ["*.nothing"]},
    )
    seen = texts.run("text.read", declaration="none.yaml")
    assert (seen["state"], "no file matches" in seen["error"]) == ("failed", True)
    with texts.services.databases.reader.connect() as connection:
        assert texts.parts().texts.unfinished_jobs(connection) == set()
    write_notes(texts.folder, range(3), name="none")
    assert texts.read("none.yaml")["documents"] == 3  # its name is free


def test_a_collection_and_a_model_are_made_once_under_a_name(texts):
    write_gold(texts.folder, range(10))
    texts.read("gold.yaml")
    again = texts.run("text.read", declaration="gold.yaml")
    assert "has a collection 'gold'" in again["error"]
    told = {"population": "people", "model": "one", "gold": "gold", "spec": QUICK}
    texts.done("text.train", **told)
    with pytest.raises(InvalidOptionError, match="has a model 'one'"):
        texts.submit("text.train", **told)
    tag = {"population": "people", "collection": "gold", "model": "one"}
    texts.done("text.tag", **tag)
    assert "already" in texts.run("text.tag", **tag)["error"]


@pytest.mark.parametrize(
    ("kind", "told", "said"),
    [
        ("text.read", {"declaration": "../x.yaml"}, "under CURATOR_IMPORT"),
        ("text.read", {"declaration": "/etc/passwd"}, "under CURATOR_IMPORT"),
        ("text.read", {"declaration": "none.yaml"}, "under CURATOR_IMPORT"),
        ("text.read", {"declaration": "wrong.yaml"}, r"wrong.yaml:4:3: .*colour"),
        ("text.read", {"declaration": "nobody.yaml"}, "no population 'nobody'"),
        ("text.tag", {"collection": "x", "model": "rules"}, "no collection 'x'"),
        ("text.train", {"model": "m", "gold": "x"}, "no collection 'x'"),
        (
            "text.train",
            {"model": "m", "gold": "x", "spec": {"seed": -1, "typs": []}},
            "spec: seed: write 0 or more; typs: unknown key: did you mean types",
        ),
        ("text.evaluate", {"gold": "x", "models": ["rules"]}, "no collection 'x'"),
        ("text.evaluate", {"gold": "x", "models": []}, "models"),
    ],
)
def test_what_is_wrong_is_said_before_a_job_is_queued(texts, kind, told, said):
    declare(texts.folder, "nobody", "nobody", gold={"format": "brat", "path": "x"})
    (texts.folder / "wrong.yaml").write_text(
        "population: people\ncollection: a\nsource:\n  colour: red\n  kind: text\n"
    )
    about = {} if kind == "text.read" else {"population": "people"}
    with pytest.raises(InvalidOptionError, match=said):
        texts.submit(kind, **about, **told)


def test_another_populations_texts_are_not_there(texts):
    write_gold(texts.folder, range(10))
    texts.read("gold.yaml")
    stranger = Viewer("edsger", frozenset({"others"}))
    told = {"population": "people", "gold": "gold"}
    for kind, more in (
        ("text.read", {"declaration": "gold.yaml"}),
        ("text.read", {"declaration": "none.yaml"}),
        ("text.evaluate", {**told, "models": ["rules"]}),
        ("text.evaluate", {**told, "gold": "absent", "models": ["rules"]}),
        ("text.train", {**told, "model": "m"}),
        ("text.tag", {"population": "people", "collection": "gold", "model": "rules"}),
    ):
        with pytest.raises(NotFoundError) as raised:
            texts.submit(kind, stranger, **more)
        assert str(raised.value) == str(NotFoundError())
    assert texts.jobs.page(stranger, Page(50, None))["items"] == []


def test_a_declaration_that_was_changed_is_not_read(texts):
    path = write_notes(texts.folder, range(3))
    job = texts.submit("text.read", declaration="notes.yaml")
    path.write_text(path.read_text() + " ")
    texts.work()
    assert "was changed" in texts.jobs.show(OPERATOR, job)["error"]


def test_a_gold_standard_with_a_link_to_elsewhere_is_refused(texts, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "secret.txt"
    elsewhere.write_text("secret")
    folder = texts.folder / "brat"
    folder.mkdir()
    (folder / "a.txt").symlink_to(elsewhere)
    (folder / "a.ann").write_text("")
    declare(texts.folder, "linked", "people", gold={"format": "brat", "path": "brat"})
    seen = texts.run("text.read", declaration="linked.yaml")
    assert "a link in it leads out" in seen["error"]


def test_texts_are_encrypted_by_the_key_that_is_set(texts):
    key = texts.folder.parent / f"{texts.folder.name}.textkey"
    key.write_text("ab" * 32)
    key.chmod(0o600)
    texts.services.settings.text_key = key
    write_notes(texts.folder, range(1, 9))
    texts.read("notes.yaml")
    told = {"population": "people", "collection": "notes", "model": "rules"}
    assert texts.done("text.tag", **told)["documents"] == 8
    texts.services.settings.text_key = None
    parts = texts.parts()
    held = parts.collection("people", "notes")
    with pytest.raises(TextKeyError, match="set CURATOR_TEXT_KEY"):
        next(parts.pages(held.id))
    key.unlink()


def test_every_kind_is_submitted_watched_and_cancelled_as_others_are(texts):
    kinds = {one for one in job_kinds(texts.services) if one.startswith("text.")}
    assert kinds >= {"text.read", "text.train", "text.tag", "text.evaluate"}
    write_notes(texts.folder, range(3))
    job = texts.submit("text.read", declaration="notes.yaml")
    assert texts.jobs.cancel(OPERATOR, job)["state"] == "cancelled"
    texts.work()
    with texts.services.databases.reader.connect() as connection:
        assert texts.parts().texts.collections(connection) == []


def test_a_pipeline_that_was_cut_off_at_each_stage_loads_once(texts, monkeypatch):
    """Once after a page of tagging, and once behind the table, before the load."""
    write_notes(texts.folder, range(1, 231))
    texts.read("notes.yaml")
    write_pipeline(texts.folder, models="[rules]")
    cut = set()

    def cut_off(name, module, original):
        def work(*told, **more):
            made = original(*told, **more)
            if name not in cut:
                cut.add(name)
                raise OSError
            return made

        monkeypatch.setattr(module, name, work)

    cut_off("save_position_with", stages.Stage, stages.Stage.save_position_with)
    cut_off("make", table_making.TableMaker, table_making.TableMaker.make)
    monkeypatch.setattr("server.use_cases.jobs.running.POSTPONED_MS", -1)
    seen = texts.run("text.pipeline", pipeline="pipeline.yaml")
    assert (seen["state"], seen["attempts"], len(cut)) == ("done", 3, 2), seen["error"]
    assert seen["result"]["texts"]["rows"] == 230
    with texts.services.databases.reader.connect() as connection:
        rows = connection.execute(
            select(text_origin.c.row).where(text_origin.c.column == "patient_id")
        ).scalars()
        assert sorted(rows) == list(range(1, 231))
    assert texts.services.ledger.verify(RECORDED_TABLES).ok


def test_a_pipeline_whose_load_is_refused_leaves_no_table(texts):
    write_notes(texts.folder, range(1, 31))
    texts.read("notes.yaml")
    path = write_pipeline(texts.folder, models="[rules]")
    path.write_text(path.read_text().replace("unit: patient", "unit: person"))
    seen = texts.run("text.pipeline", pipeline="pipeline.yaml")
    assert seen["state"] == "failed"
    folder = texts.installation.data / "texts"
    assert list(folder.iterdir()) == []
    with texts.services.databases.reader.connect() as connection:
        assert connection.execute(select(text_origin)).all() == []


def write_sourced(texts, **more):
    """Write notes, and the pipeline that reads them itself."""
    path = write_notes(texts.folder, range(1, 31))
    source = {**json.loads(path.read_text())["source"], **more}
    pipeline = write_pipeline(texts.folder, models="[rules]")
    pipeline.write_text(f"source: {json.dumps(source)}\n{pipeline.read_text()}")


def test_a_pipeline_with_a_source_loads_what_its_dry_run_read(texts):
    write_sourced(texts)
    tried = texts.done("text.pipeline", pipeline="pipeline.yaml", dry_run=True)
    assert tried["texts"]["warnings"] == []
    loaded = texts.done("text.pipeline", pipeline="pipeline.yaml")
    assert (loaded["texts"]["rows"], bool(loaded["snapshot"])) == (30, True)
    (warning,) = loaded["texts"]["warnings"]
    assert warning.startswith("the collection notes was read before (job_")


def test_a_pipeline_takes_what_was_read_from_its_source_alone(texts):
    write_sourced(texts)
    texts.read("notes.yaml")
    assert texts.done("text.pipeline", pipeline="pipeline.yaml")["texts"]["rows"] == 30
    write_sourced(texts, files=["p0001*.txt"])
    seen = texts.run("text.pipeline", pipeline="pipeline.yaml")
    assert "has a collection 'notes'" in seen["error"]


def test_a_spec_that_names_a_type_that_nobody_marked_is_refused(texts):
    write_gold(texts.folder, range(10))
    texts.read("gold.yaml")
    told = {"population": "people", "model": "m", "gold": "gold"}
    seen = texts.run("text.train", **told, spec={**QUICK, "types": ["AGE", "WIEGHT"]})
    assert (
        "the gold standard marks no 'WIEGHT': did you mean 'WEIGHT'?" in seen["error"]
    )


def test_rows_whose_value_is_of_another_span_than_was_to_be_taken_are_counted(texts):
    write_notes(texts.folder, range(1, 31))
    note = texts.folder / "notes" / "p0007-1.txt"
    note.write_text(note.read_text() + "Seen again on 06/20/24.\n")
    texts.read("notes.yaml")
    path = write_pipeline(texts.folder, models="[rules]")
    path.write_text(path.read_text().replace("take: first", "take: last"))
    made = texts.done("text.pipeline", pipeline="pipeline.yaml")["texts"]
    assert made["without_value"] == {}
    assert made["passed_over"] == {"seen": {"ambiguous": 1}}
