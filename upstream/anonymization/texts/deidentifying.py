"""De-identified texts: each span is kept, cut, generalized or replaced.

Whatever an action cannot be done to is tagged, never kept, and counted.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from upstream.anonymization.arrays import Text
from upstream.anonymization.texts.cut_values import SPARSE_ZIP3, top_coded_age, zip3
from upstream.anonymization.texts.kinds import Kind
from upstream.anonymization.texts.profiles import Action, Profile
from upstream.anonymization.texts.surrogates import Surrogates
from upstream.anonymization.texts.written_dates import (
    DateReading,
    shifted_date,
    year_of,
)
from upstream.extraction.text.spans import Span, in_order

_OLDEST_YEARS = 90
_STRICTEST: Final = (
    *(Action.TAG, Action.SURROGATE, Action.GENERALIZE, Action.SHIFT, Action.YEAR),
    *(Action.TOP_CODE, Action.ZIP3, Action.KEEP),
)


@dataclass(frozen=True, slots=True)
class Patient:
    """What the texts of one patient are rewritten with.

    Attributes:
        surrogates: Of the patient's values; None: none are drawn.
        days: By which the patient's dates are shifted; 0: they are tagged.
        generalized: By kind, by what a span writes: what the anonymized view has of
            the patient.
    """

    surrogates: Surrogates | None = None
    days: int = 0
    generalized: Mapping[Kind, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Replacement:
    """A span of a text, and what stands in its place.

    Attributes:
        start: Offset of its first character in the text, in code points.
        end: Offset behind its last one.
        label: Its type.
        kind: What it identifies by.
        action: What was done.
        is_tagged: Whether it was tagged because that could not be done.
        new: What is written.
    """

    start: int
    end: int
    label: str
    kind: Kind
    action: Action
    is_tagged: bool
    new: str


@dataclass(frozen=True, slots=True)
class DeidentifiedText:
    """A text without what identifies, and what was done to get it."""

    text: str
    replacements: tuple[Replacement, ...]

    def written(self) -> Iterator[tuple[int, int, Replacement]]:
        """Yield where in this text each of them stands: its start, and its end."""
        moved = 0
        for one in self.replacements:
            start = one.start + moved
            yield start, start + len(one.new), one
            moved += len(one.new) - (one.end - one.start)


@dataclass(frozen=True)
class Deidentifier:
    """Rewrites texts by a profile.

    Attributes:
        profile: What becomes of each kind.
        kinds: What the types of spans stand for; None: nothing that identifies.
        reading: How dates are read.
        sparse_zip3: Whose ZIP codes become 000.
        today: Year by which a year of birth tells an age over 89; None: years of birth
            are tagged.
    """

    profile: Profile
    kinds: Mapping[str, Kind | None]
    reading: DateReading = field(default_factory=DateReading)
    sparse_zip3: Collection[str] = SPARSE_ZIP3
    today: int | None = None

    def rewrite(
        self, text: str, spans: Iterable[Span], patient: Patient
    ) -> DeidentifiedText:
        """Return a text of a patient, rewritten.

        Spans that overlap are one: what is strictest of what their kinds ask for is
        done to it, and where their types differ it is tagged.

        Args:
            text: The text.
            spans: What was found in it.
            patient: Whose it is.

        Raises:
            KeyError: A span has a type that ``kinds`` does not know.
        """
        done: list[Replacement] = []
        for start, end, label, kind in self._merged(spans):
            action = self.profile.actions[kind]
            if label is None:
                action = Action.TAG
            told = _ACTIONS[action](self, kind, text[start:end], patient)
            name = kind.value.upper() if label is None else label
            # Types of one kind would show apart what a view has as one.
            tag = kind.value.upper() if action is Action.GENERALIZE else name
            new = f"[{tag}]" if told is None else told
            is_tagged = told is None and action is not Action.TAG
            if action is not Action.KEEP:
                done.append(Replacement(start, end, name, kind, action, is_tagged, new))
        return DeidentifiedText(_rewritten(text, done), tuple(done))

    def said(self, text: str, spans: Iterable[Span]) -> Iterator[tuple[Kind, Text]]:
        """Yield what a view counts of a text: the kind and the words of each part.

        Args:
            text: The text.
            spans: What was found in it. Those that overlap are one part, as they are
                when it is rewritten; where their types differ, and it is tagged
                whatever it says, the words are None.

        Raises:
            KeyError: A span has a type that ``kinds`` does not know.
        """
        for start, end, label, kind in self._merged(spans):
            yield kind, None if label is None else text[start:end]

    def _merged(
        self, spans: Iterable[Span]
    ) -> Iterable[tuple[int, int, str | None, Kind]]:
        """Yield parts that do not overlap; the type is None where several meet."""
        met: list[Span] = []
        end = 0
        for span in in_order(span for span in spans if self.kinds[span.label]):
            if met and span.start >= end:
                yield self._joined(met)
                met, end = [], 0
            met.append(span)
            end = max(end, span.end)
        if met:
            yield self._joined(met)

    def _joined(self, met: list[Span]) -> tuple[int, int, str | None, Kind]:
        labels = sorted({span.label for span in met})
        kinds = [kind for label in labels if (kind := self.kinds[label])]
        strictest = min(
            kinds, key=lambda kind: _STRICTEST.index(self.profile.actions[kind])
        )
        label = labels[0] if len(labels) == 1 else None
        is_kept = self.profile.actions[strictest] is Action.KEEP
        start, end = met[0].start, max(span.end for span in met)
        return start, end, labels[0] if is_kept else label, strictest


_Act = Callable[[Deidentifier, Kind, str, Patient], str | None]


def _kept(own: Deidentifier, kind: Kind, text: str, patient: Patient) -> str | None:
    del own, kind, patient
    return text


def _tagged(own: Deidentifier, kind: Kind, text: str, patient: Patient) -> str | None:
    del own, kind, text, patient
    return None


def _surrogate(
    own: Deidentifier, kind: Kind, text: str, patient: Patient
) -> str | None:
    del own
    return None if patient.surrogates is None else patient.surrogates.of(kind, text)


def _shifted(own: Deidentifier, kind: Kind, text: str, patient: Patient) -> str | None:
    del kind
    return shifted_date(text, patient.days, own.reading) if patient.days else None


def _generalized(
    own: Deidentifier, kind: Kind, text: str, patient: Patient
) -> str | None:
    del own
    return patient.generalized.get(kind, {}).get(text)


def _year(own: Deidentifier, kind: Kind, text: str, patient: Patient) -> str | None:
    del patient
    year = year_of(text, own.reading)
    if year is None:
        return None
    if kind is Kind.BIRTH_DATE and (
        own.today is None or year <= own.today - _OLDEST_YEARS
    ):
        return None
    return str(year)


def _top_coded(
    own: Deidentifier, kind: Kind, text: str, patient: Patient
) -> str | None:
    del own, kind, patient
    return top_coded_age(text)


def _zip3(own: Deidentifier, kind: Kind, text: str, patient: Patient) -> str | None:
    del kind, patient
    return zip3(text, own.sparse_zip3)


_ACTIONS: Final[Mapping[Action, _Act]] = {
    Action.KEEP: _kept,
    Action.TAG: _tagged,
    Action.SURROGATE: _surrogate,
    Action.SHIFT: _shifted,
    Action.GENERALIZE: _generalized,
    Action.YEAR: _year,
    Action.TOP_CODE: _top_coded,
    Action.ZIP3: _zip3,
}


def _rewritten(text: str, done: Iterable[Replacement]) -> str:
    parts, at = [], 0
    for one in done:
        parts += [text[at : one.start], one.new]
        at = one.end
    return "".join([*parts, text[at:]])
