"""Clinical notes of made-up patients, with their gold standard."""

import re
from itertools import islice

import numpy as np
import pytest

from server.demo.notes.lists import Lists
from server.demo.notes.notes import (
    HABITS,
    ID_PATTERN,
    IDENTIFIERS,
    draw_notes,
    write_notes,
)
from server.demo.notes.writing import broken, joined, misspelt, segments, wrapped
from upstream.extraction.gold.brat import read_brat
from upstream.extraction.gold.json_spans import read_json_spans
from upstream.extraction.text.labels import labelling
from upstream.extraction.text.tokens import tokenize

NOTES = list(draw_notes(60, seed=3))


def marked(label):
    return [
        each.document.text[span.start : span.end]
        for each in NOTES
        for span in each.spans
        if span.label == label
    ]


def test_equal_seeds_make_equal_notes_and_others_do_not():
    first = [each.document.text for each in islice(draw_notes(5, seed=3), 12)]
    assert first == [each.document.text for each in NOTES[:12]]
    assert first != [each.document.text for each in islice(draw_notes(5), 12)]


def test_every_type_is_marked_somewhere_with_what_it_says():
    assert {span.label for each in NOTES for span in each.spans} == {
        *IDENTIFIERS,
        *HABITS,
    }
    assert all(
        said.strip() == said and said for label in HABITS for said in marked(label)
    )
    assert all(re.fullmatch(r"\d{1,2}", said) for said in marked("AGE"))
    assert all(re.search(r"\d", said) for said in marked("DATE") + marked("PHONE"))


def test_spans_lie_apart_and_end_where_words_do():
    for each in NOTES:
        ends = [0, *(span.end for span in each.spans)]
        assert all(
            span.start >= end for span, end in zip(each.spans, ends, strict=False)
        )
        assert labelling(tokenize(each.document.text), each.spans).misfits == ()


def test_what_is_denied_is_not_marked():
    for said in marked("SMOKING") + marked("FALL"):
        assert not re.search(r"\b(no|denies|never|quit|former)\b", said, re.IGNORECASE)


def test_notes_are_read_again_from_their_folder(tmp_path):
    root = write_notes(tmp_path, patients=4, seed=3, brat=True)
    files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.txt"))
    known = {each.document.id: each for each in NOTES}
    assert all(re.fullmatch(ID_PATTERN, name)["id"] in known for name in files)
    for found in (
        read_json_spans(tmp_path / "gold.jsonl"),
        read_brat(tmp_path / "brat"),
    ):
        read = list(found)
        assert len(read) == len(files)
        for each in read:
            written = known[each.document.id]
            assert each.document.text == written.document.text
            assert each.spans == written.spans
            file = root / f"{each.document.id}.txt"
            assert file.read_bytes().decode() == each.document.text


def test_who_smokes_is_told_in_some_note_of_theirs(tmp_path):
    write_notes(tmp_path, patients=60, seed=3)
    lines = (tmp_path / "habits.csv").read_text("utf-8").splitlines()[1:]
    smokers = {line.split(",")[0] for line in lines if line.split(",")[1] == "true"}
    said = {
        each.document.fields["patient_id"]
        for each in NOTES
        if any(span.label == "SMOKING" for span in each.spans)
    }
    assert said == smokers


def test_parts_of_the_lists_have_no_name_in_common():
    parts = [Lists().part(number, 3) for number in range(3)]
    for field in ("women", "men", "surnames", "cities", "hospitals"):
        held = [set(getattr(part, field)) for part in parts]
        assert all(held)
        assert held[0] & held[1] == held[1] & held[2] == held[0] & held[2] == set()
        assert set().union(*held) == set(getattr(Lists(), field))


@pytest.mark.parametrize("width", [30, 50])
def test_breaking_lines_moves_no_character(width):
    rng = np.random.default_rng(1)
    for each in NOTES:
        text = each.document.text
        for other in (wrapped(text, width), broken(rng, text, 0.1)):
            assert other.replace("\n", " ") == text.replace("\n", " ")
    longest = max(wrapped("some words " * 40, width).split("\n"), key=len)
    assert len(longest) <= width + len("words ")


def test_offsets_hold_when_words_are_misspelt():
    rng = np.random.default_rng(1)
    slots = {"name": lambda: segments(rng, "{NAME:Katherine Sullivan}", {})[0]}
    wording = "seen by [Dr.|doctor] {name} again"
    for _ in range(50):
        text, (span,) = joined(misspelt(rng, segments(rng, wording, slots), 0.5))
        assert text[: span.start].endswith((" Dr. ", "r ", "t ", "o "))
        assert text[span.end :].startswith(" a")
        assert text[span.start] == "K"
