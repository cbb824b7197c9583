"""Where noise comes from: operating-system entropy, and nothing can be seeded."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Protocol, cast

from opendp.domains import atom_domain, vector_domain

# Not the prelude: it would load polars, and its threads, wherever that is installed.
from opendp.measurements import make_gaussian, make_laplace
from opendp.metrics import l1_distance, l2_distance
from opendp.mod import Measurement, enable_features

from privacy.sealed import SATURATION

enable_features("contrib")

_CACHED_SCALES = 1_024


class Sampler(Protocol):
    """Adds noise to vectors of integers."""

    def discrete_laplace(self, values: Sequence[int], scale: float) -> list[int]:
        """Return each value plus fresh discrete Laplace noise.

        Args:
            values: Exact integers, on the grid of their column.
            scale: Noise scale in grid steps; exact as ``Fraction(scale)``.
        """
        ...

    def discrete_gaussian(self, values: Sequence[int], scale: float) -> list[int]:
        """Return each value plus fresh discrete Gaussian noise.

        Args:
            values: Exact integers, on the grid of their column.
            scale: Sigma in grid steps; exact as ``Fraction(scale)``.
        """
        ...

    def refined_laplace(
        self, values: Sequence[int], shown: Sequence[int], coarse: float, fine: float
    ) -> list[int]:
        """Return each value plus finer noise, which the noise shown contains.

        Args:
            values: Exact integers, on the grid of their column.
            shown: The same with discrete Laplace noise of the coarser scale.
            coarse: That scale in grid steps; exact as ``Fraction(coarse)``.
            fine: The scale of what is returned, less by a twentieth at least.
        """
        ...


class OpenDPSampler:
    """OpenDP's exact discrete Laplace sampler; one call, one vector draw."""

    def discrete_laplace(self, values: Sequence[int], scale: float) -> list[int]:
        """Return each value, saturated at 2**62, plus fresh noise.

        Probabilities are exact: OpenDP reads ``scale`` as the fraction that it is.
        A noisy value beyond 64 bits saturates, which is post-processing.
        """
        saturated = [max(-SATURATION, min(SATURATION, value)) for value in values]
        return list(_measurement(scale)(saturated))


def opendp_epsilon_ceil(scale: float, l1_sensitivity: int) -> float:
    """Return the loss that OpenDP's privacy map states, which rounds up.

    Args:
        scale: Noise scale in grid steps.
        l1_sensitivity: L1 distance of two vectors, in grid steps, within 64 bits.

    Neighbouring relation: add or remove all rows of one unit (it enters through the
    sensitivity alone).
    """
    return _map(scale)(l1_sensitivity)


@lru_cache(_CACHED_SCALES)
def _measurement(scale: float) -> Callable[[list[int]], list[int]]:
    return cast("Callable[[list[int]], list[int]]", _make_laplace(scale))


@lru_cache(_CACHED_SCALES)
def _map(scale: float) -> Callable[[int], float]:
    return cast("Callable[[int], float]", _make_laplace(scale).map)


def opendp_rho_ceil(scale: float, l2_sensitivity: float) -> float:
    """Return the rho that OpenDP's privacy map states, which rounds up.

    Args:
        scale: Sigma in grid steps.
        l2_sensitivity: L2 distance of two vectors, in grid steps.

    Neighbouring relation: add or remove all rows of one unit (it enters through the
    sensitivity alone).
    """
    return _gaussian_map(scale)(l2_sensitivity)


@lru_cache(_CACHED_SCALES)
def _gaussian_map(scale: float) -> Callable[[float], float]:
    return cast("Callable[[float], float]", _make_gaussian(scale).map)


def _make_gaussian(scale: float) -> Measurement:
    domain = vector_domain(atom_domain(T="i64"))
    return make_gaussian(domain, l2_distance(T="f64"), scale=scale)


def _make_laplace(scale: float) -> Measurement:
    domain = vector_domain(atom_domain(T="i64"))
    return make_laplace(domain, l1_distance(T="i64"), scale=scale)
