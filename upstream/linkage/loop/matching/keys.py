"""Keys: what is known, as letters and digits alone, found across tokens and signs."""

from collections.abc import Iterable
from dataclasses import dataclass

from upstream.linkage.loop.matching.words import Words

MOST_TOKENS = 24
"""Tokens that one value is spread over at most."""


@dataclass(frozen=True, slots=True)
class Gaps:
    """What may stand between the parts of one value.

    Attributes:
        signs: Single signs.
        blanks: So many characters of white space; behind a hyphen a line may break.
    """

    signs: str
    blanks: int

    def joins(self, words: Words, at: int) -> bool:
        """Whether a token may go on with the value that the one before is part of."""
        blanks = words.gap(at)
        if blanks <= self.blanks:
            return True
        between = words.text[words.ends[at - 1] : words.starts[at]]
        is_broken = words.raw[at - 1] == "-" and between.strip(" \t") in {"\n", "\r\n"}
        return is_broken and "-" in self.signs

    def passes(self, words: Words, at: int) -> bool:
        """Whether a token without letters or digits may stand inside a value."""
        return words.raw[at] in self.signs or words.is_mark(at)


class Keys:
    """Strings of letters and digits that are looked for from a token on.

    >>> from upstream.linkage.loop.matching.words import words_of
    >>> keys = Keys(["obrien"], Gaps("'-", 0))
    >>> keys.longest(words_of("O'Brien's"), 0)
    ('obrien', 3)
    """

    def __init__(self, keys: Iterable[str], gaps: Gaps) -> None:
        self._whole = {key for key in keys if key}
        self._begun = {key[:end] for key in self._whole for end in range(len(key) + 1)}
        self._gaps = gaps

    def longest(self, words: Words, at: int, begin: str = "") -> tuple[str, int] | None:
        """Return the longest key that begins at a token, and the token behind it.

        Args:
            words: The text.
            at: A token with letters or digits.
            begin: What is read in place of this token; empty: its own letters.
        """
        said, best = begin or words.folded[at], None
        if said in self._whole:
            best = said, at + 1
        behind = at + 1
        last = min(at + MOST_TOKENS, len(words))
        while said in self._begun and behind < last and self._gaps.joins(words, behind):
            part = words.folded[behind]
            if not part and not self._gaps.passes(words, behind):
                break
            said += part
            behind += 1
            if said in self._whole and (part or words.is_mark(behind - 1)):
                best = said, behind
        return best
