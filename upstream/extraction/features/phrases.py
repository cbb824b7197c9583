"""Which tokens stand in a form that identifiers are written in, or in a dictionary."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from upstream.extraction.features.columns import NONE, Column, Indexes
from upstream.extraction.patterns.forms import FORMS, lowered
from upstream.extraction.text.tokens import Tokens, tokenize

_PLACES = ("S", "B", "I", "E")  # alone, first, inside, last
_ALONE, _FIRST, _INSIDE, _LAST = range(len(_PLACES))


def form_columns(tokens: Tokens) -> list[Column]:
    """Return a column for each form: where in a match of it a token stands."""
    columns = []
    lower = lowered(tokens.text)
    for form in FORMS:
        found = form.matches(tokens.text, lower)
        spans = [(match.start, match.end) for match in found]
        if spans:
            names = tuple(f"{place}:{form.name}" for place in _PLACES)
            columns.append(Column(names, _places(tokens, spans)))
    return columns


def _places(tokens: Tokens, spans: list[tuple[int, int]]) -> Indexes:
    """Return for each token its place in the span that covers it, or ``NONE``."""
    at = np.full(len(tokens), NONE, dtype=np.int64)
    bounds = np.array(spans, dtype=np.int64)
    firsts = np.searchsorted(tokens.ends, bounds[:, 0], side="right")
    behind = np.searchsorted(tokens.starts, bounds[:, 1], side="left")
    for first, end in zip(firsts.tolist(), behind.tolist(), strict=True):
        if end - first == 1:
            at[first] = _ALONE
        elif end > first:
            at[first:end] = _INSIDE
            at[first], at[end - 1] = _FIRST, _LAST
    return at


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Phrases of one kind, as tokens in lower case.

    Attributes:
        name: What its attribute is called after ``IN_``.
        phrases: For each first token, the rests of its phrases.
        lengths: For each first token, how many tokens the rests have, the most first.
    """

    name: str
    phrases: Mapping[str, frozenset[tuple[str, ...]]]
    lengths: Mapping[str, tuple[int, ...]]

    def spans(self, words: tuple[str, ...]) -> Iterable[tuple[int, int]]:
        """Yield where its longest phrases stand, as indexes of tokens in lower case."""
        behind = 0
        candidates = [at for at, word in enumerate(words) if word in self.phrases]
        for at in candidates:
            length = self._longest(words, at) if at >= behind else 0
            if length:
                behind = at + length
                yield at, behind

    def _longest(self, words: tuple[str, ...], at: int) -> int:
        rests = self.phrases[words[at]]
        for length in self.lengths[words[at]]:
            if words[at + 1 : at + 1 + length] in rests:
                return 1 + length
        return 0


def dictionary_of(name: str, phrases: Iterable[str]) -> Dictionary:
    """Return the dictionary of these phrases; case and white space do not matter.

    >>> list(dictionary_of("city", ["New York"]).spans(("in", "new", "york")))
    [(1, 3)]
    """
    found: dict[str, set[tuple[str, ...]]] = {}
    for phrase in phrases:
        words = tokenize(phrase.lower()).words
        if words:
            found.setdefault(words[0], set()).add(words[1:])
    lengths = {
        first: tuple(sorted({len(rest) for rest in rests}, reverse=True))
        for first, rests in found.items()
    }
    kept = {first: frozenset(rests) for first, rests in found.items()}
    return Dictionary(name, kept, lengths)


def phrases_of(dictionary: Dictionary) -> list[str]:
    """Return the phrases of a dictionary, as ``dictionary_of`` takes them.

    >>> phrases_of(dictionary_of("city", ["New York", "Rome"]))
    ['new york', 'rome']
    """
    return sorted(
        " ".join((first, *rest))
        for first, rests in dictionary.phrases.items()
        for rest in rests
    )


def dictionary_columns(
    tokens: Tokens, dictionaries: Iterable[Dictionary]
) -> list[Column]:
    """Return a column for each dictionary: the tokens of its phrases have ``IN_name``.

    Of a phrase that is not written with a capital they have ``in_name``: a word of the
    language is often a name, too.
    """
    lower = tuple(word.lower() for word in tokens.words)
    columns = []
    for dictionary in dictionaries:
        at = np.full(len(lower), NONE, dtype=np.int64)
        for start, end in dictionary.spans(lower):
            at[start:end] = int(not tokens.words[start][0].isupper())
        names = (f"IN_{dictionary.name}", f"in_{dictionary.name}")
        columns.append(Column(names, at))
    return columns
