"""curator text and curator model: from a folder of notes to judged models."""

import json

import pytest

from tests.cli.conftest import Commands
from tests.support.data.notes import made_note, write_gold, write_notes
from tests.support.installations.harness import ImportingInstallation
from upstream.extraction.gold.brat import read_brat
from upstream.extraction.gold.json_spans import read_json_spans

QUICK = "training: {algorithm: ap, iterations: 4}\nrules: none\n"


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """Commands on an installation with an import folder and a population."""
    monkeypatch.chdir(tmp_path)
    made = ImportingInstallation(tmp_path).create()
    made.load()
    (tmp_path / "quick.yaml").write_text(QUICK)
    return Commands(made)


@pytest.fixture
def trained(texts, tmp_path):
    """Commands where a gold standard was read, and a model trained on it."""
    write_gold(tmp_path, range(40))
    texts.run("text", "read", "gold.yaml")
    texts.run("model", "train", "names", "gold", "--spec", "quick.yaml")
    return texts


def test_notes_are_read_listed_tagged_exported_and_deleted(trained, tmp_path):
    write_notes(tmp_path, range(100, 106))
    (tmp_path / "notes" / "p0200-1.txt").write_text(" ")
    read = trained.json("text", "read", "notes.yaml")
    assert (read["documents"], read["quarantined"]) == (6, {"empty": 1})
    tagged = trained.json("text", "tag", "notes", "names")
    assert sum(tagged["spans"].values()) > 6
    listed = {one["name"]: one for one in trained.json("text", "list")["items"]}
    assert set(listed) == {"gold", "notes"}
    assert listed["notes"]["spans"] == {tagged["finder"]: sum(tagged["spans"].values())}
    first, second = trained.json("text", "documents", "notes", "--limit", "2")["items"]
    assert first["fields"] == {"patient": "0100", "visit": "1"}
    assert (second["number"], second["file"]) == (2, "notes/p0101-1.txt")
    (aside,) = trained.json("text", "quarantined", "notes")["items"]
    assert aside["reason"] == "empty"
    out = tmp_path / "out.jsonl"
    trained.run("text", "export", "notes", out, "--finder", "names")
    documents = list(read_json_spans(out))
    texts = [one.document.text for one in documents]
    assert texts == [made_note(number)[0] for number in range(100, 106)]
    assert sum(len(one.spans) for one in documents) == sum(tagged["spans"].values())
    again = ("text", "export", "notes", out, "--finder", "names")
    assert "exists" in trained.said(*again)
    assert "no gold standard" in trained.said("text", "export", "notes", "new")
    told = ("--finder", "names", "--format", "brat")
    made = trained.json("text", "export", "notes", "to_correct", *told)
    assert (made["documents"], made["refused"]) == (6, [])
    assert sum(len(one.spans) for one in read_brat(tmp_path / "to_correct")) == sum(
        tagged["spans"].values()
    )
    trained.run("text", "delete", "notes")
    assert "no collection" in trained.said("text", "documents", "notes")
    assert trained.json("ledger", "verify")["ok"]


def test_a_gold_standard_goes_out_in_every_format_and_comes_in_again(trained, tmp_path):
    for written in ("brat", "tags", "presidio"):
        target = tmp_path / f"as_{written}"
        told = trained.json("text", "export", "gold", target, "--format", written)
        assert (told["documents"], told["refused"]) == (40, [])
    marked = {one.document.id: one.spans for one in read_brat(tmp_path / "as_brat")}
    spans = [(one.start, one.end, one.label) for one in marked["g7"]]
    assert spans == made_note(7)[1]
    for name, mode in (("brat", 0o700), ("tags", 0o700), ("presidio", 0o600)):
        assert (tmp_path / f"as_{name}").stat().st_mode & 0o777 == mode


def test_models_are_compared_in_words_and_listed(trained, tmp_path):
    write_gold(tmp_path, range(300, 330), name="held_out")
    trained.run("text", "read", "held_out.yaml")
    done = trained.run("model", "compare", "names", "rules", "held_out")
    assert "spans: names is better by 0." in done.stdout
    assert "which is more than chance" in done.stdout
    assert "rules finds no WEIGHT" in done.stderr
    same = trained.run("model", "compare", "names", "names", "gold")
    assert "spans: no difference (probability 1.0)" in same.stdout
    assert "learned from this gold standard" in same.stderr
    (row,) = trained.json("model", "list")["items"]
    shown = trained.json("model", "show", "names")
    assert (row["id"], shown["card"]["documents"]) == (shown["id"], 40)
    trained.run("model", "delete", "names")
    assert trained.json("model", "list")["items"] == []
    assert "no model" in trained.said("text", "tag", "held_out", "names")


def test_a_model_is_judged_by_its_figures_of_each_type(trained):
    told = trained.json("text", "evaluate", "gold", "names")
    (one,) = told["models"]
    assert one["types"]["AGE"]["strict"]["recall"] > 0.9
    assert "Ann" not in json.dumps(told)


@pytest.mark.long
def test_training_prints_how_good_a_model_is_and_not_its_whole_card(trained, tmp_path):
    (tmp_path / "quick.yaml").write_text("training: {algorithm: ap, iterations: 5}")
    told = ("--spec", "quick.yaml", "--folds", "2")
    done = trained.run("model", "train", "other", "gold", *told)
    assert "of folds that it did not learn" in done.stdout
    assert "flattering" in done.stdout
    assert len(done.stdout.splitlines()) < 20
    assert "misses" in trained.json("model", "show", "other")["card"]["tuned"]


def test_what_is_left_to_a_worker_is_a_job(texts, tmp_path):
    write_notes(tmp_path, range(3))
    job = texts.json("text", "read", "notes.yaml", "--background")["job"]
    assert texts.json("text", "list")["items"] == []
    texts.installation.run_jobs()
    assert texts.json("job", "show", job)["result"]["documents"] == 3


def test_what_does_not_serve_is_said_in_a_sentence(texts, tmp_path):
    assert "under CURATOR_IMPORT" in texts.said("text", "read", "/etc/none.yaml")
    assert "no collection 'x'" in texts.said("text", "tag", "x", "rules")
    (tmp_path / "spec.yaml").write_text("- 1")
    told = ("model", "train", "m", "g", "--spec", "spec.yaml")
    assert "keys of a model's spec" in texts.said(*told)
    texts.installation.load(
        [f"{n},F,30,north,2024-01-01,n" for n in range(500, 560)],
        dataset="ours",
        population="others",
    )
    assert "--population" in texts.said("text", "tag", "x", "rules")


@pytest.mark.long
def test_a_backup_holds_texts_and_models(trained, tmp_path):
    before = trained.json("text", "list"), trained.json("model", "show", "names")
    trained.run("backup", "create", tmp_path / "copy")
    data = trained.installation.data
    data.rename(tmp_path / "lost")
    trained.run("backup", "restore", tmp_path / "copy")
    after = trained.json("text", "list"), trained.json("model", "show", "names")
    assert after == before
    told = trained.run("text", "export", "gold", tmp_path / "out.jsonl")
    assert told.exit_code == 0
