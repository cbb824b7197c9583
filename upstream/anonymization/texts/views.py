"""The identifier view of texts: a row a patient, of what narrows people down.

A patient's texts may say several values of a kind. The row has the one that most spans
say; what they write otherwise is not generalized, and so is tagged. A tag shows that
something was said, so the view has also of which kinds there are tags.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from upstream.anonymization.arrays import Text
from upstream.anonymization.texts.kinds import Kind
from upstream.anonymization.texts.written_dates import DateReading
from upstream.extraction.normalising.ages import normal_age

_DAYS: Final = frozenset({Kind.DATE, Kind.BIRTH_DATE})


class Shown(Enum):
    """How a patient's texts show a kind, where its value is generalized."""

    NOTHING = "no span is of it"
    VALUE = "all spans say the value of the view"
    TAG = "none does: they are tagged"
    BOTH = "some do, others are tagged"


@dataclass(frozen=True, slots=True)
class View:
    """A row a patient.

    Attributes:
        patients: In a fixed order.
        columns: By kind, by patient: the value; None where no span says one.
        written: By patient, by kind: what spans write of that value.
        tagged: By patient: of which kinds spans say something else, too, or something
            that is not read; nothing of nobody, if it is left out.
    """

    patients: Sequence[str]
    columns: Mapping[Kind, Sequence[Text]]
    written: Sequence[Mapping[Kind, Collection[str]]]
    tagged: Sequence[Collection[Kind]] = ()

    def shows(self, kind: Kind, at: int) -> Shown:
        """Return how a patient's texts show a kind."""
        is_tagged = bool(self.tagged) and kind in self.tagged[at]
        if self.columns[kind][at] is not None:
            return Shown.BOTH if is_tagged else Shown.VALUE
        return Shown.TAG if is_tagged or self.written[at][kind] else Shown.NOTHING


@dataclass
class ViewBuilder:
    """Counts what spans say of patients.

    Attributes:
        kinds: Those that the view has.
        reading: How dates are read.
    """

    kinds: Collection[Kind]
    reading: DateReading
    _said: dict[str, dict[Kind, Counter[Text]]] = field(default_factory=dict)

    def add_patient(self, patient: str) -> None:
        """Give a patient a row, whether or not spans say anything."""
        self._said.setdefault(patient, defaultdict(Counter))

    def add(self, patient: str, kind: Kind, text: Text) -> None:
        """Count what a span of a patient says; None: it is tagged whatever it says."""
        if kind in self.kinds:
            self._said[patient][kind][text] += 1

    def view(self) -> View:
        """Return the view."""
        patients = sorted(self._said)
        columns: dict[Kind, list[Text]] = {kind: [] for kind in self.kinds}
        written: list[Mapping[Kind, Collection[str]]] = []
        tagged: list[Collection[Kind]] = []
        for patient in patients:
            own: dict[Kind, Collection[str]] = {}
            said = self._said[patient]
            for kind, values in columns.items():
                value, own[kind] = self._value(kind, said[kind])
                values.append(value)
            written.append(own)
            tagged.append({kind for kind in columns if said[kind].keys() - own[kind]})
        return View(patients, columns, written, tagged)

    def _value(
        self, kind: Kind, said: Mapping[Text, int]
    ) -> tuple[Text, Collection[str]]:
        """Return the value that most spans say, and how they write it."""
        counts: Counter[str] = Counter()
        forms: dict[str, set[str]] = defaultdict(set)
        for text, count in said.items():
            value = None if text is None else self._normal(kind, text)
            if text is not None and value is not None:
                counts[value] += count
                forms[value].add(text)
        if not counts:
            return None, ()
        value = min(counts, key=lambda one: (-counts[one], one))
        return value, forms[value]

    def _normal(self, kind: Kind, text: str) -> Text:
        """Return what a span says, None where it is not sure."""
        if kind is Kind.AGE:
            return normal_age(text).value
        if kind in _DAYS:
            day = self.reading.of(text)
            return None if day is None else day.isoformat()
        return normal_text(text) or None


def normal_text(text: str) -> str:
    """Return a text without case and with single blanks, as values are compared."""
    return " ".join(text.casefold().split())
