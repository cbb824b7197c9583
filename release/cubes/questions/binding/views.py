"""Wider views of dimensions that are levels, months or bands.

A dimension that holds blocks of diagnoses says each one's chapter, one that holds
months says the year: the language's own function is asked of one member of each value,
since all members of it have the same answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from privacy.schema import (
    ColumnType,
    Domain,
    Hierarchy,
    HierarchyDomain,
    RangeDomain,
    Scalar,
)
from query_lang import hierarchies
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    Facts,
    Function,
)

Own = Mapping[str, Hierarchy]
_MONTHS = 12


class View(Protocol):
    """What can be asked of a dimension beside its values."""

    @property
    def type(self) -> ColumnType:
        """The type of the members."""
        ...

    @property
    def words(self) -> str:
        """What the dimension holds, for refusals."""
        ...

    def members(
        self, values: Sequence[Scalar | None], own: Own
    ) -> tuple[Scalar | None, ...]:
        """Return one member of each value; None where it has none."""
        ...

    def domain(self, members: Sequence[Scalar | None]) -> Domain:
        """Return the public domain of the members."""
        ...

    def allows(
        self, function: Function, parameters: Sequence[Scalar], own: Own
    ) -> bool:
        """Whether a function has one value for all members of each value."""
        ...


@dataclass(frozen=True, slots=True)
class LevelView:
    """A dimension that is a level of a hierarchy."""

    hierarchy: str
    level: str

    @property
    def type(self) -> ColumnType:
        """Codes are text."""
        return ColumnType.TEXT

    @property
    def words(self) -> str:
        """Name the level."""
        return f"the level {self.level}"

    def members(
        self, values: Sequence[Scalar | None], own: Own
    ) -> tuple[Scalar | None, ...]:
        """Return the first listed code of each value."""
        domain = HierarchyDomain(self.hierarchy)
        found = hierarchies.code_of_level(domain, self.level, own)
        return tuple(found.get(v) if isinstance(v, str) else None for v in values)

    def domain(self, members: Sequence[Scalar | None]) -> Domain:
        """Return the hierarchy's codes."""
        del members
        return HierarchyDomain(self.hierarchy)

    def allows(
        self, function: Function, parameters: Sequence[Scalar], own: Own
    ) -> bool:
        """Whether the level that is asked for follows from this one."""
        domain = HierarchyDomain(self.hierarchy)
        wanted = str(parameters[-1]) if parameters else ""
        return (
            function is Function.LEVEL
            and wanted in hierarchies.levels_of(domain, own)
            and hierarchies.level_follows(domain, wanted, self.level, own)
        )


@dataclass(frozen=True, slots=True)
class MonthView:
    """A dimension of calendar months in a row, from that of ``first``."""

    first: date

    @property
    def type(self) -> ColumnType:
        """Members are days."""
        return ColumnType.DATE

    @property
    def words(self) -> str:
        """Name what is held."""
        return "calendar months"

    def members(
        self, values: Sequence[Scalar | None], own: Own
    ) -> tuple[Scalar | None, ...]:
        """Return the first day of each month."""
        del own
        start = self.first.year * _MONTHS + self.first.month - 1
        return tuple(
            None if value is None else date(number // _MONTHS, number % _MONTHS + 1, 1)
            for number, value in enumerate(values, start)
        )

    def domain(self, members: Sequence[Scalar | None]) -> Domain:
        """Return the first and the last of the days."""
        days = [day for day in members if day is not None]
        return RangeDomain(days[0], days[-1])

    def allows(
        self, function: Function, parameters: Sequence[Scalar], own: Own
    ) -> bool:
        """Whether all days of a month have the part, or are there at all."""
        del own
        part = parameters[0] if parameters else None
        if function is Function.EXTRACT:
            return part in {"year", "quarter", "month"}
        return function is Function.IS_NULL


@dataclass(frozen=True, slots=True)
class BandView:
    """A dimension of age bands in a row."""

    width: int

    @property
    def type(self) -> ColumnType:
        """Members are ages."""
        return ColumnType.INTEGER

    @property
    def words(self) -> str:
        """Name the width."""
        return f"bands of {self.width}"

    def members(
        self, values: Sequence[Scalar | None], own: Own
    ) -> tuple[Scalar | None, ...]:
        """Return the least age of each band."""
        del own
        return tuple(
            int(v.partition("-")[0]) if isinstance(v, str) else None for v in values
        )

    def domain(self, members: Sequence[Scalar | None]) -> Domain:
        """Return the least and the greatest of the ages."""
        ages = [age for age in members if age is not None]
        return RangeDomain(ages[0], ages[-1])

    def allows(
        self, function: Function, parameters: Sequence[Scalar], own: Own
    ) -> bool:
        """Whether the bands that are asked for are made of whole ones of these."""
        del own
        match function, parameters:
            case Function.AGE_BAND, [int(width)]:
                return width % self.width == 0
            case Function.IS_NULL, _:
                return True
            case _:
                return False


def view_of(expression: Expression) -> View | None:
    """Return the view that a dimension's own expression gives, if any."""
    match expression:
        case Call(Function.LEVEL, _, _, (str(hierarchy), str(level))):
            return LevelView(hierarchy, level)
        case Call(
            Function.MONTHS_BETWEEN,
            (Constant(date() as first), _),
            Facts(domain=RangeDomain(minimum=0)),  # its values begin in that month
        ):
            return MonthView(first)
        case Call(Function.AGE_BAND, _, _, (int(width),)):
            return BandView(width)
        case _:
            return None
