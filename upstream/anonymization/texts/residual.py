"""What of a patient's identifiers is left in a text that was de-identified.

The text is read again: for the words of the patient's names, whole or with one slip,
for numbers however they are parted, and for what else is known of the patient as it
stands. A model misses; this finds what it found elsewhere, or what the tables say.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from upstream.anonymization.texts.kinds import Kind

LEAST_LETTERS = 3
"""Of a name that is looked for; shorter ones are words of any text."""
LEAST_WITH_A_SLIP = 6
"""Letters of a name of which one may be another."""
LEAST_DIGITS = 5
"""Of a number that is looked for in parts."""
_RUNS: Final = re.compile(r"[^\W_]+")
_WORDS: Final = re.compile(r"[^\W\d_]+")
_NUMBERS: Final = re.compile(r"[0-9](?:[-./\s()]{0,2}[0-9])*")
_NAMED: Final = frozenset({Kind.NAME})
_WORDED: Final = frozenset(
    {Kind.STREET, Kind.PLACE, Kind.ORGANIZATION, Kind.PROFESSION, Kind.SEX}
)
_NEITHER: Final = frozenset({Kind.AGE, Kind.DATE, Kind.BIRTH_DATE, Kind.ZIP})


@dataclass(frozen=True, slots=True, order=True)
class Residue:
    """A part of an output that may identify.

    Attributes:
        start: Offset of its first character in the output, in code points.
        end: Offset behind its last one.
        kind: What it identifies by.
        is_exact: Whether it stands as the identifier does but for case and accents; a
            word that begins small, or has one other letter, may be an ordinary one.
    """

    start: int
    end: int
    kind: Kind
    is_exact: bool


class ResidualCheck:
    """Looks for one patient's identifiers."""

    def __init__(self, identifiers: Iterable[tuple[Kind, str]]) -> None:
        """Take what is known of a patient.

        Args:
            identifiers: Kinds and values: of the identifier view, and of all spans that
                were replaced in any of the patient's documents.
        """
        self._names: set[str] = set()
        self._numbers: dict[str, Kind] = {}
        self._texts: dict[str, list[tuple[str, int, Kind]]] = defaultdict(list)
        for kind, value in identifiers:
            self._take(kind, value)
        self._slips = _deletions(
            name for name in self._names if len(name) >= LEAST_WITH_A_SLIP
        )

    def _take(self, kind: Kind, value: str) -> None:
        folded = FoldedText.of(value).text
        if kind in _NAMED:
            words = [*_WORDS.findall(folded), *_joined(folded)]
            self._names |= {word for word in words if len(word) >= LEAST_LETTERS}
            if not any(len(word) >= LEAST_LETTERS for word in words):
                self._take_text(kind, folded.strip())
        elif kind in _WORDED or kind in _NEITHER:
            self._take_text(kind, folded.strip())
        else:
            digits = re.sub(r"[^0-9]", "", folded)
            if len(digits) >= LEAST_DIGITS:
                self._numbers[digits] = kind
            self._take_text(kind, folded.strip())

    def _take_text(self, kind: Kind, value: str) -> None:
        """Keep a value by its first word: a text is looked through word by word."""
        word = _RUNS.search(value)
        if word is not None and len(value) > LEAST_LETTERS:
            told = (value, word.start(), kind)
            if told not in self._texts[word[0]]:
                self._texts[word[0]].append(told)

    def find(self, text: str) -> list[Residue]:
        """Return what is left in a text, in its order.

        >>> check = ResidualCheck([(Kind.NAME, "Ada Stone"), (Kind.PHONE, "555-0100")])
        >>> [one.kind.value for one in check.find("Call STONE at 555 0100.")]
        ['name', 'phone']
        """
        read = FoldedText.of(text)
        found = {
            *self._of_names(text, read),
            *self._of_numbers(read.text),
            *self._of_texts(read.text),
        }
        placed = {
            Residue(*read.within(one.start, one.end), one.kind, one.is_exact)
            for one in found
        }
        return sorted(placed)

    def _of_names(self, text: str, read: "FoldedText") -> Iterator[Residue]:
        for word in _WORDS.finditer(read.text):
            said = word[0]
            is_small = text[read.places[word.start()]].islower()
            if said in self._names:
                yield Residue(word.start(), word.end(), Kind.NAME, not is_small)
            elif (
                not is_small
                and len(said) >= LEAST_WITH_A_SLIP - 1
                and self._is_slip(said)
            ):
                yield Residue(word.start(), word.end(), Kind.NAME, is_exact=False)

    def _is_slip(self, word: str) -> bool:
        near = {word, *_without_one(word)}
        names = {name for one in near for name in self._slips.get(one, ())}
        return any(within_one_slip(name, word) for name in names)

    def _of_numbers(self, folded: str) -> Iterator[Residue]:
        for run in _NUMBERS.finditer(folded):
            places = [place for place, sign in enumerate(run[0]) if sign.isdigit()]
            digits = "".join(run[0][place] for place in places)
            for number, kind in self._numbers.items():
                at = digits.find(number)
                while at >= 0:
                    start = run.start() + places[at]
                    end = run.start() + places[at + len(number) - 1] + 1
                    yield Residue(start, end, kind, is_exact=True)
                    at = digits.find(number, at + 1)

    def _of_texts(self, folded: str) -> Iterator[Residue]:
        for word in _RUNS.finditer(folded):
            for value, before, kind in self._texts.get(word[0], ()):
                start = word.start() - before
                end = start + len(value)
                is_whole = start >= 0 and not folded[end : end + 1].isalnum()
                if is_whole and folded.startswith(value, start):
                    yield Residue(start, end, kind, is_exact=True)


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text without case, accents and marks, and where each character stood.

    Attributes:
        text: Folded: e for É, also where the accent is a character of its own, ss for
            ß, l for ł.
        places: By character of it: where it stood, and in the end how long the text is.
    """

    text: str
    places: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> "FoldedText":
        """Fold a text.

        >>> FoldedText.of("MÜLLER, José, Weiß").text
        'muller, jose, weiss'
        """
        parts: list[str] = []
        places: list[int] = []
        for place, character in enumerate(text):
            told = _folded(character)
            parts.append(told)
            places += [place] * len(told)
        return cls("".join(parts), (*places, len(text)))

    def within(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of it stood; marks behind its end belong to it."""
        behind = bisect_right(self.places, self.places[end - 1])
        return self.places[start], self.places[behind]


_LETTERS: Final = {
    "ß": "ss",
    "ł": "l",
    "ø": "o",
    "æ": "ae",
    "œ": "oe",
    "đ": "d",
    "\u0131": "i",
    "þ": "th",
    "ð": "d",
}


def _folded(character: str) -> str:
    if unicodedata.combining(character):
        return ""
    bare = unicodedata.normalize("NFD", character)[0].lower()
    bare = bare[0] if len(bare) > 1 and unicodedata.combining(bare[1]) else bare
    return _LETTERS.get(bare, bare)


def _joined(name: str) -> list[str]:
    """Return words that hyphens or apostrophes part, written as one.

    >>> _joined("smith-jones, o'neil")
    ['smithjones', 'oneil']
    """
    return [
        "".join(_WORDS.findall(word))
        for word in name.split()
        if len(_WORDS.findall(word)) > 1
    ]


def within_one_slip(one: str, other: str) -> bool:
    """Whether words are alike but for one letter, left out, added, other or swapped.

    >>> within_one_slip("garcia", "gracia"), within_one_slip("garcia", "garzja")
    (True, False)
    """
    if one == other:
        return True
    if abs(len(one) - len(other)) > 1:
        return False
    at = next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    left, right = one[at:], other[at:]
    swapped = left[1:2] + left[:1] + left[2:]
    return (
        left[1:] == right
        or left == right[1:]
        or left[1:] == right[1:]
        or (len(left) > 1 and swapped == right)
    )


def _deletions(names: Iterable[str]) -> Mapping[str, set[str]]:
    """Return names by what they are without one letter: who is near shares one."""
    told: dict[str, set[str]] = defaultdict(set)
    for name in names:
        for near in {name, *_without_one(name)}:
            told[near].add(name)
    return told


def _without_one(word: str) -> Iterator[str]:
    return (word[:i] + word[i + 1 :] for i in range(len(word)))
