"""HIDE's proposal (6.2): spend less on a level that earlier noisy counts predict."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from release.contract.sequence_domain import SequenceDomain
from release.sequences.models.completion import complete
from release.sequences.models.drawn import DrawnLevel, DrawnTree

LEAST_LEVELS: Final = 2
_STEPS: Final = 64


def confidence(domain: SequenceDomain, levels: Sequence[DrawnLevel]) -> Fraction:
    """Return how well the last level was predicted by those before it, from 0 to 1.

    One less the distance between noisy and predicted counts, as a share of them all,
    after what noise alone makes of it. A function of noisy counts.
    """
    if len(levels) < LEAST_LEVELS or not len(levels[-1].values):
        return Fraction(0)
    last, before = levels[-1], complete(DrawnTree(domain, tuple(levels[:-1])))
    above, chain = before.levels[-1], before.chain
    counts = above.counts[above.rows, above.symbols]
    states = chain.after(above.states[above.rows], above.symbols)
    probabilities = chain.probabilities[states[last.parents], last.symbols]
    apart = np.abs(last.values - counts[last.parents] * probabilities).sum()
    explained = len(last.values) * last.scale
    missed = max(0.0, float(apart) - explained) / float(last.values.sum())
    return Fraction(round(max(0.0, 1 - missed) * _STEPS), _STEPS)
