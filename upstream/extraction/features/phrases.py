"""Which tokens stand in a form that identifiers are written in, or in a dictionary."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from upstream.extraction.features.columns import Column
from upstream.extraction.patterns.forms import FORMS, Match
from upstream.extraction.text.tokens import Tokens, tokenize

_PLACES = ("S", "B", "I", "E")  # alone, first, inside, last
_ALONE, _FIRST, _INSIDE, _LAST = range(len(_PLACES))
_FORM_NAMES = {
    form.name: tuple(f"{place}:{form.name}" for place in _PLACES) for form in FORMS
}


def form_columns(tokens: Tokens, found: Sequence[Match]) -> list[Column]:
    """Return a column for each form that occurs: where in a match a token stands.

    Args:
        tokens: The tokens.
        found: The matches of the forms in their text, form by form.
    """
    bounds = np.array([match[1:] for match in found], dtype=np.int64).reshape(-1, 2)
    firsts = np.searchsorted(tokens.ends, bounds[:, 0], side="right").tolist()
    behind = np.searchsorted(tokens.starts, bounds[:, 1], side="left").tolist()
    held: dict[str, tuple[list[int], list[int]]] = {}
    for match, first, end in zip(found, firsts, behind, strict=True):
        covered, places = held.setdefault(match.form, ([], []))
        begin = max(first, covered[-1] + 1) if covered else first
        count = end - begin
        if count > 0:
            covered.extend(range(begin, end))
            inside = [_FIRST, *[_INSIDE] * (count - 2), _LAST]
            places.extend(inside if count > 1 else [_ALONE])
    return [
        Column(
            f"form {form}",
            _FORM_NAMES[form],
            np.array(places, dtype=np.int64),
            np.array(covered, dtype=np.int64),
            is_near=True,
        )
        for form, (covered, places) in held.items()
        if covered
    ]


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
            rest = words[at + 1 : at + 1 + length]
            if rest in rests:
                return 1 + len(rest)  # less than length where the text ends before
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
    """Return a column for each dictionary that occurs: ``IN_name`` on its phrases.

    Of a phrase that is not written with a capital they have ``in_name``: a word of the
    language is often a name, too.
    """
    lower = tuple(word.lower() for word in tokens.words)
    columns = []
    for dictionary in dictionaries:
        covered: list[int] = []
        at: list[int] = []
        for start, end in dictionary.spans(lower):
            covered.extend(range(start, end))
            at.extend([int(not tokens.words[start][0].isupper())] * (end - start))
        if covered:
            columns.append(
                Column(
                    f"dictionary {dictionary.name}",
                    _dictionary_names(dictionary.name),
                    np.array(at, dtype=np.int64),
                    np.array(covered, dtype=np.int64),
                    is_near=True,
                )
            )
    return columns


@cache
def _dictionary_names(name: str) -> tuple[str, str]:
    return f"IN_{name}", f"in_{name}"
