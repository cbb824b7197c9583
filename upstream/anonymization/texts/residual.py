"""What of a patient's identifiers is left in a text that was de-identified.

The text is read again: for the words of the patient's names, whole, parted or with one
slip, for numbers however they are parted, and for what else is known of the patient as
it stands. A model misses; this finds what it found elsewhere, or what the tables say.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from upstream.anonymization.texts.again.folded import FoldedText
from upstream.anonymization.texts.again.parted import DASHES, PartedNumbers
from upstream.anonymization.texts.again.slips import Slips
from upstream.anonymization.texts.kinds import Kind
from upstream.anonymization.texts.names import TITLES

LEAST_LETTERS = 3
"""Of a word of a name that is looked for by itself, whatever its case."""
LEAST_OF_A_WHOLE = 2
"""Letters of a whole name or place that is looked for where it begins large."""
_RUNS: Final = re.compile(r"[^\W_]+")
_WORDS: Final = re.compile(r"[^\W\d_]+")
_JOINS: Final = re.compile(rf"[{DASHES}'\u2019\u02bc`] ?")
_MOST_PARTS = 3
_WORDED: Final = frozenset(
    {Kind.STREET, Kind.PLACE, Kind.ORGANIZATION, Kind.PROFESSION, Kind.SEX}
)
_NAMED: Final = frozenset({Kind.NAME, Kind.STREET, Kind.PLACE, Kind.ORGANIZATION})
_NEITHER: Final = frozenset({Kind.AGE, Kind.DATE, Kind.BIRTH_DATE, Kind.ZIP})
_TITLES: Final = TITLES.keys() - {"don"}
"""Words of names that are many people's; Don is also short for Donald."""
_ENGLISH = (
    "a am an and any are as at be but by can did do for from get go had has he "
    "her hi him his how i if in is it its let may me men my new no nor not now of "
    "off oh ok old on one or our out own per put ran red saw see she so ten the "
    "to too two up us use was way we who why yes yet you"
)
_SPANISH = (
    "al asi con da de del dia dos el en era es ese fue ha han hay la las le les "
    "lo los mas me mi muy ni no nos o por que se ser si sin son su sus te tu un "
    "una uno va vez y ya yo"
)
_GERMAN = (
    "ab alt am an auf aus bei bin bis da das dem den der des die du ein er es fur "
    "gut hat ich ihm ihn ihr im in ist ja man mit nach nie nun nur ob seit sie so "
    "tag um und uns vom von vor war was wie wir wo zu zum zur"
)
_ORDINARY: Final = frozenset(f"{_ENGLISH} {_SPANISH} {_GERMAN}".split())
"""Short words that begin many sentences, or stand in capitals among others."""


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
        self._words: dict[str, Kind] = {}
        self._short: dict[str, Kind] = {}
        self._numbers = PartedNumbers()
        self._texts: dict[str, dict[tuple[str, int, Kind], None]] = defaultdict(dict)
        for kind, value in identifiers:
            self._take(kind, FoldedText.of(value).text.strip())
        self._words |= dict.fromkeys(self._names, Kind.NAME)
        self._slips = Slips(self._names)

    def _take(self, kind: Kind, folded: str) -> None:
        if kind is Kind.NAME:
            self._take_name(folded)
            return
        self._take_text(kind, folded)
        if kind not in _WORDED and kind not in _NEITHER:
            self._numbers.take(kind, folded)

    def _take_name(self, folded: str) -> None:
        words = {*_WORDS.findall(folded), *_joined(folded)} - _TITLES
        long = {word for word in words if len(word) >= LEAST_LETTERS}
        self._names |= long
        if not long:
            self._take_text(Kind.NAME, folded)
            short = (word for word in words if len(word) >= LEAST_OF_A_WHOLE)
            self._short |= dict.fromkeys(short, Kind.NAME)

    def _take_text(self, kind: Kind, value: str) -> None:
        """Keep a value by its first word: a text is looked through word by word."""
        word = _RUNS.search(value)
        if word is None:
            return
        is_code = kind not in _WORDED | _NEITHER | {Kind.NAME}
        if len(value) >= (LEAST_OF_A_WHOLE if is_code else LEAST_LETTERS + 1):
            self._texts[word[0]][value, word.start(), kind] = None
        if kind in _NAMED and _WORDS.fullmatch(value):
            is_long = len(value) > LEAST_LETTERS
            if is_long:
                self._words[value] = kind
            elif len(value) >= LEAST_OF_A_WHOLE:
                self._short[value] = kind

    def find(self, text: str) -> list[Residue]:
        """Return what is left in a text, in its order.

        >>> check = ResidualCheck([(Kind.NAME, "Ada Stone"), (Kind.PHONE, "555-0100")])
        >>> [one.kind.value for one in check.find("Call STONE at 555 0100.")]
        ['name', 'phone']
        """
        read = FoldedText.of(text)
        words = list(_WORDS.finditer(read.text))
        found = {
            *self._of_names(text, read, words),
            *self._of_parted(text, read, words),
            *(Residue(*one) for one in self._numbers.find(read)),
            *self._of_texts(read.text),
        }
        placed = {
            Residue(*read.within(one.start, one.end), one.kind, one.is_exact)
            for one in found
        }
        return sorted(placed)

    def _of_names(
        self, text: str, read: FoldedText, words: Sequence[re.Match[str]]
    ) -> Iterator[Residue]:
        for at, word in enumerate(words):
            said, (start, end) = word[0], word.span()
            is_small = text[read.places[start]].islower()
            if said in self._names:
                yield Residue(start, end, Kind.NAME, not is_small)
            elif is_small:
                continue
            elif said in self._short and _is_apart(read.text, start, end):
                before = words[at - 1] if at else None
                is_exact = said not in _ORDINARY or _is_name(text, read, word, before)
                yield Residue(start, end, self._short[said], is_exact)
            elif self._slips.has(said):
                yield Residue(start, end, Kind.NAME, is_exact=False)

    def _of_parted(
        self, text: str, read: FoldedText, words: Sequence[re.Match[str]]
    ) -> Iterator[Residue]:
        """Yield words that stand in parts, such as at the end of a line."""
        for at, first in enumerate(words):
            whole, before, is_known = first[0], first, first[0] in self._names
            for word in words[at + 1 : at + _MOST_PARTS]:
                is_blank = read.text[before.end() : word.start()] == " "
                if is_blank and text[read.places[word.start()]].islower():
                    break  # two ordinary words may be a name together
                if not is_blank and not _JOINS.fullmatch(
                    read.text, before.end(), word.start()
                ):
                    break
                whole, before = whole + word[0], word
                is_known = is_known and word[0] in self._names
                if whole in self._words and not is_known:  # else each is found
                    is_small = text[read.places[first.start()]].islower()
                    kind = self._words[whole]
                    if not (is_small and is_blank):
                        yield Residue(first.start(), word.end(), kind, not is_small)

    def _of_texts(self, folded: str) -> Iterator[Residue]:
        for word in _RUNS.finditer(folded):
            for value, before, kind in self._texts.get(word[0], ()):
                start = word.start() - before
                end = start + len(value)
                is_whole = start >= 0 and not folded[end : end + 1].isalnum()
                if is_whole and folded.startswith(value, start):
                    yield Residue(start, end, kind, is_exact=_is_certain(value))


def _is_certain(value: str) -> bool:
    """Whether a value is hardly another one's: a short number may be any number."""
    is_mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return len(value) > LEAST_LETTERS or is_mixed


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


def _is_apart(folded: str, start: int, end: int) -> bool:
    """Whether a word is whole: no letter, digit or hyphen is at it, nor an apostrophe.

    >>> _is_apart("li-ion", 0, 2), _is_apart("(li)", 1, 3), _is_apart("li's", 0, 2)
    (False, True, True)
    """
    beside = folded[max(0, start - 1) : start] + folded[end : end + 1]
    is_possessive = folded[end : end + 2] in {"'s", "\u2019s"}
    return is_possessive or not any(
        sign.isalnum() or _JOINS.fullmatch(sign) for sign in beside
    )


def _is_name(
    text: str, read: FoldedText, word: re.Match[str], before: re.Match[str] | None
) -> bool:
    """Whether an ordinary word is written as only a name is: large, in a sentence."""
    if before is None:
        return False
    between = read.text[before.end() : word.start()]
    if before[0] in TITLES and between in {" ", ". "}:
        return True
    at = read.places[word.start()]
    is_in_capitals = text[at + 1 : at + 2].isupper()
    return between in {" ", ", "} and not is_in_capitals
