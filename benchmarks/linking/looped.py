"""A loop in memory over notes and tables, judged by the truth after each round."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.linking.corpora import FIELDS, READ_AS, TYPES, Corpus
from benchmarks.linking.matching import Values, judge_pairs, match, merged
from upstream.extraction.features.phrases import Dictionary
from upstream.extraction.measures.counts import Counts
from upstream.extraction.measures.report import Judgement, judge
from upstream.extraction.models.model import ModelSpec, TextModel
from upstream.extraction.models.training import GoldStandard, train_model
from upstream.extraction.models.union import union
from upstream.extraction.text.spans import AnnotatedDocument, Span
from upstream.linkage.loop.changes import (
    changed_patients,
    linked_documents,
    new_spans,
    new_values,
)
from upstream.linkage.loop.dictionaries import dictionaries_of
from upstream.linkage.loop.facts import PatientFacts
from upstream.linkage.loop.known import known_spans
from upstream.linkage.loop.rounds import Extracted, Linked

SEVERAL = 2


@dataclass(frozen=True)
class Ways:
    """What the loop gives back to extraction.

    Attributes:
        spec: How models are trained.
        known: Whether values that are known are looked for in linked notes.
        dictionaries: Whether the model is trained again with names of linked patients.
        own_notes: Whether it is trained on what was found in linked notes, too.
        keep: Whether what an earlier model found stays.
        link: Says which patient each record is of.
    """

    spec: ModelSpec
    known: bool = True
    dictionaries: bool = False
    own_notes: bool = False
    keep: bool = False
    link: Callable[[Mapping[str, Values]], dict[str, int]] = match


@dataclass(frozen=True)
class Judged:
    """How good a round was: spans, and pairs of records.

    Attributes:
        spans: Of all notes.
        pairs: Of all records and notes.
        with_notes: Pairs of which one is a note, the other a table's row.
        linked: Notes that have a patient with another record.
        wrongly: Of these notes, those whose patient is mostly somebody else.
    """

    spans: Judgement
    pairs: Counts
    linked: int
    wrongly: int


@dataclass
class MemoryLoop:
    """Notes, tables, and all that a loop finds in them."""

    corpus: Corpus
    ways: Ways
    judged: list[Judged] = field(default_factory=list)  # of rounds, in order

    def __post_init__(self) -> None:
        """Begin with nothing known."""
        self.model: TextModel | None = None
        self.spans: dict[str, tuple[Span, ...]] = {}
        self.seen: dict[str, tuple[Span, ...]] = {}
        self.values: dict[str, dict[str, tuple[str, ...]]] = {}
        self.facts: dict[str, PatientFacts] = {}
        self.patients: dict[str, int] = {}
        self.rows = {
            record.id: {name: (value,) for name, value in record.values.items()}
            for record in self.corpus.records
        }

    def extract(self) -> Extracted:
        """Find spans by the model and by what is known."""
        self._train()
        texts = [note.document.text for note in self.corpus.notes]
        found = self.model.finder().find(texts)
        self.spans = {
            note.document.id: self._with_known(note, spans)
            for note, spans in zip(self.corpus.notes, found, strict=True)
        }
        values = {
            note.document.id: _values(note, self.spans[note.document.id])
            for note in self.corpus.notes
        }
        fresh = Extracted(
            new_spans(self.seen, self.spans), new_values(self.values, values)
        )
        for name, spans in self.spans.items():
            self.seen[name] = (*self.seen.get(name, ()), *spans)
            self.values[name] = merged([self.values.get(name, {}), values[name]])
        if not (fresh.spans or fresh.values):
            self._judge()
        return fresh

    def link(self) -> Linked:
        """Match rows and notes, and gather what is known of the notes' patients."""
        records = {**self.rows, **self.values}
        before, self.patients = self.patients, self.ways.link(records)
        linked = linked_documents(self.patients, self.values)
        members = defaultdict(list)
        for name, patient in self.patients.items():
            members[patient].append(self.rows.get(name) or self.values[name])
        known = {patient: merged(each) for patient, each in members.items()}
        self.facts = {
            name: PatientFacts(FIELDS, known[self.patients[name]]) for name in linked
        }
        self._judge()
        return Linked(len(linked), changed_patients(before, self.patients))

    def _with_known(
        self, note: AnnotatedDocument, spans: Sequence[Span]
    ) -> tuple[Span, ...]:
        facts = self.facts.get(note.document.id) if self.ways.known else None
        found = [spans]
        if facts is not None:
            found.append(known_spans(note.document.text, facts, TYPES))
        if self.ways.keep:
            found.append(self.spans.get(note.document.id, ()))
        return union(found)

    def _train(self) -> None:
        """Train a model, in later rounds with what is known by then."""
        ways, learned = self.ways, list(self.corpus.learned)
        if self.model and not (ways.dictionaries or ways.own_notes):
            return
        dictionaries: Sequence[Dictionary] = ()
        if ways.dictionaries:
            dictionaries = dictionaries_of(self._tabled())
        if ways.own_notes:
            learned += self._own_notes()
        gold = GoldStandard(learned, self.corpus.tuned, dictionaries)
        self.model = train_model("loop", ways.spec, gold)

    def _tabled(self) -> list[PatientFacts]:
        """Return what tables say of the patients of linked notes."""
        patients = {self.patients[name] for name in self.facts}
        return [
            PatientFacts(FIELDS, values)
            for name, values in self.rows.items()
            if self.patients.get(name) in patients
        ]

    def _own_notes(self) -> list[AnnotatedDocument]:
        """Return linked notes with what was found in them."""
        return [
            AnnotatedDocument(note.document, self.spans[note.document.id])
            for note in self.corpus.notes
            if note.document.id in self.facts
        ]

    def _judge(self) -> None:
        found = [self.spans[note.document.id] for note in self.corpus.notes]
        pairs = judge_pairs(self.patients, self.corpus.persons)
        self.judged.append(
            Judged(
                judge(self.corpus.notes, lambda _: found),
                pairs,
                len(self.facts),
                self._wrongly(),
            )
        )

    def _wrongly(self) -> int:
        """Return how many linked notes are with rows of somebody else."""
        rows = defaultdict(set)
        for name in self.rows:
            rows[self.patients[name]].add(self.corpus.persons[name])
        return sum(
            bool(rows[self.patients[name]] - {self.corpus.persons[name]})
            for name in self.facts
        )


def _values(
    note: AnnotatedDocument, spans: Sequence[Span]
) -> Mapping[str, tuple[str, ...]]:
    """Return what spans say, by field; of names those of several words alone."""
    found: dict[str, dict[str, None]] = {}
    for span in spans:
        name = READ_AS.get(span.label)
        said = " ".join(note.document.text[span.start : span.end].split())
        if name and not (name == "name" and len(said.split()) < SEVERAL):
            found.setdefault(name, {})[said] = None
    return {name: tuple(said) for name, said in found.items()}
