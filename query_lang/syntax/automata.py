"""How many sets of places a reader of a pattern can be in, so that time is linear.

A pattern is read by the set of the places that may have matched the last character. An
engine that keeps one state for each such set takes the same time for each character, as
long as they are few; ``.*a.{30}`` has more than 2**30 of them. It reads bytes, so that
it has states within letters too (``letters``), and it makes each state, and each step
from one to another, when a text first needs it: a hostile text needs another with each
byte.
Source: V. M. Glushkov, The abstract theory of automata, 1961.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from query_lang.syntax.letters import kinds_by_point, letters_of
from query_lang.syntax.patterns import Characters, Choice, Pattern, Ranges, Repeat, Row

MOST_STATES: Final = 250
MOST_BYTES: Final = 2**20
"""Of all states: RE2 forgets them all where they would pass a third of 8 MiB."""

MOST_LIVE: Final = 1_000
MOST_PROGRAM: Final = 5_000
_AROUND: Final = 4  # instructions of a place beside its bytes: choices, repetitions


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
        # RE2 reads x{0,3} as (x(x(x)?)?)?: each place leads to the next alone, so that
        # it can be in any of their subsets.
        rest = _Part(0, 0, is_empty=True)
        others = [self.add(pattern.item) for _ in range(pattern.most - pattern.least)]
        for one in reversed(others):
            whole = self._joined(one, rest)
            rest = _Part(whole.first, whole.last, is_empty=True)
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


@dataclass(frozen=True, slots=True)
class Reading:
    """What an engine keeps and makes while it reads texts by a pattern, at most.

    Attributes:
        states: Sets of places; within a character one for each that bytes lead to.
        steps: From a state by a byte: each is made when it is first taken.
        live: Most instructions of the program that may come next in any of these.
        byte_kinds: Kinds of bytes that it tells apart.
        program: Kinds of bytes that lead on, of each place by itself: what is written
            before anything is read.
    """

    states: int
    steps: int
    live: int
    byte_kinds: int
    program: int

    @property
    def size(self) -> int:
        """Bytes of all states: a reference a kind of byte, and what comes next."""
        return self.states * (8 * self.byte_kinds + 4 * self.live + 64)


@lru_cache(256)
def reading_of(pattern: Pattern) -> Reading | None:
    """Return what reading by a pattern takes; None where sets of places are too many.

    >>> from query_lang.syntax.patterns import regular_pattern
    >>> reading_of(regular_pattern("a.{30}")) is None
    True
    """
    places = _Places()
    start = places.add(pattern)
    found = _sets_read(places, start)
    if found is None:
        return None
    letters, many = letters_of(tuple(places.sets)), len(found)
    written = [_AROUND + letters_of((each,)).steps for each in places.sets]
    live = max(sum(written[place] for place in _bits(each)) for each in found)
    return Reading(
        many * letters.states,
        many * letters.steps,
        live,
        letters.byte_kinds,
        sum(written),
    )


def has_few_states(pattern: Pattern) -> bool:
    """Whether a reader of a pattern can be in few states, which all are kept.

    >>> from query_lang.syntax.patterns import regular_pattern
    >>> [has_few_states(regular_pattern(text)) for text in ("E1[0-4]", "a.{30}")]
    [True, False]
    """
    reading = reading_of(pattern)
    return (
        reading is not None
        and reading.program <= MOST_PROGRAM
        and reading.live <= MOST_LIVE
        and reading.size <= MOST_BYTES
    )


def _sets_read(places: _Places, start: _Part) -> list[int] | None:
    """Return what may come next, for each set of places that a reader can be in.

    None: they are too many. Before any letter it is what the pattern begins with.
    """
    kinds = _kinds(places.sets)
    seen: set[int] = set()
    found = [start.first]
    coming = [start.first & kind for kind in kinds]
    while coming:
        state = coming.pop()
        if state in seen:
            continue
        seen.add(state)
        if len(seen) > MOST_STATES:
            return None
        after = 0
        for place in _bits(state):
            after |= places.follow[place]
        found.append(after)
        coming += [held for kind in kinds if (held := after & kind) not in seen]
    return found


def _kinds(sets: Sequence[Ranges]) -> list[int]:
    """Return, for each kind of character that the sets tell apart, which hold it."""
    return sorted({held for _, held in kinds_by_point(sets)})
