"""l-diversity: what is sensitive of a class is not one value, nor nearly so.

Where patients have several rows, a class may have many values and one that all its
patients have: five who died, one of whom has another row. So there it is asked of rows
and of patients, each of whom counts once for each of his values in the class. Who has
one row each is counted the same either way.

Of rows all three are monotone. Of patients none is, and nothing can be that forbids
such a value: of two patients p and q let one class have the rows (p, a), (q, b), and
another (p, b), (q, a). Neither has a value of both; as one class it has two. What is
asked of rows is searched by, and every class is counted for the rest.

Source: Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam 2006 (definitions 4.1,
4.2 and the distinct form of 3.2; theorems 4.1, 4.2); of patients: ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from upstream.anonymization.arrays import Flags, Floats, Ints
from upstream.anonymization.columns.classes import Classes
from upstream.anonymization.principles.cells import (
    Cells,
    PatientValues,
    are_lacked,
    cells_of,
    patient_cells_of,
)
from upstream.anonymization.principles.principle import Sensitive, floors_of

_ROUNDING = 1e-9  # of an entropy in nats: l equally frequent values are l-diverse


@dataclass(frozen=True, slots=True)
class DistinctDiversity:
    """Every class has at least l distinct sensitive values.

    Of patients: at least l - 1 of a class lack each value, so that all have none. Of
    who has one row each that follows from l values.

    Attributes:
        column: The sensitive column.
        l: Values, at least 1.
        held: Which patients have which values; None: each row is another's.
    """

    column: Sensitive
    l: int  # noqa: E741 - the literature's name
    held: PatientValues | None = None

    def __post_init__(self) -> None:
        if self.l < 1:
            message = f"l is {self.l}: it must be 1 or more"
            raise ValueError(message)

    @property
    def is_monotone(self) -> bool:
        """Whether rows alone are counted: values only join."""
        return self.held is None

    @property
    def monotone(self) -> "DistinctDiversity":
        """Return what is asked of rows."""
        return replace(self, held=None)

    @property
    def is_absorbing(self) -> bool:
        """Whether rows alone are counted: values only join."""
        return self.held is None

    @property
    def least_size(self) -> int:
        """Return l."""
        return self.l

    @property
    def sensitive(self) -> Sequence[Sensitive]:
        """Return its column, and the patients'."""
        return _columns(self.column, self.held)

    def holds(self, classes: Classes) -> Flags:
        """Return by class whether it has l values, and patients without each."""
        cells = cells_of(classes, self.column)
        holds: Flags = np.bincount(cells.classes, minlength=classes.count) >= self.l
        if self.held is not None:
            holds &= are_lacked(classes, self.held, self.l - 1)
        return holds

    def __str__(self) -> str:
        return f"distinct {self.l}-diversity of {self.column.name}"


@dataclass(frozen=True, slots=True)
class EntropyDiversity:
    """The entropy of every class's sensitive values is at least log(l).

    Of patients: so is that of their values, and at least l - 1 lack each value.

    Attributes:
        column: The sensitive column.
        l: At least 1; need not be whole.
        held: Which patients have which values; None: each row is another's.
    """

    column: Sensitive
    l: float  # noqa: E741 - the literature's name
    held: PatientValues | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.l < np.inf:
            message = f"l is {self.l}: it must be 1 or more"
            raise ValueError(message)

    @property
    def is_monotone(self) -> bool:
        """Whether rows alone are counted: entropy is concave."""
        return self.held is None

    @property
    def monotone(self) -> "EntropyDiversity":
        """Return what is asked of rows."""
        return replace(self, held=None)

    @property
    def is_absorbing(self) -> bool:
        """False: a class all of one value makes the values less even."""
        return False

    @property
    def least_size(self) -> int:
        """Return l, rounded up: m rows have an entropy of log(m) at most."""
        return int(np.ceil(self.l - _ROUNDING))

    @property
    def sensitive(self) -> Sequence[Sensitive]:
        """Return its column, and the patients'."""
        return _columns(self.column, self.held)

    def holds(self, classes: Classes) -> Flags:
        """Return by class whether its entropy is log(l), but for rounding of 1e-9."""
        least = np.log(self.l) - _ROUNDING
        holds: Flags = _entropies(cells_of(classes, self.column)) >= least
        if self.held is not None:
            own = patient_cells_of(classes, self.held)
            holds &= _entropies(own.cells) >= least
            holds &= own.people - own.most() >= self.least_size - 1
        return holds

    def __str__(self) -> str:
        return f"entropy {self.l:g}-diversity of {self.column.name}"


@dataclass(frozen=True, slots=True)
class RecursiveDiversity:
    """Recursive (c, l)-diversity: the commonest sensitive value is not too common.

    With the counts of a class in falling order, r1 < c (rl + ... + rm). Of patients: so
    it is of how many have each value, and r1 < c times those who lack the commonest.

    Attributes:
        column: The sensitive column.
        c: Above 0; exact.
        l: Values, at least 1.
        held: Which patients have which values; None: each row is another's.
    """

    column: Sensitive
    c: Fraction
    l: int  # noqa: E741 - the literature's name
    held: PatientValues | None = None

    def __post_init__(self) -> None:
        if self.l < 1 or self.c <= 0:
            message = f"c is {self.c}, l is {self.l}: c must be above 0, l 1 or more"
            raise ValueError(message)

    @property
    def is_monotone(self) -> bool:
        """Whether rows alone are counted: what is added up stays less."""
        return self.held is None

    @property
    def monotone(self) -> "RecursiveDiversity":
        """Return what is asked of rows."""
        return replace(self, held=None)

    @property
    def is_absorbing(self) -> bool:
        """False: a class all of one value may make it too common."""
        return False

    @property
    def least_size(self) -> int:
        """Return l."""
        return self.l

    @property
    def sensitive(self) -> Sequence[Sensitive]:
        """Return its column, and the patients'."""
        return _columns(self.column, self.held)

    def holds(self, classes: Classes) -> Flags:
        """Return by class whether the inequality holds, exactly."""
        commonest, others = self._sums(cells_of(classes, self.column))
        holds = self._is_rarer(commonest, others)
        if self.held is not None:
            own = patient_cells_of(classes, self.held)
            commonest, others = self._sums(own.cells)
            lacking = own.people - commonest
            holds &= self._is_rarer(commonest, np.minimum(others, lacking))
        return holds

    def _sums(self, cells: Cells) -> tuple[Ints, Ints]:
        """Return by class r1, and rl + ... + rm."""
        falling = cells.counts[np.lexsort((-cells.counts, cells.classes))]
        ranks = np.arange(len(falling)) - cells.starts[cells.classes]
        tails = np.where(ranks >= self.l - 1, falling, 0)
        return falling[cells.starts], np.add.reduceat(tails, cells.starts)

    def _is_rarer(self, commonest: Ints, others: Ints) -> Flags:
        num, den = self.c.as_integer_ratio()
        most = -floors_of(-num, den, others) - 1  # the next whole number below c * tail
        return np.asarray(commonest <= most)

    def __str__(self) -> str:
        return f"recursive ({self.c}, {self.l})-diversity of {self.column.name}"


def _entropies(cells: Cells) -> Floats:
    """Return by class the entropy of its counts, in nats."""
    sizes = np.add.reduceat(cells.counts, cells.starts)
    shares = cells.counts / sizes[cells.classes]
    found: Floats = np.add.reduceat(-shares * np.log(shares), cells.starts)
    return found


def _columns(column: Sensitive, held: PatientValues | None) -> Sequence[Sensitive]:
    """Return the columns that tell classes' entries apart."""
    return (column,) if held is None else (column, held.patients)
