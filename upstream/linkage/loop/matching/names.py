"""Names of a patient in a text: their parts, wherever each may be one."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from upstream.linkage.loop.matching.keys import Gaps, Keys
from upstream.linkage.loop.matching.near_words import NearWords
from upstream.linkage.loop.matching.vocabulary import PARTICLES, TITLES
from upstream.linkage.loop.matching.words import Words, folded, words_of

_SOLID, _SPACED = Gaps("-'\u2019\u2013", 0), Gaps("-'\u2019\u2013.", 3)
_LEAST_PART = 2  # letters of a part of a name that is looked for by itself
_SUFFIXES = frozenset(["jr", "sr", "ii", "iii", "iv", "phd", "md"])


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a name, as it stands in a text.

    Attributes:
        first: Its first token.
        behind: The token behind its last.
        key: Which known part it is, without case and accents.
        parts: Of how many parts it is itself; 0: one, in which a letter is wrong.
    """

    first: int
    behind: int
    key: str
    parts: int = 1

    @property
    def is_exact(self) -> bool:
        """Whether no letter is wrong."""
        return self.parts > 0


class KnownNames:
    """What a patient is known to be called.

    Attributes:
        labels: The span type of each part, by its letters.
        letters: The first letters of all parts.
    """

    def __init__(self, values: Mapping[str, Iterable[str]]) -> None:
        """Read names.

        Args:
            values: By span type: given names, surnames or whole names, as written.
        """
        self.labels: dict[str, str] = {}
        spaced: dict[str, int] = {}
        for label, names in values.items():
            for name in names:
                whole, parts = _parts(name)
                for key in filter(None, (whole, *parts)):
                    self.labels.setdefault(key, label)
                if whole:
                    spaced[whole] = len(set(parts))
        self.letters = {key[0] for key in self.labels}
        self._solid = Keys(self.labels, _SOLID)
        self._spaced = Keys(spaced, _SPACED)
        self._counts = spaced
        self._near = NearWords(self.labels)

    def pieces(self, words: Words) -> Iterator[Piece]:
        """Yield the parts of names in a text, from left to right; none over another."""
        at = 0
        while self.labels and at < len(words):
            piece = self._piece(words, at) if words.folded[at] else None
            if piece is not None:
                yield piece
            at = piece.behind if piece is not None else at + 1

    def _piece(self, words: Words, at: int) -> Piece | None:
        found = self._spaced.longest(words, at) or self._solid.longest(words, at)
        if found is not None:
            key, behind = found
            return Piece(at, behind, key, max(self._counts.get(key, 1), 1))
        near = self._near.nearest(words.folded[at])
        return None if near is None else Piece(at, at + 1, near, parts=0)


def _parts(name: str) -> tuple[str, list[str]]:
    """Return a name of one value as letters, and its parts.

    A value such as ``Lee, Mary`` is found as parts; ``De La Cruz`` as a whole, too.

    >>> _parts("De La Cruz")
    ('delacruz', ['cruz'])
    >>> _parts("O'Brien-Lee, Mary B.")[1]
    ['obrien', 'lee', 'mary']
    """
    words = words_of(name)
    parts: list[str] = []
    for at, said in enumerate(words.folded):
        is_behind = at > 0 and words.raw[at - 1] in "'\u2019" and not words.gap(at)
        if said and is_behind and parts and len(parts[-1]) == 1:
            parts[-1] += said
        elif said:
            parts.append(said)
    kept = [
        part
        for part in parts
        if len(part) >= _LEAST_PART
        and part.isalpha()
        and part not in PARTICLES | TITLES | _SUFFIXES
    ]
    whole = folded(name) if "," not in name else ""
    return (whole if len(whole) >= _LEAST_PART else ""), kept
