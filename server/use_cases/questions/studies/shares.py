"""How a loss is best divided over a base table and its coarser ones: about.

Variances alone are looked at, and those in floating point: what is found here is where
the search for a price begins (``strategies``), and proves nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mechanisms.scales.noises import Noise
from privacy.events import VectorSensitivity
from privacy.losses import NANO, Loss
from server.use_cases.questions.studies.least_squares import FloatArray, Layout, gains

_REACH: Final = 2.0
"""Half-widths at 95 % in standard deviations: 1.96 of many draws, 2.12 of one."""

_FACTORS: Final = (4.0, 0.25, 1.5, 0.67)
_ROUNDS: Final = 3


@dataclass(slots=True)
class Steps:
    """Multiplications that a search took: what it costs, by public facts."""

    taken: float = 0.0


@dataclass(frozen=True, slots=True)
class Division:
    """How much each table of a measure is worth, in nano-units of loss.

    Attributes:
        nano: Of the base table, then of each coarser one.
    """

    nano: tuple[float, ...]

    @property
    def total(self) -> float:
        """Of all tables."""
        return sum(self.nano)


@dataclass(frozen=True, slots=True)
class Dividing:
    """One measure of a part, and what is wished for.

    Attributes:
        layout: Of its cells.
        noise: Of all its tables.
        sensitivities: Of the base table, then of each coarser one.
        targets: The half-width that each question may have, in steps.
    """

    layout: Layout
    noise: Noise
    sensitivities: Sequence[VectorSensitivity]
    targets: Sequence[float]

    def best(self, steps: Steps) -> Division:
        """Return about the cheapest division that keeps to all targets."""
        found = self._scaled([1.0] * len(self.sensitivities), steps)
        for _ in range(_ROUNDS if len(self.sensitivities) > 1 else 0):
            for table in range(len(self.sensitivities)):
                for factor in _FACTORS:
                    tried = list(found.nano)
                    tried[table] *= factor
                    other = self._scaled(tried, steps)
                    found = min(found, other, key=lambda one: one.total)
        return found

    def _scaled(self, nano: Sequence[float], steps: Steps) -> Division:
        """Return the division of the least loss in these proportions that suffices."""
        ratio = float(np.max(self._deviations(nano, steps) / self._allowed()))
        factor = ratio**2 if self.noise.has_l2 else ratio
        return Division(tuple(each * factor for each in nano))

    def _allowed(self) -> FloatArray:
        """Return the standard deviation that each number may have."""
        each = [
            np.full(len(rows), max(target, 0.4) / _REACH)
            for rows, target in zip(self.layout.wanted, self.targets, strict=True)
        ]
        return np.concatenate(each)

    def _deviations(self, nano: Sequence[float], steps: Steps) -> FloatArray:
        numbers, coarse = self.layout.numbers, self.layout.coarse
        own = self._variance(0, nano[0])
        shared = numbers @ coarse.T
        variances = [self._variance(1 + n, nano[1 + n]) for n in self.layout.tables]
        left = (shared @ gains(coarse, variances, own).T * numbers).sum(axis=1)
        steps.taken += coarse.shape[0] ** 3 + 3.0 * coarse.size * len(numbers)
        steps.taken += numbers.size
        found = own * (numbers**2).sum(axis=1) - own**2 * left
        return np.asarray(np.sqrt(np.maximum(found, 0.0)))

    def _variance(self, table: int, nano: float) -> float:
        whole = self.noise.variance(
            self.noise.scale(self.sensitivities[table], Loss(NANO))
        )
        share = nano / NANO
        return whole / (share if self.noise.has_l2 else share**2)
