"""Presidio's recognizers of patterns beside ours, where presidio-analyzer is installed.

Patterns only: it finds names and places by a language model, and none is on the package
index, as presidio-analyzer. What it calls its finds is mapped to the
types of a gold standard; what maps to none is left out.
"""

import importlib
import importlib.util
import logging
from collections.abc import Iterable, Iterator, Mapping

from upstream.extraction.text.spans import Span

NAME = "Presidio, patterns only (no language model available here)"
INJECTED = {
    "DATE_TIME": "DATE",
    "PHONE_NUMBER": "PHONE",
    "US_SSN": "ID",
    "US_DRIVER_LICENSE": "ID",
    "US_PASSPORT": "ID",
    "US_BANK_NUMBER": "ID",
    "US_ITIN": "ID",
    "MEDICAL_LICENSE": "ID",
    "US_NPI": "ID",
    "US_MBI": "ID",
}
"""Its types as those of injected reports."""
ASQ = {
    "DATE_TIME": "DATE",
    "PHONE_NUMBER": "PHONE_NUMBER",
    "US_SSN": "SOCIAL_SECURITY_NUMBER",
    "EMAIL_ADDRESS": "EMAIL_ADDRESS",
    "US_DRIVER_LICENSE": "MEDICAL_RECORD_NUMBER",
    "US_PASSPORT": "MEDICAL_RECORD_NUMBER",
    "US_BANK_NUMBER": "ACCOUNT_NUMBER",
    "MEDICAL_LICENSE": "CERTIFICATE_LICENSE_NUMBER",
    "US_MBI": "HEALTH_PLAN_BENEFICIARY_NUMBER",
}
"""Its types as those of asq-phi."""


def is_installed() -> bool:
    """Whether the package is there."""
    return importlib.util.find_spec("presidio_analyzer") is not None


class PresidioFinder:
    """Finds spans by the patterns of Presidio.

    Attributes:
        types: What its types are called.
        least: How sure it has to be; its patterns without a word of context near them
            say .01 to .6.
    """

    def __init__(self, types: Mapping[str, str], least: float = 0.3) -> None:
        for noisy in ("presidio-analyzer", "tldextract"):  # it asks the network
            logging.getLogger(noisy).setLevel(logging.CRITICAL)
        analyzer = importlib.import_module("presidio_analyzer")
        spacy = importlib.import_module("spacy")
        nlp = importlib.import_module("presidio_analyzer.nlp_engine")
        engine = nlp.SpacyNlpEngine(models=[{"lang_code": "en", "model_name": "none"}])
        engine.nlp = {"en": spacy.blank("en")}
        registry = analyzer.RecognizerRegistry(supported_languages=["en"])
        registry.load_predefined_recognizers(languages=["en"])
        registry.remove_recognizer("SpacyRecognizer")
        self._analyzer = analyzer.AnalyzerEngine(
            registry=registry, nlp_engine=engine, supported_languages=["en"]
        )
        self._least = least
        self.types = types

    def find(self, texts: Iterable[str]) -> Iterator[tuple[Span, ...]]:
        """Yield the spans of each text; of those that overlap, the surest."""
        for text in texts:
            found = self._analyzer.analyze(
                text, language="en", score_threshold=self._least
            )
            spans = [
                Span(each.start, each.end, self.types[each.entity_type], each.score)
                for each in found
                if each.entity_type in self.types
            ]
            kept: list[Span] = []
            for span in sorted(spans, key=lambda span: (-span.score, span)):
                if not any(span.covers(other) for other in kept):
                    kept.append(span)
            yield tuple(sorted(kept))
