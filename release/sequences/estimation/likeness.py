"""Gaussian noise to what estimates of sequences read: Laplace noise as wide.

What they make of a draw, its threshold and what was pruned rests on the scale of
discrete Laplace noise. Gaussian noise of as much variance has lighter tails: a draw
passes 2.12 standard deviations less often (docs/proofs/prefix_tree.md).
"""

import math
from statistics import NormalDist

import numpy as np

from mechanisms.scales.noises import Noise
from release.contract.intervals import noise_variance
from release.contract.models import FloatArray

_LEAST = 1e-300


def alike(scale: float, noise: Noise) -> float:
    """Return the scale of discrete Laplace noise that has as much variance.

    Args:
        scale: Of one draw; 0 where nothing was drawn.
        noise: Its kind.
    """
    if not noise.has_l2 or scale == 0:
        return scale
    variance = max(noise_variance(scale, noise), _LEAST)
    return 0.5 / math.asinh(math.sqrt(0.5 / variance))


def all_alike(scales: FloatArray, noise: Noise) -> FloatArray:
    """Return ``alike`` of each scale."""
    if not noise.has_l2:
        return scales
    kinds, places = np.unique(scales, return_inverse=True)
    found = np.array([alike(scale, noise) for scale in kinds.tolist()])
    return np.asarray(found[places.reshape(-1)], dtype=np.float64)


def passed_by(scale: float, noise: Noise, odds: float) -> float:
    """Return about the count that noise alone reaches once in ``2 * odds`` cells.

    Args:
        scale: Of the noise.
        noise: Its kind.
        odds: At least 1.
    """
    if not noise.has_l2:
        return scale * math.log(max(odds, 1.0))
    return -scale * NormalDist().inv_cdf(0.5 / max(odds, 1.0))
