"""Health terms: phrases of dictionaries and forms of measurements and medications."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from upstream.extraction.features.phrases import Dictionary, dictionary_of
from upstream.extraction.terms.negation import denied_tokens
from upstream.extraction.text.spans import Span
from upstream.extraction.text.tokens import Tokens, tokenize

_UNITS = (
    "mg|mcg|µg|ug|g|kg|ml|dl|l|units?|iu|ui|meq|mmol|mmhg|cm|mm|bpm|%|mg/dl|g/dl|mg/l"
    "|mmol/l|mg/kg"
)
_NUMBER = r"\d+(?:[.,]\d+)?"
_FORMS = {
    "MEDICATION": re.compile(
        rf"\b(?P<name>[^\W\d_]{{4,}})\s+(?P<dose>{_NUMBER}\s?(?:mg|mcg|µg|ug|g|ml|units?"
        r"|iu|ui|meq))(?![\w/])",
        re.IGNORECASE,
    ),
    "MEASUREMENT": re.compile(
        rf"\b(?P<name>[^\W\d_]{{2,}}(?:\s+[^\W\d_]+)?)(?:\s+(?:of|is|was|de|:|=))?[\s:=]+"
        rf"(?P<dose>{_NUMBER}(?:/{_NUMBER})?\s?(?:{_UNITS}))(?![\w/])",
        re.IGNORECASE,
    ),
}


@dataclass(frozen=True, slots=True)
class HealthTerm:
    """A health term in a text.

    Attributes:
        span: Where it stands, and its kind.
        meaning: What it stands for: the dictionary's own word or code for it, or the
            text itself.
        is_denied: Whether the text says that it is not so.
    """

    span: Span
    meaning: str
    is_denied: bool


@dataclass(frozen=True)
class Terminology:
    """Terms of one kind.

    Attributes:
        kind: Such as ``SYMPTOM``.
        meanings: What each phrase stands for, such as a code or the usual word.
    """

    kind: str
    meanings: Mapping[str, str]

    def dictionary(self) -> Dictionary:
        """Return its phrases, in singular and plural."""
        return dictionary_of(self.kind, self._phrases())

    def _phrases(self) -> Iterable[str]:
        for phrase in self.meanings:
            yield phrase
            if phrase[-1:].isalpha() and not phrase.endswith("s"):
                yield phrase + "s"

    def meaning(self, words: tuple[str, ...]) -> str:
        """Return what the tokens of one of its phrases stand for."""
        said, known = _key(" ".join(words)), self._known
        return known.get(said) or known[said.removesuffix("s")]

    @cached_property
    def _known(self) -> dict[str, str]:
        return {_key(phrase): meaning for phrase, meaning in self.meanings.items()}


def _key(phrase: str) -> str:
    return " ".join(tokenize(phrase.lower()).words)


def read_terminology(path: Path, kind: str) -> Terminology:
    """Return the terms of a file: one a line, or a CSV of phrase and meaning.

    Args:
        path: UTF-8; empty lines and those that begin with # are skipped.
        kind: What its terms are.

    Raises:
        ValueError: A phrase stands for two things, or the file has no phrase.
    """
    meanings: dict[str, str] = {}
    with path.open(encoding="utf-8-sig", newline="") as lines:
        told = (line for line in lines if line.strip() and line[0] != "#")
        for row in csv.reader(told):
            phrase = row[0].strip()
            meaning = row[1].strip() if len(row) > 1 else phrase.lower()
            if meanings.setdefault(phrase, meaning) != meaning:
                message = f"{path.name}: {phrase!r} stands for two things: keep one"
                raise ValueError(message)
    if not meanings:
        message = f"{path.name} has no term: write one a line"
        raise ValueError(message)
    return Terminology(kind, meanings)


class TermFinder:
    """Finds health terms; for any number of texts."""

    def __init__(self, terminologies: Iterable[Terminology]) -> None:
        self._known = [(each, each.dictionary()) for each in terminologies]

    def find(self, text: str) -> tuple[HealthTerm, ...]:
        """Return the terms of a text, in order, those of dictionaries before forms.

        >>> symptoms = Terminology("SYMPTOM", {"fever": "fever", "joint pain": "M25.5"})
        >>> found = TermFinder([symptoms]).find("No fever. Joint pains, aspirin 81 mg.")
        >>> [(term.meaning, term.is_denied) for term in found]
        [('fever', True), ('M25.5', False), ('aspirin', False)]
        """
        tokens = tokenize(text)
        denied = denied_tokens(tokens)
        found = list(self._of_dictionaries(tokens, denied))
        for span, meaning, token in _of_forms(tokens):
            if not any(span.covers(other.span) for other in found):
                found.append(HealthTerm(span, meaning, token in denied))
        return tuple(sorted(found, key=lambda term: term.span))

    def _of_dictionaries(
        self, tokens: Tokens, denied: frozenset[int]
    ) -> Iterator[HealthTerm]:
        lower = tuple(word.lower() for word in tokens.words)
        for terminology, dictionary in self._known:
            for first, end in dictionary.spans(lower):
                span = Span(
                    int(tokens.starts[first]),
                    int(tokens.ends[end - 1]),
                    terminology.kind,
                    source=f"terms {terminology.kind}",
                )
                meaning = terminology.meaning(lower[first:end])
                yield HealthTerm(span, meaning, first in denied)


def _of_forms(tokens: Tokens) -> Iterator[tuple[Span, str, int]]:
    first = {start: at for at, start in enumerate(tokens.starts.tolist())}
    taken: list[Span] = []
    for kind, form in _FORMS.items():
        for match in form.finditer(tokens.text):
            span = Span(match.start(), match.end(), kind, source=f"form {kind}")
            if span.start in first and not any(span.covers(other) for other in taken):
                taken.append(span)
                yield span, match["name"].lower(), first[span.start]
