"""Whether values that a public part shares with a private column identify its rows.

Two kinds of values are shared by accident. Running numbers from 1 stand in most files.
Codes of a catalogue (drugs, wards, diagnoses) are in use by several units: the greater
the share of a catalogue that is in use, the more units share a code. Were the uses
spread evenly, so that fewest meet, a column of ``n`` uses that has a share ``s`` of a
catalogue would have about ``n * s`` uses whose code another unit has too. Encounters
and specimens are of one unit each, however many of them are listed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from upstream.id_forms.coincidence import Shape, is_beyond_accident

_LEAST_TIMES = 4
"""How many times fewer uses are shared than a catalogue's would be."""

_ALLOWED = 5
"""Shared uses that are added: of a short column nothing can be told."""

_LEAST_OF_NAMESAKES = 0.5
LEAST_TOGETHER = 0.5
"""Of what parts hold that are counted together."""

_DENSE = 0.5

CODE, SHORT = 0, -1
"""Lengths of values that are no long numbers."""


@dataclass(frozen=True, slots=True)
class Uses:
    """How the units use the values of a private column.

    Attributes:
        all_uses: Pairs of unit and value.
        shared: Those whose value another unit has too.
        numbers: How many numbers there are, by their digits.
        greatest: The greatest of them.
    """

    all_uses: int
    shared: int
    numbers: Mapping[int, int] = field(default_factory=dict)
    greatest: Mapping[int, int] = field(default_factory=dict)

    def are_running(self, digits: int) -> bool:
        """Whether numbers of so many digits are among running ones.

        Most numbers from 1 to the greatest of so many digits, or of some more, are
        there. A column without numbers has no running ones, and a single number of many
        digits more makes running ones no others.

        >>> Uses(9, 0, {1: 9, 25: 1}, {1: 9, 25: 10**24}).are_running(1)
        True
        >>> Uses(9, 0).are_running(25)
        False
        """
        return any(
            reach >= digits and self._up_to(reach) >= _DENSE * greatest
            for reach, greatest in self.greatest.items()
        )

    def _up_to(self, digits: int) -> int:
        return sum(count for length, count in self.numbers.items() if length <= digits)

    def is_catalogue(self, cells: int, found: int) -> bool:
        """Whether the values may be codes of a catalogue, as far as can be told.

        >>> Uses(600, 0).is_catalogue(600, 600)
        False
        >>> Uses(600, 40).is_catalogue(9000, 580)
        True
        """
        return Shared(cells, found, self.all_uses, self.shared).is_catalogue


@dataclass(frozen=True, slots=True)
class Group:
    """Values of one kind in a public part.

    Attributes:
        within: Whether they stand among other characters.
        length: The digits of long numbers; ``CODE``; ``SHORT``: few digits.
        cells: How many there are.
        found: How many of them the private column has.
    """

    within: bool
    length: int
    cells: int
    found: int

    def __add__(self, other: "Group") -> "Group":
        """Return the values of one kind in two parts."""
        cells, found = self.cells + other.cells, self.found + other.found
        return replace(self, cells=cells, found=found)

    def is_accident(self, uses: Uses) -> bool:
        """Whether the values may be found by chance."""
        if self.length == CODE:
            return False
        if self.length == SHORT or uses.are_running(self.length):
            return True
        shape = Shape(self.length, alone=True, filled=False)
        probability = shape.probability(uses.numbers.get(self.length, 0))
        return not is_beyond_accident(self.found, self.cells, probability)


@dataclass(frozen=True, slots=True)
class Spread:
    """How the decimals of a private column lie that have as many digits.

    Attributes:
        values: How many there are, each once, but for the outer tenth.
        steps: How many numbers of so many digits lie between them.
    """

    values: int
    steps: int

    @property
    def probability(self) -> float:
        """How likely a number of so many digits is one of them; a tenth end in 0."""
        return min(1.0, self.values / max(1.0, 0.9 * self.steps))


@dataclass(frozen=True, slots=True)
class Shared:
    """Values, or rows, that a public part and private rows have in common.

    Attributes:
        cells: How many the public part has, each once.
        found: How many of them the private rows have.
        uses: Pairs of a unit and one that is found.
        shared: Those whose value another unit has too.
    """

    cells: int
    found: int
    uses: int
    shared: int

    @property
    def is_catalogue(self) -> bool:
        """Whether as many are shared as of a catalogue, or of numbers by accident.

        Strangers who choose values by themselves, with whatever odds for each, meet at
        a value that is found at least as often as a public value is found.

        >>> Shared(600, 600, 600, 0).is_catalogue, Shared(60, 9, 9, 0).is_catalogue
        (False, True)
        """
        least = _LEAST_TIMES * (self.shared + _ALLOWED)
        return self.found * self.uses < least * self.cells

    def is_of_units(self, spread: Spread) -> bool:
        """Whether decimals are those of units, and no accident.

        Those that fill their range are anybody's, as running numbers are.
        """
        probability = spread.probability
        return (
            probability < _DENSE
            and not self.is_catalogue
            and is_beyond_accident(self.found, self.cells, probability)
        )


def identifying(groups: list[Group], uses: Uses, *, namesakes: bool) -> list[Group]:
    """Return the groups whose values identify rows of a private column.

    Args:
        groups: What a public part shares with it.
        uses: How the column's values are used.
        namesakes: Whether the part is called as the column is; then running numbers
            count too, if most of the part's values are the column's.
    """
    whole = [group for group in groups if not group.within]
    cells, found = _sums(whole)
    if namesakes and found >= _LEAST_OF_NAMESAKES * cells:
        return [] if uses.is_catalogue(cells, found) else whole
    chosen = [group for group in groups if not group.is_accident(uses)]
    return [g for g in chosen if not uses.is_catalogue(*_sums([g]))]


def _sums(groups: list[Group]) -> tuple[int, int]:
    return sum(g.cells for g in groups), sum(g.found for g in groups)
