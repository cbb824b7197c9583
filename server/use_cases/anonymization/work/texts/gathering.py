"""What statistical de-identification needs of all documents, gathered in one pass."""

import re
from collections import defaultdict
from typing import Final

from upstream.anonymization.declared.values import Located
from upstream.anonymization.texts.declared_statistical import Statistical
from upstream.anonymization.texts.kinds import Kind
from upstream.anonymization.texts.statistical import StatisticalView
from upstream.anonymization.texts.views import ViewBuilder
from upstream.anonymization.texts.written_dates import DateReading
from upstream.extraction.text.spans import AnnotatedDocument

_WORDS: Final = re.compile(r"[^\W\d_]{3,}")


class StatisticalGathering:
    """The identifier view of patients, and the words of their texts."""

    def __init__(self, told: Statistical | None, reading: DateReading) -> None:
        self._told = told
        self.kinds = (
            [] if told is None else [Kind(one) for one in told.quasi_identifiers]
        )
        """Its quasi-identifiers."""
        self._view = ViewBuilder(self.kinds, reading)
        self._needs_words = told is not None and told.method == "dast"
        self._words: dict[str, list[str]] = defaultdict(list)

    def add(self, patient: str, one: AnnotatedDocument) -> None:
        """Add a document of a patient: its words, without what spans mark."""
        if self._told is None:
            return
        self._view.add_patient(patient)
        if not self._needs_words:
            return
        text, at = one.document.text, 0
        for span in sorted(one.spans, key=lambda span: span.start):
            self._words[patient] += _WORDS.findall(text[at : span.start].casefold())
            at = max(at, span.end)
        self._words[patient] += _WORDS.findall(text[at:].casefold())

    def add_span(self, patient: str, kind: Kind, text: str | None) -> None:
        """Add what a span of a patient says; None: it is tagged whatever it says."""
        if self._told is not None:
            self._view.add(patient, kind, text)

    def view(self, located: Located) -> StatisticalView | None:
        """Return the view; None: none is generalized.

        Raises:
            HierarchyError: Values are not what was declared.
        """
        if self._told is None:
            return None
        view = self._view.view()
        words = [self._words[patient] for patient in view.patients]
        return StatisticalView(view, self._told, words, located)
