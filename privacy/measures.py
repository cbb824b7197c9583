"""What the losses of a population count: epsilon, or rho of zCDP."""

from dataclasses import dataclass
from typing import Literal

from privacy.losses import ZERO_LOSS, Loss

MeasureName = Literal["pure", "zcdp"]


@dataclass(frozen=True, slots=True)
class Measure:
    """The one measure of a population, fixed at its creation (PRIVACY 4).

    Losses of one measure add up; those of two never meet, since each population has
    limits and charges of its own.

    Attributes:
        name: ``pure`` counts epsilon of pure differential privacy, ``zcdp`` rho of
            zero-concentrated differential privacy (Bun and Steinke 2016).
        delta: At which rho is told as an epsilon; 0 where losses are pure. On the grid
            of losses, 1e-9. It is spent by nobody.

    Neighbouring relation: add or remove all rows of one unit.

    >>> PURE.word, zcdp(Loss.parse("0.000001")).word
    ('epsilon', 'rho')
    """

    name: MeasureName
    delta: Loss = ZERO_LOSS

    def __post_init__(self) -> None:
        """Refuse a delta of pure losses, and none or all of them for zCDP."""
        is_fitting = (self.delta == ZERO_LOSS) if self.is_pure else self._has_delta
        if not is_fitting:
            message = f"the delta of {self.name} cannot be {self.delta}"
            raise ValueError(message)

    @property
    def is_pure(self) -> bool:
        """Whether losses are epsilon and noise is discrete Laplace."""
        return self.name == "pure"

    @property
    def word(self) -> str:
        """What its losses are called, as people write it."""
        return "epsilon" if self.is_pure else "rho"

    @property
    def _has_delta(self) -> bool:
        return ZERO_LOSS < self.delta < Loss.parse("1")


PURE = Measure("pure")


def zcdp(delta: Loss) -> Measure:
    """Return the measure rho, told as an epsilon at ``delta``, between 0 and 1."""
    return Measure("zcdp", delta)
