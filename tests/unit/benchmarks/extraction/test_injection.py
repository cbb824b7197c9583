"""Injection of identifiers into reports: offsets hold, parts are apart."""

import re

import pytest

from benchmarks.extraction.corpora import DATA
from benchmarks.extraction.hide import _named, label_counts
from benchmarks.extraction.injected.residue import BLANK
from benchmarks.extraction.injected.wordings import FOOTERS, HEADERS, SENTENCES
from benchmarks.extraction.injection import injected, injected_parts, ways_of
from server.demo.notes.notes import IDENTIFIERS
from upstream.extraction.measures.counts import Counts
from upstream.extraction.text.documents import Place, TextDocument
from upstream.extraction.text.labels import labelling
from upstream.extraction.text.spans import AnnotatedDocument, Span
from upstream.extraction.text.tokens import tokenize

REPORT = (
    "HISTORY: Ms. ABC is a 61-year-old woman whom Dr. X saw on 3/14/2007 at ABCD "
    "General Hospital in Houston. She came with her husband. The patient denies pain. "
    "In 2005 she was given 2000 mL. XYZ agrees. Call 555-0199. "
) * 3


@pytest.mark.parametrize("kind", ["train", "judge"])
def test_what_looks_like_an_identifier_is_marked_filled_or_blanked(kind):
    for name in range(40):
        found = injected(name, REPORT, ways_of(kind))
        text = found.document.text
        assert labelling(tokenize(text), found.spans).misfits == ()
        assert {span.label for span in found.spans} <= set(IDENTIFIERS)
        said = [text[span.start : span.end] for span in found.spans]
        rest = "".join(
            character
            for at, character in enumerate(text)
            if not any(span.start <= at < span.end for span in found.spans)
        )
        assert not re.search(r"ABC|XYZ|Dr\. X|3/14|Houston|0199|\b2005", rest)
        assert {"61", "3/14/2007", "Houston", "2005"} <= set(said)
        assert BLANK in rest
        assert "2000" not in said


def test_the_same_report_is_written_the_same_way_again():
    ways = ways_of("train")
    assert injected(7, REPORT, ways) == injected(7, REPORT, ways)
    assert injected(7, REPORT, ways) != injected(7, REPORT, ways, seed=1)


def test_judged_reports_have_names_and_wordings_of_their_own():
    learned, judged = ways_of("train"), ways_of("judge")
    for field in ("women", "men", "surnames", "cities", "hospitals"):
        of_both = set(getattr(learned.lists, field)), set(getattr(judged.lists, field))
        assert all(of_both)
        assert not set.intersection(*of_both)
    for wordings in (HEADERS, FOOTERS, SENTENCES):
        assert not set(wordings["train"]) & set(wordings["judge"])
        assert len(wordings["judge"]) >= len(wordings["both"])


def test_wordings_never_seen_are_those_of_judged_reports_alone():
    unseen = ways_of("unseen")
    assert unseen.lists == ways_of("judge").lists
    learned = ways_of("train")
    for field in ("headers", "footers", "sentences"):
        assert getattr(unseen, field)
        assert not set(getattr(unseen, field)) & set(getattr(learned, field))


@pytest.mark.skipif(not (DATA / "mtsamples").exists(), reason="no mtsamples here")
def test_reports_belong_to_one_part_and_their_spans_to_words():
    parts = injected_parts(DATA, 120)
    ids = [
        {each.document.id for each in p} for p in (parts.train, parts.tune, parts.judge)
    ]
    assert sum(map(len, ids)) == len(set().union(*ids)) == 120
    assert len(ids[0]) > len(ids[2]) > len(ids[1]) > 0
    for each in [*parts.train, *parts.judge]:
        assert labelling(tokenize(each.document.text), each.spans).misfits == ()
        assert not re.search(r"\bDr\. X\b|\bXYZ\b|\bABCD\b", each.document.text)


def test_labels_are_counted_by_tokens_begin_and_intermediate_apart():
    class Found:
        def finder(self):
            return self

        def find(self, texts):
            return [(Span(0, 3, "PATIENT"),) for _ in texts]

    text = "Ann Lee came"
    held = [
        AnnotatedDocument(TextDocument("a", text, Place("a")), (Span(0, 7, "PATIENT"),))
    ]
    assert label_counts(Found(), held) == {
        "PATIENT (begin)": Counts(right=1),
        "PATIENT (intermediate)": Counts(missed=1),
    }
    assert _named("O") == "O"
