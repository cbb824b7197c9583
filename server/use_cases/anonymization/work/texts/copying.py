"""A collection's documents, de-identified patient by patient's values.

First all that was found of each patient is gathered, then each document is rewritten
and read again for it.
"""

import hashlib
import hmac
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from server.use_cases.anonymization.work.texts.declarations import TextCopy
from server.use_cases.anonymization.work.texts.gathering import StatisticalGathering
from server.use_cases.services.documents import Document
from upstream.anonymization.declared.values import Located
from upstream.anonymization.texts.deidentifying import (
    DeidentifiedText,
    Deidentifier,
    Patient,
)
from upstream.anonymization.texts.keyed import KeyedChoice
from upstream.anonymization.texts.kinds import Kind
from upstream.anonymization.texts.lists import LISTS
from upstream.anonymization.texts.names import NameSurrogates
from upstream.anonymization.texts.profiles import Action, profile
from upstream.anonymization.texts.residual import ResidualCheck, Residue
from upstream.anonymization.texts.statistical import Generalized, StatisticalView
from upstream.anonymization.texts.surrogates import Surrogates
from upstream.anonymization.texts.written_dates import DateReading
from upstream.extraction.text.spans import AnnotatedDocument

_LABEL = b"curator anonymized texts\0"
_PATIENTS_HELD = 256
_ID_BYTES = 12
_OF_SOMEBODY = "patient "
_OF_NOBODY = "document "


@dataclass(frozen=True, slots=True)
class CopiedDocument:
    """A document of a copy.

    Attributes:
        id: Drawn by the key from the document's own; tells nothing of it.
        patient: Likewise, of the patient's; None where the copy has none.
        text: What is given out.
        made: What was done, before what was left was tagged.
        residues: What was left then, in ``made.text``.
    """

    id: str
    patient: str | None
    text: str
    made: DeidentifiedText
    residues: tuple[Residue, ...]


@dataclass
class CopyCounts:
    """What was done in a copy, counted."""

    documents: int = 0
    patients: set[str | None] = field(default_factory=set)
    characters: int = 0
    kept: int = 0
    actions: Counter[tuple[str, str]] = field(default_factory=Counter)
    tagged_instead: Counter[str] = field(default_factory=Counter)
    exact: Counter[str] = field(default_factory=Counter)
    doubtful: Counter[str] = field(default_factory=Counter)
    with_exact: int = 0

    def add(self, document: AnnotatedDocument, copied: CopiedDocument) -> None:
        """Count one document."""
        length = len(document.document.text)
        replaced = sum(one.end - one.start for one in copied.made.replacements)
        self.documents += 1
        self.patients.add(copied.patient)
        self.characters += length
        self.kept += length - replaced
        for one in copied.made.replacements:
            self.actions[one.label, one.action.value] += 1
            self.tagged_instead[one.label] += one.is_tagged
        for left in copied.residues:
            (self.exact if left.is_exact else self.doubtful)[left.kind.value] += 1
        self.with_exact += any(left.is_exact for left in copied.residues)

    def document(self) -> Document:
        """Return the counts; they are of raw texts, for custodians alone."""
        actions: dict[str, dict[str, int]] = defaultdict(dict)
        for (label, action), count in sorted(self.actions.items()):
            actions[label][action] = count
        share = self.kept / self.characters if self.characters else 1.0
        return {
            "documents": self.documents,
            "patients": len(self.patients),
            "characters_kept": round(share, 4),
            "replaced": dict(actions),
            "tagged_instead": dict(sorted((+self.tagged_instead).items())),
            "left": dict(sorted(self.exact.items())),
            "left_perhaps": dict(sorted(self.doubtful.items())),
            "documents_with_left": self.with_exact,
        }


NEUTRAL: Final = "[REMOVED]"
"""What stands for a residue of a quasi-identifier that no span of its patient says."""


class TextCopier:
    """Rewrites documents as a file declares; two passes over them."""

    def __init__(
        self,
        declared: TextCopy,
        kinds: dict[str, Kind | None],
        secret: bytes,
        located: Located,
    ) -> None:
        """Take what a file declares.

        Args:
            declared: The file.
            kinds: What its types stand for.
            secret: The installation's. Copies of another name have other surrogates.
            located: Returns where a hierarchy's file lies.
        """
        self._declared, self._located = declared, located
        chosen = profile(declared.profile, declared.replacement)
        reading = DateReading(declared.dates.order, declared.dates.years_until)
        self._deidentifier = Deidentifier(
            chosen,
            kinds,
            reading,
            frozenset(declared.sparse_zip3),
            declared.year,
        )
        self._removed = frozenset(
            kind for kind, done in chosen.actions.items() if done is not Action.KEEP
        )
        self._kinds = kinds
        told = f"{declared.population}\0{declared.name}".encode()
        self._key = hmac.digest(secret, _LABEL + told, hashlib.sha256)
        self._known: dict[str, set[tuple[Kind, str]]] = defaultdict(set)
        self._patient = lru_cache(_PATIENTS_HELD)(self._patient_of)
        self._statistical = StatisticalGathering(declared.statistical, reading)
        self._generalized = Generalized({}, {})
        self._seen: set[str] = set()
        self._linked: Mapping[str, str] = {}
        self.without_patient = 0
        """Documents that were gathered and name none: each is a patient of its own."""
        self.fields: set[str] = set()
        """What stands beside the documents that were gathered."""

    def patients(self) -> list[str] | None:
        """Return who was gathered, as the field or the linkage names them, or None."""
        if not self._declared.has_patients:
            return None
        named = (one for one in self._seen if one.startswith(_OF_SOMEBODY))
        return sorted(one.removeprefix(_OF_SOMEBODY) for one in named)

    def never_marked(self) -> list[str]:
        """Return the kinds that the profile removes and no type of the spans is."""
        marked = set(self._kinds.values())
        return sorted(kind.value for kind in self._removed if kind not in marked)

    def link(self, patients: Mapping[str, str]) -> None:
        """Take whose each document is, by its id."""
        self._linked = patients

    def know(self, patient: str, kind: Kind, text: str) -> None:
        """Note what a table says of a patient: the output is read again for it."""
        self._known[f"{_OF_SOMEBODY}{patient}"].add((kind, text))

    def gather(self, documents: Iterable[AnnotatedDocument]) -> Iterator[int]:
        """Note what was found of each patient; yield as many times as documents.

        In the end what narrows them down is generalized, where the file says so.

        Raises:
            CuratorError: It cannot be.
        """
        for number, one in enumerate(documents, 1):
            whose = self._whose(one)
            self._seen.add(whose)
            self.without_patient += whose.startswith(_OF_NOBODY)
            self.fields |= one.document.fields.keys()
            known = self._known[whose]
            is_somebody = whose.startswith(_OF_SOMEBODY)
            is_counted = is_somebody or not self._declared.has_patients
            if is_counted:  # else several of them may be one patient's
                self._statistical.add(whose, one)
            for span in one.spans:
                kind = self._kinds[span.label]
                text = one.document.text[span.start : span.end]
                if kind in self._removed:
                    known.add((kind, text))
            if is_counted:  # as the text shows it: spans that overlap are one part
                for shown, said in self._deidentifier.said(
                    one.document.text, one.spans
                ):
                    self._statistical.add_span(whose, shown, said)
            yield number
        view = self.view()
        if view is not None:
            self._generalized = view.generalized()

    def view(self) -> StatisticalView | None:
        """Return the view of all that was gathered; None: none is generalized.

        Raises:
            CuratorError: Values are not what was declared.
        """
        return self._statistical.view(self._located)

    @property
    def measures(self) -> Document:
        """What the generalized view lost and risks; none of other profiles."""
        return dict(self._generalized.measures)

    def copied(self, one: AnnotatedDocument) -> CopiedDocument:
        """Return a document's copy; all documents were gathered before."""
        whose = self._whose(one)
        patient, check = self._patient(whose)
        made = self._deidentifier.rewrite(one.document.text, one.spans, patient)
        written = [(start, end) for start, end, _ in made.written()]
        left = tuple(
            found for found in check.find(made.text) if not _meets(found, written)
        )
        has_patients = self._declared.has_patients
        is_tagged = self._declared.residues == "tag"
        return CopiedDocument(
            id=f"d_{self._drawn('document', one.document.id)}",
            patient=f"p_{self._drawn('patient', whose)}" if has_patients else None,
            text=self._tagged(made.text, left, whose) if is_tagged else made.text,
            made=made,
            residues=left,
        )

    def _tagged(self, text: str, left: Iterable[Residue], whose: str) -> str:
        """Return a text whose residues read as what spans of the patient say there.

        Where spans say nothing of a quasi-identifier, or several things, its tag would
        tell him from those that he was put together with: the neutral one stands there.
        """
        told = self._generalized.texts.get(whose, {})
        said = {kind: {*values.values()} for kind, values in told.items()}
        instead = dict.fromkeys(self._statistical.kinds, NEUTRAL)
        instead |= {kind: next(iter(of)) for kind, of in said.items() if len(of) == 1}
        return _tagged(text, left, instead)

    def _whose(self, one: AnnotatedDocument) -> str:
        """Return the patient; a document without one is a patient of its own."""
        name = self._declared.patient
        linked = self._declared.linked
        told = ""
        if linked is not None:
            fields = one.document.fields
            id_ = one.document.id if linked.id is None else fields.get(linked.id, "")
            told = self._linked.get(id_, "")
        if name:
            told = one.document.fields.get(name, "").strip()
        return f"{_OF_SOMEBODY}{told}" if told else f"{_OF_NOBODY}{one.document.id}"

    def _patient_of(self, whose: str) -> tuple[Patient, ResidualCheck]:
        known = sorted(self._known[whose])
        choice = KeyedChoice(self._key, whose)
        names = [value for kind, value in known if kind is Kind.NAME]
        own = Surrogates(choice, NameSurrogates.of(choice, LISTS, names))
        most = self._declared.dates.shift_days
        days = choice.number("days", "", 2 * most) - most
        told = self._generalized.texts.get(whose, {})
        patient = Patient(own, days if days < 0 else days + 1, told)
        return patient, ResidualCheck(known)

    def _drawn(self, purpose: str, value: str) -> str:
        told = f"{purpose}\0{value}".encode()
        return hmac.digest(self._key, told, hashlib.sha256)[:_ID_BYTES].hex()


def _meets(found: Residue, written: list[tuple[int, int]]) -> bool:
    return any(start < found.end and found.start < end for start, end in written)


def _tagged(
    text: str,
    left: Iterable[Residue],
    instead: Mapping[Kind, str] = MappingProxyType({}),
) -> str:
    """Return a text whose certain residues are tagged; doubtful ones stay.

    What overlaps is tagged as one, by the kind of the longest.

    Args:
        text: The text.
        left: What is left in it.
        instead: What stands in place of the tags of some kinds.
    """
    met: list[list[Residue]] = []
    for one in sorted(one for one in left if one.is_exact):
        if met and one.start < max(other.end for other in met[-1]):
            met[-1].append(one)
        else:
            met.append([one])
    parts, at = [], 0
    for group in met:
        longest = max(group, key=lambda one: one.end - one.start)
        tag = instead.get(longest.kind, f"[{longest.kind.value.upper()}]")
        parts += [text[at : group[0].start], tag]
        at = max(one.end for one in group)
    return "".join([*parts, text[at:]])
