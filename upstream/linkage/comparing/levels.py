"""What a comparison of one field is: levels from the best to none."""

from dataclasses import dataclass

from upstream.linkage.tables import name_sql

MISSING = 0
"""The code of a pair of which one value is missing; levels have codes from 1."""
DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Level:
    """How well two values agree.

    Attributes:
        name: In words, for clerks.
        condition: SQL of the names that ``Sides`` gives; the first that holds counts.
        similarity: From 0 to 1; None: that of the values.
        is_weighed: Whether it says anything that another field's level has not said.
    """

    name: str
    condition: str
    similarity: float | None = None
    is_weighed: bool = True


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the values of a field are compared.

    Attributes:
        field: The field.
        similarity: SQL of the two values: from 0 to 1, the same in either order.
        levels: From the best; the last one holds for whatever is left. The first is
            agreement on one value, which may be frequent or rare.
        near: Levels, from the first, at which the field agrees, if not by the letter.
        is_unique: Whether two patients share a value by mistake alone.
    """

    field: str
    similarity: str
    levels: tuple[Level, ...]
    near: int = 1
    is_unique: bool = False


@dataclass(frozen=True, slots=True)
class Sides:
    """The names that a field's two values, and their similarity, have in SQL."""

    field: str

    @property
    def left(self) -> str:
        """Return the value of the left record."""
        return name_sql(f"{self.field}:l")

    @property
    def right(self) -> str:
        """Return the value of the right record."""
        return name_sql(f"{self.field}:r")

    @property
    def similarity(self) -> str:
        """Return the similarity."""
        return name_sql(f"{self.field}:s")

    @property
    def longer(self) -> str:
        """Return how many characters the longer value has."""
        return f"greatest(length({self.left}), length({self.right}))"

    @property
    def shorter(self) -> str:
        """Return how many characters the shorter value has."""
        return f"least(length({self.left}), length({self.right}))"

    def is_at_least(self, similarity: float) -> str:
        """Return whether the values are as similar as that."""
        return f"{self.similarity} >= {similarity!r}::DOUBLE"

    def is_same(self) -> str:
        """Return whether the values are one."""
        return f"{self.left} = {self.right}"


def different() -> Level:
    """Return the last level of every comparison."""
    return Level(DIFFERENT, "true")
