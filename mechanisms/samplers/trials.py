"""Trials that succeed with an exact probability, singly and in vectors."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mechanisms.samplers.enclosures import Ratio
from mechanisms.samplers.entropy import Entropy
from mechanisms.samplers.lazy_table import LazyTable, refine

_CACHED_PROBABILITIES = 64


def succeeds(probability: Ratio, entropy: Entropy) -> bool:
    """Return whether one trial succeeds: whether a uniform U is below the probability.

    Source: docs/proofs/vector_discrete_laplace.md.
    """
    return refine(lambda bits: [probability.enclose(bits)], entropy) == 0


def successes(size: int, probability: Ratio, entropy: Entropy) -> NDArray[np.bool_]:
    """Return which of ``size`` independent trials succeed.

    Source: docs/proofs/vector_discrete_laplace.md.
    """
    return np.asarray(_table(probability).draw(size, entropy) == 0)


@lru_cache(_CACHED_PROBABILITIES)
def _table(probability: Ratio) -> LazyTable:
    return LazyTable(lambda bits: [probability.enclose(bits)])
