"""Sets of operands' values as bits, so that they are compared as whole numbers are."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from query_lang.deriving.grids import Grid
from query_lang.deriving.regions import Part
from query_lang.normalising.value_sets import End, NumberSet, TextSet


@dataclass(frozen=True, slots=True)
class CodedGrid:
    """A grid with its parts as bits: of each axis one a value, and its base."""

    axes: tuple[tuple[int, ...], ...]
    base: Mapping[str, int]


class Codes:
    """Cuts each operand of some grids into the least pieces that tell parts apart.

    A part is the bits of the pieces in it; NULL is one of them.
    """

    def __init__(self, grids: Sequence[Grid]) -> None:
        parts: dict[str, dict[Part, None]] = {}
        for grid in grids:
            for name, part in grid.base.items():
                parts.setdefault(name, {})[part] = None
            for axis in grid.axes:
                own = parts.setdefault(axis.operand, {})
                own.update(dict.fromkeys(axis.parts))
        self._pieces = {name: _pieces_of(list(own)) for name, own in parts.items()}
        self._whole = {
            name: self._pieces[name].code(next(iter(own)).whole())
            for name, own in parts.items()
        }

    def names(self) -> Iterable[str]:
        """Return all operands."""
        return self._whole

    def whole(self, name: str) -> int:
        """Return all pieces of an operand."""
        return self._whole[name]

    def grid(self, grid: Grid) -> CodedGrid:
        """Return one of the grids with its parts as bits."""
        return CodedGrid(
            tuple(
                tuple(self._pieces[axis.operand].code(part) for part in axis.parts)
                for axis in grid.axes
            ),
            {name: self._pieces[name].code(part) for name, part in grid.base.items()},
        )

    def restricting(self, region: Iterable[tuple[str, int]]) -> dict[str, int]:
        """Return a region without the operands that may be anything in it."""
        return {name: part for name, part in region if part != self._whole[name]}


class _Numbers:
    """Pieces of the line: whole stretches between the ends of intervals."""

    def __init__(self, parts: Iterable[NumberSet]) -> None:
        starts: set[End] = set()
        for part in parts:
            for low, high in (*part.intervals, *part.universe):
                starts |= {low, high + 1}
        self._starts = sorted(starts)

    def code(self, part: Part) -> int:
        """Return the pieces of a part; the lowest bit is NULL."""
        found = int(part.null)
        if isinstance(part.values, NumberSet):
            for low, high in part.values.intervals:
                first = bisect_left(self._starts, low)
                last = bisect_right(self._starts, high)
                found |= ((1 << last) - (1 << first)) << 1
        return found


class _Texts:
    """A piece for each text that is named, and one for all others."""

    def __init__(self, parts: Iterable[TextSet]) -> None:
        named = sorted({text for part in parts for text in part.values})
        self._bits = {text: 4 << n for n, text in enumerate(named)}
        self._all = sum(self._bits.values())

    def code(self, part: Part) -> int:
        """Return the pieces of a part; the lowest bit is NULL, the next all others."""
        found = int(part.null)
        if isinstance(part.values, TextSet):
            named = sum(self._bits[text] for text in part.values.values)
            others = part.values.excluded
            found |= (self._all - named) | 2 if others else named
        return found


def _pieces_of(parts: Sequence[Part]) -> _Numbers | _Texts:
    everything = [*parts, parts[0].whole()]
    numbers = [p.values for p in everything if isinstance(p.values, NumberSet)]
    if numbers:
        return _Numbers(numbers)
    return _Texts(p.values for p in everything if isinstance(p.values, TextSet))


def any_of(parts: Iterable[int]) -> int:
    """Return the union of some parts."""
    found = 0
    for part in parts:
        found |= part
    return found
