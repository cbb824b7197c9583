"""How a loss is best divided over a base table and its coarser ones: about.

Variances alone are looked at, and those in floating point: what is found here is where
the search for a price begins (``strategies``), and proves nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.scales.noises import Noise
from privacy.events import VectorSensitivity
from privacy.losses import NANO, Loss
from server.use_cases.questions.studies.least_squares import FloatArray, Layout
from server.use_cases.questions.studies.steps import Steps, of_products

_REACH: Final = 2.0
"""Half-widths at 95 % in standard deviations: 1.96 of many draws, 2.12 of one."""

_LEAST_WIDTH: Final = 0.4  # steps that stand for a half-width of 0
_FACTORS: Final = (2.0, 0.5, 1.2, 0.83, 1.05, 0.95)
_ROUNDS: Final = 6
_POWERS: Final = (6.0, 24.0, 400.0)
"""Of the mean over questions that stands for the worst of them, one after the other."""
_ENOUGH: Final = 0.999  # a round that saves less is the last


@dataclass(frozen=True, slots=True)
class Division:
    """How much each table of a measure is worth, in nano-units of loss.

    Attributes:
        nano: Of the base table, then of each coarser one.
        score: What the search makes smaller: the total, with more than the worst
            question in it, since shares that help one alone lead nowhere.
    """

    nano: tuple[float, ...]
    score: float

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
        alone: About what each table costs as a question of its own, in nano-units.
    """

    layout: Layout
    noise: Noise
    sensitivities: Sequence[VectorSensitivity]
    targets: Sequence[float]
    alone: Sequence[float]

    def best(self, steps: Steps) -> Division:
        """Return about the cheapest division that keeps to all targets."""
        sums = _Sums.of(self.layout, self._allowed(), self._unit_variances(), steps)
        best = found = self._scaled([self.alone], _POWERS[0], sums, steps)
        for power in _POWERS if len(self.alone) > 1 else ():
            found = self._scaled([found.nano], power, sums, steps)
            for _ in range(_ROUNDS):
                before = found.score
                for table in range(len(self.alone)):
                    found = self._changed(found, table, power, sums, steps)
                if found.score > _ENOUGH * before:
                    break
            best = min(best, found, key=lambda one: one.total)
        return best

    def _changed(
        self, found: Division, table: int, power: float, sums: "_Sums", steps: Steps
    ) -> Division:
        """Return the best division with another share for one table."""
        tried = [list(found.nano) for _ in _FACTORS]
        for nano, factor in zip(tried, _FACTORS, strict=True):
            nano[table] *= factor
        best = self._scaled(tried, power, sums, steps)
        return min(found, best, key=lambda one: one.score)

    def _scaled(
        self,
        proportions: Sequence[Sequence[float]],
        power: float,
        sums: "_Sums",
        steps: Steps,
    ) -> Division:
        """Return the best division in one of some proportions, as dear as suffices."""
        ratios = self._deviations(np.array(proportions), sums, steps) / sums.allowed
        each = np.maximum.reduceat(ratios, sums.starts, axis=1)
        worst = each.max(axis=1)
        means = ((each / worst[:, None]) ** power).mean(axis=1) ** (1 / power)
        exponent = 2 if self.noise.has_l2 else 1
        scaled = np.array(proportions) * (worst**exponent)[:, None]
        scores = scaled.sum(axis=1) * means**exponent
        best = int(np.argmin(scores))
        return Division(tuple(scaled[best].tolist()), float(scores[best]))

    def _allowed(self) -> FloatArray:
        """Return the standard deviation that each number may have."""
        each = [
            np.full(len(rows), max(target, _LEAST_WIDTH) / _REACH)
            for rows, target in zip(self.layout.wanted, self.targets, strict=True)
        ]
        return np.concatenate(each)

    def _deviations(self, nano: FloatArray, sums: "_Sums", steps: Steps) -> FloatArray:
        """Return the standard deviation of each number, for each row of losses."""
        shares = nano / NANO
        variances = sums.units / (shares if self.noise.has_l2 else shares**2)
        own = variances[:, :1]
        found = own * sums.squares
        size = len(self.layout.tables)
        if size:
            rows = variances[:, [1 + n for n in self.layout.tables]]
            covariance = own[:, :, None] * sums.coarse + rows[:, None] * np.eye(size)
            weighed = sums.shared @ np.linalg.inv(covariance)
            found = found - own**2 * (weighed * sums.shared).sum(axis=2)
        numbers = len(sums.squares)
        each = size**3 + (size**2 + 16 * size + 16) * numbers
        steps.take(of_products(len(nano) * each))
        return np.asarray(np.sqrt(np.maximum(found, 0.0)))

    def _unit_variances(self) -> list[float]:
        """Return the variance of each table's noise at a loss of 1."""
        scales = (self.noise.scale(each, Loss(NANO)) for each in self.sensitivities)
        return [self.noise.variance(scale) for scale in scales]


@dataclass(frozen=True, slots=True)
class _Sums:
    """What of a layout variances need, whatever the losses are.

    Attributes:
        squares: Of each number, the sum of its squared weights of base cells.
        shared: Of each number, what it takes of the cells of each coarser cell.
        coarse: How many base cells each two coarser cells share.
        allowed: The standard deviation that each number may have.
        starts: Where each question's numbers begin.
        units: Of each table, the variance of its noise at a loss of 1.
    """

    squares: FloatArray
    shared: FloatArray
    coarse: FloatArray
    allowed: FloatArray
    starts: NDArray[np.int64]
    units: FloatArray

    @classmethod
    def of(
        cls, layout: Layout, allowed: FloatArray, units: Sequence[float], steps: Steps
    ) -> "_Sums":
        """Add up, once."""
        numbers, coarse = layout.numbers, layout.coarse
        products = coarse.size * (len(numbers) + len(coarse) + 4)
        steps.take(of_products(products + 4 * numbers.size))
        return cls(
            (numbers**2).sum(axis=1),
            numbers @ coarse.T,
            coarse @ coarse.T,
            allowed,
            np.cumsum([0, *map(len, layout.wanted[:-1])]),
            np.array(units),
        )
