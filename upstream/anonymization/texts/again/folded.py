"""Texts as they are compared: without case, accents, marks and kinds of blanks."""

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Final


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text folded, and where each character stood.

    Attributes:
        text: Folded: e for É, also where the accent is a character of its own, ss for
            ß, l for ł, ffi where one character is a ligature of them, one blank for
            any number of blanks and line breaks, nothing for a soft hyphen; one sign
            for all apostrophes, and one for all dashes.
        places: By character of it: where it stood, and in the end how long the text is.
    """

    text: str
    places: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> "FoldedText":
        r"""Fold a text.

        >>> FoldedText.of("MÜLLER,  José, Weiß, Gri\ufb03n").text
        'muller, jose, weiss, griffin'
        """
        parts: list[str] = []
        places: list[int] = []
        is_blank = False
        for place, character in enumerate(text):
            told = _folded(character)
            if told == " " and is_blank:
                continue
            is_blank = told == " " or (is_blank and not told)
            parts.append(told)
            places += [place] * len(told)
        return cls("".join(parts), (*places, len(text)))

    def within(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of it stood; marks behind its end belong to it."""
        behind = bisect_right(self.places, self.places[end - 1])
        return self.places[start], self.places[behind]


_PLAIN: Final = {
    "ß": "ss",
    "ł": "l",
    "ø": "o",
    "æ": "ae",
    "œ": "oe",
    "đ": "d",
    "\u0131": "i",
    "þ": "th",
    "ð": "d",
    **dict.fromkeys("\u2019\u2018\u02bc\u00b4`", "'"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
}


@lru_cache(4096)
def _folded(character: str) -> str:
    if character.isspace():
        return " "
    # A trade mark's sign, say, would become letters of the word before it.
    is_sign = unicodedata.category(character).startswith("S")
    plain = unicodedata.normalize("NFD" if is_sign else "NFKD", character).lower()
    kept = (one for one in plain if not _is_mark(one))
    return "".join(_PLAIN.get(one, " " if one.isspace() else one) for one in kept)


def _is_mark(character: str) -> bool:
    """Whether it is an accent, or only says how others are set, as a soft hyphen."""
    is_format = unicodedata.category(character) == "Cf"
    return is_format or bool(unicodedata.combining(character))
