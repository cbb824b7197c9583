"""Which parts of names are meant as a patient's: by what stands beside them."""

from collections.abc import Collection, Iterator, Sequence

from upstream.linkage.loop.matching.chains import Chain, chains, is_degree
from upstream.linkage.loop.matching.dates import Found
from upstream.linkage.loop.matching.names import KnownNames, Piece
from upstream.linkage.loop.matching.vocabulary import (
    COMMON,
    DOCTORS,
    OTHERS,
    SAINTS,
    TITLES,
)
from upstream.linkage.loop.matching.words import Words

FULL, FULL_NEAR, TITLED, TITLED_NEAR, ALONE, LOWER = 0.99, 0.95, 0.95, 0.85, 0.9, 0.7
"""Scores: several parts, one letter wrong, behind a title, alone, in small letters."""
_SHORT, _LEAST_LOWER = 3, 5  # letters of names that need company; of lower case ones
_BEFORE = DOCTORS | SAINTS | {"st"}
_BEHIND = OTHERS | DOCTORS
_PASSED = frozenset(["'", "\u2019", ",", ".", "s"])
_MOST_PASSED, _MOST_READ = 3, 2


def names_in(
    words: Words, known: KnownNames, common: Collection[str] = COMMON
) -> Iterator[tuple[Found, str]]:
    """Yield where a patient's names stand, and their span types, from left to right.

    Args:
        words: The text.
        known: The names.
        common: Names that are also words: these need a capital and company.
    """
    pieces = [each for each in known.pieces(words) if not _is_word(words, each, common)]
    for chain in chains(words, pieces, known.letters):
        score = _score(words, chain, common)
        if score is not None:
            yield from _labelled(chain, known, score)


def _is_word(words: Words, piece: Piece, common: Collection[str]) -> bool:
    """Whether a part is a common word in small letters, or nearly one."""
    if not piece.is_exact and words.folded[piece.first] in common:
        return True
    return piece.key in common and not words.is_capital(piece.first)


def _score(words: Words, chain: Chain, common: Collection[str]) -> float | None:
    """Return how sure a chain is a patient's name; None: it is not taken for one."""
    is_exact = all(piece.is_exact for piece in chain.pieces)
    is_titled = _said_before(words, chain.first) in TITLES
    is_weak = all(piece.key in common for piece in chain.pieces)
    if chain.parts > 1 and (words.is_cased or is_titled or not is_weak):
        return FULL if is_exact else FULL_NEAR
    if is_titled:
        return TITLED if is_exact else TITLED_NEAR
    if chain.parts > 1:
        return LOWER
    return None if is_weak or not is_exact else _score_alone(words, chain)


def _score_alone(words: Words, chain: Chain) -> float | None:
    piece = chain.pieces[0]
    if len(piece.key) <= _SHORT or _is_others(words, chain):
        return None
    if words.is_capital(piece.first):
        return ALONE
    return LOWER if len(piece.key) >= _LEAST_LOWER else None


def _said_before(words: Words, at: int) -> str:
    before = words.before(at, ".:")
    return words.folded[before] if before >= 0 else ""


def _is_others(words: Words, chain: Chain) -> bool:
    """Whether a part alone is somebody who treats, a hospital, a street, a disease."""
    return _is_treating(words, chain) or any(
        words.folded[at] in _BEHIND or is_degree(words, at)
        for at in _next_words(words, chain.behind)
    )


def _is_treating(words: Words, chain: Chain) -> bool:
    """Whether a title of somebody else stands before, or before their given name."""
    at = chain.first
    for _ in range(_MOST_READ + 1):
        if _said_before(words, at) in _BEFORE:
            return True
        at = words.before(at)
        if at <= 0 or not (words.is_cased and words.is_capital(at)):
            return False
    return False


def _next_words(words: Words, behind: int) -> Iterator[int]:
    """Yield the next two words, behind a possessive's s, a comma or a full stop."""
    at = behind
    while at < min(behind + _MOST_PASSED, len(words)) and words.raw[at] in _PASSED:
        at += 1
    for place in range(at, min(at + _MOST_READ, len(words))):
        if not words.is_near(place) or not words.folded[place]:
            return
        yield place


def _labelled(
    chain: Chain, known: KnownNames, score: float
) -> Iterator[tuple[Found, str]]:
    """Yield a chain as one span, or one for each run of parts of one type."""
    labels = [known.labels[piece.key] for piece in chain.pieces]
    for first, behind in _runs(labels):
        start = chain.pieces[first].first if first else chain.first
        is_last = behind == len(labels)
        end = chain.behind if is_last else chain.pieces[behind - 1].behind
        yield (start, end, score), labels[first]


def _runs(labels: Sequence[str]) -> Iterator[tuple[int, int]]:
    first = 0
    for at in range(1, len(labels) + 1):
        if at == len(labels) or labels[at] != labels[first]:
            yield first, at
            first = at
