"""Samplers that only tests may use: no noise, and noise of the wrong scale."""

from fractions import Fraction

import numpy as np

from mechanisms.samplers.queries import QuerySampler
from mechanisms.samplers.vectors import OsVectorSampler


class ZeroSampler:
    """Returns exact values."""

    def discrete_laplace(self, values, scale):
        return list(values)

    def discrete_gaussian(self, values, scale):
        return list(values)

    def refined_laplace(self, values, shown, coarse, fine):
        return list(values)


class ScaledSampler:
    """Multiplies the scale: a fault that audits must catch."""

    def __init__(self, factor):
        self._factor = factor
        self._sampler = QuerySampler()

    def discrete_laplace(self, values, scale):
        return self._sampler.discrete_laplace(values, scale * self._factor)

    def discrete_gaussian(self, values, scale):
        return self._sampler.discrete_gaussian(values, scale * self._factor)

    def refined_laplace(self, values, shown, coarse, fine):
        scales = coarse * self._factor, fine * self._factor
        return self._sampler.refined_laplace(values, shown, *scales)


class ZeroVectorSampler:
    """Adds nothing: no empty cell passes a threshold, the best score is chosen."""

    def discrete_laplace(self, size, scale):
        return np.zeros(size, dtype=np.int64)

    def discrete_gaussian(self, size, variance):
        return np.zeros(size, dtype=np.int64)

    def tail_geometric(self, size, scale):
        return np.zeros(size, dtype=np.int64)

    def positions(self, cells, threshold, scale):
        return np.zeros(0, dtype=np.int64)

    def binomial(self, cells, threshold, scale):
        return 0

    def choose(self, scores, scale):
        return int(np.argmax(scores))


class ScaledVectorSampler:
    """Multiplies every scale: a fault that audits must catch."""

    def __init__(self, factor):
        self._factor = Fraction(factor)
        self._sampler = OsVectorSampler()

    def discrete_laplace(self, size, scale):
        return self._sampler.discrete_laplace(size, scale * self._factor)

    def discrete_gaussian(self, size, variance):
        return self._sampler.discrete_gaussian(size, variance * self._factor**2)

    def tail_geometric(self, size, scale):
        return self._sampler.tail_geometric(size, scale * self._factor)

    def positions(self, cells, threshold, scale):
        return self._sampler.positions(cells, threshold, scale * self._factor)

    def binomial(self, cells, threshold, scale):
        return self._sampler.binomial(cells, threshold, scale * self._factor)

    def choose(self, scores, scale):
        return self._sampler.choose(scores, scale * self._factor)
