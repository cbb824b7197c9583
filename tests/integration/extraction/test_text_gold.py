"""Gold standards as collections: whose their documents are, and what is said."""

import pytest

from privacy.errors import InvalidOptionError
from tests.support.data.notes import declare, made_note, write_notes
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.texts import Texts
from upstream.extraction.gold.brat import write_brat
from upstream.extraction.gold.tagged_files import write_tagged
from upstream.extraction.text.documents import Place, TextDocument
from upstream.extraction.text.spans import AnnotatedDocument, Span

QUICK = {"training": {"algorithm": "ap", "iterations": 5}, "rules": "none"}


@pytest.fixture
def texts(tmp_path):
    made = ImportingInstallation(tmp_path).create()
    made.load()
    with made.services() as services:
        yield Texts(made, services)


@pytest.mark.parametrize("form", ["brat", "tags"])
def test_the_fields_of_a_gold_standard_in_files_are_of_its_paths(texts, form):
    for number in range(12):
        text, spans = made_note(number)
        path = texts.folder / form / f"p{number // 2}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        document = AnnotatedDocument(
            TextDocument(f"p{number // 2}/{number}", text, Place("x")),
            tuple(Span(*span) for span in spans),
        )
        write = {"brat": write_brat, "tags": write_tagged}[form]
        assert write([document], texts.folder / form) == ()
    gold = {"format": form, "path": form, "id_pattern": r"p(?P<patient>\d+)/.*"}
    texts.read(declare(texts.folder, "gold", "people", gold=gold))
    told = {"population": "people", "model": "names", "gold": "gold", "spec": QUICK}
    done = texts.done("text.train", **told, folds=3, fold_by="patient")
    assert len(done["card"]["fold_f1"]) == 3
    wrong = texts.run("text.train", **{**told, "model": "b"}, folds=2, fold_by="ward")
    assert "it has patient; fields come of a gold" in wrong["error"]
    gold["id_pattern"] = r"p(?P<id>0)/.*"
    made = texts.read(declare(texts.folder, "one", "people", gold=gold))
    assert (made["documents"], made["quarantined"]) == (1, {"refused_gold": 11})


def test_an_id_pattern_is_of_files_paths_alone(texts):
    gold = {"format": "json", "path": "gold.jsonl", "id_pattern": "x"}
    declare(texts.folder, "gold", "people", gold=gold)
    with pytest.raises(InvalidOptionError, match="in JSON write fields beside"):
        texts.submit("text.read", declaration="gold.yaml")
    declare(texts.folder, "gold", "people", gold={**gold, "id_pattern": "("})
    with pytest.raises(InvalidOptionError, match="no regular expression"):
        texts.submit("text.read", declaration="gold.yaml")


def test_a_gold_standard_that_marks_nothing_says_so_when_it_is_read(texts):
    (texts.folder / "gold.jsonl").write_text('{"id": "a", "text": "b", "spans": []}\n')
    gold = {"format": "json", "path": "gold.jsonl"}
    made = texts.read(declare(texts.folder, "gold", "people", gold=gold))
    (warning,) = made["warnings"]
    assert warning.startswith("the gold standard marks no span")
    (texts.folder / "gold.jsonl").write_text(
        '{"id": "a", "text": "b", "spans": [[0, 1, "X"]]}\n'
    )
    marked = texts.read(declare(texts.folder, "marked", "people", gold=gold))
    assert (marked["spans"], marked["warnings"]) == ({"X": 1}, [])


def test_what_is_no_gold_standard_says_what_it_has_in_words(texts):
    path = write_notes(texts.folder, range(2))
    texts.read(path)
    told = {"population": "people", "model": "m", "gold": "notes", "spec": QUICK}
    with pytest.raises(
        InvalidOptionError, match="is no gold standard: it has no spans"
    ):
        texts.submit("text.train", **told)
    tag = {"population": "people", "collection": "notes", "model": "rules"}
    texts.done("text.tag", **tag)
    with pytest.raises(InvalidOptionError, match=r"it has spans of rules$"):
        texts.submit("text.train", **told)


def test_a_file_that_is_set_aside_is_named_once(texts):
    path = write_notes(texts.folder, [1])
    (texts.folder / "notes" / "p0001-1.txt").write_text("  ")
    seen = texts.run("text.read", declaration=str(path))
    assert seen["error"].count("notes/p0001-1.txt") == 1
