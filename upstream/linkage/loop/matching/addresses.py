"""Known addresses and places in a text, abbreviated, in part, or over several lines."""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

from upstream.linkage.loop.matching.dates import Found
from upstream.linkage.loop.matching.keys import Gaps, Keys
from upstream.linkage.loop.matching.near_words import NearWords
from upstream.linkage.loop.matching.vocabulary import (
    COMMON,
    OTHERS,
    STREET_KINDS,
    STREETS,
)
from upstream.linkage.loop.matching.words import Words, folded, words_of

ADDRESS, PLACE = 0.95, 0.85
"""Scores of a number with a street, and of a place alone."""
_SIGNS = frozenset(",.#-/;()")
_MOST_BLANKS, _SKIPPED, _SHORT = 4, 3, 3
_PLACE_GAPS = Gaps("-'\u2019.", 3)
_TOLD = ("in", "from", "of", "near", "to", "at", "lives", "de", "en", "a")
_JOINT = re.compile(
    r"[\s,.;]{0,6}(?:(?i:apt|flat|unit|suite|ste|no)?[.#]?\s?\d{1,5}[\s,.;]{1,4})?"
    r"(?:[A-Z]{2,3}[\s,.;]{1,4})?"
)
_LONGEST_JOINT = 30  # characters


def address_words(value: str) -> list[str]:
    """Return the words of an address, each as all its spellings are read.

    >>> address_words("12 Maple Street, Apt. 3")
    ['12', 'maple', 'st', 'apt', '3']
    """
    return [STREETS.get(word, word) for word in words_of(value).folded if word]


class KnownAddresses:
    """Addresses, as pairs of words that stand side by side in them."""

    def __init__(self, values: Iterable[str]) -> None:
        self._pairs: set[tuple[str, str]] = set()
        self._words: set[str] = set()
        for value in values:
            words = address_words(value)
            self._words.update(words)
            self._pairs.update(pairwise(words))
        self._near = NearWords(self._words)

    def found(self, words: Words) -> Iterator[Found]:
        """Yield where addresses stand, from left to right; none over another."""
        at = 0
        while self._pairs and at < len(words):
            said = self._said(words, at)
            if said is None:
                at += 1
                continue
            run, behind = self._run(words, at, said)
            if _is_address(run):
                yield at, behind, ADDRESS
            at = behind

    def _said(self, words: Words, at: int) -> str | None:
        """Return which known word a token is, if any."""
        word = STREETS.get(words.folded[at], words.folded[at])
        if not word:
            return None
        return word if word in self._words else self._near.nearest(word)

    def _run(self, words: Words, at: int, said: str) -> tuple[list[str], int]:
        """Return the words of an address from one on, and the token behind them."""
        run, behind, skipped = [said], at + 1, 0
        for place in range(at + 1, len(words)):
            if words.gap(place) > _MOST_BLANKS or skipped > _SKIPPED:
                break
            word = self._said(words, place)
            if word is not None and (run[-1], word) in self._pairs:
                run.append(word)
                behind, skipped = place + 1, 0
            elif words.raw[place] in _SIGNS or _is_state(words, place):
                skipped += 1
            else:
                break
        return run, behind


def _is_state(words: Words, at: int) -> bool:
    raw = words.raw[at]
    return len(raw) <= _SHORT and raw.isalpha() and raw.isupper()


def _is_address(run: list[str]) -> bool:
    has_number = any(word.isdecimal() for word in run)
    return has_number and any(
        len(word) >= _SHORT and word.isalpha() and word not in STREET_KINDS
        for word in run
    )


def places_in(
    words: Words, values: Iterable[str], common: Collection[str] = COMMON
) -> Iterator[Found]:
    """Yield where places stand: with a capital, and not as a hospital's or a street's.

    One that is a common word, or short, needs a word such as ``in`` before it.
    """
    known = Keys(filter(None, map(folded, values)), _PLACE_GAPS)
    at = 0
    while at < len(words):
        found = known.longest(words, at) if words.folded[at] else None
        if found is not None and _is_meant(words, at, *found, common):
            yield at, found[1], PLACE
        at = at + 1 if found is None else found[1]


def _is_meant(
    words: Words, at: int, key: str, behind: int, common: Collection[str]
) -> bool:
    for place in range(behind, min(behind + 2, len(words))):
        if not words.folded[place]:
            break
        if words.folded[place] in OTHERS:
            return False
    if not words.is_capital(at):
        return False
    before = words.before(at, "")
    is_told = before >= 0 and words.folded[before] in _TOLD
    return is_told or not (key in common or len(key) <= _SHORT)


def are_joined(text: str, end: int, start: int) -> bool:
    """Whether what ends and what starts here are parts of one address.

    >>> are_joined("Elm St, Apt 4, Troy, NY 12345", 6, 15)
    True
    """
    if not 0 <= start - end <= _LONGEST_JOINT:
        return False
    return _JOINT.fullmatch(text, end, start) is not None
