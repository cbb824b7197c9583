"""A residue of a statistical text must not tell its patient from his class."""

from server.use_cases.anonymization.work.texts.copying import NEUTRAL, TextCopier
from server.use_cases.anonymization.work.texts.declarations import TextCopy
from upstream.anonymization.texts.kinds import Kind
from upstream.extraction.text.documents import Place, TextDocument
from upstream.extraction.text.spans import AnnotatedDocument, Span

DECLARED = {
    "population": "people",
    "name": "notes",
    "collection": "notes",
    "finder": "gold",
    "patient": "patient",
    "profile": "statistical",
    "statistical": {
        "k": 4,
        "method": "mondrian",
        "quasi_identifiers": {"age": {"kind": "number"}, "place": {"kind": "category"}},
    },
    "known": {
        "table": {"files": ["register.csv"]},
        "patient": "id",
        "columns": {"town": "place"},
    },
}


def note(patient, text, **said):
    spans = [
        Span(text.index(value), text.index(value) + len(value), label)
        for label, value in said.items()
    ]
    fields = {"patient": patient}
    document = TextDocument(id=patient, text=text, place=Place("f"), fields=fields)
    return AnnotatedDocument(document, tuple(spans))


def test_a_residue_of_a_kind_that_no_span_says_has_a_neutral_tag():
    towns = ["", "", " in Springfield", ""]
    notes = [
        note(f"p{n}", f"Aged {40 + n}, slept well{town}.", AGE=f"{40 + n}")
        for n, town in enumerate(towns)
    ]
    notes += [
        note(f"q{n}", f"Aged {60 + n}, of Boston.", AGE=f"{60 + n}", PLACE="Boston")
        for n in range(4)
    ]
    kinds = {"AGE": Kind.AGE, "PLACE": Kind.PLACE}
    declared = TextCopy.model_validate(DECLARED)
    copier = TextCopier(declared, kinds, b"\1" * 32, lambda _: None)
    copier.know("p2", Kind.PLACE, "Springfield")
    assert len(list(copier.gather(notes))) == len(notes)
    texts = [copier.copied(one).text for one in notes]
    assert "Springfield" not in " ".join(texts)
    assert "[PLACE]" not in " ".join(texts)
    assert texts[2].endswith(f"slept well in {NEUTRAL}.")
    assert len({text.split(",")[0] for text in texts[:4]}) == 1
