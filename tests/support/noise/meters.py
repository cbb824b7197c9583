"""Real meters over seeded noise, for tests that freeze noise or draw much of it."""

from dataclasses import dataclass

import numpy as np

from mechanisms.measuring.meter import Meter
from mechanisms.scales.noises import LAPLACE
from privacy.charges import Charge
from privacy.counts import SparseCounts
from privacy.losses import Loss
from privacy.measures import PURE, zcdp
from privacy.schema import ColumnType
from privacy.sealed import Exact
from release.contract.domain import CubeDomain, Dimension
from release.contract.sealed_cube import SealedCube

RHO = zcdp(Loss.parse("0.000001"))


@dataclass
class SeededSampler:
    """Noise of a seeded generator; the same seed twice freezes it.

    Attributes:
        seed: Of the noise.
        factor: What each scale is multiplied by; 0 draws nothing.
    """

    seed: int = 0
    factor: float = 1

    def __post_init__(self):
        self.generator = np.random.default_rng(self.seed)

    def discrete_laplace(self, size, scale):
        first, second = self._geometric((2, size), scale)
        return first - second

    def discrete_gaussian(self, size, variance):
        """Rounded normal noise: near enough where sigma is no small part of a step."""
        sigma = self.factor * float(variance) ** 0.5
        return np.rint(self.generator.normal(0, sigma, size)).astype(np.int64)

    def tail_geometric(self, size, scale):
        return self._geometric(size, scale)

    def positions(self, cells, threshold, scale):
        if not self.factor:
            return np.zeros(0, dtype=np.int64)
        rate = float(self.factor * scale)
        probability = np.exp(-threshold / rate) / (1 + np.exp(-1 / rate))
        count = self.generator.binomial(cells, probability)
        return np.sort(self.generator.choice(cells, count, replace=False))

    def choose(self, scores, scale):
        gumbel = self.generator.gumbel(size=len(scores)) * self.factor
        return int(np.argmax(scores / float(scale) + gumbel))

    def _geometric(self, size, scale):
        if not self.factor:
            return np.zeros(size, dtype=np.int64)
        probability = -np.expm1(-1 / float(self.factor * scale))
        return self.generator.geometric(probability, size) - 1


class RecordingMeter(Meter):
    """A meter that remembers which exact vectors it was handed, and how far they move.

    ``seen`` has the L1 of each vector, ``squares`` its L2 squared.
    """

    def __init__(self, charge, parts, sampler, noise=LAPLACE):
        measure = RHO if noise.has_l2 else PURE
        super().__init__(charge, parts, sampler, measure, noise)
        self.seen = []
        self.squares = []

    def counts(self, part, sealed, l1, *, l2_squared=None):
        self.seen.append((part, sealed.unseal().copy(), l1))
        self.squares.append(l1**2 if l2_squared is None else l2_squared)
        return super().counts(part, sealed, l1, l2_squared=l2_squared)

    def sparse_counts(self, part, sealed, *, size, l1, threshold):
        raw = sealed.unseal()
        self.seen.append((part, dict(zip(raw.cells, raw.counts, strict=True)), l1))
        self.squares.append(l1**2)
        return super().sparse_counts(
            part, sealed, size=size, l1=l1, threshold=threshold
        )


def domain_of(*shape, bound=1, ordered=True, in_cell=None):
    dimensions = tuple(
        Dimension(f"d{axis}", ColumnType.INTEGER, tuple(range(n)), ordered=ordered)
        for axis, n in enumerate(shape)
    )
    return CubeDomain(dimensions, bound, in_cell)


def cube_of(image, bound=1, in_cell=None):
    """A sealed cube of a dense array of counts."""
    image = np.asarray(image)
    flat = image.ravel()
    cells = np.flatnonzero(flat)
    raw = SparseCounts(cells.astype(np.int64), flat[cells].astype(np.int64))
    domain = domain_of(*image.shape, bound=bound, in_cell=in_cell)
    return SealedCube(domain, Exact(raw))


def epsilon(text):
    return Loss.parse(text)


def run(strategy, cube, loss, parameters=None, sampler=None, *, kind=LAPLACE, **noise):
    """Measure once; returns the model and the meter that saw it.

    Args:
        strategy: Of cubes.
        cube: Sealed.
        loss: An epsilon, or a rho where ``kind`` is Gaussian.
        parameters: Of the strategy.
        sampler: Where noise comes from; else a seeded one of ``noise``.
        kind: Of the noise that the loss pays.
        noise: Seed and factor.
    """
    parameters = parameters or {}
    parts = strategy.parts(cube.domain, loss, parameters)
    assert sum(part.loss.nano_epsilon for part in parts) == loss.nano_epsilon
    sampler = sampler or SeededSampler(**noise)
    meter = RecordingMeter(Charge("test", loss), parts, sampler, kind)
    model = strategy.measure(cube, meter, parameters)
    assert not meter._left, meter._left
    return model, meter
