"""How many sets of places a reader of a pattern can be in, so that time is linear.

A pattern is read by the set of the places that may have matched the last character. An
engine that keeps one state for each such set takes the same time for each character, as
long as they are few; ``.*a.{30}`` has more than 2**30 of them.
Source: V. M. Glushkov, The abstract theory of automata, 1961.
"""

from dataclasses import dataclass, field
from typing import Final

from query_lang.syntax.patterns import Characters, Choice, Pattern, Ranges, Repeat, Row

MOST_STATES: Final = 250


@dataclass(frozen=True, slots=True)
class _Part:
    """What a piece may begin and end with, as bits, and whether it may be empty."""

    first: int
    last: int
    is_empty: bool


@dataclass(slots=True)
class _Places:
    """The sets of characters of a pattern, and the places that may follow each."""

    sets: list[Ranges] = field(default_factory=list)
    follow: list[int] = field(default_factory=list)

    def add(self, pattern: Pattern) -> _Part:
        match pattern:
            case Characters(ranges):
                place = 1 << len(self.sets)
                self.sets.append(ranges)
                self.follow.append(0)
                return _Part(place, place, is_empty=False)
            case Row(items):
                found = _Part(0, 0, is_empty=True)
                for item in items:
                    found = self._joined(found, self.add(item))
                return found
            case Choice(options):
                parts = [self.add(option) for option in options]
                return _either(parts)
            case Repeat():
                return self._repeated(pattern)

    def _repeated(self, pattern: Repeat) -> _Part:
        found = _Part(0, 0, is_empty=True)
        for _ in range(pattern.least):
            found = self._joined(found, self.add(pattern.item))
        if pattern.most is None:
            again = self.add(pattern.item)
            self._tie(again.last, again.first)
            more = _Part(again.first, again.last, is_empty=True)
            return self._joined(found, more)
        rest = _Part(0, 0, is_empty=True)
        for _ in range(pattern.most - pattern.least):  # x{0,3} is (x(x(x)?)?)?
            one = self.add(pattern.item)
            rest = self._joined(rest, _Part(one.first, one.last, is_empty=True))
        return self._joined(found, rest)

    def _joined(self, one: _Part, other: _Part) -> _Part:
        self._tie(one.last, other.first)
        return _Part(
            one.first | (other.first if one.is_empty else 0),
            other.last | (one.last if other.is_empty else 0),
            one.is_empty and other.is_empty,
        )

    def _tie(self, before: int, after: int) -> None:
        for place in _bits(before):
            self.follow[place] |= after


def _either(parts: list[_Part]) -> _Part:
    first = last = 0
    for part in parts:
        first, last = first | part.first, last | part.last
    return _Part(first, last, any(part.is_empty for part in parts))


def _bits(number: int) -> list[int]:
    found = []
    while number:
        lowest = number & -number
        found.append(lowest.bit_length() - 1)
        number ^= lowest
    return found


def has_few_states(pattern: Pattern) -> bool:
    """Whether a reader of a pattern can be in at most ``MOST_STATES`` sets of places.

    >>> from query_lang.syntax.patterns import regular_pattern
    >>> [has_few_states(regular_pattern(text)) for text in ("E1[0-4]", "a.{30}")]
    [True, False]
    """
    places = _Places()
    start = places.add(pattern)
    kinds = _kinds(places.sets)
    seen: set[int] = set()
    coming = [start.first & kind for kind in kinds]
    while coming:
        state = coming.pop()
        if state in seen:
            continue
        seen.add(state)
        if len(seen) > MOST_STATES:
            return False
        after = 0
        for place in _bits(state):
            after |= places.follow[place]
        coming += [found for kind in kinds if (found := after & kind) not in seen]
    return True


def _kinds(sets: list[Ranges]) -> list[int]:
    """Return, for each kind of character that the sets tell apart, which hold it."""
    changes: dict[int, int] = {}
    for place, ranges in enumerate(sets):
        for low, high in ranges:
            changes[low] = changes.get(low, 0) ^ (1 << place)
            changes[high + 1] = changes.get(high + 1, 0) ^ (1 << place)
    held, found = 0, {0}
    for point in sorted(changes):
        held ^= changes[point]
        found.add(held)
    return sorted(found)
