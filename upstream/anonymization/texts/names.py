"""Surrogates of names, word by word: Mrs. Ada Stone, STONE and A. Stone stay one."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from upstream.anonymization.texts.keyed import KeyedChoice
from upstream.anonymization.texts.lists import Lists

Gender = Literal["female", "male"]
_WORDS: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_WOMEN = "mrs ms miss sra srta señora doña frau mme"
_MEN = "mr sr señor don herr"
_EITHER = "dr dra prof md phd rn np pa jr ii iii med"
TITLES: Final[Mapping[str, Gender | None]] = {
    **dict.fromkeys(_WOMEN.split(), "female"),
    **dict.fromkeys(_MEN.split(), "male"),
    **dict.fromkeys(_EITHER.split(), None),
}
_PARTS = "de del la las los y e van von der den zu di da do dos du le al el bin ibn"
_PARTICLES: Final = frozenset(_PARTS.split())
_ROLES: Final = ("female", "male", "neutral", "surname")


@dataclass(frozen=True)
class NameSurrogates:
    """Surrogates of the names of one patient's documents.

    A word has one surrogate wherever it stands, whatever its case; of words of the same
    list two may have the same one. No surrogate is a word of the patient's names.

    Attributes:
        choice: Of the patient.
        lists: What is drawn from.
        words: Every word of the names that the documents have, without case.
        roles: Of each word: the list that its surrogate is of.
    """

    choice: KeyedChoice
    lists: Lists
    words: frozenset[str]
    roles: Mapping[str, str]

    @classmethod
    def of(
        cls,
        choice: KeyedChoice,
        lists: Lists,
        names: Iterable[str],
        gender: Gender | None = None,
    ) -> "NameSurrogates":
        """Return those for the names of a patient's documents, all of them.

        Args:
            choice: Of the patient.
            lists: What is drawn from.
            names: What all spans of names say.
            gender: Of given names that no list has, if it is known.
        """
        written = list(names)
        given = _given_names(written, lists, gender)
        words = frozenset(
            word for name in written for word in _said(name) if _is_replaced(word)
        )
        roles = {word: given.get(word, "surname") for word in words}
        return cls(choice, lists, words, roles)

    def written(self, name: str) -> str | None:
        """Return a name's surrogate in the same form; None: there is none."""
        found = [word[0] for word in _WORDS.finditer(name)]
        if not any(_is_replaced(word.casefold()) for word in found):
            return None  # a number, or a title alone
        told = [self._word(word) for word in found]
        if None in told:
            return None
        new = iter(told)
        written = _WORDS.sub(lambda _: str(next(new)), name)
        return re.sub(r"[0-9]", "", written)

    def _word(self, word: str) -> str | None:
        folded = word.casefold()
        if not _is_replaced(folded):
            return word
        new = self._drawn.get(folded) or self._draw(folded)
        return None if new is None else _like(word, new)

    @cached_property
    def _drawn(self) -> dict[str, str | None]:
        return {word: self._draw(word) for word in sorted(self.words)}

    def _draw(self, word: str) -> str | None:
        whole = self._meant(word) if len(word) == 1 else word
        names = getattr(self.lists, _list_of(self.roles.get(whole, "surname")))
        # A name whose initial stands alone somewhere is drawn as that initial is.
        kept_apart = whole[0] if whole[0] in self.words else None
        for new in self.choice.among("name", whole, names):
            told = new.casefold()
            if told not in self.words and told != whole and told[0] != kept_apart:
                return str(new)
        return None

    def _meant(self, initial: str) -> str:
        """Return the given name that an initial stands for, if there is one."""
        words = (word for word in self.words if len(word) > 1)
        given = [word for word in words if self.roles[word] != "surname"]
        return min((w for w in given if w[0] == initial), default=initial)


def _like(old: str, new: str) -> str:
    """Return a name in the case of another one, or its initial for an initial."""
    if len(old) == 1:
        return new[0].upper() if old.isupper() else new[0].lower()
    if old.isupper():
        return new.upper()
    return new.lower() if old.islower() else new


def _given_names(
    names: Iterable[str], lists: Lists, gender: Gender | None
) -> dict[str, str]:
    """Return the words that are given names, and of which list they are drawn."""
    known = {name.casefold(): role for role in _ROLES for name in _of(lists, role)}
    told: dict[str, str] = {}
    for name in names:
        said = [word for word in _said(name) if _is_replaced(word)]
        titles = {TITLES[word] for word in _said(name) if word in TITLES} - {None}
        of_title = titles.pop() if len(titles) == 1 else gender
        is_turned = "," in name and len(said) > 1
        first = said[1:] if is_turned else said[:1] if len(said) > 1 else []
        for word in said:
            if known.get(word) in {"female", "male"}:
                told[word] = known[word]
            elif word in first and word not in told:
                told[word] = of_title or "neutral"
    return told


def _of(lists: Lists, role: str) -> tuple[str, ...]:
    return tuple(getattr(lists, _list_of(role)))


def _list_of(role: str) -> str:
    return "surnames" if role == "surname" else role


def _said(name: str) -> list[str]:
    return [word[0].casefold() for word in _WORDS.finditer(name)]


def _is_replaced(word: str) -> bool:
    return word not in TITLES and word not in _PARTICLES
