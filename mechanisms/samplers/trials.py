"""Trials that succeed with an exact chance, singly and in vectors."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mechanisms.samplers.enclosures import Ratio
from mechanisms.samplers.entropy import Entropy
from mechanisms.samplers.lazy_table import LazyTable, refine

_CACHED_CHANCES = 64


def succeeds(chance: Ratio, entropy: Entropy) -> bool:
    """Return whether one trial succeeds: whether a uniform U is below the chance.

    Source: docs/proofs/vector_discrete_laplace.md.
    """
    return refine(lambda bits: [chance.enclose(bits)], entropy) == 0


def successes(size: int, chance: Ratio, entropy: Entropy) -> NDArray[np.bool_]:
    """Return which of ``size`` independent trials succeed.

    Source: docs/proofs/vector_discrete_laplace.md.
    """
    return np.asarray(_table(chance).draw(size, entropy) == 0)


@lru_cache(_CACHED_CHANCES)
def _table(chance: Ratio) -> LazyTable:
    return LazyTable(lambda bits: [chance.enclose(bits)])
