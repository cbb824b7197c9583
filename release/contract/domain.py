"""What a cube ranges over: public dimensions, and how much one unit can touch."""

from dataclasses import dataclass
from math import prod

from privacy.schema import ColumnType, Scalar


@dataclass(frozen=True, slots=True)
class Dimension:
    """One public dimension: its values are declared, never learnt from rows.

    Attributes:
        name: As readers call it in SQL.
        type: Of its values.
        values: In declared order, ``other`` and then NULL last where there are any.
        ordered: Whether neighbours in ``values`` are near each other (numbers, days,
            bands, months), so that a partition may join them for their own sake.
        constant: Whether each unit's rows all lie in one value.
        scale: Decimals of its grid where it is decimal, else 0.
    """

    name: str
    type: ColumnType
    values: tuple[Scalar | None, ...]
    ordered: bool = False
    constant: bool = False
    scale: int = 0

    def __len__(self) -> int:
        """Return how many values it has, NULL counted."""
        return len(self.values)


@dataclass(frozen=True, slots=True)
class CubeDomain:
    """The cells of a cube, in C order: the first dimension varies slowest.

    Attributes:
        dimensions: At least one; each has at least one value.
        bound: D, how far one unit moves the vector of all cells in L1 (units: the most
            cells that it can touch; rows: the most rows that it has). Public.
        in_cell: The most that one unit adds to one cell: 1 where units are counted;
            None: D, as where rows are. Public.

    Neighbouring relation: add or remove all rows of one unit.
    """

    dimensions: tuple[Dimension, ...]
    bound: int
    in_cell: int | None = None

    @property
    def most_in_cell(self) -> int:
        """The most that one unit adds to one cell."""
        return self.bound if self.in_cell is None else min(self.in_cell, self.bound)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each dimension has."""
        return tuple(len(dimension) for dimension in self.dimensions)

    @property
    def size(self) -> int:
        """How many cells there are; may be far more than any array holds."""
        return prod(self.shape)
