"""Samplers that only tests may use: no noise, and noise of the wrong scale."""

from mechanisms.samplers import OpenDPSampler


class ZeroSampler:
    """Returns exact values."""

    def discrete_laplace(self, values, scale):
        return list(values)


class ScaledSampler:
    """Multiplies the scale: a fault that audits must catch."""

    def __init__(self, factor):
        self._factor = factor
        self._sampler = OpenDPSampler()

    def discrete_laplace(self, values, scale):
        return self._sampler.discrete_laplace(values, scale * self._factor)
