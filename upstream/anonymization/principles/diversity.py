"""l-diversity: what is sensitive of a class is not one value, nor nearly so.

Source: Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam 2006 (definitions 4.1,
4.2 and the distinct form of 3.2); all three are monotone (their theorems 4.1, 4.2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from upstream.anonymization.arrays import Flags
from upstream.anonymization.columns.classes import Classes
from upstream.anonymization.principles.cells import cells_of
from upstream.anonymization.principles.principle import Sensitive, floors_of

_ROUNDING = 1e-9  # of an entropy in nats: l equally frequent values are l-diverse


@dataclass(frozen=True, slots=True)
class DistinctDiversity:
    """Every class has at least l distinct sensitive values.

    Attributes:
        column: The sensitive column.
        l: Values, at least 1.
    """

    column: Sensitive
    l: int  # noqa: E741 - the literature's name

    def __post_init__(self) -> None:
        if self.l < 1:
            message = f"l is {self.l}: it must be 1 or more"
            raise ValueError(message)

    @property
    def is_monotone(self) -> bool:
        """True: values only join."""
        return True

    @property
    def is_absorbing(self) -> bool:
        """True: values only join."""
        return True

    @property
    def least_size(self) -> int:
        """Return l."""
        return self.l

    @property
    def sensitive(self) -> Sequence[Sensitive]:
        """Return its column."""
        return (self.column,)

    def holds(self, classes: Classes) -> Flags:
        """Return by class whether it has l values."""
        cells = cells_of(classes, self.column)
        return np.bincount(cells.classes, minlength=classes.count) >= self.l

    def __str__(self) -> str:
        return f"distinct {self.l}-diversity of {self.column.name}"


@dataclass(frozen=True, slots=True)
class EntropyDiversity:
    """The entropy of every class's sensitive values is at least log(l).

    Attributes:
        column: The sensitive column.
        l: At least 1; need not be whole.
    """

    column: Sensitive
    l: float  # noqa: E741 - the literature's name

    def __post_init__(self) -> None:
        if not 1 <= self.l < np.inf:
            message = f"l is {self.l}: it must be 1 or more"
            raise ValueError(message)

    @property
    def is_monotone(self) -> bool:
        """True: entropy is concave."""
        return True

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
        """Return its column."""
        return (self.column,)

    def holds(self, classes: Classes) -> Flags:
        """Return by class whether its entropy is log(l), but for rounding of 1e-9."""
        cells = cells_of(classes, self.column)
        shares = cells.counts / classes.sizes()[cells.classes]
        entropies = np.add.reduceat(-shares * np.log(shares), cells.starts)
        return np.asarray(entropies >= np.log(self.l) - _ROUNDING)

    def __str__(self) -> str:
        return f"entropy {self.l:g}-diversity of {self.column.name}"


@dataclass(frozen=True, slots=True)
class RecursiveDiversity:
    """Recursive (c, l)-diversity: the commonest sensitive value is not too common.

    With the counts of a class in falling order, r1 < c (rl + ... + rm).

    Attributes:
        column: The sensitive column.
        c: Above 0; exact.
        l: Values, at least 1.
    """

    column: Sensitive
    c: Fraction
    l: int  # noqa: E741 - the literature's name

    def __post_init__(self) -> None:
        if self.l < 1 or self.c <= 0:
            message = f"c is {self.c}, l is {self.l}: c must be above 0, l 1 or more"
            raise ValueError(message)

    @property
    def is_monotone(self) -> bool:
        """True."""
        return True

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
        """Return its column."""
        return (self.column,)

    def holds(self, classes: Classes) -> Flags:
        """Return by class whether the inequality holds, exactly."""
        cells = cells_of(classes, self.column)
        falling = cells.counts[np.lexsort((-cells.counts, cells.classes))]
        ranks = np.arange(len(falling)) - cells.starts[cells.classes]
        tails = np.add.reduceat(np.where(ranks >= self.l - 1, falling, 0), cells.starts)
        num, den = self.c.as_integer_ratio()
        most = -floors_of(-num, den, tails) - 1  # the next whole number below c * tail
        return np.asarray(falling[cells.starts] <= most)

    def __str__(self) -> str:
        return f"recursive ({self.c}, {self.l})-diversity of {self.column.name}"
