"""Words that are alike but for one letter."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

LEAST_LETTERS = 6
"""Of a name of which one letter may be another."""
MOST_LETTERS = 60
"""Longer ones are no names; each takes its length squared."""


class Slips:
    """Finds names that are written with one slip."""

    def __init__(self, names: Iterable[str]) -> None:
        """Take names; those that are too short or too long are not looked for."""
        self._near = _deletions(
            name for name in names if LEAST_LETTERS <= len(name) <= MOST_LETTERS
        )
        self._known: dict[str, bool] = {}

    def has(self, word: str) -> bool:
        """Whether a word is one of the names but for one letter."""
        if not LEAST_LETTERS - 1 <= len(word) <= MOST_LETTERS + 1:
            return False
        if word not in self._known:
            near = {word, *_without_one(word)}
            names = {name for one in near for name in self._near.get(one, ())}
            self._known[word] = any(within_one_slip(name, word) for name in names)
        return self._known[word]


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
