"""Parts of names that stand side by side, with the initials beside them."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from upstream.linkage.loop.matching.names import Piece
from upstream.linkage.loop.matching.vocabulary import PARTICLES, TITLES
from upstream.linkage.loop.matching.words import Words

_MOST_BETWEEN, _MOST_INITIALS = 5, 2
_QUOTES = frozenset("'\u2019")


@dataclass
class Chain:
    """Parts of a name that stand side by side, with initials.

    Attributes:
        pieces: In order.
        first: Its first token.
        behind: The token behind its last.
        initials: How many known initials stand before or behind.
    """

    pieces: list[Piece]
    first: int
    behind: int
    initials: int = 0

    @property
    def parts(self) -> int:
        """How many parts of names, and initials, stand side by side in it."""
        return sum(max(piece.parts, 1) for piece in self.pieces) + self.initials


def chains(
    words: Words, pieces: Iterable[Piece], letters: Collection[str]
) -> Iterator[Chain]:
    """Yield chains of parts, in order, with their initials.

    Args:
        words: The text.
        pieces: Parts of names, in order.
        letters: First letters of known names: initials.
    """
    for chain in _joined(words, pieces):
        _add_first_initials(words, chain, letters)
        _add_last_initial(words, chain, letters)
        yield chain


def _joined(words: Words, pieces: Iterable[Piece]) -> Iterator[Chain]:
    chain: Chain | None = None
    for piece in pieces:
        if chain is not None and _are_near(words, chain, piece):
            chain.pieces.append(piece)
            chain.behind = piece.behind
            continue
        if chain is not None:
            yield chain
        chain = Chain([piece], piece.first, piece.behind)
    if chain is not None:
        yield chain


def _are_near(words: Words, chain: Chain, piece: Piece) -> bool:
    """Whether only a comma, initials and small words stand before a part.

    One word with a capital may, too, between two parts that differ: a middle name.
    """
    behind, first = chain.behind, piece.first
    if first - behind > _MOST_BETWEEN:
        return False
    if not all(words.is_near(at) for at in range(behind, first + 1)):
        return False
    between = range(behind, first)
    unknown = [at for at in between if not _is_inside(words, at)]
    if unknown and not (len(between) == 1 and _is_middle(words, chain, piece)):
        return False
    commas = sum(words.raw[at] == "," for at in between)
    has_stop = first > behind and words.raw[first - 1] == "."
    is_stopped = has_stop and len(words.folded[first - 2]) != 1
    return commas <= 1 and not is_stopped


def _is_inside(words: Words, at: int) -> bool:
    """Whether a token may stand between two parts of a name."""
    raw, said = words.raw[at], words.folded[at]
    is_initial = len(said) == 1 and said.isalpha() and words.is_capital(at)
    return raw in ",.-\u2013" or is_initial or said in PARTICLES or words.is_mark(at)


def _is_middle(words: Words, chain: Chain, piece: Piece) -> bool:
    at = chain.behind
    said, is_other = words.folded[at], chain.pieces[-1].key != piece.key
    is_name = words.raw[at].istitle() and said.isalpha() and said not in TITLES
    return words.is_cased and is_other and is_name


def _add_first_initials(words: Words, chain: Chain, letters: Collection[str]) -> None:
    for _ in range(_MOST_INITIALS):
        at = chain.first - 1
        if at > 0 and words.raw[at] == "." and not words.gap(at):
            at -= 1
        is_one = at >= 0 and _is_initial(words, at, letters)
        if not is_one or not _reaches(words, at, chain):
            break
        chain.first = at
        chain.initials += 1


def _is_middle_initial(words: Words, at: int) -> bool:
    """Whether another word with a capital stands behind an initial: a surname."""
    behind = at + 1
    if behind < len(words) and words.raw[behind] == ".":
        behind += 1
    if behind >= len(words) or not words.is_near(behind, lines=0):
        return False
    return len(words.folded[behind]) > 1 and words.raw[behind][0].isupper()


def is_degree(words: Words, at: int) -> bool:
    """Whether ``M.D.`` begins at a token, with or without its stops."""
    if words.folded[at] == "md":
        return True
    behind = words.folded[at + 1 : at + 3]
    return words.folded[at] == "m" and "d" in behind and not words.gap(at + 1)


def _is_initial(words: Words, at: int, letters: Collection[str]) -> bool:
    said = words.folded[at]
    return len(said) == 1 and said in letters and words.is_capital(at)


def _reaches(words: Words, at: int, chain: Chain) -> bool:
    """Whether an initial stands by itself, right before a chain."""
    is_alone = at == 0 or words.gap(at) > 0 or not words.raw[at - 1].isalnum()
    is_possessive = at > 0 and words.raw[at - 1] in _QUOTES
    return is_alone and not is_possessive and words.is_near(chain.first)


def _add_last_initial(words: Words, chain: Chain, letters: Collection[str]) -> None:
    at = chain.behind
    has_comma = at < len(words) and words.raw[at] == ","
    at += has_comma
    if at >= len(words) or not (has_comma or words.gap(at)):
        return
    said, follows = words.folded[at], words.raw[at + 1] if at + 1 < len(words) else ""
    is_glued = bool(follows) and not words.gap(at + 1)
    is_letter = len(said) == 1 and said.isalpha() and words.raw[at].isupper()
    is_known = said in letters or len(chain.pieces) > 1
    is_told = words.is_cased or (is_glued and follows == ".")
    if not (is_letter and is_known and is_told and words.is_near(at, lines=0)):
        return
    if (is_glued and follows in "'\u2019&/+-") or is_degree(words, at):
        return
    if len(chain.pieces) == 1 and not has_comma and _is_middle_initial(words, at):
        return
    chain.initials += said in letters
    chain.behind = at + 1
