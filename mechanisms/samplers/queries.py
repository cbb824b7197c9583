"""The noise of answers: OpenDP's where losses are pure, our own Gaussian draws else."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from mechanisms.samplers.gaussian import OsGaussianSampler
from mechanisms.samplers.laplace import OpenDPSampler
from mechanisms.samplers.refined_laplace import refined_values

_LAPLACE: Final = OpenDPSampler()
_GAUSSIAN: Final = OsGaussianSampler()


class QuerySampler:
    """Draws both kinds of noise, exactly, from operating-system entropy.

    Gaussian draws are our own, since OpenDP's take a hundred times as long: an answer
    of ten thousand cells would be late (docs/proofs/discrete_gaussian.md).
    """

    def discrete_laplace(self, values: Sequence[int], scale: float) -> list[int]:
        """Return each value, saturated at 2**62, plus fresh discrete Laplace noise."""
        return _LAPLACE.discrete_laplace(values, scale)

    def discrete_gaussian(self, values: Sequence[int], scale: float) -> list[int]:
        """Return each value, saturated at 2**62, plus fresh discrete Gaussian noise."""
        return _GAUSSIAN.discrete_gaussian(values, scale)

    def refined_laplace(
        self, values: Sequence[int], shown: Sequence[int], coarse: float, fine: float
    ) -> list[int]:
        """Return each value, saturated at 2**62, plus finer noise than was shown."""
        return refined_values(values, shown, Fraction(coarse), Fraction(fine))
