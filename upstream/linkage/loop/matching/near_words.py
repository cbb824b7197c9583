"""Words with one letter wrong: another one, missing, added, or two exchanged."""

from collections.abc import Iterable

_LEAST, _MOST = 5, 30  # letters of a known word
_FEWEST = _LEAST - 1


class NearWords:
    """Known words of five letters and more, found with one letter wrong.

    A word is looked up by what is left of it without one letter, as are the known
    ones: a lookup takes as many steps as the word has letters, however many are known.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known: dict[str, set[str]] = {}
        for word in known:
            if _LEAST <= len(word) <= _MOST and word.isalpha():
                for left in _without_one(word):
                    self._known.setdefault(left, set()).add(word)

    def nearest(self, word: str) -> str | None:
        """Return a known word that differs by one letter; None: there is none.

        >>> NearWords(["kowalski"]).nearest("kowlaski")
        'kowalski'
        """
        if not self._known or not _FEWEST <= len(word) <= _MOST + 1:
            return None
        found = {
            known
            for left in _without_one(word)
            for known in self._known.get(left, ())
            if differ_by_one(word, known)
        }
        return min(found, default=None)


def _without_one(word: str) -> set[str]:
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def differ_by_one(one: str, other: str) -> bool:
    """Whether one letter is wrong, missing or added, or two neighbours are exchanged.

    >>> differ_by_one("smith", "smiht"), differ_by_one("smith", "smith")
    (True, False)
    """
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    at = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    rest, left = one[at:], other[at:]
    return (
        rest[1:] == left[1:]
        or rest[1:] == left
        or rest == left[1:]
        or (rest[1::-1] == left[:2] and rest[2:] == left[2:])
    )
