"""Letters as bytes: what a reader of UTF-8 tells apart on its way through a letter.

A pattern's sets divide the letters into kinds. The bytes of a letter lead through a
tree whose leaves are the kinds; branches that are alike are one.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from query_lang.syntax.patterns import Ranges

_NEVER: Final = -1
_CONTINUING: Final = 6  # bits of a letter in each byte after its first
_LEADS: Final = (
    (0, 0x80, 0, 0),
    (0xC2, 0xE0, 1, 0x80),
    (0xE0, 0xF0, 2, 0x800),
    (0xF0, 0xF5, 3, 0x10000),
)
"""First bytes, from and to; how many come after them; the first letter so written."""


@dataclass(frozen=True, slots=True)
class Letters:
    """The tree of all letters.

    Attributes:
        states: Its branches that differ, the root too.
        steps: Kinds of bytes that lead on, of all of these.
        byte_kinds: Kinds of bytes that are told apart anywhere.
    """

    states: int
    steps: int
    byte_kinds: int


def kinds_by_point(sets: Sequence[Ranges]) -> list[tuple[int, int]]:
    """Return where kinds of letters begin, and which sets hold them, as bits.

    >>> kinds_by_point([((98, 98),), ((97, 99),)])
    [(0, 0), (97, 2), (98, 3), (99, 2), (100, 0)]
    """
    changes = {0: 0}
    for place, ranges in enumerate(sets):
        for low, high in ranges:
            changes[low] = changes.get(low, 0) ^ (1 << place)
            changes[high + 1] = changes.get(high + 1, 0) ^ (1 << place)
    held, found = 0, []
    for point in sorted(changes):
        held ^= changes[point]
        found.append((point, held))
    return found


_Branch = int | tuple[int, int]
"""A kind of letter; or how many bytes follow, and the number of what they lead to."""

_Leads = tuple[tuple[int, _Branch], ...]
"""Bytes, of 64, from which on something else is led to, and what."""


@dataclass(slots=True)
class _Tree:
    """Branches by what they lead to; where all letters are of one kind, by that."""

    points: list[int]
    kinds: list[int]
    known: dict[_Leads, int] = field(default_factory=dict)
    cuts: set[tuple[bool, int]] = field(default_factory=set)

    def branch(self, low: int, left: int, least: int) -> _Branch:
        """Return what letters from ``low`` on lead to, with so many bytes to come.

        Letters below ``least`` are written in fewer bytes.
        """
        first = bisect_right(self.points, low) - 1
        size = 1 << (_CONTINUING * left)
        if low + size <= least:
            return _NEVER
        if not left:
            return self.kinds[first]
        if low >= least and bisect_right(self.points, low + size - 1) - 1 == first:
            below: _Branch = self.kinds[first]
            for depth in range(left):
                below = depth + 1, self._number(((0, below),))
            return below
        each = size >> _CONTINUING
        found = [self.branch(low + n * each, left - 1, least) for n in range(64)]
        changed = [n for n in range(64) if not n or found[n] != found[n - 1]]
        self.cuts.update((True, n) for n in changed)
        return left, self._number(tuple((n, found[n]) for n in changed))

    def _number(self, leads_to: _Leads) -> int:
        return self.known.setdefault(leads_to, len(self.known))


@lru_cache(1_024)
def letters_of(sets: tuple[Ranges, ...]) -> Letters:
    """Return the tree of letters that some sets tell apart.

    >>> letters_of((((97, 122),),))
    Letters(states=6, steps=15, byte_kinds=13)
    """
    begins = dict(kinds_by_point(sets))
    points = sorted(begins)
    tree = _Tree(points, [begins[point] for point in points])
    top = list(_first_bytes(tree))
    changed = [n for n in range(len(top)) if not n or top[n][1] != top[n - 1][1]]
    tree.cuts.update((False, top[n][0]) for n in changed)
    steps = len(changed) + sum(map(len, tree.known))
    return Letters(1 + len(tree.known), steps, len(tree.cuts) + 2)


def _first_bytes(tree: _Tree) -> Iterator[tuple[int, _Branch]]:
    for start, end, after, least in _LEADS:
        for byte in range(start, end):
            held = byte & (0xFF >> (after + 2 if after else 0))
            yield byte, tree.branch(held << (_CONTINUING * after), after, least)
