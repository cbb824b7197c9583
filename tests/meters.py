"""Meters that only tests may use: seeded noise, none, frozen noise that is recorded."""

from dataclasses import dataclass, field

import numpy as np

from mechanisms.meter import Part, laplace_scale
from privacy.counts import SparseCounts
from privacy.losses import Loss
from privacy.schema import ColumnType
from privacy.sealed import Exact
from release.domain import CubeDomain, Dimension
from release.sealed_cube import SealedCube


@dataclass
class Noisy:
    values: np.ndarray
    scale: float


@dataclass
class NoisySparse:
    cells: np.ndarray
    values: np.ndarray
    scale: float


@dataclass
class PlainMeter:
    """Keeps a meter's promises in the simplest way; noise from a seeded generator.

    Attributes:
        parts: Each may be spent once.
        seed: Of the noise; frozen noise is the same seed twice.
        factor: What each draw is multiplied by; 0 gives exact values.
        seen: The exact vectors handed in, with their part and stated L1.
    """

    parts: tuple[Part, ...]
    seed: int = 0
    factor: int = 1
    seen: list = field(default_factory=list)

    def __post_init__(self):
        self.left = {part.name: part.loss for part in self.parts}
        self.generator = np.random.default_rng(self.seed)

    def noise(self, size, scale):
        chance = -np.expm1(-1 / scale)
        first, second = self.generator.geometric(chance, (2, size))
        return self.factor * (first - second)

    def spend(self, part, l1):
        return laplace_scale(l1, self.left.pop(part))

    def counts(self, part, sealed, l1):
        scale = self.spend(part, l1)
        exact = sealed.unseal()
        self.seen.append((part, exact.copy(), l1))
        return Noisy(exact + self.noise(len(exact), scale), scale)

    def sparse_counts(self, part, sealed, size, l1, threshold):
        scale = self.spend(part, l1)
        raw = sealed.unseal()
        dense = np.zeros(size, dtype=np.int64)
        dense[raw.cells] = raw.counts
        self.seen.append((part, dense, l1))
        noisy = dense + self.noise(size, scale)
        cells = np.flatnonzero(noisy >= threshold)
        return NoisySparse(cells, noisy[cells], scale)

    def divide(self, part, parts):
        assert (
            sum(p.loss.nano_epsilon for p in parts) <= self.left.pop(part).nano_epsilon
        )
        inner = PlainMeter(tuple(parts), factor=self.factor, seen=self.seen)
        inner.generator = self.generator
        return inner


def domain_of(*shape, bound=1, ordered=True):
    dimensions = tuple(
        Dimension(f"d{axis}", ColumnType.INTEGER, tuple(range(n)), ordered=ordered)
        for axis, n in enumerate(shape)
    )
    return CubeDomain(dimensions, bound)


def cube_of(image, bound=1):
    """A sealed cube of a dense array of counts."""
    image = np.asarray(image)
    flat = image.ravel()
    cells = np.flatnonzero(flat)
    raw = SparseCounts(cells.astype(np.int64), flat[cells].astype(np.int64))
    return SealedCube(domain_of(*image.shape, bound=bound), Exact(raw))


def epsilon(text):
    return Loss.parse(text)


def run(strategy, cube, loss, parameters=None, **options):
    """Measure once; returns the model and the meter that saw it."""
    parameters = parameters or {}
    parts = strategy.parts(cube.domain, loss, parameters)
    assert sum(part.loss.nano_epsilon for part in parts) == loss.nano_epsilon
    meter = PlainMeter(parts, **options)
    model = strategy.measure(cube, meter, parameters)
    assert not meter.left, meter.left
    return model, meter
