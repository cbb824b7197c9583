"""A text's tokens without case and accents, and how far one lies from the next."""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from upstream.extraction.text.tokens import tokenize

LONGEST_WORD = 40
"""Letters of a token that are looked at; a longer one is no word."""
_FOLDED = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe"})
_MOST_BLANKS = 4
_CAPITALS = 0.8  # of the words: so many in capitals say nothing


@lru_cache(maxsize=50_000)
def folded(word: str) -> str:
    """Return a word without case, accents and signs; empty: none, or too long.

    >>> folded("MÜLLER"), folded("Sørensen"), folded("-")
    ('muller', 'sorensen', '')
    """
    if len(word) > LONGEST_WORD:
        return ""
    plain = unicodedata.normalize("NFKD", word.casefold()).translate(_FOLDED)
    return "".join(each for each in plain if each.isalnum())


@dataclass(frozen=True, slots=True)
class Words:
    """The tokens of a text.

    Attributes:
        text: The text.
        raw: What each token says.
        folded: The same without case and accents; empty: a sign, or too long.
        starts: Offset of each one's first character, in code points.
        ends: Offset behind each one's last.
        is_cased: Whether capitals say anything: a text in one case has none that do.
    """

    text: str
    raw: tuple[str, ...]
    folded: list[str]
    starts: list[int]
    ends: list[int]
    is_cased: bool

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.raw)

    def gap(self, at: int) -> int:
        """Return how many characters of white space stand before a token."""
        return self.starts[at] - self.ends[at - 1] if at else self.starts[at]

    def is_capital(self, at: int) -> bool:
        """Whether a token begins with a capital, or its text has only one case."""
        return not self.is_cased or self.raw[at][0].isupper()

    def is_mark(self, at: int) -> bool:
        """Whether a token is an accent that stands behind its letter."""
        return bool(unicodedata.combining(self.raw[at][0]))

    def before(self, at: int, signs: str = ".") -> int:
        """Return the last token before one that is none of these signs; -1: none.

        At most two signs are passed over, and a blank line by no means.
        """
        place = at - 1
        while place >= max(0, at - 3) and self.is_near(place + 1):
            if self.raw[place] not in signs:
                return place
            place -= 1
        return -1

    def is_near(self, at: int, *, lines: int = 1) -> bool:
        """Whether a token stands beside the one before, over so many line breaks."""
        between = self.text[self.ends[at - 1] : self.starts[at]] if at else ""
        return len(between) <= _MOST_BLANKS and between.count("\n") <= lines


def words_of(text: str) -> Words:
    """Return the tokens of a text.

    >>> words_of("Seen: José").folded
    ['seen', '', 'jose']
    """
    tokens = tokenize(text)
    return Words(
        text,
        tokens.words,
        [folded(word) for word in tokens.words],
        tokens.starts.tolist(),
        tokens.ends.tolist(),
        _is_cased(tokens.words),
    )


def _is_cased(words: tuple[str, ...]) -> bool:
    whole = [word for word in words if len(word) > 1 and word[0].isalpha()]
    loud = sum(word.isupper() for word in whole)
    quiet = sum(word[0].islower() for word in whole)
    return quiet < len(whole) and loud < _CAPITALS * len(whole)
