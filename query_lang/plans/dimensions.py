"""A bound dimension of a release: its public values, in their order."""

from dataclasses import dataclass

from privacy.schema import ColumnType, Scalar


@dataclass(frozen=True, slots=True)
class CubeDimension:
    """One bound dimension.

    Attributes:
        name: As readers call it.
        type: Of the values that are shown.
        values: In declared order, ``other`` and then NULL last.
        stored: The same values as the engine returns them.
        ordered: Whether neighbours are near each other.
        constant: Whether all rows of one unit lie in one value.
        scale: Decimals of a decimal, else 0.
        expression: What it is in the language, for people and for matching queries.
    """

    name: str
    type: ColumnType
    values: tuple[Scalar | None, ...]
    stored: tuple[Scalar | None, ...]
    ordered: bool
    constant: bool
    scale: int
    expression: str
