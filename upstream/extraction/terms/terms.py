"""Health terms: phrases of dictionaries and forms of measurements and medications."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from upstream.extraction.features.phrases import Dictionary, dictionary_of
from upstream.extraction.terms.negation import denied_tokens
from upstream.extraction.text.covered import Covered
from upstream.extraction.text.spans import Span
from upstream.extraction.text.tokens import Tokens, tokenize

_UNITS = (
    "mg|mcg|µg|ug|g|kg|ml|dl|l|units?|iu|ui|meq|mmol|mmhg|cm|mm|bpm|%|mg/dl|g/dl|mg/l"
    "|mmol/l|mg/kg"
)
_NUMBER = r"\d{1,10}(?:[.,]\d{1,10})?"
_WORD = r"[^\W\d_]"
_FORMS = {
    "MEDICATION": re.compile(
        rf"\b(?P<name>{_WORD}{{4,60}})\s{{1,5}}(?P<dose>{_NUMBER}\s?(?:mg|mcg|µg|ug|g|ml"
        r"|units?|iu|ui|meq))(?![\w/])",
        re.IGNORECASE,
    ),
    "MEASUREMENT": re.compile(
        rf"\b(?P<name>{_WORD}{{2,60}}(?:\s{{1,5}}{_WORD}{{1,60}})?)"
        rf"(?:\s{{1,5}}(?:of|is|was|de|:|=))?[\s:=]{{1,10}}"
        rf"(?P<dose>{_NUMBER}(?:/{_NUMBER})?\s?(?:{_UNITS}))(?![\w/])",
        re.IGNORECASE,
    ),
}
"""Their repetitions are bounded: time grows with a text's length alone."""


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

    def meaning(self, words: tuple[str, ...]) -> str | None:
        """Return what tokens in lower case stand for; None: they are no phrase."""
        said, known = " ".join(words), self._known
        return known.get(said) or known.get(said.removesuffix("s"))

    @cached_property
    def _known(self) -> dict[str, str]:
        return {term_key(phrase): said for phrase, said in self.meanings.items()}


def term_key(phrase: str) -> str:
    """Return what phrases share that are found as one: case and blanks do not matter.

    >>> term_key("Joint  Pain") == term_key("joint pain")
    True
    """
    return " ".join(tokenize(phrase.lower()).words)


def number_keys(key: str) -> tuple[str, ...]:
    """Return the keys of what differs from a phrase by a plural's s alone.

    >>> number_keys("fever"), number_keys("fevers"), number_keys("glass")
    (('fevers',), ('fever',), ())
    """
    if key[-1:].isalpha() and not key.endswith("s"):
        return (key + "s",)
    single = key[:-1]
    is_plural = single[-1:].isalpha() and not single.endswith("s")
    return (single,) if is_plural else ()


@dataclass(frozen=True)
class TermModel:
    """Lists of terms, used as a model is: nothing of it was trained.

    Attributes:
        name: What its spans name as their source.
        terminologies: Its terms, each kind once.
        has_forms: Whether doses and measurements are found by their form, too.
    """

    name: str
    terminologies: tuple[Terminology, ...] = ()
    has_forms: bool = True

    @property
    def types(self) -> tuple[str, ...]:
        """The types of the spans that it finds."""
        forms = _FORMS if self.has_forms else ()
        return tuple(dict.fromkeys([*(one.kind for one in self.terminologies), *forms]))

    @property
    def found_types(self) -> tuple[str, ...]:
        """The types that it can find: all that it looks for."""
        return self.types

    def meanings(self, kind: str) -> set[str] | None:
        """Return what spans of a type can stand for; None: the words of a form."""
        if self.has_forms and kind in _FORMS:
            return None
        each = (one.meanings.values() for one in self.terminologies if one.kind == kind)
        return {meaning for meanings in each for meaning in meanings}

    def finder(self) -> "TermFinder":
        """Return what finds spans by these terms."""
        return TermFinder(self)

    def meaning(self, kind: str, said: str) -> str | None:
        """Return what a span of this model stands for; None: it is none of its own.

        Args:
            kind: The span's type.
            said: The text of the span.
        """
        words = tokenize(said.lower()).words
        for each in self.terminologies:
            if each.kind == kind and (meaning := each.meaning(words)) is not None:
                return meaning
        form = _FORMS.get(kind) if self.has_forms else None
        found = form.fullmatch(said) if form else None
        return found["name"].lower() if found else None


class TermFinder:
    """Finds health terms; for any number of texts."""

    def __init__(self, model: TermModel) -> None:
        self._model = model
        self._known = [(each.kind, each.dictionary()) for each in model.terminologies]

    def find(self, texts: Iterable[str]) -> Iterator[tuple[Span, ...]]:
        """Yield the terms of each text, in order; those that are denied say so.

        Terms of one list do not lie over one another; those of several may. What
        forms find lies over no term of a list.

        >>> symptoms = Terminology("SYMPTOM", {"fever": "fever", "joint pain": "M25.5"})
        >>> model = TermModel("terms", (symptoms,))
        >>> text = "No fever. Joint pains, aspirin 81 mg."
        >>> for span in next(model.finder().find([text])):
        ...     said = text[span.start : span.end]
        ...     print(model.meaning(span.label, said), span.is_denied)
        fever True
        M25.5 False
        aspirin False
        """
        return map(self._terms, texts)

    def _terms(self, text: str) -> tuple[Span, ...]:
        tokens = tokenize(text)
        found = list(self._of_dictionaries(tokens))
        if self._model.has_forms:
            covered = Covered((span.start, span.end) for span, _ in found)
            found += [
                (span, first)
                for span, first in _of_forms(tokens)
                if not covered.meets(span.start, span.end)
            ]
        if not found:
            return ()
        denied, name = denied_tokens(tokens), self._model.name
        return tuple(
            sorted(
                replace(span, source=name, is_denied=first in denied)
                for span, first in found
            )
        )

    def _of_dictionaries(self, tokens: Tokens) -> Iterator[tuple[Span, int]]:
        lower = tuple(word.lower() for word in tokens.words)
        for kind, dictionary in self._known:
            for first, end in dictionary.spans(lower):
                start, behind = int(tokens.starts[first]), int(tokens.ends[end - 1])
                yield Span(start, behind, kind), first


def _of_forms(tokens: Tokens) -> Iterator[tuple[Span, int]]:
    first = {start: at for at, start in enumerate(tokens.starts.tolist())}
    taken = Covered()
    for kind, form in _FORMS.items():
        for match in form.finditer(tokens.text):
            span = Span(match.start(), match.end(), kind)
            is_free = not taken.meets(span.start, span.end)
            if span.start in first and is_free:
                taken.add(span.start, span.end)
                yield span, first[span.start]
